/* import.c - finds the format of a file, and adds it with an entry among the profile's sources. */
#include "model/archive/archive.h"
#include "model/imports/import.h"

static const struct format {
	const char *name;
	bool (*is_it)(const struct mapped_file *file);
	struct error *(*add)(struct profile *p, const char *path, const struct mapped_file *file);
} formats[] = {
	/* Text of perf has lines of frames, which are no folded stacks; so it is asked for first. */
	{"a profile of pprof", import_is_pprof, import_pprof},
	{"text of perf script", import_is_perf, import_perf},
	{"folded stacks", import_is_folded, import_folded},
};

static const struct format *find_format(const struct mapped_file *file)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i].is_it(file))
			return &formats[i];
	return NULL;
}

bool import_is_foreign(const struct mapped_file *file)
{
	return !archive_is_one(file) && find_format(file);
}

struct error *import_file(struct profile *p, const char *path, const struct mapped_file *file, bool *ret_is_known)
{
	struct profile_source source = {.path = NULL};
	const struct format *format;
	struct error *err;

	*ret_is_known = archive_is_one(file);
	if (*ret_is_known)
		return archive_add(p, path, file); /* it has sources of its own */
	format = find_format(file);
	*ret_is_known = format != NULL;
	if (!format)
		return NULL;
	source.import_format = format->name;
	err = profile_copy_string(p, path, &source.path) ?: profile_source_vec_append(&p->sources, source);
	if (err)
		return err;
	profile_allow(p, file->len_bytes);
	return format->add(p, path, file);
}

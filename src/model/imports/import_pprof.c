/*
 * import_pprof.c - profiles in the format of pprof (pprof.proto), with gzip around them or without. The bytes are anybody's: all numbers of
 * strings, locations and functions are checked, and what gzip unpacks to is limited.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/hashmap.h"
#include "model/imports/import.h"
#include "format/pprof.pb-c.h"

enum {
	GZIP_WINDOW = 15 + 16, /* inflateInit2: the largest window, and a header of gzip */
	UNPACKED_MIN = 1 << 24,
	UNPACKED_PER_BYTE = 64,       /* profiles are seldom packed by more than 10 */
	TAG_SAMPLE_TYPE = 1 << 3 | 2, /* the field's number, and 2 for bytes or 0 for a number */
	TAG_STRING = 6 << 3 | 2,
	TAG_TYPE = 1 << 3 | 0,
};

/* A profile as the file has it, with maps from the numbers that its parts name each other by. */
struct reader {
	struct profile *p;
	const char *path;
	const Pprof__Profile *from;
	struct hashmap locations; /* by id: index */
	struct hashmap functions;
	uint32_t *metrics; /* by sample type */
};

static bool is_gzip(const struct mapped_file *file)
{
	return file->len_bytes > 2 && file->bytes[0] == 0x1f && file->bytes[1] == 0x8b;
}

/* Without gzip: writers of the format begin with the types of the samples, or with the first string, which is empty. */
bool import_is_pprof(const struct mapped_file *file)
{
	const uint8_t *b = file->bytes;

	if (file->len_bytes < 3)
		return false;
	return is_gzip(file) || (b[0] == TAG_SAMPLE_TYPE && b[1] < ' ' && b[2] == TAG_TYPE) ||
	       (b[0] == TAG_STRING && !b[1]);
}

static struct error *unpack(const char *path, const struct mapped_file *file, struct buffer *ret)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)file->bytes, .avail_in = (uInt)file->len_bytes};
	uint64_t limit = UNPACKED_MIN + (uint64_t)file->len_bytes * UNPACKED_PER_BYTE;
	uint8_t chunk[1 << 14];
	int status = Z_OK;

	if (file->len_bytes > UINT32_MAX)
		return error_create(ERROR_OVERFLOW, "%s: too large for a profile of pprof", path);
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return &error_no_memory;
	while (status == Z_OK && ret->len_bytes <= limit) {
		z.next_out = chunk;
		z.avail_out = sizeof chunk;
		status = inflate(&z, Z_NO_FLUSH);
		buffer_bytes(ret, chunk, sizeof chunk - z.avail_out);
	}
	inflateEnd(&z);
	if (status == Z_STREAM_END)
		return buffer_error(ret);
	if (status == Z_OK)
		return error_create(ERROR_OVERFLOW,
				    "%s: it unpacks to more than %" PRIu64 " bytes, which no profile does", path,
				    limit);
	return error_create(ERROR_FORMAT, "%s: damaged: gzip cannot unpack it", path);
}

static struct error *damaged(const struct reader *r, const char *what, uint64_t number)
{
	return error_create(ERROR_FORMAT, "%s: damaged: it has no %s %" PRIu64, r->path, what, number);
}

static struct error *string_at(const struct reader *r, int64_t number, const char **ret)
{
	if (number < 0 || (uint64_t)number >= r->from->n_string_table)
		return damaged(r, "string", (uint64_t)number);
	*ret = r->from->string_table[number];
	return NULL;
}

static enum metric_unit unit_of(const char *name)
{
	return strcmp(name, "bytes") == 0 ? UNIT_BYTES : strcmp(name, "nanoseconds") == 0 ? UNIT_TIME : UNIT_COUNT;
}

static struct error *add_types(struct reader *r)
{
	struct error *err = NULL;

	r->metrics = calloc(r->from->n_sample_type + 1, sizeof *r->metrics);
	if (!r->metrics)
		return &error_no_memory;
	for (size_t i = 0; i < r->from->n_sample_type && !err; i++) {
		const Pprof__ValueType *type = r->from->sample_type[i];
		const char *name, *unit;

		err = string_at(r, type->type, &name) ?: string_at(r, type->unit, &unit);
		if (!err)
			err = import_metric(r->p, name, unit_of(unit), &r->metrics[i]);
	}
	return err;
}

static struct error *map_ids(struct reader *r)
{
	struct error *err = NULL;
	uint32_t number;

	for (size_t i = 0; i < r->from->n_location && !err; i++) {
		err = hashmap_add(&r->locations, &(struct key){{r->from->location[i]->id, 0, 0}}, &number);
		if (!err && number != i)
			err = error_create(ERROR_FORMAT, "%s: damaged: two locations have one number", r->path);
	}
	for (size_t i = 0; i < r->from->n_function && !err; i++) {
		err = hashmap_add(&r->functions, &(struct key){{r->from->function[i]->id, 0, 0}}, &number);
		if (!err && number != i)
			err = error_create(ERROR_FORMAT, "%s: damaged: two functions have one number", r->path);
	}
	return err;
}

static struct error *add_line(struct reader *r, uint32_t parent, const Pprof__Line *line, bool is_inlined,
			      uint32_t *ret_node)
{
	struct frame frame = {.flags = is_inlined ? FRAME_INLINED : 0};
	const Pprof__Function *function;
	uint32_t number;
	struct error *err;

	if (!hashmap_find(&r->functions, &(struct key){{line->function_id, 0, 0}}, &number))
		return damaged(r, "function", line->function_id);
	function = r->from->function[number];
	err = string_at(r, function->name, &frame.name) ?: string_at(r, function->system_name, &frame.link_name) ?:
	      string_at(r, function->filename, &frame.file) ?: profile_spend(r->p, 1);
	if (err)
		return err;
	frame.link_name = *frame.link_name ? frame.link_name : NULL;
	frame.file = *frame.file ? frame.file : NULL;
	frame.line = line->line > 0 && line->line <= UINT32_MAX ? (uint32_t)line->line : 0;
	frame.column = line->column > 0 && line->column <= UINT32_MAX ? (uint32_t)line->column : 0;
	if (*frame.name == '[')
		frame.flags |= FRAME_FOREIGN;
	return profile_add_frame(r->p, parent, &frame, ret_node);
}

/* A location without lines is an address. */
static struct error *add_location(struct reader *r, uint32_t parent, uint64_t id, uint32_t *ret_node)
{
	const Pprof__Location *location;
	struct frame frame = {.flags = 0};
	uint32_t number;
	char name[32];
	struct error *err = NULL;

	if (!hashmap_find(&r->locations, &(struct key){{id, 0, 0}}, &number))
		return damaged(r, "location", id);
	location = r->from->location[number];
	if (!location->n_line) {
		snprintf(name, sizeof name, "0x%" PRIx64, location->address);
		frame.name = name;
		return profile_spend(r->p, 1) ?: profile_add_frame(r->p, parent, &frame, ret_node);
	}
	for (size_t i = location->n_line; i-- > 0 && !err;) { /* the innermost is the first */
		err = add_line(r, parent, location->line[i], i + 1 < location->n_line, &parent);
	}
	if (!err)
		*ret_node = parent;
	return err;
}

static struct error *add_sample(struct reader *r, const Pprof__Sample *sample)
{
	uint32_t node = 0;
	struct error *err = NULL;

	if (sample->n_value != r->from->n_sample_type)
		return error_create(ERROR_FORMAT, "%s: damaged: a sample has not one value for each type", r->path);
	for (size_t i = sample->n_location_id; i-- > 0 && !err;)
		err = add_location(r, node, sample->location_id[i], &node);
	for (size_t i = 0; i < sample->n_value && !err; i++)
		if (sample->value[i] > 0)
			err = profile_add_value(r->p, node, r->metrics[i], (uint64_t)sample->value[i]);
	return err;
}

static struct error *add_profile(struct reader *r)
{
	struct error *err = add_types(r) ?: map_ids(r);
	size_t negative = 0;

	for (size_t i = 0; i < r->from->n_sample && !err; i++) {
		for (size_t n = 0; n < r->from->sample[i]->n_value; n++)
			negative += r->from->sample[i]->value[n] < 0;
		err = add_sample(r, r->from->sample[i]);
	}
	if (!err && negative)
		err = profile_note(r->p, "numbers below 0, as a difference of profiles has them, are left out");
	return err;
}

struct error *import_pprof(struct profile *p, const char *path, const struct mapped_file *file)
{
	struct reader r = {.p = p, .path = path};
	struct buffer unpacked = {0};
	Pprof__Profile *from;
	struct error *err = is_gzip(file) ? unpack(path, file, &unpacked) : NULL;

	if (err) {
		buffer_deinit(&unpacked);
		return err;
	}
	from = is_gzip(file) ? pprof__profile__unpack(NULL, unpacked.len_bytes, unpacked.bytes)
			     : pprof__profile__unpack(NULL, file->len_bytes, file->bytes);
	if (from) {
		r.from = from;
		err = add_profile(&r);
		pprof__profile__free_unpacked(from, NULL);
	} else {
		err = error_create(ERROR_FORMAT, "%s: damaged: no profile of pprof", path);
	}
	buffer_deinit(&unpacked);
	hashmap_deinit(&r.locations);
	hashmap_deinit(&r.functions);
	free(r.metrics);
	return err;
}

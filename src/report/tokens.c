/*
 * tokens.c - the files that tokens need. Places are scanned for runs when a run is not known yet; a file is mapped and read
 * when the first token of its run comes; that of a process which still runs is read again when a token names what was not
 * there yet.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "report/recording.h"
#include "report/tokens.h"
#include "waymark/abi.h"

struct token_run {
	char *path;
	uint64_t run;
	struct recording recording; /* file.bytes NULL: not read yet */
	struct process process;
	struct error *why; /* it cannot be read */
	time_t read_at_s;  /* monotonic */
};

static time_t now_s(void)
{
	struct timespec now;

	return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? now.tv_sec : 0;
}

void token_decoder_init(struct token_decoder *d)
{
	*d = (struct token_decoder){0};
	image_cache_init(&d->cache);
}

static void close_run(struct token_run *r)
{
	if (!r->recording.file.bytes)
		return;
	process_deinit(&r->process);
	recording_close(&r->recording);
}

void token_decoder_deinit(struct token_decoder *d)
{
	for (size_t i = 0; i < d->runs.count; i++) {
		close_run(d->runs.items[i]);
		error_destroy(d->runs.items[i]->why);
		free(d->runs.items[i]->path);
		free(d->runs.items[i]);
	}
	token_run_vec_deinit(&d->runs);
	for (size_t i = 0; i < d->places.count; i++)
		free(d->places.items[i]);
	path_vec_deinit(&d->places);
	process_deinit(&d->single);
	keymap_deinit(&d->missed_runs);
	image_cache_deinit(&d->cache);
}

struct error *token_decoder_add_place(struct token_decoder *d, const char *path)
{
	char *copy = strdup(path);
	struct error *err = copy ? path_vec_append(&d->places, copy) : &error_no_memory;

	if (err)
		free(copy);
	return err;
}

static struct token_run *find_run(const struct token_decoder *d, uint64_t run)
{
	for (size_t i = 0; i < d->runs.count; i++)
		if (d->runs.items[i]->run == run)
			return d->runs.items[i];
	return NULL;
}

static struct error *add_file(struct token_decoder *d, const char *path)
{
	struct wmk_header header;
	struct token_run *r;
	struct error *err;

	if (!recording_header(path, &header) || !header.run || find_run(d, header.run))
		return NULL;
	r = calloc(1, sizeof *r);
	if (!r)
		return &error_no_memory;
	r->run = header.run;
	r->path = strdup(path);
	err = r->path ? token_run_vec_append(&d->runs, r) : &error_no_memory;
	if (err) {
		free(r->path);
		free(r);
	}
	return err;
}

static struct error *scan_directory(struct token_decoder *d, const char *dir)
{
	DIR *entries = opendir(dir);
	struct dirent *entry;
	struct error *err = NULL;

	if (!entries)
		return NULL; /* a place that is not there has no runs */
	while (!err && (entry = readdir(entries)) != NULL) {
		size_t len = strlen(entry->d_name);
		char *path;

		if (len < 4 || strcmp(entry->d_name + len - 4, ".wmk") != 0)
			continue;
		if (asprintf(&path, "%s/%s", dir, entry->d_name) < 0) {
			err = &error_no_memory;
			break;
		}
		err = add_file(d, path);
		free(path);
	}
	closedir(entries);
	return err;
}

static struct error *scan_places(struct token_decoder *d)
{
	struct error *err = NULL;

	for (size_t i = 0; i < d->places.count && !err; i++) {
		struct stat st;

		if (stat(d->places.items[i], &st) == 0 && S_ISDIR(st.st_mode))
			err = scan_directory(d, d->places.items[i]);
		else
			err = add_file(d, d->places.items[i]);
	}
	return err;
}

static struct error *scan_once(struct token_decoder *d)
{
	struct error *err = d->is_scanned ? NULL : scan_places(d);

	d->is_scanned = true;
	return err;
}

static struct error *open_run(struct token_decoder *d, struct token_run *r)
{
	struct error *err = recording_open(r->path, &r->recording);

	if (err)
		return err;
	err = process_init(&r->process, &r->recording.wmk, &d->cache);
	if (err) {
		recording_close(&r->recording);
		r->recording.file.bytes = NULL;
		return err;
	}
	r->read_at_s = now_s();
	return NULL;
}

/* Whether a scan of this second did not find it: a log may have thousands of tokens of runs that are gone. */
static bool was_missed(const struct token_decoder *d, uint64_t run)
{
	const struct key key = {{run, (uint64_t)now_s(), 0}};
	uint32_t number;

	return keymap_find(&d->missed_runs, &key, &number);
}

/* *ret is NULL when no place has that run. */
static struct error *get_run(struct token_decoder *d, uint64_t run, struct token_run **ret)
{
	struct token_run *r = find_run(d, run);
	struct error *err = NULL;
	uint32_t ignored;

	if (!r && !was_missed(d, run)) {
		err = scan_places(d);
		r = find_run(d, run);
		if (!r)
			err = err ? err
				  : keymap_add(&d->missed_runs, &(struct key){{run, (uint64_t)now_s(), 0}}, &ignored);
	}
	if (!err && r && !r->recording.file.bytes && !r->why)
		r->why = open_run(d, r);
	if (!err && r && r->why)
		err = error_copy(r->why);
	if (!err)
		*ret = r;
	return err;
}

static bool has_build(const struct wmk_image *image, const struct token *t)
{
	const uint8_t *b = image->build_id;

	if (t->build_kind == TOKEN_BUILD_KEY)
		return image->build_id_bytes == 0 && (uint32_t)image->meta_key == t->build;
	return image->build_id_bytes >= 4 &&
	       ((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]) == t->build;
}

static const struct wmk_file_image *find_build(const struct wmk_file *w, const struct token *t)
{
	for (uint32_t i = 0; i < w->image_count; i++)
		if (has_build(&w->images[i].record, t))
			return &w->images[i];
	return NULL;
}

static struct error *decode_in_run(struct token_decoder *d, const struct token_run *r, const struct token *t,
				   struct frame_vec *frames)
{
	struct context_key key = {.id = t->id, .prefix = t->prefix, .site = t->site};

	if (t->build_kind != TOKEN_BUILD_NONE) {
		const struct wmk_file_image *image = find_build(&r->recording.wmk, t);

		if (!image)
			return error_create(ERROR_NOT_FOUND, "%s has no image of build %s%08" PRIx32, r->path,
					    t->build_kind == TOKEN_BUILD_KEY ? "m" : "", t->build);
		if (t->site >= image->record.site_count)
			return error_create(ERROR_FORMAT, "damaged: %s has no site %" PRIu32, image->path, t->site);
		key.site = image->record.site_base + t->site;
	}
	return context_decode(&r->process, &key, d->max_depth, frames);
}

/* Any .wmk at hand knows the whole build id and where the image was. */
static void complete_wanted(struct token_decoder *d, const struct token *t, struct object_wanted *wanted)
{
	for (size_t i = 0; i < d->runs.count; i++) {
		struct token_run *r = d->runs.items[i];
		const struct wmk_file_image *image;

		if (!r->recording.file.bytes && !r->why)
			r->why = open_run(d, r);
		image = r->recording.file.bytes ? find_build(&r->recording.wmk, t) : NULL;
		if (!image)
			continue;
		*wanted = (struct object_wanted){.path = image->path, .has_key = true, .key = image->record.meta_key};
		wanted->build_id.len_bytes = image->record.build_id_bytes;
		memcpy(wanted->build_id.bytes, image->record.build_id, sizeof image->record.build_id);
		return;
	}
}

/* Contexts without a push need no .wmk: the program itself is enough. */
static struct error *decode_alone(struct token_decoder *d, const struct token *t, struct frame_vec *frames)
{
	struct object_wanted wanted = {.is_partial = true};
	struct context_key key = {.id = t->id, .prefix = t->prefix, .site = WM_SITE_FIRST + t->site};
	struct cached_image *image;
	struct error *err;

	if (t->build_kind == TOKEN_BUILD_NONE && t->site)
		return error_create(ERROR_NOT_FOUND, "only the .wmk of run %016" PRIx64 " knows its image (--wmk)",
				    t->run);
	if (t->build_kind == TOKEN_BUILD_NONE) { /* a root and foreign code: no name is needed */
		struct process none = {0};

		key.site = WM_SITE_FOREIGN;
		return context_decode(&none, &key, d->max_depth, frames);
	}
	if (t->build_kind == TOKEN_BUILD_KEY) {
		wanted.has_key = true;
		wanted.key = t->build;
	} else {
		wanted.build_id.len_bytes = 4;
		for (unsigned int i = 0; i < 4; i++)
			wanted.build_id.bytes[i] = (uint8_t)(t->build >> (24 - 8 * i));
	}
	err = scan_once(d);
	if (err)
		return err;
	complete_wanted(d, t, &wanted);
	err = image_cache_get(&d->cache, &wanted, &image);
	if (err)
		return err;
	process_deinit(&d->single);
	err = process_init_single(&d->single, image);
	return err ? err : context_decode(&d->single, &key, d->max_depth, frames);
}

struct error *token_decode(struct token_decoder *d, const struct token *t, struct frame_vec *frames)
{
	struct token_run *r = NULL;
	struct error *err = NULL;

	if (t->run)
		err = get_run(d, t->run, &r);
	if (err)
		return err;
	if (!r && t->prefix < WM_PREFIX_FIRST)
		return decode_alone(d, t, frames);
	if (!r)
		return t->run ? error_create(ERROR_NOT_FOUND, "no .wmk of run %016" PRIx64 " found (--wmk)", t->run)
			      : error_create(ERROR_NOT_FOUND, "its process could not write a .wmk file");
	err = decode_in_run(d, r, t, frames);
	if (err && err->code == ERROR_NOT_FOUND &&
	    !(r->recording.wmk.header.flags & (WMK_FLAG_CLOSED | WMK_FLAG_LEFT)) && now_s() != r->read_at_s) {
		error_destroy(err); /* the process may have gone on since, but is not asked more than once a second */
		close_run(r);
		r->why = open_run(d, r);
		if (r->why)
			return error_copy(r->why);
		err = decode_in_run(d, r, t, frames);
	}
	return err;
}

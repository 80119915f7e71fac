/*
 * token_contexts.c - the files that tokens need. A token of a run that is not known, or that names what its recording did not have,
 * causes one look for what is new: directories that changed are listed again, and a recording is followed. So what a process
 * records while decoding goes on is found, and a token that cannot be decoded costs a few system calls.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "model/base/recording.h"
#include "model/contexts/token_contexts.h"
#include "waymark/abi.h"

struct token_run {
	char *path;
	uint64_t run;
	struct recording recording; /* file.bytes NULL: not read yet */
	struct process process;
	struct error *why; /* it cannot be read */
};

enum {
	NS_PER_S = 1000000000,
	/* How much later than its time of change a directory may have changed again without that being seen: a tick of the
	 * kernel's, or, where times have no fraction of a second, what FAT has. */
	TICK_NS = 50000000,
	COARSE_TICK_NS = 2 * NS_PER_S,
};

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
	hashmap_deinit(&d->run_map);
	for (size_t i = 0; i < d->places.count; i++)
		free(d->places.items[i].path);
	token_place_vec_deinit(&d->places);
	process_deinit(&d->single);
	image_cache_deinit(&d->cache);
}

struct error *token_decoder_add_place(struct token_decoder *d, const char *path)
{
	struct token_place place = {0};
	struct error *err;

	for (size_t i = 0; i < d->places.count; i++)
		if (strcmp(d->places.items[i].path, path) == 0)
			return NULL;
	place.path = strdup(path);
	err = place.path ? token_place_vec_append(&d->places, place) : &error_no_memory;
	if (err)
		free(place.path);
	return err;
}

static struct token_run *find_run(const struct token_decoder *d, uint64_t run)
{
	uint32_t number;

	return hashmap_find(&d->run_map, &(struct key){{run, 0, 0}}, &number) ? d->runs.items[number] : NULL;
}

static struct error *add_run(struct token_decoder *d, const char *path, uint64_t run)
{
	struct token_run *r = calloc(1, sizeof *r);
	uint32_t number;
	struct error *err;

	if (!r)
		return &error_no_memory;
	r->run = run;
	r->path = strdup(path);
	err = r->path ? token_run_vec_reserve(&d->runs, d->runs.count + 1) : &error_no_memory;
	if (!err)
		err = hashmap_add(&d->run_map, &(struct key){{run, 0, 0}}, &number);
	if (err) {
		free(r->path);
		free(r);
		return err;
	}
	d->runs.items[d->runs.count++] = r;
	return NULL;
}

/* *is_complete becomes false where there will be a recording soon. */
static struct error *add_file(struct token_decoder *d, const char *path, bool *is_complete)
{
	struct wmk_header header;

	if (!recording_header(path, &header)) {
		*is_complete &= !recording_is_started(path);
		return NULL;
	}
	return !header.run || find_run(d, header.run) ? NULL : add_run(d, path, header.run);
}

static struct error *list_directory(struct token_decoder *d, DIR *entries, const char *dir, bool *is_complete)
{
	struct dirent *entry;
	struct error *err = NULL;

	while (!err && (entry = readdir(entries)) != NULL) {
		size_t len = strlen(entry->d_name);
		char *path;

		if (len < 4 || strcmp(entry->d_name + len - 4, ".wmk") != 0)
			continue;
		if (asprintf(&path, "%s/%s", dir, entry->d_name) < 0)
			return &error_no_memory;
		err = add_file(d, path, is_complete);
		free(path);
	}
	return err;
}

/* Whether a change from now on gives the directory another time of change. */
static bool is_settled(const struct timespec *changed)
{
	int64_t slack_ns = changed->tv_nsec ? TICK_NS : COARSE_TICK_NS;
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now) != 0 || now.tv_sec < changed->tv_sec)
		return false;
	if (now.tv_sec - changed->tv_sec > COARSE_TICK_NS / NS_PER_S)
		return true;
	return (now.tv_sec - changed->tv_sec) * NS_PER_S + now.tv_nsec - changed->tv_nsec > slack_ns;
}

/* Takes fd. */
static struct error *look_in_directory(struct token_decoder *d, struct token_place *place, int fd)
{
	bool is_complete = true;
	struct stat st;
	DIR *entries;
	struct error *err;

	if (fstat(fd, &st) != 0 ||
	    (place->is_listed && st.st_dev == place->dev && st.st_ino == place->ino &&
	     st.st_mtim.tv_sec == place->changed.tv_sec && st.st_mtim.tv_nsec == place->changed.tv_nsec)) {
		close(fd);
		return NULL;
	}
	place->is_listed = is_settled(&st.st_mtim);
	place->dev = st.st_dev;
	place->ino = st.st_ino;
	place->changed = st.st_mtim;
	entries = fdopendir(fd);
	if (!entries) {
		close(fd);
		return NULL;
	}
	err = list_directory(d, entries, place->path, &is_complete);
	closedir(entries);
	place->is_listed &= is_complete;
	return err;
}

/* Runs that are not known yet. A place that is not there has none. */
static struct error *look_for_runs(struct token_decoder *d)
{
	struct error *err = NULL;

	for (size_t i = 0; i < d->places.count && !err; i++) {
		struct token_place *place = &d->places.items[i];
		int fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		bool is_complete = true;

		if (fd >= 0)
			err = look_in_directory(d, place, fd);
		else if (errno == ENOTDIR)
			err = add_file(d, place->path, &is_complete);
	}
	return err;
}

static struct error *open_run(struct token_decoder *d, struct token_run *r)
{
	struct error *err = recording_open_contexts(r->path, &r->recording);

	if (err)
		return err;
	if (r->recording.wmk.header.run != r->run)
		err = error_create(ERROR_NOT_FOUND, "%s is of another run now", r->path);
	if (!err)
		err = process_init(&r->process, &r->recording.wmk, &d->cache);
	if (err) {
		recording_close(&r->recording);
		r->recording.file.bytes = NULL;
	}
	return err;
}

/* *ret is NULL when no place has that run. */
static struct error *get_run(struct token_decoder *d, uint64_t run, struct token_run **ret)
{
	struct token_run *r = find_run(d, run);
	struct error *err = r ? NULL : look_for_runs(d);

	if (!err && !r)
		r = find_run(d, run);
	if (!err && r && !r->recording.file.bytes && !r->why)
		r->why = open_run(d, r);
	if (!err && r && r->why)
		err = error_copy(r->why);
	if (!err)
		*ret = r;
	return err;
}

/* *ret: there is something new in the recording. */
static struct error *follow_run(struct token_decoder *d, struct token_run *r, bool *ret)
{
	struct process process;
	struct error *err = recording_follow(&r->recording, ret);

	if (err || !*ret)
		return err;
	err = process_init(&process, &r->recording.wmk, &d->cache);
	if (err)
		return err;
	process_deinit(&r->process);
	r->process = process;
	return NULL;
}

static bool has_build(const struct wmk_image *image, const struct token *t)
{
	const uint8_t *b = image->build_id;

	if (!image->site_count) /* only its paths were counted, before it had begun */
		return false;
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
	struct context_key key = {.id = t->id, .prefix = t->prefix, .site = t->site, .epoch = t->epoch};

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
	struct context_key key = {.id = t->id, .prefix = t->prefix, .site = WM_SITE_FIRST + t->site, .epoch = t->epoch};
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
	err = look_for_runs(d);
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
	if (err && (err->code == ERROR_NOT_FOUND || err->code == ERROR_FORMAT)) {
		bool is_new;
		struct error *failed = follow_run(d, r, &is_new);

		if (failed || is_new) {
			error_destroy(err);
			err = failed ? failed : decode_in_run(d, r, t, frames);
		}
	}
	return err;
}

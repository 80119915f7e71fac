/* cache.c - a header that says what the bytes are of, and the bytes of analysis_bytes.h behind it (cache.h). */
#include "cli/slicing/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/analysis_bytes.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/text.h"
#include "object/new_file.h"

static const char prefix[] = "waymark-slice-", suffix[] = ".cache";

enum {
	HEADER_BYTES = 24, /* key, length of the bytes, their hash; 8 bytes each */
	NAME_ID_BYTES = 8, /* of the build id */
};

/* ---- names ---- */

/* This program is one build of Waymark: another one may find other things out. */
static uint64_t hash_of_this_program(void)
{
	struct object o;
	struct error *err = object_read("/proc/self/exe", 0, &o);
	uint64_t hash = hash_bytes(HASH_START, WAYMARK_VERSION, sizeof WAYMARK_VERSION);

	if (err) {
		error_destroy(err);
		return hash;
	}
	hash = hash_bytes(hash, o.build_id.bytes, o.build_id.len_bytes);
	object_deinit(&o);
	return hash;
}

static uint64_t hash_of(const struct slicing_cache_key *key)
{
	uint64_t code = analysis_hash_of_code(key->code), hash = hash_of_this_program();

	hash = hash_bytes(hash, key->build_id->bytes, key->build_id->len_bytes);
	hash = hash_bytes(hash, &code, sizeof code);
	return key->runs ? hash_bytes(hash, key->runs, key->code->block_count * sizeof *key->runs) : hash;
}

static char *name_of(const struct slicing_cache_key *key, uint64_t hash)
{
	char id[2 * NAME_ID_BYTES + 1] = "", *ret;

	for (uint32_t i = 0; i < key->build_id->len_bytes && i < NAME_ID_BYTES; i++)
		snprintf(id + 2 * (size_t)i, 3, "%02x", key->build_id->bytes[i]);
	return asprintf(&ret, "%s/%s%s-%016" PRIx64 "%s", key->folder, prefix, id, hash, suffix) < 0 ? NULL : ret;
}

struct error *slicing_cache_folder(const char *name, const char *file, char **ret)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	struct stat s;

	if (name)
		*ret = strdup(name);
	else
		*ret = slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file)) : strdup(".");
	if (!*ret)
		return &error_no_memory;
	if (stat(*ret, &s) == 0 && S_ISDIR(s.st_mode))
		return NULL;
	return error_create(ERROR_ARGUMENT, "--cache=%s: this is no folder", *ret);
}

/* ---- reading ---- */

/* A file of this user that nobody else can have written. *ret is mapped. */
static bool map_file(const char *path, uint8_t **ret, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat s;
	void *bytes = MAP_FAILED;

	if (fd < 0)
		return false;
	if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && !(s.st_mode & 022) &&
	    s.st_size > HEADER_BYTES && s.st_size <= CACHE_FILE_BYTES_MAX)
		bytes = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return false;
	*ret = bytes;
	*ret_len = (size_t)s.st_size;
	return true;
}

/* Why it is coarse, which depends on the limits; behind it are the bytes of the analysis. */
static struct error *read_coarse(const struct slicing_cache_key *key, struct cursor *bytes, char **ret)
{
	uint64_t limit_bytes, limit_steps, len_bytes;
	const uint8_t *text;
	struct error *err = cursor_u64(bytes, &limit_bytes);

	if (!err)
		err = cursor_u64(bytes, &limit_steps);
	if (!err)
		err = cursor_u64(bytes, &len_bytes);
	if (!err)
		err = cursor_bytes(bytes, len_bytes, &text);
	if (err || !len_bytes)
		return err;
	if (limit_bytes != key->limit.bytes || limit_steps != key->limit.steps)
		return cursor_error(bytes, "it is of another limit");
	*ret = strndup((const char *)text, len_bytes);
	return *ret ? NULL : &error_no_memory;
}

static struct error *read_bytes(const struct slicing_cache_key *key, uint64_t hash, struct cursor *bytes, char **coarse,
				struct memory *m, struct regions *r)
{
	uint64_t header[3];
	struct error *err = NULL;

	for (int i = 0; i < 3 && !err; i++)
		err = cursor_u64(bytes, &header[i]);
	if (!err && (header[0] != hash || header[1] != cursor_left(bytes) ||
		     header[2] != hash_bytes(HASH_START, bytes->start + bytes->off, cursor_left(bytes))))
		err = cursor_error(bytes, "it is damaged");
	if (!err)
		err = read_coarse(key, bytes, coarse);
	return err ? err : analysis_read(bytes, key->code, m, r);
}

bool slicing_cache_read(const struct slicing_cache_key *key, char **ret_coarse, struct memory *ret_memory,
			struct regions *ret_regions)
{
	uint64_t hash = key->folder ? hash_of(key) : 0;
	char *path = key->folder ? name_of(key, hash) : NULL;
	struct cursor bytes;
	char *coarse = NULL;
	uint8_t *start;
	size_t len_bytes;
	struct error *err;

	if (!path || !map_file(path, &start, &len_bytes)) {
		free(path);
		return false;
	}
	cursor_init(&bytes, start, len_bytes, path);
	err = read_bytes(key, hash, &bytes, &coarse, ret_memory, ret_regions);
	munmap(start, len_bytes);
	/* The time says which files are in use. */
	if (!err)
		utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
	free(path);
	if (!err) {
		*ret_coarse = coarse;
		return true;
	}
	free(coarse);
	error_destroy(err);
	return false;
}

/* ---- room ---- */

struct found {
	char *name;
	struct timespec used;
};
VEC_DECLARE(found_vec, struct found);

static int compare_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct found *)a)->used, *y = &((const struct found *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static bool is_of_cache(const char *name)
{
	size_t len = strlen(name);

	return text_begins(name, prefix) && len > strlen(suffix) && strcmp(name + len - strlen(suffix), suffix) == 0;
}

static struct error *find_files(int folder, DIR *entries, struct found_vec *ret)
{
	struct error *err = NULL;
	struct dirent *e;
	struct stat s;

	while (!err && (e = readdir(entries))) {
		struct found found;

		if (!is_of_cache(e->d_name) || fstatat(folder, e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(s.st_mode) || s.st_uid != geteuid())
			continue;
		found = (struct found){strdup(e->d_name), s.st_mtim};
		err = found.name ? found_vec_append(ret, found) : &error_no_memory;
		if (err)
			free(found.name);
	}
	return err;
}

/* Removes those that were not used for longest, until there is room for one more. */
static struct error *make_room(const char *folder)
{
	struct found_vec found = {0};
	DIR *entries = opendir(folder);
	struct error *err = NULL;
	int fd;

	if (!entries)
		return error_os(errno, "%s", folder);
	fd = dirfd(entries);
	err = fd < 0 ? error_os(errno, "%s", folder) : find_files(fd, entries, &found);
	if (found.count)
		qsort(found.items, found.count, sizeof *found.items, compare_use);
	for (size_t i = 0; !err && i + CACHE_FILES_MAX <= found.count; i++)
		unlinkat(fd, found.items[i].name, 0);
	for (size_t i = 0; i < found.count; i++)
		free(found.items[i].name);
	found_vec_deinit(&found);
	closedir(entries);
	return err;
}

/* ---- writing ---- */

static struct error *write_file(const char *path, const struct buffer *b)
{
	struct new_file file;
	struct error *err = new_file_open(path, &file);
	FILE *out = err ? NULL : fdopen(file.fd, "wb");

	if (err)
		return err;
	if (!out) {
		err = error_os(errno, "%s", path);
		close(file.fd);
		return new_file_end(&file, err);
	}
	if (fwrite(b->bytes, 1, b->len_bytes, out) != b->len_bytes)
		err = error_os(errno, "%s", path);
	if (fclose(out) != 0 && !err)
		err = error_os(errno, "%s", path);
	return new_file_end(&file, err);
}

struct error *slicing_cache_write(const struct slicing_cache_key *key, const char *coarse, const struct memory *m,
				  const struct regions *r)
{
	CLEANUP(buffer_deinit) struct buffer b = {0};
	size_t coarse_len = coarse ? strlen(coarse) : 0;
	uint64_t hash;
	char *path;
	struct error *err;

	if (!key->folder)
		return NULL;
	hash = hash_of(key);
	buffer_u64(&b, hash);
	buffer_u64(&b, 0);
	buffer_u64(&b, 0);
	buffer_u64(&b, key->limit.bytes);
	buffer_u64(&b, key->limit.steps);
	buffer_u64(&b, coarse_len);
	buffer_bytes(&b, coarse, coarse_len);
	analysis_write(m, r, &b);
	err = buffer_error(&b);
	if (err || b.len_bytes > CACHE_FILE_BYTES_MAX)
		return err;
	buffer_put(&b, 8, b.len_bytes - HEADER_BYTES, 8);
	buffer_put(&b, 16, hash_bytes(HASH_START, b.bytes + HEADER_BYTES, b.len_bytes - HEADER_BYTES), 8);
	path = name_of(key, hash);
	err = path ? make_room(key->folder) : &error_no_memory;
	if (!err)
		err = write_file(path, &b);
	free(path);
	return err;
}

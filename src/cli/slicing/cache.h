/*
 * cache.h - analyses of code in files of a folder (--cache), so that the next question about a program is answered sooner.
 *
 *      FOLDER/waymark-slice-BUILDID-KEY.cache      key: of the code, of what ran of it, and of the version of Waymark
 *
 * A file is this user's alone, gets its name when it is whole (object/new_file.h), and has a check sum. What is not as it should be counts as not
 * there. The folder keeps CACHE_FILES_MAX of these files, of CACHE_FILE_BYTES_MAX each; the oldest ones go. All of them can be deleted at any time.
 */
#ifndef WM_CLI_SLICING_CACHE_H
#define WM_CLI_SLICING_CACHE_H

#include "analyze/regions.h"
#include "object/object.h"

enum {
	CACHE_FILES_MAX = 16,
	CACHE_FILE_BYTES_MAX = 256 << 20,
};

/* Which analysis of which code. */
struct slicing_cache_key {
	const char *folder; /* NULL: there is no cache */
	const struct build_id *build_id;
	const struct code *code;
	const bool *runs;            /* as in memory_analyse */
	struct pointers_limit limit; /* the coarser analysis of another limit is not taken */
};

/* The folder that was named; NULL: that of a file, which may be NULL for the present folder. *ret is malloc'd. */
struct error *slicing_cache_folder(const char *name, const char *file, char **ret);

/* False: it is not there. On success the caller deinits both. *ret_coarse: malloc'd; why the finer analysis was given up, NULL if it was not. */
bool slicing_cache_read(const struct slicing_cache_key *key, char **ret_coarse, struct memory *ret_memory,
			struct regions *ret_regions);

/* One that cannot be kept for its size is not, without a word; a folder that cannot be written is an error. */
struct error *slicing_cache_write(const struct slicing_cache_key *key, const char *coarse, const struct memory *m,
				  const struct regions *r);

#endif

/*
 * locate.h - where the file of an image is now: its program or library, or its debug file.
 *
 * Looked at in this order, until one is the right one:
 *   1. files and directories that the user named (`--exe`); in a directory the file of the loaded one's name comes first,
 *   2. the path at which the image was loaded; of a live process then what it has mapped, whose name may be gone,
 *   3. DIR/.build-id/xx/yyyy.debug (a debug file) and DIR/.build-id/xx/yyyy (a program), for each `--debug-dir DIR`, then for
 *      /usr/lib/debug, or what WAYMARK_DEBUG_DIR names in its place,
 *   4. the .gnu_debuglink of a stripped file: beside that file, in .debug/ beside it, under each DIR of 3,
 *   5. the .gnu_debugaltlink of a debug file (what dwz has made one file of for several): under each DIR of 3, of an absolute link what
 *      follows /usr/lib/debug, or all of it. elfutils looks beside the debug file and where the link says.
 * The caller reads a file and decides whether it is the right one; a name proves nothing.
 */
#ifndef WM_OBJECT_LOCATE_H
#define WM_OBJECT_LOCATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "object/object.h"

VEC_DECLARE(path_vec, char *);

/* Files and folders that the user named. All zero: none. */
struct object_search {
	struct path_vec exes;       /* files or directories */
	struct path_vec debug_dirs; /* as in gdb: roots that hold .build-id/ */
};

void object_search_init(struct object_search *s);
void object_search_deinit(struct object_search *s);
struct error *object_search_add_exe(struct object_search *s, const char *path);
struct error *object_search_add_debug_dir(struct object_search *s, const char *path);

/* Appends a copy of path, which path_vec_free frees. */
struct error *path_vec_add(struct path_vec *v, const char *path);
void path_vec_free(struct path_vec *v);

/* A live process's mapping of the file. */
struct locate_mapping {
	pid_t pid;
	uint64_t start;
	uint64_t end;
};

struct locate {
	const struct object_search *search; /* NULL: the user named nothing */
	const char *path;                   /* NULL: not known */
	struct build_id build_id;           /* len_bytes 0: not known; then there is no 3 */
	bool is_partial;                    /* of the build id only the beginning is known */
	bool wants_program;                 /* without it: no directories in 1, no programs in 3 */
	bool wants_debug;                   /* without it: no debug files in 3 */
	bool is_by_name; /* what the user named counts only if it has the name of `path`, which is known */
	const struct locate_mapping *mapping; /* NULL: none */
	/* Looks at one file; true ends the search. It may be no ELF file; named by the user, it may not be there. */
	bool (*try)(void *state, const char *path);
	/* A directory that the user named cannot be read. NULL: nobody wants to know. */
	void (*unreadable)(void *state, const char *dir, int errnum);
	void *state;
};

/* 1 to 3. Did a try succeed? Without memory for a path that is passed over. */
bool locate_file(const struct locate *l);
/* 4: link, the .gnu_debuglink of the file at `path`. */
bool locate_debuglink(const struct locate *l, const char *path, const char *link);
/* 5. */
bool locate_altlink(const struct locate *l, const char *link);
/* Where elfutils looks for debug files by itself (Dwfl_Callbacks.debuginfo_path): beside the file, and 3 and 4 without the user's. */
char **locate_debuginfo_path(void);

#endif

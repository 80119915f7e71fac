/*
 * new_file.h - files that nobody else can have prepared: each is made under a name that cannot be guessed, beside the place where it is to
 * be, and gets its own name when it is whole. No malloc, no stdio; all return -errno on failure.
 */
#ifndef WM_RECORDER_NEW_FILE_H
#define WM_RECORDER_NEW_FILE_H

#include <stddef.h>

enum {
	WMRT_NEW_FILE_SUFFIX_BYTES = 32, /* what a name beside `path` may be longer than path */
};

/* A descriptor of a new, empty file in the directory of `path`, an absolute or relative path. temp: its name. */
int wmrt_new_file(const char *path, unsigned int mode, char *temp, size_t size);
/* Gives it the name `path`. -EEXIST: there is something of that name, also a link that leads nowhere. */
int wmrt_new_file_name(const char *temp, const char *path);
/* Renames the file to `path`, replacing what is there. -EPERM: that belongs to another user. */
int wmrt_new_file_replace(const char *temp, const char *path);

#endif

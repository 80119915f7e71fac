/*
 * new_file.h - files that take their name only when they are whole, and that nobody else can have prepared: each is made under a name that
 * cannot be guessed, beside the place where it is to be.
 */
#ifndef WM_OBJECT_NEW_FILE_H
#define WM_OBJECT_NEW_FILE_H

#include "base/error.h"

struct new_file {
	int fd;     /* the caller closes it */
	char *path; /* what it will be called */
	char *temp; /* what it is called */
};

/* An empty file that only this user may read. */
struct error *new_file_open(const char *path, struct new_file *ret);
/* After NULL the caller has written it and closed fd: gives it its name, in place of what is there. Else removes it and returns err. */
struct error *new_file_end(struct new_file *f, struct error *err);
/* ERROR_ARGUMENT if another user's file is at `path`. Links are not followed. */
struct error *new_file_check_owner(const char *path);

#endif

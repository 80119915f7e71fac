/* new_file.c - mkostemp makes the file (O_EXCL, which follows no link), rename gives it its name. */
#include "object/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct error *new_file_check_owner(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0 || st.st_uid == geteuid())
		return NULL;
	return error_create(ERROR_ARGUMENT, "%s: belongs to another user and is not replaced; choose another name",
			    path);
}

static struct error *cannot_write(const char *path)
{
	return error_os(errno, "%s: cannot be written", path);
}

/* In the directory of `path`, and short: path may be as long as a name can be. */
static char *name_beside(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *ret;

	return asprintf(&ret, "%.*s.waymark-XXXXXX", slash ? (int)(slash + 1 - path) : 0, path) < 0 ? NULL : ret;
}

struct error *new_file_open(const char *path, struct new_file *ret)
{
	struct new_file f = {.path = strdup(path), .temp = name_beside(path)};
	struct error *err = NULL;

	if (!f.path || !f.temp)
		err = &error_no_memory;
	else if ((f.fd = mkostemp(f.temp, O_CLOEXEC)) < 0)
		err = cannot_write(path);
	if (err) {
		free(f.path);
		free(f.temp);
	} else {
		*ret = f;
	}
	return err;
}

struct error *new_file_end(struct new_file *f, struct error *err)
{
	if (!err && rename(f->temp, f->path) != 0)
		err = cannot_write(f->path);
	if (err)
		unlink(f->temp);
	free(f->path);
	free(f->temp);
	*f = (struct new_file){.fd = -1};
	return err;
}

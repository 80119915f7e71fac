/* output.c - output files that get their name when they are whole (object/new_file.h), so that no partial file looks whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"

static struct error *cannot_write(const struct output *out, int errnum)
{
	return error_os(errnum, "%s: cannot be written", out->path ? out->path : "standard output");
}

/* A device or a pipe is written in place: there is nothing to rename. Never a regular file, should one have come there meanwhile. */
static struct error *open_in_place(struct output *out)
{
	int fd = open(out->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return cannot_write(out, errno);
	if (fstat(fd, &st) != 0 || S_ISREG(st.st_mode)) {
		close(fd);
		return cannot_write(out, EEXIST);
	}
	out->file = fdopen(fd, "w");
	if (out->file)
		return NULL;
	close(fd);
	return &error_no_memory;
}

static struct error *open_new(struct output *out, const char *path)
{
	struct error *err = new_file_open(path, &out->new);
	mode_t mask;

	if (err)
		return err;
	out->is_new = true;
	mask = umask(0);
	umask(mask);
	fchmod(out->new.fd, 0666 & ~mask);
	out->file = fdopen(out->new.fd, "w");
	if (out->file)
		return NULL;
	close(out->new.fd);
	return &error_no_memory;
}

/* Replaces the target of a link, not the link: one of this user or of root, as /dev/stdout is. */
static struct error *open_target(struct output *out)
{
	char *real = realpath(out->path, NULL);
	struct error *err;

	if (!real && errno != ENOENT)
		return cannot_write(out, errno);
	err = new_file_check_owner(real ? real : out->path);
	if (!err)
		err = open_new(out, real ? real : out->path);
	free(real);
	return err;
}

static struct error *check_link(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode) || st.st_uid == geteuid() || st.st_uid == 0)
		return NULL;
	return error_create(ERROR_ARGUMENT, "%s: is a link of another user and is not followed; choose another name",
			    path);
}

/* Closes the file, if it is another than standard output. 0 or errno. */
static int end_file(struct output *out)
{
	int errnum = 0;

	errno = 0;
	if (out->file && (ferror(out->file) || fflush(out->file) != 0))
		errnum = errno ? errno : EIO;
	if (out->file && out->path && fclose(out->file) != 0 && !errnum)
		errnum = errno;
	out->file = NULL;
	return errnum;
}

static bool is_standard_output(const struct stat *st)
{
	struct stat own;

	return fstat(STDOUT_FILENO, &own) == 0 && own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

struct error *output_open(const char *path, struct output *ret)
{
	struct output out = {.path = path};
	struct stat st;
	bool is_there = path && stat(path, &st) == 0;
	struct error *err;

	if (!path || strcmp(path, "-") == 0 || (is_there && is_standard_output(&st))) {
		*ret = (struct output){.file = stdout};
		return NULL;
	}
	if (is_there && S_ISDIR(st.st_mode))
		return error_create(ERROR_ARGUMENT, "%s: is a directory, a file is needed", path);
	err = check_link(path);
	if (!err)
		err = is_there && !S_ISREG(st.st_mode) ? open_in_place(&out) : open_target(&out);
	if (!err)
		*ret = out;
	else if (out.is_new)
		new_file_end(&out.new, err);
	return err;
}

struct error *output_end(struct output *out, struct error *err)
{
	int errnum = end_file(out);

	if (!err && errnum)
		err = cannot_write(out, errnum);
	if (out->is_new)
		err = new_file_end(&out->new, err);
	return err;
}

struct error *output_write(const char *path, const void *bytes, size_t len_bytes)
{
	struct output out;
	struct error *err = output_open(path, &out);

	if (err)
		return err;
	fwrite(bytes, 1, len_bytes, out.file);
	return output_end(&out, NULL);
}

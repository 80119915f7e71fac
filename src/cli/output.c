/* output.c - output files by temporary name and rename, so that no partial file looks whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"

static struct error *cannot_write(const struct output *out, int errnum)
{
	return error_os(errnum, "%s: cannot be written", out->path ? out->path : "standard output");
}

/* A device or a pipe is written in place: there is nothing to rename. */
static struct error *open_in_place(struct output *out)
{
	out->file = fopen(out->path, "we");
	return out->file ? NULL : cannot_write(out, errno);
}

static struct error *open_temp(struct output *out)
{
	mode_t mask;
	int fd;

	if (asprintf(&out->temp_path, "%s.XXXXXX", out->path) < 0) {
		out->temp_path = NULL;
		return &error_no_memory;
	}
	fd = mkstemp(out->temp_path);
	if (fd < 0) {
		int errnum = errno;

		free(out->temp_path);
		out->temp_path = NULL;
		return cannot_write(out, errnum);
	}
	mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	out->file = fdopen(fd, "w");
	if (out->file)
		return NULL;
	close(fd);
	return &error_no_memory;
}

static void abandon(struct output *out)
{
	if (out->path && out->file)
		fclose(out->file);
	out->file = NULL;
	if (out->temp_path)
		unlink(out->temp_path);
	free(out->temp_path);
	out->temp_path = NULL;
}

static struct error *commit(struct output *out)
{
	struct error *err = NULL;

	errno = 0;
	if (ferror(out->file) || fflush(out->file) != 0)
		err = cannot_write(out, errno ? errno : EIO);
	if (!out->path)
		return err;
	if (fclose(out->file) != 0 && !err)
		err = cannot_write(out, errno);
	out->file = NULL;
	if (!err && out->temp_path && rename(out->temp_path, out->path) != 0)
		err = cannot_write(out, errno);
	if (!err) {
		free(out->temp_path);
		out->temp_path = NULL;
	}
	abandon(out);
	return err;
}

struct error *output_open(const char *path, struct output *ret)
{
	struct output out = {.path = path};
	struct stat st;
	struct error *err;

	if (!path || strcmp(path, "-") == 0) {
		*ret = (struct output){.file = stdout};
		return NULL;
	}
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_create(ERROR_ARGUMENT, "%s: is a directory, a file is needed", path);
	err = stat(path, &st) == 0 && !S_ISREG(st.st_mode) ? open_in_place(&out) : open_temp(&out);
	if (err)
		abandon(&out);
	else
		*ret = out;
	return err;
}

struct error *output_end(struct output *out, struct error *err)
{
	if (!err)
		return commit(out);
	abandon(out);
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

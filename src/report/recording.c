/* recording.c - opens .wmk files. */
#include <fcntl.h>
#include <unistd.h>

#include "report/recording.h"

struct error *recording_open(const char *path, struct recording *ret)
{
	struct recording r;
	struct error *err = file_map(path, &r.file);

	if (err)
		return err;
	err = wmk_read(r.file.bytes, r.file.len_bytes, path, &r.wmk);
	if (err)
		file_unmap(&r.file);
	else
		*ret = r;
	return err;
}

void recording_close(struct recording *r)
{
	wmk_file_deinit(&r->wmk);
	file_unmap(&r->file);
}

bool recording_header(const char *path, struct wmk_header *ret)
{
	uint8_t page[WMK_HEADER_BYTES];
	struct error *err;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t got;

	if (fd < 0)
		return false;
	got = pread(fd, page, sizeof page, 0);
	close(fd);
	if (got <= 0)
		return false;
	err = wmk_read_header(page, (size_t)got, path, ret);
	error_destroy(err);
	return !err;
}

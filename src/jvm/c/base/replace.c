/* replace.c - the new file has another name until it is whole. */
#include "jvm/c/base/replace.h"

#include <unistd.h>

#include "recorder/new_file.h"

enum {
	PATH_BYTES = 4096,
	MODE = 0644, /* not for others to write, whatever the umask is: the next run believes it */
};

bool jvm_replace_file(const char *path, bool (*print)(FILE *file, const void *data), const void *data)
{
	char temp[PATH_BYTES + WMRT_NEW_FILE_SUFFIX_BYTES];
	int fd = wmrt_new_file(path, MODE, temp, sizeof temp);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	bool is_written;

	if (fd < 0)
		return false;
	if (!file)
		close(fd);
	is_written = file && print(file, data);
	if (file)
		is_written &= fclose(file) == 0;
	if (is_written && wmrt_new_file_replace(temp, path) == 0)
		return true;
	unlink(temp);
	return false;
}

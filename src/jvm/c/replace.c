/* replace.c - the new file has another name until it is whole. */
#include "jvm/c/replace.h"

#include <stdint.h>
#include <unistd.h>

#include "recorder/text.h"

enum {
	PATH_BYTES = 4096,
};

bool jvm_replace_file(const char *path, bool (*print)(FILE *file, const void *data), const void *data)
{
	char other[PATH_BYTES];
	struct wmrt_text text = {other, sizeof other, 0};
	bool is_written;
	FILE *file;

	wmrt_text_add(&text, path);
	wmrt_text_add(&text, ".new");
	wmrt_text_number(&text, (uint64_t)getpid(), 10, 1);
	file = wmrt_text_fits(&text) ? fopen(other, "we") : NULL;
	if (!file)
		return false;
	is_written = print(file, data);
	is_written &= fclose(file) == 0;
	if (is_written && rename(other, path) == 0)
		return true;
	unlink(other);
	return false;
}

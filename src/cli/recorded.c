/* recorded.c - reads the first page of each .wmk in a directory: the header says when the process began. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recorded.h"
#include "report/recording.h"

enum {
	NAMES_MAX = 10, /* printed one by one */
};

static bool is_since(const char *path, uint64_t since_ns)
{
	struct wmk_header header;

	return recording_header(path, &header) && header.start_realtime_ns >= since_ns;
}

unsigned int recorded_print(const char *dir, uint64_t since_ns, FILE *f)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, NULL, alphasort);
	unsigned int found = 0;

	for (int i = 0; i < count; i++) {
		size_t len = strlen(entries[i]->d_name);
		char *path;

		if (len > 4 && strcmp(entries[i]->d_name + len - 4, ".wmk") == 0 &&
		    asprintf(&path, "%s%s%s", strcmp(dir, ".") ? dir : "", strcmp(dir, ".") ? "/" : "",
			     entries[i]->d_name) >= 0) {
			if (is_since(path, since_ns) && ++found <= NAMES_MAX)
				fprintf(f, "waymark run: wrote %s\n", path);
			free(path);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (found > NAMES_MAX)
		fprintf(f, "waymark run: wrote %u more files in %s\n", found - NAMES_MAX, dir);
	return found;
}

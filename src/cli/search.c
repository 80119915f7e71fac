/* search.c - --exe and --debug-dir. */
#include <errno.h>
#include <unistd.h>

#include "cli/search.h"

struct error *search_option(struct object_search *s, int option, const char *path)
{
	if (access(path, R_OK) != 0)
		return error_os(errno, "%s", path);
	return option == OPTION_EXE ? object_search_add_exe(s, path) : object_search_add_debug_dir(s, path);
}

/* search_options.c - --exe and --debug-dir; --source-dir. */
#include <errno.h>
#include <unistd.h>

#include "cli/search_options.h"
#include "model/source/source.h"

static struct error *check_readable(const char *path)
{
	return access(path, R_OK) != 0 ? error_os(errno, "%s", path) : NULL;
}

static struct error *add_exe(void *search, const char *path)
{
	struct error *err = check_readable(path);

	return err ? err : object_search_add_exe(search, path);
}

static struct error *add_debug_dir(void *search, const char *path)
{
	struct error *err = check_readable(path);

	return err ? err : object_search_add_debug_dir(search, path);
}

const struct option_row search_options[] = {
	{.name = "exe",
	 .argument = "PATH",
	 .help = "a program, shared library or debug file, or a directory of them, to find names in; it must be of the same "
		 "build",
	 .is_repeatable = true,
	 .completion = COMPLETE_FILE,
	 OPTION_SET(add_exe)},
	{.name = "debug-dir",
	 .argument = "DIR",
	 .help = "also look for DIR/.build-id/xx/yyyy.debug",
	 .is_repeatable = true,
	 .completion = COMPLETE_DIRECTORY,
	 OPTION_SET(add_debug_dir)},
	OPTIONS_END,
};

static struct error *add_source_dir(void *sources, const char *place)
{
	return sources_add_place(sources, place);
}

const struct option_row source_options[] = {
	{.name = "source-dir",
	 .argument = "DIR",
	 .help = "look for source files under DIR; OLD=NEW: look under NEW for those that were under OLD when the program "
		 "was built",
	 .is_repeatable = true,
	 .completion = COMPLETE_DIRECTORY,
	 OPTION_SET(add_source_dir)},
	OPTIONS_END,
};

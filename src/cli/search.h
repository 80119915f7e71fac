/*
 * search.h - the options by which subcommands that show contexts are told where programs and debug files are:
 * --exe PATH (file or directory) and --debug-dir DIR, each as often as wanted.
 */
#ifndef WM_CLI_SEARCH_H
#define WM_CLI_SEARCH_H

#include <getopt.h>

#include "object/find.h"

enum {
	OPTION_EXE = 256, /* values for struct option; subcommands number theirs from OPTION_FIRST */
	OPTION_DEBUG_DIR,
	OPTION_FIRST,
};

#define SEARCH_OPTIONS                                                 \
	{"exe", required_argument, NULL, OPTION_EXE},                  \
	{                                                              \
		"debug-dir", required_argument, NULL, OPTION_DEBUG_DIR \
	}
#define SEARCH_HELP                                                                        \
	"  --exe PATH        a program, shared library or debug file, or a directory of\n" \
	"                    them, to find names in; it must be of the same build\n"       \
	"  --debug-dir DIR   also look for DIR/.build-id/xx/yyyy.debug\n"

/* Takes one of the two options; ERROR_NOT_FOUND when the path does not exist. */
struct error *search_option(struct object_search *s, int option, const char *path);

#endif

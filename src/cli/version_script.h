/*
 * version_script.h - a program's version script with the runtime's symbols added to its first node.
 *
 * A program that exports only what its script lists would hide the runtime from the rest of the process (the heap client,
 * instrumented libraries), and there would be two of them.
 */
#ifndef WM_CLI_VERSION_SCRIPT_H
#define WM_CLI_VERSION_SCRIPT_H

#include <stdbool.h>

#include "base/error.h"

struct version_scripts {
	const char *exports; /* symbols, each followed by a semicolon */
	/* where in the command line we are */
	bool path_is_next;
	bool linker_option_is_next;
};

/*
 * Takes the words of a compiler's command line one after the other. When a word hands a version script to the linker, *ret
 * is a malloc'd word to use instead, which names a copy in memory that this process's children see as /proc/self/fd/N;
 * else NULL.
 */
struct error *version_scripts_word(struct version_scripts *v, const char *word, char **ret);

#endif

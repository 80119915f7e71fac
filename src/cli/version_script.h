/*
 * version_script.h - a program's version script with the runtime's symbols added to its first node.
 *
 * A program that exports only what its script lists would hide the runtime from the rest of the process (the heap client,
 * instrumented libraries), and there would be two of them.
 */
#ifndef WM_CLI_VERSION_SCRIPT_H
#define WM_CLI_VERSION_SCRIPT_H

#include "base/error.h"

/*
 * word is one word of a compiler's command line, next the one after it (or NULL). If it hands version scripts to the
 * linker, *ret_word is a malloc'd word to use instead, which names copies in memory that this process's children see as
 * /proc/self/fd/N; else NULL. exports: symbols apart by white space.
 */
struct error *version_script_replace(const char *word, const char *exports, char **ret_word);

#endif

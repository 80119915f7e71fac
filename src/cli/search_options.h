/*
 * search_options.h - the options that say, to subcommands that show contexts, where programs and debug files are:
 * --exe PATH (file or directory) and --debug-dir DIR, each as often as wanted.
 */
#ifndef WM_CLI_SEARCH_OPTIONS_H
#define WM_CLI_SEARCH_OPTIONS_H

#include "cli/options.h"
#include "object/find.h"

extern const struct option_row search_options[]; /* of struct object_search */
/* Where sources are: --source-dir, of those that show them. */
extern const struct option_row source_options[]; /* of struct sources */

#endif

/*
 * recording_options.h - options about recordings that `waymark run` and `waymark attach` share.
 */
#ifndef WM_CLI_RECORDING_OPTIONS_H
#define WM_CLI_RECORDING_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/vec.h"

/* The value of --limit. */
struct error *recording_limit_check(const char *text);
/* The value of --recent. */
struct error *recording_recent_check(const char *text);
/* Adds the value of --label, KEY=VALUE, to WAYMARK_LABELS, before those that are there. */
struct error *recording_label_add(const char *text);
/* Checks WAYMARK_LIMIT and WAYMARK_AGENT, if they are set. */
struct error *recording_environment_check(void);
/* The pattern for WAYMARK_OUT, absolute: the program may change its directory before it records anything. Ends with a zero byte. */
struct error *recording_pattern(const char *place, struct buffer *ret);
/* -o FILE is the recording of this run: not the second one beside that of an earlier run, which is renamed unless it is in use. */
struct error *recording_make_room(const char *command, const char *output, bool is_quiet);

#endif

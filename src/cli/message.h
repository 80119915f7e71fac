/*
 * message.h - what subcommands say to the user, in one form: "waymark NAME: text", one line on stderr.
 */
#ifndef WM_CLI_MESSAGE_H
#define WM_CLI_MESSAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

enum {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
};

void message_warn(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints and destroys err; STATUS_FAILED, or STATUS_OK for NULL. */
int message_error(const char *command, struct error *err);
/* Prints what is wrong with the command line and where help is; STATUS_USAGE. */
int message_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* getopt_long returned '?' or ':' (optstring starts with ':', opterr is 0): says which option; STATUS_USAGE. */
int message_bad_option(const char *command, int result, char **argv);
/* Prints help on stdout; STATUS_OK, or STATUS_FAILED if stdout cannot take it. */
int message_help(const char *command, const char *text);
/* Whether f takes colours: a terminal, NO_COLOR not set, TERM not dumb. */
bool message_has_colour(FILE *f);

#endif

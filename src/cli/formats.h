/*
 * formats.h - the option --format of the subcommands, and its part of their help.
 */
#ifndef WM_CLI_FORMATS_H
#define WM_CLI_FORMATS_H

#include "base/error.h"
#include "base/word_table.h"

/* Prints head, a line for each format, and tail; STATUS_OK or STATUS_FAILED. */
int formats_help(const char *command, const struct word_table *t, const char *head, const char *tail);

/* The error of a name that is in no table. */
struct error *formats_unknown(const char *command, const char *name);

#endif

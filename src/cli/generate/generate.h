/*
 * generate.h - what is made from the tables of options when Waymark is built: manual pages and completions.
 *
 * Each takes a template. A template that describes an option which does not exist, or lacks one, is an error.
 */
#ifndef WM_CLI_GENERATE_GENERATE_H
#define WM_CLI_GENERATE_GENERATE_H

#include <stdio.h>

#include "base/error.h"

struct command;

/* command: whose page it is; NULL: of waymark itself, which lists all commands. */
struct error *generate_man(const char *path, const struct command *command, FILE *out);
struct error *generate_bash(const char *path, FILE *out);
struct error *generate_zsh(const char *path, FILE *out);

#endif

/*
 * shell.h - what both completions take from the tables of options.
 */
#ifndef WM_CLI_GENERATE_SHELL_H
#define WM_CLI_GENERATE_SHELL_H

#include <stdio.h>

#include "cli/options.h"

/* The words that complete a value, each as far as it is fixed ("trace=" of trace=RULES). */
void shell_print_words(const struct option_row *row, FILE *out);

#endif

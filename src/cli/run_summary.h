/*
 * run_summary.h - what `waymark run` says at the end where no option chose what is recorded: where the time went, who allocates, what was not
 * given back, and which commands tell more.
 */
#ifndef WM_CLI_RUN_SUMMARY_H
#define WM_CLI_RUN_SUMMARY_H

#include "cli/recording_operands.h"

/*
 * Prints up to five lines on standard error. Nothing is said about recordings that take long to read, many or large ones, but the
 * commands; an error is a line, too.
 */
void run_summary_print(const struct recording_paths *recordings);

#endif

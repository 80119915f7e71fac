/*
 * options.h - one way through a command line for the subcommands: getopt_long and what to say when it goes wrong.
 */
#ifndef WM_CLI_OPTIONS_H
#define WM_CLI_OPTIONS_H

#include <getopt.h>

#include "base/error.h"
#include "base/vec.h"

/* Values of an option that may be given several times. */
VEC_DECLARE(glob_vec, const char *);

enum {
	OPTIONS_HELP = -1, /* --help: the caller prints it */
};

struct options {
	const char *command;
	const char *letters; /* as for getopt, without leading ':'; "+" first: stop at the first operand, "-":
			      * operands are options 1 */
	const struct option *long_options;
	/* Takes one option; optarg is its value. ERROR_ARGUMENT: a wrong value, the exit status is then that of misuse. */
	struct error *(*set)(void *state, int option);
};

/* STATUS_OK with optind at the first operand, OPTIONS_HELP, or the exit status after a message on stderr. */
int options_parse(const struct options *options, void *state, int argc, char **argv);

#endif

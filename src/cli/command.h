/*
 * command.h - the subcommands of `waymark`: one file and one row in commands.c each.
 */
#ifndef WM_CLI_COMMAND_H
#define WM_CLI_COMMAND_H

#include "cli/options.h"

enum {
	OPERANDS_MAX = 2,
};

/* An operand after the options, for completions. */
struct operand {
	const char *name;
	enum completion completion;
	const char *suffix; /* of files, NULL: any */
	bool is_repeated;
};

struct command {
	const char *name;
	const char *summary; /* one line of `waymark --help` */
	const char *usage;   /* how its --help begins: "Usage: ", what it does */
	const struct option_row *options;
	const char *notes;  /* how its --help ends, or NULL */
	size_t help_column; /* of the text behind each option, 0: HELP_COLUMN */
	struct operand operands[OPERANDS_MAX];
	bool stops_at_operand; /* the first operand ends the options */
	/* Takes operands one by one between the options, for which then their order counts; NULL: optind is at the first. */
	struct error *(*add_operand)(void *state, const char *operand);

	/* argv[0] is the subcommand's name. Returns the exit status: 0, 1 when something failed, 2 when the command line makes no
	 * sense. Only this folder prints and exits. */
	int (*run)(const struct command *command, int argc, char **argv);
};

extern const struct command command_annotate, command_archive, command_attach, command_cc, command_convert, command_cxx,
	command_view, command_core, command_decode, command_diff, command_doctor, command_graph, command_ir,
	command_merge, command_paths, command_report, command_residual, command_run, command_slice, command_top,
	command_tune;

/* All of them, in the order of `waymark --help`; NULL behind the last one. */
extern const struct command *const commands[];

/* NULL: there is no such subcommand. */
const struct command *command_find(const char *name);

#endif

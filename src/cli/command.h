/*
 * command.h - the subcommands of `waymark`: one file and one table row (main.c) each.
 *
 * argv[0] is the subcommand's name. Returns the exit status. Only this folder prints and exits.
 */
#ifndef WM_CLI_COMMAND_H
#define WM_CLI_COMMAND_H

struct command {
	const char *name;
	const char *summary; /* one line of `waymark --help` */
	int (*run)(int argc, char **argv);
};

int command_cc(int argc, char **argv); /* cc and c++ */

#endif

/*
 * command.h - the subcommands of `waymark`: one file and one table row (main.c) each.
 *
 * argv[0] is the subcommand's name. Returns the exit status: 0, 1 when something failed, 2 when the command line makes no
 * sense. Only this folder prints and exits.
 */
#ifndef WM_CLI_COMMAND_H
#define WM_CLI_COMMAND_H

struct command {
	const char *name;
	const char *summary; /* one line of `waymark --help` */
	int (*run)(int argc, char **argv);
};

int command_cc(int argc, char **argv); /* cc and c++ */
int command_core(int argc, char **argv);
int command_decode(int argc, char **argv);
int command_graph(int argc, char **argv);
int command_ir(int argc, char **argv);
int command_merge(int argc, char **argv);
int command_paths(int argc, char **argv);
int command_report(int argc, char **argv);
int command_residual(int argc, char **argv);
int command_run(int argc, char **argv);
int command_tune(int argc, char **argv);

#endif

/* main.c - the `waymark` command: a table of subcommands, help and version. Each subcommand is one file and one row. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/message.h"

static const struct command commands[] = {
	{"cc", "compile and link C as clang does, with exact calling contexts", command_cc},
	{"c++", "the same for C++", command_cc},
	{"run", "run a program and record its contexts, of every allocation if wanted", command_run},
	{"decode", "replace the tokens in any text by the calling contexts they stand for", command_decode},
	{"report", "show what was recorded in which calling context, as text, JSON, a flame graph", command_report},
	{"paths", "show which paths through functions ran, as text, JSON, lcov, a page", command_paths},
	{"residual", "show the paths that ran in the field and in no test", command_residual},
	{"merge", "add up the path counts of many recordings", command_merge},
	{"core", "show the last steps of each frame of a crashed or running program", command_core},
	{"tune", "choose what is traced in a program that is built already", command_tune},
	{"ir", "write the LLVM bitcode that a traced program carries", command_ir},
	{"graph", "show how the calls of a program are encoded", command_graph},
};

enum {
	COMMAND_COUNT = sizeof commands / sizeof commands[0],
};

static const char head[] = "Usage: waymark COMMAND [ARGUMENTS]\n"
			   "\n"
			   "Exact calling contexts and paths of C and C++ programs, from compiler to report.\n"
			   "\n"
			   "Commands:\n";
static const char tail[] = "\n"
			   "`waymark help COMMAND` or `waymark COMMAND --help` tells about one of them.\n"
			   "Options: --help, --version\n";

static const struct command *find_command(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int print_help(void)
{
	fputs(head, stdout);
	for (int i = 0; i < COMMAND_COUNT; i++)
		printf("  %-8s  %s\n", commands[i].name, commands[i].summary);
	return message_help(NULL, tail);
}

static int unknown_command(const char *name)
{
	return message_usage(NULL, "unknown %s %s", name[0] == '-' ? "option" : "command", name);
}

static int command_help(int argc, char **argv)
{
	const struct command *command;
	char help[] = "--help";

	if (argc < 2)
		return print_help();
	command = find_command(argv[1]);
	return command ? command->run(2, (char *[]){argv[1], help, NULL}) : unknown_command(argv[1]);
}

/* waymark-cc is `waymark cc`, for build systems that want one word. */
static const struct command *find_alias(const char *path)
{
	const char *base = text_base_name(path);

	return strncmp(base, "waymark-", 8) == 0 ? find_command(base + 8) : NULL;
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 0 ? find_alias(argv[0]) : NULL;

	if (command)
		return command->run(argc, argv);
	if (argc < 2)
		return message_usage(NULL, "a command is needed");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return message_help(NULL, "waymark " WAYMARK_VERSION "\n");
	if (strcmp(argv[1], "help") == 0)
		return command_help(argc - 1, argv + 1);
	command = find_command(argv[1]);
	return command ? command->run(argc - 1, argv + 1) : unknown_command(argv[1]);
}

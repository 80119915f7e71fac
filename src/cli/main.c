/* main.c - the `waymark` command: finds the subcommand; help and version. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/message.h"

static const char head[] = "Usage: waymark COMMAND [ARGUMENTS]\n"
			   "\n"
			   "Exact calling contexts and paths of C and C++ programs, from compiler to report.\n"
			   "\n"
			   "Commands:\n";
static const char tail[] = "\n"
			   "`waymark help COMMAND` or `waymark COMMAND --help` tells about one of them.\n"
			   "Options: --help, --version\n";

static int print_help(void)
{
	fputs(head, stdout);
	for (const struct command *const *command = commands; *command; command++)
		printf("  %-8s  %s\n", (*command)->name, (*command)->summary);
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
	command = command_find(argv[1]);
	return command ? command->run(command, 2, (char *[]){argv[1], help, NULL}) : unknown_command(argv[1]);
}

/* waymark-cc is `waymark cc`, for build systems that want one word. */
static const struct command *find_alias(const char *path)
{
	const char *base = text_base_name(path);

	return strncmp(base, "waymark-", 8) == 0 ? command_find(base + 8) : NULL;
}

int main(int argc, char **argv)
{
	const struct command *command = argc > 0 ? find_alias(argv[0]) : NULL;

	if (command)
		return command->run(command, argc, argv);
	if (argc < 2)
		return message_usage(NULL, "a command is needed");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return message_help(NULL, "waymark " WAYMARK_VERSION "\n");
	if (strcmp(argv[1], "help") == 0)
		return command_help(argc - 1, argv + 1);
	command = command_find(argv[1]);
	return command ? command->run(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

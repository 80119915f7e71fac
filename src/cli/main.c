/* main.c - the `waymark` command: a table of subcommands. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const struct command commands[] = {
	{"cc", "compile and link C as clang does, with exact calling contexts", command_cc},
	{"c++", "the same for C++", command_cc},
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	/* waymark-cc is `waymark cc`, for build systems that want one word. */
	const char *base = strrchr(argv[0], '/');
	base = base ? base + 1 : argv[0];
	const struct command *alias = strncmp(base, "waymark-", 8) ? NULL : find_command(base + 8);
	if (alias)
		return alias->run(argc, argv);
	const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;
	if (!command) {
		fprintf(stderr, "waymark: no such command: %s; see `waymark --help`\n", argc > 1 ? argv[1] : "(none)");
		return 2;
	}
	return command->run(argc - 1, argv + 1);
}

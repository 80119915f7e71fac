/* formats.c - the option --format of the subcommands, and its part of their help. */
#include <stdio.h>
#include <string.h>

#include "cli/formats.h"
#include "cli/message.h"

int formats_help(const char *command, const struct word_table *t, const char *head, const char *tail)
{
	const struct word *f;
	size_t width = 0;

	for (size_t i = 0; (f = word_table_at(t, i)); i++)
		if (strlen(f->name) > width)
			width = strlen(f->name);
	fputs(head, stdout);
	for (size_t i = 0; (f = word_table_at(t, i)); i++)
		printf("  %-*s  %s\n", (int)width, f->name, f->summary);
	return message_help(command, tail);
}

struct error *formats_unknown(const char *command, const char *name)
{
	return error_create(ERROR_ARGUMENT, "--format %s: no such format; see waymark %s --help", name, command);
}

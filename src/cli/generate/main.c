/* main.c - waymark-generate man|bash|zsh TEMPLATE: prints a manual page or completion made from the tables of options. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/generate/generate.h"
#include "cli/message.h"

/* The page waymark-NAME.1.in is of the subcommand NAME, waymark.1.in of all. */
static struct error *print_page(const char *path)
{
	static const char prefix[] = "waymark-";
	const char *base = text_base_name(path);
	const struct command *command = NULL;
	char name[32];

	if (strncmp(base, prefix, strlen(prefix)) == 0) {
		base += strlen(prefix);
		snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
		command = command_find(name);
		if (!command)
			return error_create(ERROR_ARGUMENT, "%s: there is no subcommand %s", path, name);
	}
	return generate_man(path, command, stdout);
}

static struct error *print_kind(const char *kind, const char *path)
{
	if (strcmp(kind, "man") == 0)
		return print_page(path);
	if (strcmp(kind, "bash") == 0)
		return generate_bash(path, stdout);
	if (strcmp(kind, "zsh") == 0)
		return generate_zsh(path, stdout);
	return error_create(ERROR_ARGUMENT, "%s: must be man, bash or zsh", kind);
}

int main(int argc, char **argv)
{
	struct error *err = NULL;

	if (argc != 3)
		err = error_create(ERROR_ARGUMENT, "usage: waymark-generate man|bash|zsh TEMPLATE");
	if (!err)
		err = print_kind(argv[1], argv[2]);
	if (err) {
		message_error("generate", err);
		return EXIT_FAILURE;
	}
	return message_help(NULL, "");
}

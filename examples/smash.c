/*
 * smash.c - reads commands, and copies a name into a buffer that is too small for some: the return address is overwritten.
 * docs/tracing.md follows it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct user {
	char *name;
	struct user *next;
};

static struct user *users;

static void greet(const char *name)
{
	char line[24];

	strcpy(line, "Hello ");
	strcat(line, name); /* however long it is */
	puts(line);
}

static void add_user(const char *name)
{
	struct user *user = malloc(sizeof *user);

	user->name = strdup(name);
	user->next = users;
	users = user;
	greet(user->name);
}

static void wake_user(const char *name)
{
	for (struct user *user = users; user; user = user->next)
		if (strcmp(user->name, name) == 0)
			greet(user->name);
}

static void handle(const char *command)
{
	if (strncmp(command, "add ", 4) == 0)
		add_user(command + 4);
	else if (strncmp(command, "wake ", 5) == 0)
		wake_user(command + 5);
	else
		printf("what is %s?\n", command);
}

static void serve(FILE *from)
{
	char command[200];

	while (fgets(command, sizeof command, from)) {
		command[strcspn(command, "\n")] = '\0';
		handle(command);
	}
}

int main(int argc, char **argv)
{
	FILE *from = argc > 1 ? fopen(argv[1], "r") : stdin;

	if (from)
		serve(from);
	return 0;
}

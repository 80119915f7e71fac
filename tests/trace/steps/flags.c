/*
 * The options of a command, in a loop around a switch: optimized, what a case stores is kept in registers, and jumps and phis are
 * what is left of its line.
 */
#include <stdio.h>
#include <stdlib.h>

struct command {
	int debug, force, verbose;
	const char *name;
};

__attribute__((noinline)) static int next(const char **flags)
{
	return **flags ? *(*flags)++ : -1;
}

__attribute__((noinline)) static struct command stepped(const char *flags)
{
	struct command command;
	char room[40];
	int flag;

	command.debug = 0;
	command.force = 0;
	command.verbose = 0;
	command.name = NULL;
	while ((flag = next(&flags)) != -1) {
		switch (flag) {
		case 'd':
			command.debug = 1;
			break;
		case 'f':
			command.force++;
			break;
		case 'v':
			command.verbose = 3;
			break;
		case 'n':
			command.name = flags;
			break;
		case 'p':
			snprintf(room, sizeof room, "%s", flags);
			puts(room);
			break;
		default:
			abort();
		}
	}
	return command;
}

int main(void)
{
	struct command command = stepped("fpvfpd?");

	return command.debug + command.force + command.verbose + !command.name;
}

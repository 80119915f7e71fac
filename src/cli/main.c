/* main.c - the `waymark` command: a table of subcommands. */
#include "cli/command.h"

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

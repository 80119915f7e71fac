/*
 * paths_program.c - what tests/cli/paths.sh and residual.sh count: an if with two conditions, a switch, a loop, a function
 * that only runs when asked for. `paths_program N` classifies 0 to N - 1; a second argument enters `rare`, "stop" never
 * leaves main.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int classify(int x, int y)
{
	if (x > 3 && y < 50)
		return 1;
	switch (x) {
	case 1:
		return 7;
	case 2:
		y++;
		break;
	default:
		y--;
	}
	if (y == EXTRA)
		y++;
	return y;
}

static void rare(void)
{
	puts("rare");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
	int total = 0;

	for (int i = 0; i < n; i++)
		total += classify(i % 5, i);
	if (argc > 2 && strcmp(argv[2], "stop") == 0)
		raise(SIGKILL);
	if (argc > 2)
		rare();
	printf("%d\n", total);
	return 0;
}

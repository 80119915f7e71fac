/*
 * pairs.c - measures two commands in turn and prints the median of the ratios of their CPU times.
 *
 *	pairs LABEL PAIRS CPU -- COMMAND-A... -- COMMAND-B...
 *
 * A and B run alternately (the order swaps from pair to pair), pinned to one CPU, with standard input at /dev/null, or at
 * the file that PAIRS_INPUT names, and output in a file without a name: grep stops at the first match when it writes to
 * /dev/null. CPU time is user + system of the child. Prints `LABEL  A ms  B ms  median B/A  lowest..highest (middle half)`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAIRS_MAX = 1000
};

static double run(char **command, const char *input)
{
	struct rusage usage;
	int status;
	pid_t child = fork();
	if (!child) {
		int in = open(input ? input : "/dev/null", O_RDONLY), out = open("/tmp", O_TMPFILE | O_RDWR, 0600);
		dup2(in, 0);
		dup2(out, 1);
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
		fprintf(stderr, "pairs: %s failed\n", command[0]);
		exit(1);
	}
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, by_value);
	return count & 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int main(int argc, char **argv)
{
	static double a_ms[PAIRS_MAX], b_ms[PAIRS_MAX], ratio[PAIRS_MAX];
	char **a = NULL, **b = NULL;
	if (argc > 4 && !strcmp(argv[4], "--")) {
		a = argv + 5;
		for (int i = 5; i < argc; i++)
			if (!strcmp(argv[i], "--")) {
				argv[i] = NULL;
				b = argv + i + 1;
				break;
			}
	}
	int pairs = argc > 2 ? atoi(argv[2]) : 0;
	if (!b || !*b || pairs < 1 || pairs > PAIRS_MAX) {
		fprintf(stderr, "usage: pairs LABEL PAIRS CPU -- COMMAND-A... -- COMMAND-B...\n");
		return 2;
	}
	const char *input = getenv("PAIRS_INPUT");
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)atoi(argv[3]), &set);
	sched_setaffinity(0, sizeof set, &set);
	run(a, input); /* caches */
	run(b, input);
	for (int i = 0; i < pairs; i++) {
		if (i & 1)
			b_ms[i] = run(b, input);
		a_ms[i] = run(a, input);
		if (!(i & 1))
			b_ms[i] = run(b, input);
		ratio[i] = b_ms[i] / a_ms[i];
	}
	double middle = median(ratio, pairs);
	printf("%-18s %8.0f %8.0f   %6.3f   %.3f..%.3f (%.3f..%.3f)", argv[1], median(a_ms, pairs), median(b_ms, pairs),
	       middle, ratio[0], ratio[pairs - 1], ratio[pairs / 4], ratio[pairs - 1 - pairs / 4]);
	return 0;
}

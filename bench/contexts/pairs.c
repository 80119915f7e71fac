/*
 * pairs.c - measures two or more commands in turn and prints the medians of the ratios of their CPU times.
 *
 *	pairs LABEL ROUNDS CPU -- COMMAND-A... -- COMMAND-B... [--[K] COMMAND...]...
 *
 * In each round every command runs once, pinned to one CPU; each round begins with the next of them. Standard input is
 * /dev/null, or the file that PAIRS_INPUT names, and output goes to a file without a name: grep stops at the first match
 * when it writes to /dev/null. The files in the directory PAIRS_CLEAN are removed after each run. CPU time is user + system of
 * the child.
 *
 * Two commands, both after `--`: prints `LABEL  A ms  B ms  median B/A  lowest..highest (middle half)`, no end of line. More, or
 * one after `--K`: a line for each, `LABEL NUMBER  ms  median ratio  middle half  KiB`, the ratio to command 0, or to command K
 * when `--K` begins it. KiB is the median of the largest resident set of a run.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ROUNDS_MAX = 1000,
	COMMANDS_MAX = 64
};

struct command {
	char **arguments;
	int base; /* what it is compared with */
	bool names_base;
	double ms[ROUNDS_MAX];
	double kib[ROUNDS_MAX];
};

static double run(char **arguments, const char *input, double *kib)
{
	struct rusage usage;
	int status;
	pid_t child = fork();
	if (!child) {
		int in = open(input ? input : "/dev/null", O_RDONLY), out = open("/tmp", O_TMPFILE | O_RDWR, 0600);
		dup2(in, 0);
		dup2(out, 1);
		execvp(arguments[0], arguments);
		perror(arguments[0]);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
		fprintf(stderr, "pairs: %s failed\n", arguments[0]);
		exit(1);
	}
	*kib = (double)usage.ru_maxrss;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void clean(const char *directory)
{
	DIR *dir = directory ? opendir(directory) : NULL;
	struct dirent *entry;
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
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

/* Splits the arguments at `--` and `--K`; returns how many commands there are, 0 when that is not understood. */
static int commands_of(char **argument, struct command *commands)
{
	int count = 0;
	for (; *argument; argument++) {
		char *end;
		if (strncmp(*argument, "--", 2) != 0)
			continue;
		long base = strtol(*argument + 2, &end, 10);
		if (*end)
			continue; /* an option of a command */
		if (count == COMMANDS_MAX || !argument[1] || base < 0 || base > count)
			return 0;
		commands[count++] =
			(struct command){.arguments = argument + 1, .base = (int)base, .names_base = (*argument)[2]};
		*argument = NULL;
	}
	return count;
}

int main(int argc, char **argv)
{
	static struct command commands[COMMANDS_MAX];
	static double ratio[ROUNDS_MAX];
	int rounds = argc > 2 ? atoi(argv[2]) : 0;
	int count = argc > 4 && !strncmp(argv[4], "--", 2) ? commands_of(argv + 4, commands) : 0;
	if (count < 2 || rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr,
			"usage: pairs LABEL ROUNDS CPU -- COMMAND-A... -- COMMAND-B... [--[K] COMMAND...]...\n");
		return 2;
	}
	const char *input = getenv("PAIRS_INPUT"), *cleaned = getenv("PAIRS_CLEAN");
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)atoi(argv[3]), &set);
	sched_setaffinity(0, sizeof set, &set);
	for (int i = 0; i < count; i++) { /* caches */
		run(commands[i].arguments, input, &commands[i].kib[0]);
		clean(cleaned);
	}
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < count; i++) {
			struct command *c = &commands[(i + round) % count];
			c->ms[round] = run(c->arguments, input, &c->kib[round]);
			clean(cleaned);
		}
	static double middle[COMMANDS_MAX], low[COMMANDS_MAX], high[COMMANDS_MAX];
	for (int i = 0; i < count; i++) { /* before the times are sorted */
		for (int round = 0; round < rounds; round++)
			ratio[round] = commands[i].ms[round] / commands[commands[i].base].ms[round];
		middle[i] = median(ratio, rounds);
		low[i] = ratio[rounds / 4];
		high[i] = ratio[rounds - 1 - rounds / 4];
	}
	if (count == 2 && !commands[0].names_base && !commands[1].names_base) {
		printf("%-18s %8.0f %8.0f   %6.3f   %.3f..%.3f (%.3f..%.3f)", argv[1], median(commands[0].ms, rounds),
		       median(commands[1].ms, rounds), middle[1], ratio[0], ratio[rounds - 1], low[1], high[1]);
		return 0;
	}
	for (int i = 0; i < count; i++)
		printf("%s %d %.0f %.3f %.3f %.3f %.0f\n", argv[1], i, median(commands[i].ms, rounds), middle[i],
		       low[i], high[i], median(commands[i].kib, rounds));
	return 0;
}

/* The bug of ccrypt 1.2: at the end of its input the prompt gives no line, and whether it says yes is looked up all the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static char *read_line(FILE *in)
{
	size_t size = 0;
	char *line = NULL;
	ssize_t len = getline(&line, &size, in);

	if (len <= 0) {
		free(line);
		return NULL;
	}
	if (line[len - 1] == '\n')
		line[len - 1] = '\0';
	return line;
}

__attribute__((noinline)) static int prompt(const char *question)
{
	char *line;

	do {
		fputs(question, stderr);
		line = read_line(stdin);
	} while (*line == '\0');
	int yes = !strcmp(line, "y") || !strcmp(line, "yes");
	free(line);
	return yes;
}

static int file_action(const char *name, int force)
{
	if (!force && !prompt("overwrite? "))
		return printf("%s: not overwritten\n", name);
	return 0;
}

int main(int argc, char **argv)
{
	const char *names[] = {"a", "b", "c"};

	for (int i = 0; i < 3; i++)
		file_action(names[i], i == 0 || argc > 3);
	return argv == NULL;
}

/*
 * settings.c - reads settings in nested sections and crashes on some input: docs/tracing.md finds out why.
 *
 *      [window]
 *      width = 640
 *      end
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct section {
	char name[32];
	int values;
	struct section *outer;
};

struct reader {
	struct section *section; /* the one that is open */
	int lines;
	int comments;
};

static void open_section(struct reader *r, const char *name)
{
	struct section *section = calloc(1, sizeof *section);

	if (!section)
		exit(1);
	snprintf(section->name, sizeof section->name, "%.*s", (int)strcspn(name, "]"), name);
	section->outer = r->section;
	r->section = section;
}

static void close_section(struct reader *r)
{
	struct section *closed = r->section;

	if (!closed) {
		fprintf(stderr, "line %d: nothing to end\n", r->lines);
		return;
	}
	printf("%s: %d values\n", closed->name, closed->values);
	r->section = closed->outer;
	free(closed);
}

static void set_value(struct reader *r, const char *line)
{
	if (!strchr(line, '=')) {
		fprintf(stderr, "line %d: no value\n", r->lines);
		return;
	}
	r->section->values++;
}

static void read_settings(struct reader *r, FILE *in)
{
	char line[256];

	while (fgets(line, sizeof line, in)) {
		r->lines++;
		if (*line == '#' || *line == '\n')
			r->comments++;
		else if (*line == '[')
			open_section(r, line + 1);
		else if (strncmp(line, "end", 3) == 0)
			close_section(r);
		else
			set_value(r, line);
	}
}

int main(int argc, char **argv)
{
	struct reader r = {0};
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;

	if (!in) {
		perror(argv[1]);
		return 1;
	}
	read_settings(&r, in);
	printf("%d lines, %d comments\n", r.lines, r.comments);
	return 0;
}

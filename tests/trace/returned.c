/* The function that the bug is in has returned long before the fault, and so did the one that called it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
	char *bytes;
	size_t len;
};

struct stream {
	struct buffer *ahead;
	int lines, errors;
};

static volatile int sink;

__attribute__((noinline)) static void count_line(struct stream *s)
{
	s->lines++;
	sink = s->lines;
}

/* The bug: the buffer is gone, and the stream still goes on. */
__attribute__((noinline)) static void drop_buffer(struct stream *s)
{
	free(s->ahead->bytes);
	s->ahead = NULL;
}

__attribute__((noinline)) static int note_error(struct stream *s, int kind)
{
	s->errors++;
	if (kind > 100)
		fprintf(stderr, "error %d\n", kind);
	if (kind == 1)
		count_line(s);
	return s->errors;
}

__attribute__((noinline)) static int reset(struct stream *s, int kind)
{
	int errors = note_error(s, kind);

	drop_buffer(s);
	return errors;
}

__attribute__((noinline)) static size_t next_line(struct stream *s)
{
	count_line(s);
	return s->ahead->len;
}

__attribute__((noinline)) static size_t read_all(struct stream *s, const char *kinds)
{
	size_t total = 0;

	for (const char *at = kinds; *at; at++) {
		if (*at == 'e')
			total += (size_t)reset(s, 7);
		else if (*at == 'n')
			total += (size_t)note_error(s, 1);
		else
			total += next_line(s);
	}
	return total;
}

int main(int argc, char **argv)
{
	struct stream *s = calloc(1, sizeof *s);

	s->ahead = calloc(1, sizeof *s->ahead);
	s->ahead->bytes = strdup(argv[0]);
	sink = (int)read_all(s, argc > 1 ? argv[1] : "lnllel"); /* no tail call: main stays on the stack */
	return 0;
}

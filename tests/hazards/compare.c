/*
 * compare.c - reads lines `decoded folded stack <tab> expected folded stack` and says where the two differ.
 *
 *	compare LABEL FILE [MINIMUM-LINES]
 *
 * Thunks of virtual calls are code that the compiler adds; decoded stacks may name them, the programs cannot: they are
 * taken out before comparing. A decoded frame `[interrupted]` stands for frames that are not known. A frame `...` of the expected stack matches any frames, none too; a frame `a|b` matches either. Lines without a tab are counted as failures: the
 * programs print nothing else. A decoded stack that begins with [signal] says that what the handler interrupted is not known: one line in ten may.
 * Exit status 1 and the first differing lines when there is any difference, or too few lines.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHOWN = 5,      /* differing lines printed in full */
	SHOWN_MAX = 700 /* bytes of each side */
};

/* Does one frame equal the wanted frame or one of its alternatives? */
static bool frame_match(const char *got, const char *want, size_t want_len)
{
	size_t got_len = strcspn(got, ";");
	for (const char *end = want + want_len; want <= end;) {
		const char *bar = memchr(want, '|', (size_t)(end - want));
		size_t len = (size_t)((bar ? bar : end) - want);
		if (len == got_len && !memcmp(got, want, len))
			return true;
		want += len + 1;
	}
	return false;
}

static bool folded_match(const char *got, const char *want);

/* Of any frames of want on, none left out too. */
static bool match_behind(const char *got, const char *want)
{
	while (!folded_match(got, want)) {
		if (!*want)
			return false;
		want += strcspn(want, ";");
		want += *want == ';';
	}
	return true;
}

/* Both strings are `;` separated; frames of want that are "..." match any number of frames of got, one of got that is [interrupted] any
 * number of frames of want. */
static bool folded_match(const char *got, const char *want)
{
	while (*want) {
		size_t frame = strcspn(want, ";");
		if (strncmp(got, "[interrupted];", 14) == 0)
			return match_behind(got + 14, want);
		if (frame == 3 && !memcmp(want, "...", 3)) {
			want += want[3] ? 4 : 3;
			for (;;) {
				if (folded_match(got, want))
					return true;
				if (!*got)
					return false;
				got += strcspn(got, ";");
				got += *got == ';';
			}
		}
		if (!frame_match(got, want, frame))
			return false;
		got += strcspn(got, ";");
		want += frame;
		if (!*want || !*got)
			return *want == *got;
		got++;
		want++;
	}
	return !*got;
}

/* Takes `(non-)virtual thunk to ...` frames out, in place. */
static void drop_thunks(char *folded)
{
	char *out = folded;
	for (const char *frame = folded; *frame;) {
		size_t len = strcspn(frame, ";");
		len += frame[len] == ';';
		if (strncmp(frame, "non-virtual thunk to ", 21) != 0 && strncmp(frame, "virtual thunk to ", 17) != 0) {
			memmove(out, frame, len);
			out += len;
		}
		frame += len;
	}
	*out = '\0';
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: compare LABEL FILE [MINIMUM-LINES]\n");
		return 2;
	}
	FILE *in = fopen(argv[2], "r");
	if (!in) {
		perror(argv[2]);
		return 2;
	}
	long lines = 0, bad = 0, unknown = 0, minimum = argc > 3 ? atol(argv[3]) : 3;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	while ((len = getline(&line, &size, in)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		char *want = strchr(line, '\t');
		lines++;
		if (want)
			*want++ = '\0';
		drop_thunks(line);
		if (want && folded_match(line, want))
			continue;
		if (want && strncmp(line, "[signal];", 9) == 0 && match_behind(line, want)) {
			unknown++;
			continue;
		}
		if (bad++ < SHOWN)
			printf("line %ld\n  got  %.*s\n  want %.*s\n", lines, SHOWN_MAX, line, SHOWN_MAX,
			       want ? want : "(no tab in the line)");
	}
	free(line);
	fclose(in);
	bool ok = !bad && lines >= minimum && unknown * 10 <= lines;
	if (unknown)
		printf("%s: of %ld it is not known what a handler interrupted\n", argv[1], unknown);
	printf("%s %s: %ld contexts, %ld differ%s\n", ok ? "ok  " : "FAIL", argv[1], lines, bad,
	       lines < minimum ? " (too few lines)" : "");
	return !ok;
}

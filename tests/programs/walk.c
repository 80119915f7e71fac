/*
 * walk.c - compares the log of oracle.c with what `waymark decode --folded` makes of it.
 *
 *	walk PROGRAM LOG DECODED [MINIMUM]
 *
 * LOG is oracle.c's, DECODED the same lines after `waymark decode --folded LOG`: `folded <tab> addresses`. The addresses are
 * symbolised by llvm-symbolizer-19 (functions, inlined frames too), independently of Waymark, and written as a folded stack in which
 * every run of foreign frames is one `[]`. The decoded stack's bracket frames become `[]` as well, and the two must be equal.
 * Frames of the runtime that is linked into the program (wm1_*, wm_*, waymark_*) and of the C start files are left out.
 *
 * Exit status 0 when all agree and there are at least MINIMUM (default 1) of them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/demangle.h>

enum {
	SHOWN = 8,
	SHOWN_BYTES = 900
};

/* One program address and its functions, outermost first, `;` separated; NULL while unknown; "" for start files. */
struct address {
	uint64_t value;
	char *folded;
};

struct table {
	struct address *items;
	size_t count, capacity;
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = ((const struct address *)a)->value, y = ((const struct address *)b)->value;
	return (x > y) - (x < y);
}

static void table_add(struct table *t, uint64_t value)
{
	if (t->count == t->capacity) {
		t->capacity = t->capacity ? t->capacity * 2 : 1024;
		t->items = realloc(t->items, t->capacity * sizeof *t->items);
		if (!t->items)
			abort();
	}
	t->items[t->count++] = (struct address){value, NULL};
}

static void table_finish(struct table *t)
{
	size_t kept = 0;
	qsort(t->items, t->count, sizeof *t->items, by_value);
	for (size_t i = 0; i < t->count; i++)
		if (!kept || t->items[kept - 1].value != t->items[i].value)
			t->items[kept++] = t->items[i];
	t->count = kept;
}

static bool left_out(const char *name)
{
	static const char *const names[] = {"_start", "__libc_csu_init",       "_init",
					    "_fini",  "__do_global_dtors_aux", "frame_dummy"};
	if (!strncmp(name, "wm1_", 4) || !strncmp(name, "wm_", 3) || !strncmp(name, "waymark_", 8))
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * A linkage name as `waymark decode` shows it. Only the spelling of C++ is shared with it: LLVM's demangler writes types
 * in another way. ".1" is the linker's, to tell static functions of one name apart. The caller frees the result.
 */
static char *shown(char *name)
{
	for (char *dot;
	     (dot = strrchr(name, '.')) != NULL && dot != name && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")];)
		*dot = '\0';
	char *plain = name[0] == '_' ? cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP) : NULL;
	if (!plain && !(plain = strdup(name)))
		abort();
	return plain;
}

/* Runs the symboliser once over all addresses. Its answer: function and file lines innermost first, then an empty line. */
static bool symbolise(struct table *t, const char *program)
{
	char path[] = "/tmp/waymark-walk-XXXXXX", command[4200];
	int fd = mkstemp(path);
	FILE *list = fd < 0 ? NULL : fdopen(fd, "w");
	if (!list)
		return false;
	for (size_t i = 0; i < t->count; i++)
		fprintf(list, "0x%lx\n", (unsigned long)t->items[i].value);
	fclose(list);
	snprintf(command, sizeof command,
		 "llvm-symbolizer-19 --inlines --functions=linkage --no-demangle --obj='%s' <%s", program, path);
	FILE *in = popen(command, "r");
	char *line = NULL, *chain = NULL;
	size_t size = 0, at = 0;
	ssize_t len;
	bool name_next = true;
	while (in && at < t->count && (len = getline(&line, &size, in)) > 0) {
		if (line[len - 1] == '\n')
			line[--len] = '\0';
		if (!len) {
			t->items[at++].folded = chain ? chain : strdup("");
			chain = NULL;
			name_next = true;
		} else if (name_next) {
			char *longer = NULL;
			char *name = shown(line);
			if (!left_out(line) &&
			    asprintf(&longer, chain ? "%s;%s" : "%s%s", name, chain ? chain : "") < 0)
				abort();
			free(name);
			if (longer) {
				free(chain);
				chain = longer;
			}
			name_next = false;
		} else
			name_next = true;
	}
	free(line);
	if (in)
		pclose(in);
	unlink(path);
	return at == t->count;
}

static void collect(struct table *t, char *addresses)
{
	for (char *word = strtok(addresses, " "); word; word = strtok(NULL, " "))
		if (word[0] == 'p')
			table_add(t, strtoull(word + 2, NULL, 16));
}

struct text {
	char *bytes;
	size_t len, capacity;
};

static void text_frame(struct text *t, const char *frame, size_t len)
{
	if (t->capacity < t->len + len + 2) {
		t->capacity = (t->len + len + 2) * 2;
		t->bytes = realloc(t->bytes, t->capacity);
		if (!t->bytes)
			abort();
	}
	if (t->len)
		t->bytes[t->len++] = ';';
	memcpy(t->bytes + t->len, frame, len);
	t->len += len;
	t->bytes[t->len] = '\0';
}

static bool ends_foreign(const struct text *t)
{
	return t->len >= 2 && !memcmp(t->bytes + t->len - 2, "[]", 2);
}

/* The walked stack, outermost first; foreign frames below the first of the program's are the C library's start. */
static void walked(struct text *out, const struct table *t, char *addresses)
{
	char *words[8192];
	size_t count = 0;
	for (char *word = strtok(addresses, " "); word && count < 8192; word = strtok(NULL, " "))
		words[count++] = word;
	out->len = 0;
	while (count--) {
		if (words[count][0] == 's') { /* what is below was interrupted: a handler is a root */
			out->len = 0;
			text_frame(out, "[]", 2);
			continue;
		}
		if (words[count][0] == 'f') {
			if (out->len && !ends_foreign(out))
				text_frame(out, "[]", 2);
			continue;
		}
		struct address key = {strtoull(words[count] + 2, NULL, 16), NULL};
		struct address *found = bsearch(&key, t->items, t->count, sizeof key, by_value);
		if (found && found->folded[0])
			text_frame(out, found->folded, strlen(found->folded));
	}
	if (!out->len)
		text_frame(out, "", 0);
}

/* The decoded stack with its bracket frames made anonymous. */
static void anonymous(struct text *out, const char *folded)
{
	out->len = 0;
	while (*folded) {
		size_t len = strcspn(folded, ";");
		if (folded[0] != '[')
			text_frame(out, folded, len);
		else if (!ends_foreign(out))
			text_frame(out, "[]", 2);
		folded += len + (folded[len] == ';');
	}
	if (!out->len)
		text_frame(out, "", 0);
}

static bool read_addresses(struct table *t, const char *path)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	if (!in)
		return false;
	while (getline(&line, &size, in) > 0) {
		char *tab = strchr(line, '\t');
		line[strcspn(line, "\n")] = '\0';
		if (tab)
			collect(t, tab + 1);
	}
	free(line);
	fclose(in);
	table_finish(t);
	return true;
}

int main(int argc, char **argv)
{
	struct table addresses = {NULL, 0, 0};
	if (argc < 4) {
		fprintf(stderr, "usage: walk PROGRAM LOG DECODED [MINIMUM]\n");
		return 2;
	}
	if (!read_addresses(&addresses, argv[2])) {
		perror(argv[2]);
		return 2;
	}
	if (!symbolise(&addresses, argv[1])) {
		fprintf(stderr, "walk: llvm-symbolizer-19 does not answer for %s\n", argv[1]);
		return 2;
	}
	FILE *in = fopen(argv[3], "r");
	if (!in) {
		perror(argv[3]);
		return 2;
	}
	struct text got = {NULL, 0, 0}, want = {NULL, 0, 0};
	long lines = 0, bad = 0, deepest = 0, minimum = argc > 4 ? atol(argv[4]) : 1;
	char *line = NULL;
	size_t size = 0;
	while (getline(&line, &size, in) > 0) {
		char *tab = strchr(line, '\t');
		lines++;
		line[strcspn(line, "\n")] = '\0';
		if (tab)
			*tab = '\0';
		anonymous(&got, line);
		walked(&want, &addresses, tab ? tab + 1 : line + strlen(line));
		long depth = 1;
		for (size_t i = 0; i < want.len; i++)
			depth += want.bytes[i] == ';';
		if (depth > deepest)
			deepest = depth;
		if (tab && !strcmp(got.bytes, want.bytes))
			continue;
		if (bad++ < SHOWN)
			printf("line %ld\n  decoded %.*s\n  walked  %.*s\n", lines, SHOWN_BYTES, line, SHOWN_BYTES,
			       want.bytes);
	}
	free(line);
	fclose(in);
	bool ok = !bad && lines >= minimum;
	printf("%s %s: %ld captures against an independent stack walk, %ld differ, up to %ld frames%s\n",
	       ok ? "ok  " : "FAIL", argv[1], lines, bad, deepest, lines < minimum ? " (too few)" : "");
	return !ok;
}

/*
 * cc_hybrid.c - link, read the sizes of frames, link with a plan that assumes them, and so on until they are true.
 *
 *      link                    ordinary encoding: its code has nearly the frames of the last one
 *      sizes
 *      link with the sizes     hybrid encoding                                     <-.
 *      sizes                   as assumed: done; else what both have in common  -----'
 *
 * Two or three links are the rule. A frame may be larger with code at a call than without, and the plan for either lead to the other: so
 * after some links calls that had code have it always. After many, functions whose sizes still change count as having none. What strips
 * symbols comes in a link of its own, of the same code.
 */
#include "cli/cc_hybrid.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/llvm_version.h"
#include "cli/message.h"
#include "format/meta.h"
#include "object/frame_sizes.h"
#include "object/object.h"

enum {
	LINKS_MAX = 24,
	SETTLING = 3, /* from this link on: FRAME_MERGE_SETTLES */
	ENDING = 12,  /* FRAME_MERGE_ENDS */
};

static const char variable[] = "WAYMARK_HYBRID"; /* of the pass: the file with the sizes */

struct links {
	const char *command;
	const char *output;
	char **words; /* without those that strip */
	int file;     /* has the sizes */
	struct frame_table assumed;
	struct buffer text; /* of its frames and jumps */
};

/* ---- words ---- */

static bool is_strip(const char *word, size_t len)
{
	return (len == 2 && !memcmp(word, "-s", 2)) || (len == 11 && !memcmp(word, "--strip-all", 11));
}

/* Of a list for the linker, "-Wl,-O1,-s", what does not strip; NULL: nothing is left. In place. */
static char *without_strip(char *word, bool *ret_strips)
{
	char *from = word + strcspn(word, ","), *to = from;

	while (*from) {
		size_t len = 1 + strcspn(from + 1, ",");
		bool goes = is_strip(from + 1, len - 1);

		if (!goes)
			memmove(to, from, len);
		to += goes ? 0 : len;
		from += len;
		*ret_strips |= goes;
	}
	*to = '\0';
	return strcmp(word, "-Wl") ? word : NULL;
}

/* *ret_strips: something is left out. The words are of a new array, NULL: no memory. */
static char **keep_symbols(char **words, bool *ret_strips)
{
	size_t count = 0, kept = 0;
	char **ret;

	while (words[count])
		count++;
	ret = calloc(count + 1, sizeof *ret);
	*ret_strips = false;
	for (size_t i = 0; ret && i < count; i++) {
		char *word = strdup(words[i]);

		if (word &&
		    (is_strip(word, strlen(word)) || (text_begins(word, "-Wl,") && !without_strip(word, ret_strips)))) {
			*ret_strips = true;
			free(word);
			continue;
		}
		ret[kept++] = word;
	}
	return ret;
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* ---- links ---- */

/* Exit status, -1: it cannot be run. */
static int run(const struct links *l, char **words)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		execvp(words[0], words);
		message_warn(l->command, "%s: cannot run it: %s; install clang-" WAYMARK_LLVM, words[0],
			     strerror(errno));
		_exit(EXIT_FAILURE);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || status == -1)
		return EXIT_FAILURE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What the next link is to assume. */
static struct error *write_sizes(struct links *l)
{
	struct buffer sites = {0};
	char name[64];
	struct error *err = frame_table_write_sites(&l->assumed, &sites);
	const ssize_t len_bytes = (ssize_t)l->text.len_bytes, sites_bytes = (ssize_t)sites.len_bytes;

	if (!err && (ftruncate(l->file, 0) || pwrite(l->file, l->text.bytes, l->text.len_bytes, 0) != len_bytes ||
		     pwrite(l->file, sites.bytes, sites.len_bytes, len_bytes) != sites_bytes))
		err = error_os(errno, "cannot write the sizes of frames");
	buffer_deinit(&sites);
	if (err)
		return err;
	snprintf(name, sizeof name, "/proc/self/fd/%d", l->file);
	setenv(variable, name, 1);
	return NULL;
}

/* The sites of the program that have code. */
static struct error *read_sites(const char *path, struct frame_table *table)
{
	struct object o;
	struct meta m;
	struct error *err = object_read(path, 1U << OBJECT_CONTEXTS, &o);

	if (err)
		return err;
	meta_init(&m);
	if (o.sections[OBJECT_CONTEXTS].bytes)
		err = meta_read(o.sections[OBJECT_CONTEXTS].bytes, o.sections[OBJECT_CONTEXTS].len_bytes, path, &m);
	for (uint32_t i = 1; i < m.site_count && !err; i++)
		if (m.sites[i].kind == META_SITE_CALL && m.sites[i].addend)
			err = frame_site_vec_append(&table->sites, i);
	meta_deinit(&m);
	object_deinit(&o);
	return err;
}

static enum frame_merge merge_of(unsigned count)
{
	return count < SETTLING ? FRAME_MERGE_FREE : count < ENDING ? FRAME_MERGE_SETTLES : FRAME_MERGE_ENDS;
}

/* *ret_holds: what was assumed is so. */
static struct error *compare_sizes(struct links *l, unsigned count, bool *ret_holds)
{
	struct frame_table table;
	struct buffer text = {0};
	struct error *err;

	frame_table_init(&table);
	err = frame_sizes_read(l->output, &table);
	if (!err && merge_of(count) != FRAME_MERGE_FREE)
		err = read_sites(l->output, &table);
	if (!err && count > 1)
		err = frame_table_merge(&table, &l->assumed, merge_of(count));
	if (!err)
		err = frame_table_write(&table, &text);
	if (err) {
		frame_table_deinit(&table);
		buffer_deinit(&text);
		return err;
	}
	*ret_holds =
		count > 1 && text.len_bytes == l->text.len_bytes && !memcmp(text.bytes, l->text.bytes, text.len_bytes);
	frame_table_deinit(&l->assumed);
	buffer_deinit(&l->text);
	l->assumed = table;
	l->text = text;
	return NULL;
}

/* *ret_status: not 0 if the compiler fails. */
static struct error *link_until_true(struct links *l, int *ret_status)
{
	struct error *err = NULL;
	bool holds = false;

	for (unsigned count = 1; count <= LINKS_MAX && !err && !holds; count++) {
		*ret_status = run(l, l->words);
		if (*ret_status)
			return NULL;
		err = compare_sizes(l, count, &holds);
		if (!err && !holds)
			err = write_sizes(l);
	}
	if (!err && !holds)
		err = error_create(ERROR_MISMATCH, "%s: sizes of frames change with each link", l->output);
	return err;
}

static int link_all(struct links *l, char **words, bool strips)
{
	int status = 0;
	struct error *err = link_until_true(l, &status);

	if (!err && (status || !strips))
		return status;
	if (err) {
		message_warn(l->command, "%s: linked without hybrid encoding", err->message);
		error_destroy(err);
		unsetenv(variable);
	}
	return run(l, words);
}

int cc_hybrid_link(const char *command, char **words, const char *output)
{
	struct links l = {.command = command, .output = output, .file = memfd_create("waymark-frames", 0)};
	bool strips;
	int status;

	unsetenv(variable);
	l.words = keep_symbols(words, &strips);
	frame_table_init(&l.assumed);
	if (l.file < 0 || !l.words)
		status = message_error(command, l.file < 0 ? error_os(errno, "memfd_create") : &error_no_memory);
	else
		status = link_all(&l, words, strips);
	frame_table_deinit(&l.assumed);
	buffer_deinit(&l.text);
	free_words(l.words);
	if (l.file >= 0)
		close(l.file);
	return status;
}

/* profile_notes.c - losses in words: what the runtime dropped, what was cut, what cannot be decoded, what is not shown. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/number_text.h"
#include "base/plain_text.h"
#include "format/wmk.h"
#include "format/wmk_fields.h"
#include "model/contexts/profile_notes.h"

enum {
	FREES_EXPECTED =
		16, /* of blocks from before the recorder was there: each process has some, the linker's and those of its first constructors */
};

void notes_print_count(const char *before, const char *path, uint64_t count, const char *one, const char *many,
		       FILE *out)
{
	if (!count)
		return;
	fputs(before, out);
	plain_print(out, path);
	fprintf(out, ": %" PRIu64 " %s\n", count, noun_of(count, one, many));
}

void notes_print_drop(const char *before, const char *path, uint64_t drop_errno, FILE *out)
{
	if (!drop_errno)
		return;
	fputs(before, out);
	plain_print(out, path);
	fprintf(out, ": why it could not be written: %s\n", wmk_drop_text(drop_errno));
}

/* 0 where these are no more than any process has. */
static uint64_t unexpected_frees(const struct wmk_header *h)
{
	uint64_t runs = h->merged_runs ? h->merged_runs : 1;

	return h->heap_unknown_frees / runs > FREES_EXPECTED ? h->heap_unknown_frees : 0;
}

static void print_source_notes(const struct profile_source *s, const char *before, FILE *out)
{
	uint64_t differ = s->header.samples_agreed < s->header.samples_checked
				  ? s->header.samples_checked - s->header.samples_agreed
				  : 0;

	notes_print_count(before, s->path, s->header.dropped_events, "event was dropped", "events were dropped", out);
	notes_print_count(before, s->path, s->header.dropped_prefixes,
			  "context lost its beginning: it starts at [lost]",
			  "contexts lost their beginning: they start at [lost]", out);
	notes_print_count(before, s->path, s->header.dropped_code,
			  "record of code was lost, and all later ones: contexts that need them are [unknown]",
			  "records of code were lost, and all later ones: contexts that need them are [unknown]", out);
	notes_print_count(before, s->path, s->header.dropped_heap_calls, "heap call has no context: it is under [lost]",
			  "heap calls have no context: they are under [lost]", out);
	notes_print_count(before, s->path, s->header.samples_unknown, "sample has no context: it is not counted",
			  "samples have no context: they are not counted", out);
	notes_print_count(before, s->path, s->header.samples_in_agent,
			  "tick interrupted the agent itself: it is not a sample",
			  "ticks interrupted the agent itself: they are not samples", out);
	notes_print_count(before, s->path, differ, "sample has a context that differs from the stack (--check)",
			  "samples have contexts that differ from the stack (--check)", out);
	notes_print_drop(before, s->path, s->header.drop_errno, out);
	notes_print_count(
		before, s->path, s->header.lost_children,
		"forked child could not create a recording (for example after setuid or chroot): its data is missing",
		"forked children could not create a recording (for example after setuid or chroot): their data is missing",
		out);
	notes_print_count(before, s->path, s->header.replaced_children,
			  "forked child soon became another program: what it did before is in no recording",
			  "forked children soon became other programs: what they did before is in no recording", out);
	notes_print_count(before, s->path, s->header.replaced_heap_calls, "allocation was made by such children",
			  "allocations were made by such children", out);
	if (s->header.recycled_chunks)
		notes_print_count(before, s->path, s->summed_events,
				  "older event is added up by context and time: only later ones have their own times",
				  "older events are added up by context and time: only later ones have their own times",
				  out);
	notes_print_count(before, s->path, s->uncommitted, "record was not finished when the process ended",
			  "records were not finished when the process ended", out);
	notes_print_count(before, s->path, unexpected_frees(&s->header),
			  "free was of a block whose allocation was not recorded",
			  "frees were of blocks whose allocation was not recorded", out);
	if (s->truncated)
		notes_print_line(before, s->truncated, out);
}

void notes_print_line(const char *before, const char *text, FILE *out)
{
	fputs(before, out);
	plain_print(out, text);
	putc('\n', out);
}

static void print_warning(const struct profile_warning *warning, const char *before, FILE *out)
{
	fputs(before, out);
	if (warning->count)
		fprintf(out, "[unknown] %" PRIu64 " %s: ", warning->count,
			noun_of(warning->count, "context", "contexts"));
	notes_print_line("", warning->text, out);
}

/* What all of them lost. Of the fields only the counts are shown. */
static void print_all_notes(const struct profile *p, const char *before, FILE *out)
{
	struct profile_source sum = {.path = NULL};
	char path[64];
	uint64_t truncated = 0;

	snprintf(path, sizeof path, "%zu recordings", p->sources.count);
	sum.path = path;
	for (size_t i = 0; i < p->sources.count; i++) {
		const struct profile_source *s = &p->sources.items[i];
		uint64_t why = sum.header.drop_errno ? sum.header.drop_errno : s->header.drop_errno;
		uint64_t frees = sum.header.heap_unknown_frees + unexpected_frees(&s->header);

#define ADD_FIELD(bits, name) sum.header.name += s->header.name;
		WMK_HEADER_FIELDS(ADD_FIELD)
#undef ADD_FIELD
		sum.header.drop_errno = why;
		sum.header.heap_unknown_frees = frees;
		sum.uncommitted += s->uncommitted;
		sum.summed_events += s->summed_events;
		truncated += s->truncated != NULL;
	}
	print_source_notes(&sum, before, out);
	notes_print_count(before, path, truncated, "file is truncated: what is there was read",
			  "files are truncated: what is there was read", out);
}

void notes_print(const struct view *v, const char *before, FILE *out)
{
	const struct profile *p = v->profile;

	for (size_t i = 0; i < p->sources.count && p->sources.count <= NOTES_FILES_MAX; i++)
		print_source_notes(&p->sources.items[i], before, out);
	if (p->sources.count > NOTES_FILES_MAX)
		print_all_notes(p, before, out);
	for (size_t i = 0; i < p->warnings.count; i++)
		print_warning(&p->warnings.items[i], before, out);
	if (p->filtered_events)
		fprintf(out, "%s%" PRIu64 " %s left out (--time, --thread)\n", before, p->filtered_events,
			noun_of(p->filtered_events, "event is", "events are"));
	if (p->saturated)
		fprintf(out, "%s%" PRIu64 " %s at the largest number\n", before, p->saturated,
			noun_of(p->saturated, "sum did not fit 64 bits and stays",
				"sums did not fit 64 bits and stay"));
	if (v->suppressed_rows) {
		fprintf(out, "%s%zu %s left out (--suppressions)", before, v->suppressed_rows,
			noun_of(v->suppressed_rows, "context is", "contexts are"));
		if (!p->metrics.items[v->metric].is_maximum) {
			fprintf(out, ", with %" PRIu64 " of ", v->suppressed_total);
			plain_print(out, p->metrics.items[v->metric].name);
		}
		putc('\n', out);
	}
	if (v->small_rows)
		fprintf(out, "%s%zu %s left out, each with less than %g %% (--min)\n", before, v->small_rows,
			noun_of(v->small_rows, "context is", "contexts are"), v->min);
	if (v->row_count < v->matching_rows)
		fprintf(out, "%sonly %zu of %zu contexts %s shown (--top)\n", before, v->row_count, v->matching_rows,
			noun_of(v->row_count, "is", "are"));
}

struct error *notes_text(const struct view *v, const char *before, char **ret)
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (memory)
		notes_print(v, before, memory);
	if (!memory || fclose(memory) != 0 || !text) {
		free(text);
		return &error_no_memory;
	}
	*ret = text;
	return NULL;
}

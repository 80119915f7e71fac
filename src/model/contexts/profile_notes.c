/* profile_notes.c - losses in words: what the runtime dropped, what was cut, what cannot be decoded, what is not shown. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "model/contexts/profile_notes.h"

static void print_note(const char *before, const char *path, uint64_t count, const char *what, FILE *out)
{
	if (count)
		fprintf(out, "%s%s: %" PRIu64 " %s\n", before, path, count, what);
}

static void print_source_notes(const struct profile_source *s, const char *before, FILE *out)
{
	print_note(before, s->path, s->dropped_events, "events were dropped", out);
	print_note(before, s->path, s->dropped_prefixes, "contexts lost where they begin: they start at [lost]", out);
	print_note(before, s->path, s->dropped_code,
		   "records of code were lost, and all later ones: what needs them is [unknown]", out);
	print_note(before, s->path, s->dropped_heap_calls, "heap calls have no context: they are under [lost]", out);
	print_note(before, s->path, s->samples_unknown, "samples have no context: they are not counted", out);
	print_note(before, s->path, s->samples_in_agent, "samples fell into the agent itself: they are not counted",
		   out);
	if (s->samples_agreed < s->samples_checked)
		print_note(before, s->path, s->samples_checked - s->samples_agreed,
			   "samples have another context than the stack says (--check)", out);
	if (s->drop_errno == EFBIG)
		fprintf(out, "%s%s: its size limit was reached (WAYMARK_LIMIT)\n", before, s->path);
	else if (s->drop_errno)
		fprintf(out, "%s%s: why it could not be written: %s\n", before, s->path,
			strerror((int)(s->drop_errno & 0xffff)));
	print_note(before, s->path, s->uncommitted, "records were not finished when the process ended", out);
	print_note(before, s->path, s->heap_unknown_frees, "frees were of blocks from before the recording", out);
	if (s->truncated)
		fprintf(out, "%s%s\n", before, s->truncated);
}

static void print_warning(const struct profile_warning *warning, const char *before, FILE *out)
{
	fputs(before, out);
	if (warning->count)
		fprintf(out, "[unknown] %" PRIu64 " contexts: ", warning->count);
	fprintf(out, "%s\n", warning->text);
}

void notes_print(const struct view *v, const char *before, FILE *out)
{
	const struct profile *p = v->profile;

	for (size_t i = 0; i < p->sources.count; i++)
		print_source_notes(&p->sources.items[i], before, out);
	for (size_t i = 0; i < p->warnings.count; i++)
		print_warning(&p->warnings.items[i], before, out);
	print_note(before, "sums", p->saturated, "did not fit 64 bits and stay at the largest number", out);
	if (v->row_count < v->matching_rows)
		fprintf(out, "%sonly %zu of %zu contexts are shown (--top)\n", before, v->row_count, v->matching_rows);
}

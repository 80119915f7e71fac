/* reading_notes.c - composes the notes. See reading_notes.h. */
#include "model/contexts/reading_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number_text.h"
#include "model/contexts/recorded_graph.h"

/* Takes text, malloc'd; NULL: no memory. */
static struct error *take_note(struct profile *p, char *text)
{
	struct error *err = text ? profile_note(p, text) : &error_no_memory;

	free(text);
	return err;
}

struct error *note_agent(struct profile *p, const struct wmk_file *w)
{
	uint64_t missed = w->header.missed_programs;
	const char *why = wmk_agent_text(w->header.agent);
	struct error *err = NULL;
	char *text;

	if (why)
		err = take_note(p, asprintf(&text, "%s: the agent did not start: %s; contexts are not known", w->name,
					    why) < 0
					   ? NULL
					   : text);
	if (err || !missed)
		return err;
	return take_note(p,
			 asprintf(&text, "%s: %" PRIu64 " %s not recorded: the agent could not come into %s", w->name,
				  missed, missed == 1 ? "program that it started is" : "programs that it started are",
				  missed == 1 ? "it" : "them") < 0
				 ? NULL
				 : text);
}

struct error *note_peak(struct profile *p, const struct wmk_file *w, uint64_t sum)
{
	char *text, at_peak[DIGITS_MAX], peak[DIGITS_MAX];
	struct error *err;

	if (sum == w->header.heap_peak_bytes || !w->header.heap_peak_bytes || w->truncated)
		return NULL;
	if (asprintf(&text, "%s: contexts at the peak add up to %s of %s bytes: calls of other threads were under way",
		     w->name, digits_grouped(sum, at_peak), digits_grouped(w->header.heap_peak_bytes, peak)) < 0)
		return &error_no_memory;
	err = profile_note(p, text);
	free(text);
	return err;
}

struct error *note_old_heap(struct profile *p, const struct wmk_file *w)
{
	char *text;
	struct error *err;

	if (asprintf(&text,
		     "%s: its heap is left out: an earlier waymark recorded it, without sizes and life times of blocks",
		     w->name) < 0)
		return &error_no_memory;
	err = profile_note(p, text);
	free(text);
	return err;
}

struct error *note_recycled(struct profile *p, const struct wmk_file *w)
{
	struct wmk_header now;
	struct error *err = wmk_read_header(w->bytes, w->len_bytes, w->name, &now);
	char *text;

	if (err || now.recycled_chunks == w->header.recycled_chunks) {
		error_destroy(err);
		return NULL;
	}
	return take_note(
		p,
		asprintf(&text, "%s: its process went on while it was read: some events may count twice, or not at all",
			 w->name) < 0
			? NULL
			: text);
}

struct error *note_unnamed(struct profile *p, const struct process *process)
{
	const struct error *why;
	struct error *err = NULL;

	for (size_t i = 0; !err && (why = recorded_why_unnamed(process->recorded, i)) != NULL; i++)
		err = profile_note(p, why->message);
	return err;
}

/*
 * crash_cause_text.c - the text of a cause, and the names in it.
 */
#include <stdarg.h>

#include "model/crash/crash_cause_build.h"
#include "object/demangle.h"

void cause_say(struct cause *q, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	q->text = arena_vprintf(q->arena, format, args);
	va_end(args);
	if (!q->text && !q->err)
		q->err = &error_no_memory;
}

const char *cause_name(struct cause *q, const struct crash_frame *f)
{
	const char *name = f && f->name ? demangle_brief(q->arena, f->name) : NULL;

	return name ? name : "code without a name";
}

const struct crash_frame *cause_frame(const struct cause *q, uint32_t machine)
{
	for (uint32_t i = 0; i < q->t->frame_count; i++)
		if (q->t->frames[i].machine == &q->t->machine->frames[machine])
			return &q->t->frames[i];
	return NULL;
}

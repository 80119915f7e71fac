/* crash_functions.c - activity function by function, as a table: how many blocks ran, may have run, cannot have run. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/plain_text.h"
#include "object/demangle.h"
#include "model/crash/crash_lines.h"
#include "report/crash/crash_renderer.h"

/* Those that ran first, then those that may have; by place. */
static int compare_functions(const void *a, const void *b)
{
	const struct crash_line_function *x = a, *y = b;

	return compare_u64(y->state, x->state) ?: compare_u64(x->file, y->file) ?: compare_u64(x->line, y->line) ?:
	       compare_u64(x->id, y->id);
}

static void print_name(const struct crash_report *r, FILE *out, const char *name)
{
	struct arena arena;
	const char *shown;

	arena_init(&arena);
	shown = demangle(&arena, name);
	if (shown && !r->style.is_full)
		shown = demangle_brief(&arena, shown);
	plain_print(out, shown ? shown : name);
	arena_deinit(&arena);
}

struct error *crash_functions_print(const struct crash_report *r, FILE *out)
{
	size_t states[CRASH_LINE_STATES] = {0};
	struct crash_lines l;
	struct error *err;

	if (!r->activity)
		return NULL;
	err = crash_lines_create(r->crash, r->activity, &l);
	if (err)
		return err;
	if (l.functions.count)
		qsort(l.functions.items, l.functions.count, sizeof *l.functions.items, compare_functions);
	for (size_t i = 0; i < l.functions.count; i++)
		states[l.functions.items[i].state]++;
	fprintf(out,
		"\nFunctions: %zu ran, %zu may have run, %zu cannot have run. Blocks of each that did so:\n"
		"ran        yes  maybe     no\n",
		states[ACTIVITY_YES], states[ACTIVITY_MAYBE], states[ACTIVITY_NO]);
	for (size_t i = 0; i < l.functions.count; i++) {
		const struct crash_line_function *f = &l.functions.items[i];

		fprintf(out, "%-7s %6" PRIu32 " %6" PRIu32 " %6" PRIu32 "  ", crash_state_name(f->state),
			f->blocks[ACTIVITY_YES], f->blocks[ACTIVITY_MAYBE], f->blocks[ACTIVITY_NO]);
		print_name(r, out, f->flow->name);
		if (f->file != UINT32_MAX) {
			fputs("  ", out);
			plain_print(out, l.files.items[f->file].name);
			fprintf(out, ":%" PRIu32, f->line);
		}
		putc('\n', out);
	}
	crash_lines_deinit(&l);
	return NULL;
}

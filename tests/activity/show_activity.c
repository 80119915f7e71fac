/*
 * show_activity.c - what crash_analyse says of a core, for run.sh: a line for each block of each function.
 *
 *	show-activity PROGRAM CORE
 *
 *	FUNCTION KEY BLOCK STATE RAN     STATE: N cannot have run, ? may have, Y ran; RAN: 1 when block coverage or a frame's
 *	                                 position says so, 0 when coverage says no, - when it says nothing
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/crash/crash.h"

/* [function][node], told by frames of the traced code */
static void mark_positions(const struct crash *c, uint8_t **here)
{
	for (uint32_t t = 0; t < c->thread_count; t++)
		for (uint32_t i = 0; i < c->threads[t].frame_count; i++) {
			const struct crash_frame *f = &c->threads[t].frames[i];

			if (f->meta && f->position == CRASH_POSITION_POINTS && f->node_count == 1)
				here[c->first_function[f->image] +
				     (uint32_t)(f->meta - c->images[f->image].trace.meta.functions)][f->nodes[0]] = 1;
		}
}

static void print_function(const struct crash *c, const struct activity_result *r, uint32_t image, uint32_t f,
			   uint8_t *const *here)
{
	const struct pathmeta_function *flow = c->images[image].trace.flows[f - c->first_function[image]];

	for (uint32_t n = 0; n < flow->cfg.node_count; n++) {
		const uint8_t *used = c->nodes_used[f];
		char ran = here[f][n]                          ? '1'
			   : !used || used[n] == POINT_UNKNOWN ? '-'
			   : used[n] == POINT_USED             ? '1'
							       : '0';

		printf("%s %" PRIx64 " %u %c %c\n", flow->link_name, flow->cfg_key, n, "N?Y"[r->nodes[f][n]], ran);
	}
}

static struct error *show(const char *program, const char *core)
{
	const struct object_search search = {0};
	const struct snapshot_options options = {.program = program, .search = &search};
	struct activity_result r;
	struct snapshot s;
	struct arena arena;
	struct crash c;
	struct error *err = snapshot_open_core(core, &options, &s);

	if (err)
		return err;
	arena_init(&arena);
	err = crash_create(&s, &search, &c);
	if (!err) {
		uint32_t count = c.first_function[s.module_count];
		uint8_t **here = arena_calloc(&arena, count, sizeof *here);

		err = here ? crash_analyse(&c, &arena, &r) : &error_no_memory;
		for (uint32_t f = 0; f < count && !err; f++) {
			here[f] = arena_calloc(&arena, r.program->functions[f].cfg->node_count, 1);
			if (!here[f])
				err = &error_no_memory;
		}
		if (!err)
			mark_positions(&c, here);
		if (!err && r.program->is_partial)
			puts("partial");
		for (uint32_t i = 0; i < s.module_count && !err; i++)
			for (uint32_t f = c.first_function[i]; f < c.first_function[i + 1]; f++)
				print_function(&c, &r, i, f, here);
		crash_deinit(&c);
	}
	arena_deinit(&arena);
	snapshot_close(&s);
	return err;
}

int main(int argc, char **argv)
{
	struct error *err;

	if (argc != 3)
		return 2;
	err = show(argv[1], argv[2]);
	if (!err)
		return 0;
	fprintf(stderr, "show-activity: %s\n", err->message);
	error_destroy(err);
	return 1;
}

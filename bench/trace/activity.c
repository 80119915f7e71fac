/*
 * activity.c - how much of a program may have run before it stopped, counted: for activity.sh.
 *
 *	bench-trace-activity PROGRAM CORE
 *
 * A line for each frame of a traced function in which there is a branch, then one for the program; tab-separated:
 *
 *	frame	FUNCTION	NODES	POSSIBLE	EDGES	POSSIBLE
 *	program	FRAMES	NODES	POSSIBLE	EDGES	POSSIBLE
 *
 * What is possible in a frame is what that activation alone may have done (activity_of_frame).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/crash/crash.h"

struct share {
	uint64_t all;
	uint64_t possible;
};

static int fail(struct error *err)
{
	if (!err)
		return 0;
	fprintf(stderr, "bench-trace-activity: %s\n", err->message);
	error_destroy(err);
	return 1;
}

static void count(const uint8_t *states, uint32_t number, struct share *sum)
{
	sum->all += number;
	for (uint32_t i = 0; i < number; i++)
		sum->possible += states[i] != ACTIVITY_NO;
}

static bool has_branch(const struct cfg *cfg)
{
	return cfg->edge_count >= cfg->node_count;
}

static void print(const char *what, const struct share *nodes, const struct share *edges)
{
	printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", what, nodes->all, nodes->possible,
	       edges->all, edges->possible);
}

static struct error *show_frame(const struct crash *c, const struct activity_result *r, uint32_t thread, uint32_t frame)
{
	const struct crash_frame *f = &c->threads[thread].frames[frame];
	const struct cfg *cfg = &f->flow->cfg;
	struct share nodes = {0}, edges = {0};
	uint8_t *states = calloc((size_t)cfg->node_count + cfg->edge_count, 1);
	struct error *err;

	if (!states)
		return &error_no_memory;
	err = crash_frame_activity(c, r, thread, frame, states, states + cfg->node_count);
	if (!err) {
		count(states, cfg->node_count, &nodes);
		count(states + cfg->node_count, cfg->edge_count, &edges);
		printf("frame\t");
		print(f->function, &nodes, &edges);
	}
	free(states);
	return err;
}

static struct error *show(const struct crash *c)
{
	struct arena arena;
	struct activity_result r;
	struct share nodes = {0}, edges = {0};
	struct error *err;
	uint32_t frames = 0;

	arena_init(&arena);
	err = crash_analyse(c, &arena, &r);
	for (uint32_t t = 0; !err && t < c->thread_count; t++)
		for (uint32_t i = 0; !err && i < c->threads[t].frame_count; i++) {
			const struct crash_frame *f = &c->threads[t].frames[i];
			frames++;
			if (f->meta && f->flow && has_branch(&f->flow->cfg))
				err = show_frame(c, &r, t, i);
		}
	for (uint32_t m = 0; !err && m < c->stopped->module_count; m++)
		for (uint32_t i = 0; i < c->images[m].trace.meta.function_count; i++) {
			const struct cfg *cfg = &c->images[m].trace.flows[i]->cfg;
			uint32_t f = c->first_function[m] + i;
			count(r.nodes[f], cfg->node_count, &nodes);
			count(r.edges[f], cfg->edge_count, &edges);
		}
	if (!err) {
		printf("program\t%" PRIu32, frames);
		print("", &nodes, &edges);
	}
	arena_deinit(&arena);
	return err;
}

int main(int argc, char **argv)
{
	struct object_search search;
	struct snapshot_options options = {.search = &search};
	struct snapshot s;
	struct crash c;
	int status;

	if (argc != 3) {
		fputs("usage: bench-trace-activity PROGRAM CORE\n", stderr);
		return 2;
	}
	object_search_init(&search);
	options.program = argv[1];
	status = fail(snapshot_open_core(argv[2], &options, &s));
	if (!status) {
		status = fail(crash_create(&s, &search, &c));
		if (!status) {
			status = fail(show(&c));
			crash_deinit(&c);
		}
		snapshot_close(&s);
	}
	object_search_deinit(&search);
	return status;
}

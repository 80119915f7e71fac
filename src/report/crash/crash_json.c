/* crash_json.c - a crash for programs: all that struct crash has, one object; docs/format.md describes it. */
#include <inttypes.h>
#include <string.h>

#include "object/demangle.h"
#include "model/crash/crash_fold.h"
#include "model/crash/crash_steps.h"
#include "report/crash/crash_before_render.h"
#include "model/crash/crash_digest.h"
#include "model/crash/crash_lines.h"
#include "report/crash/crash_values_render.h"
#include "base/json_writer.h"

struct json {
	const struct crash_report *r;
	const struct crash *c;
	FILE *out;
};

static void print_member(const struct json *j, const char *before, const char *name, const char *text)
{
	fprintf(j->out, "%s\"%s\": ", before, name);
	json_print_string(j->out, text);
}

/* Prints the form of a name, also a mangled one, that text shows; nothing if that is the name itself. */
static void print_brief(const struct json *j, const char *name, const char *text)
{
	struct arena arena;
	const char *brief;

	arena_init(&arena);
	brief = text ? demangle(&arena, text) : NULL;
	if (brief)
		brief = demangle_brief(&arena, brief);
	if (brief && strcmp(brief, text) != 0)
		print_member(j, ", ", name, brief);
	arena_deinit(&arena);
}

static void print_address(const struct json *j, const char *name, uint64_t address)
{
	fprintf(j->out, ", \"%s\": \"0x%" PRIx64 "\"", name, address);
}

static void print_signal(const struct json *j)
{
	const struct snapshot *s = j->c->stopped;

	fprintf(j->out, ",\n  \"signal\": %d", s->signal);
	print_member(j, ", ", "signal_name", s->signal ? sigabbrev_np(s->signal) : NULL);
	if (s->has_fault_address)
		print_address(j, "fault_address", s->fault_address);
	if (j->r->cause)
		print_member(j, ", ", "cause", j->r->cause);
}

static void print_modules(const struct json *j)
{
	const struct snapshot *s = j->c->stopped;
	char text[BUILD_ID_TEXT_MAX];

	fputs(",\n  \"modules\": [", j->out);
	for (uint32_t i = 0; i < s->module_count; i++) {
		const struct snapshot_module *m = &s->modules[i];

		print_member(j, i ? ",\n    {" : "\n    {", "path", m->path);
		print_member(j, ", ", "file", m->file);
		print_member(j, ", ", "build_id", m->build_id.len_bytes ? build_id_text(&m->build_id, text) : NULL);
		print_address(j, "start", m->start);
		print_address(j, "end", m->end);
		print_address(j, "bias", m->bias);
		fprintf(j->out, ", \"traced\": %s}", j->c->images[i].is_traced ? "true" : "false");
	}
	fputs("]", j->out);
}

/* ---- paths ---- */

static void print_numbers(const struct json *j, const char *name, const uint32_t *numbers, uint32_t count)
{
	fprintf(j->out, ", \"%s\": [", name);
	for (uint32_t i = 0; i < count; i++)
		fprintf(j->out, "%s%" PRIu32, i ? ", " : "", numbers[i]);
	fputs("]", j->out);
}

static void print_step(const struct json *j, const struct path_step *step)
{
	fprintf(j->out, "\"line\": %" PRIu32, step->line);
	print_member(j, ", ", "file", step->file);
	if (step->function)
		print_member(j, ", ", "function", step->function);
	if (step->outcome)
		print_member(j, ", ", "outcome", step->outcome);
	fputs("}", j->out);
}

static void print_steps(const struct json *j, const struct path_steps *s)
{
	fputs(", \"steps\": [", j->out);
	for (size_t i = 0; i < s->steps.count; i++) {
		fputs(i ? ", {" : "{", j->out);
		print_step(j, &s->steps.items[i]);
	}
	fputs("]", j->out);
}

/* Paths are numbered as they are listed. */
static struct error *print_digest(const struct json *j, const struct crash_thread *thread, const struct crash_frame *f)
{
	uint32_t limit = j->r->path_limit, first = limit && f->path_count > limit ? f->path_count - limit : 0;
	struct crash_digest d;
	struct error *err = crash_digest_create(j->c, thread, f, j->r->style.sources, &d);
	bool is_next = false;

	if (err)
		return err;
	fputs(",\n         \"digest\": [", j->out);
	for (uint32_t i = 0; i < d.count; i++) {
		fprintf(j->out, "%s{", is_next ? ",\n           " : "");
		if (d.items[i].path >= first)
			fprintf(j->out, "\"path\": %" PRIu32 ", ", d.items[i].path - first);
		fprintf(j->out, "\"block\": %" PRIu32 ", ", d.items[i].node);
		print_step(j, &d.items[i].step);
		is_next = true;
	}
	fputs("]", j->out);
	crash_digest_deinit(&d);
	return NULL;
}

static struct error *print_path(const struct json *j, const struct crash_thread *thread, const struct crash_frame *f,
				const struct crash_path *path)
{
	struct path_steps s;
	struct error *err = crash_path_steps(j->c, thread, f, path, j->r->style.sources, &s);

	if (err)
		return err;
	fprintf(j->out, "{\"complete\": %s", path->is_complete ? "true" : "false");
	if (path->is_complete)
		fprintf(j->out, ", \"number\": %" PRIu64, path->number);
	if (path->is_iterations)
		fputs(", \"rounds\": true", j->out);
	if (path->is_current)
		fputs(", \"current\": true", j->out);
	if (path->follows_gap)
		fputs(", \"follows_gap\": true", j->out);
	print_member(j, ", ", "start", s.start);
	print_member(j, ", ", "end", s.end);
	print_numbers(j, "blocks", s.nodes, s.node_count);
	print_numbers(j, "edges", s.path.edges, s.path.edge_count);
	if (s.path.end_edge != NO_EDGE)
		fprintf(j->out, ", \"end_edge\": %" PRIu32, s.path.end_edge);
	print_steps(j, &s);
	fputs("}", j->out);
	path_steps_deinit(&s);
	return NULL;
}

static struct error *print_paths(const struct json *j, const struct crash_thread *thread, const struct crash_frame *f)
{
	uint32_t limit = j->r->path_limit, first = limit && f->path_count > limit ? f->path_count - limit : 0;
	struct error *err = NULL;

	fputs(",\n         \"paths\": [", j->out);
	for (uint32_t i = first; i < f->path_count && !err; i++) {
		fputs(i > first ? ",\n           " : "\n           ", j->out);
		err = print_path(j, thread, f, &f->paths[i]);
	}
	fputs("]", j->out);
	return err;
}

/* ---- coverage ---- */

static const char *used_text(uint8_t used)
{
	static const char *const texts[] = {[POINT_UNKNOWN] = "null", [POINT_UNUSED] = "false", [POINT_USED] = "true"};

	return texts[used];
}

static void print_used(const struct json *j, const char *name, const uint8_t *used, uint32_t count)
{
	fprintf(j->out, ", \"%s\": [", name);
	for (uint32_t i = 0; i < count; i++)
		fprintf(j->out, "%s%s", i ? ", " : "", used_text(used[i]));
	fputs("]", j->out);
}

static void print_calls(const struct json *j, const struct tracemeta_function *f)
{
	static const char *const kinds[TRACEMETA_CALLEES] = {
		[TRACEMETA_DIRECT] = "direct",
		[TRACEMETA_INDIRECT] = "indirect",
		[TRACEMETA_PURE] = "pure",
		[TRACEMETA_ASM] = "asm",
	};

	fputs(",\n     \"calls\": [", j->out);
	for (uint32_t i = 0; i < f->call_count; i++) {
		const struct tracemeta_call *call = &f->calls[i];

		fprintf(j->out, "%s{\"block\": %" PRIu32 ", \"kind\": \"%s\"", i ? ", " : "", call->node,
			kinds[call->kind]);
		if (call->callee)
			print_member(j, ", ", "callee", call->callee);
		print_brief(j, "brief", call->callee);
		fprintf(j->out, ", \"line\": %" PRIu32 ", \"column\": %" PRIu32, call->line, call->column);
		if (call->file)
			print_member(j, ", ", "file", call->file);
		if (call->function)
			print_member(j, ", ", "function", call->function);
		fputs("}", j->out);
	}
	fputs("]", j->out);
}

/* Functions of the metadata that a frame shows or whose coverage is known; all others say nothing. */
static bool is_listed(const struct crash *c, uint32_t number, const uint8_t *is_framed)
{
	return is_framed[number] || c->entered[number] != POINT_UNKNOWN || c->calls_used[number] ||
	       c->nodes_used[number];
}

static void print_activity(const struct json *j, uint32_t number, uint32_t node_count)
{
	const struct activity_result *a = j->r->activity;

	if (!a)
		return;
	print_member(j, ", ", "activity", crash_state_name(a->functions[number]));
	fputs(", \"blocks_activity\": \"", j->out);
	for (uint32_t i = 0; i < node_count; i++)
		putc(*crash_state_name(a->nodes[number][i]), j->out);
	putc('"', j->out);
}

/* Pairs of blocks. */
static void print_cuts(const struct json *j, const char *name, const struct cfg *g, enum cfg_cut cut)
{
	uint32_t count = 0;

	for (uint32_t e = 0; e < g->edge_count; e++) {
		if (g->edges[e].cut != cut)
			continue;
		if (!count)
			fprintf(j->out, ", \"%s\": [", name);
		fprintf(j->out, "%s[%" PRIu32 ", %" PRIu32 "]", count++ ? ", " : "", g->edges[e].from, g->edges[e].to);
	}
	if (count)
		fputs("]", j->out);
}

static struct error *print_function(const struct json *j, uint32_t image, uint32_t index)
{
	const struct crash *c = j->c;
	const struct tracemeta_function *f = &c->images[image].trace.meta.functions[index];
	const struct pathmeta_function *flow = c->images[image].trace.flows[index];
	uint32_t number = c->first_function[image] + index;
	struct error *err;

	fprintf(j->out, "{\"id\": %" PRIu32 ", \"module\": %" PRIu32, number, image);
	print_member(j, ", ", "link_name", flow->link_name);
	print_member(j, ", ", "name", flow->name);
	print_member(j, ", ", "file", flow->file);
	fprintf(j->out, ", \"line\": %" PRIu32 ", \"block_count\": %" PRIu32 ", \"possible_paths\": %" PRIu64,
		flow->line, flow->cfg.node_count, flow->path_count);
	print_cuts(j, "split_edges", &flow->cfg, CFG_CUT_SPLIT);
	print_cuts(j, "round_edges", &flow->cfg, CFG_CUT_ITERATION);
	fprintf(j->out, ", \"entered\": %s", used_text(c->entered[number]));
	if (c->calls_used[number])
		print_used(j, "calls_used", c->calls_used[number], f->call_count);
	if (c->nodes_used[number])
		print_used(j, "blocks_used", c->nodes_used[number], f->node_count);
	print_activity(j, number, flow->cfg.node_count);
	err = crash_before_function_json(j->r, number, j->out);
	print_calls(j, f);
	fputs("}", j->out);
	return err;
}

static struct error *print_functions(const struct json *j, const uint8_t *is_framed)
{
	const struct crash *c = j->c;
	bool is_next = false;
	struct error *err = NULL;

	fputs(",\n  \"functions\": [", j->out);
	for (uint32_t i = 0; i < c->stopped->module_count; i++) {
		for (uint32_t f = 0; f < c->first_function[i + 1] - c->first_function[i] && !err; f++) {
			if (!j->r->has_functions && !is_listed(c, c->first_function[i] + f, is_framed))
				continue;
			fputs(is_next ? ",\n    " : "\n    ", j->out);
			is_next = true;
			err = print_function(j, i, f);
		}
	}
	fputs("]", j->out);
	return err;
}

/* Functions that are not traced as was asked for. */
static void print_skipped(const struct json *j)
{
	bool is_next = false;

	fputs(",\n  \"skipped\": [", j->out);
	for (uint32_t i = 0; i < j->c->stopped->module_count; i++) {
		const struct tracemeta *meta = &j->c->images[i].trace.meta;

		for (uint32_t k = 0; k < meta->skipped_count; k++) {
			fprintf(j->out, "%s{\"module\": %" PRIu32, is_next ? ",\n    " : "\n    ", i);
			print_member(j, ", ", "name", meta->skipped[k].name);
			print_member(j, ", ", "reason", meta->skipped[k].reason);
			fputs("}", j->out);
			is_next = true;
		}
	}
	fputs("]", j->out);
}

/* ---- stacks ---- */

static struct error *print_trace(const struct json *j, const struct crash_thread *thread, const struct crash_frame *f,
				 uint8_t *is_framed)
{
	static const char *const traces[] = {
		[CRASH_TRACE_NONE] = "none",
		[CRASH_TRACE_WHOLE] = "whole",
		[CRASH_TRACE_LAST] = "last",
		[CRASH_TRACE_LOST] = "lost",
	};
	static const char *const positions[] = {
		[CRASH_POSITION_NONE] = NULL,
		[CRASH_POSITION_POINTS] = "points",
		[CRASH_POSITION_CALL] = "call",
		[CRASH_POSITION_LINE] = "line",
	};

	struct error *err;

	if (!f->meta)
		return NULL;
	is_framed[crash_function_id(j->c, f)] = 1;
	fprintf(j->out, ",\n         \"function_id\": %" PRIu32, crash_function_id(j->c, f));
	if (f->variant)
		fprintf(j->out, ", \"scheme\": %u", f->variant->scheme);
	print_member(j, ", ", "position", positions[f->position]);
	print_numbers(j, "blocks", f->nodes, f->node_count);
	if (f->call != UINT32_MAX)
		fprintf(j->out, ", \"call\": %" PRIu32, f->call);
	print_member(j, ", ", "trace", traces[f->trace]);
	if (f->why)
		print_member(j, ", ", "why", f->why);
	if (f->calls_used)
		print_used(j, "calls_used", f->calls_used, f->meta->call_count);
	if (f->nodes_used)
		print_used(j, "blocks_used", f->nodes_used, f->flow->cfg.node_count);
	if (f->trace != CRASH_TRACE_WHOLE && f->trace != CRASH_TRACE_LAST)
		return NULL;
	err = crash_before_json(j->r, f, j->out);
	if (err)
		return err;
	fprintf(j->out, ", \"ended\": %" PRIu64, f->ended);
	err = print_digest(j, thread, f);
	return err ? err : print_paths(j, thread, f);
}

static struct error *print_frame(const struct json *j, const struct crash_thread *thread, uint32_t number,
				 uint8_t *is_framed)
{
	const struct crash_frame *f = &thread->frames[number];
	struct error *err;

	fprintf(j->out, "{\"number\": %" PRIu32, number);
	print_member(j, ", ", "name", f->name);
	print_brief(j, "brief", f->name);
	print_member(j, ", ", "link_name", f->function);
	print_member(j, ", ", "file", f->file);
	fprintf(j->out, ", \"line\": %" PRIu32 ", \"column\": %" PRIu32, f->line, f->column);
	if (f->image != UINT32_MAX)
		fprintf(j->out, ", \"module\": %" PRIu32, f->image);
	print_address(j, "pc", f->machine->pc);
	if (f->machine->has_cfa)
		print_address(j, "cfa", f->machine->cfa);
	fprintf(j->out, ", \"inlined\": %s, \"interrupted\": %s", f->is_inlined ? "true" : "false",
		f->machine->is_activation ? "true" : "false");
	if (f->machine->is_trampoline)
		fputs(", \"signal_return\": true", j->out);
	if (f->context)
		print_member(j, ", ", "context", f->context);
	err = crash_values_frame(&crash_values_json, j->r, thread, f, j->out);
	if (!err)
		err = print_trace(j, thread, f, is_framed);
	fputs("}", j->out);
	return err;
}

static struct error *print_thread(const struct json *j, const struct crash_thread *thread, uint8_t *is_framed)
{
	uint32_t from, to;
	struct error *err = NULL;

	crash_frames_left_out(thread->frame_count, j->r->frame_limit, &from, &to);
	fprintf(j->out, "{\"tid\": %d", (int)thread->machine->tid);
	print_member(j, ", ", "name", thread->machine->name);
	fprintf(j->out, ", \"first\": %s, \"frame_count\": %" PRIu32 ", \"left_out\": %" PRIu32,
		thread->machine->is_first ? "true" : "false", thread->frame_count, to - from);
	print_member(j, ", ", "cut", thread->machine->cut);
	crash_values_thread(&crash_values_json, j->r, (uint32_t)(thread - j->c->threads), j->out);
	fputs(",\n     \"frames\": [", j->out);
	for (uint32_t i = 0; i < thread->frame_count && !err; i++) {
		if (i == from && (i = to) == thread->frame_count)
			break;
		fputs(i ? ",\n        " : "\n        ", j->out);
		err = print_frame(j, thread, i, is_framed);
	}
	fputs("]}", j->out);
	return err;
}

/* Without the source, conditions have no text. */
static void print_missing(const struct json *j, bool is_next)
{
	const struct source_file_vec *files = &j->r->style.sources->files;
	struct arena arena;

	arena_init(&arena);
	for (size_t i = 0; i < files->count; i++) {
		const char *text;

		if (!files->items[i]->is_missed)
			continue;
		text = arena_printf(&arena, "%s: give the directory with --source-dir", files->items[i]->why);
		fputs(is_next ? ",\n    " : "\n    ", j->out);
		json_print_string(j->out, text);
		is_next = true;
	}
	arena_deinit(&arena);
}

struct error *crash_render_json(const struct crash_report *r, FILE *out)
{
	struct json j = {.r = r, .c = r->crash, .out = out};
	const struct snapshot *s = r->crash->stopped;
	uint32_t total = r->crash->first_function[s->module_count];
	struct arena arena;
	uint8_t *is_framed;
	struct error *err = NULL;

	arena_init(&arena);
	is_framed = arena_calloc(&arena, (size_t)total + 1, 1);
	if (!is_framed)
		return &error_no_memory;
	fputs("{\"format\": \"waymark-core\", \"version\": 1", out);
	print_member(&j, ", ", "producer", r->producer);
	print_member(&j, ",\n  ", "program", s->main_module < s->module_count ? s->modules[s->main_module].path : NULL);
	fprintf(out, ", \"pid\": %d, \"live\": %s", (int)s->pid, s->is_live ? "true" : "false");
	print_member(&j, ", ", "command", s->command);
	print_signal(&j);
	print_modules(&j);
	fputs(",\n  \"threads\": [", out);
	for (uint32_t i = 0; i < r->crash->thread_count && !err; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		err = print_thread(&j, &r->crash->threads[i], is_framed);
	}
	fputs("]", out);
	if (!err)
		err = print_functions(&j, is_framed);
	print_skipped(&j);
	fputs(",\n  \"notes\": [", out);
	for (uint32_t i = 0; i < r->crash->note_count; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		json_print_string(out, r->crash->notes[i]);
	}
	print_missing(&j, r->crash->note_count > 0);
	fputs("]}\n", out);
	arena_deinit(&arena);
	return err;
}

/*
 * pathmeta_write.c - model to bytes of one unit of `.debug_waymark_paths`. What the reader would refuse is not written: a
 * program would ship with metadata that nobody can use.
 */
#include <inttypes.h>

#include "core/paths/path_number.h"
#include "format/pathmeta.h"
#include "format/pathmeta_bytes.h"
#include "format/unitmeta.h"
#include "format/pathmeta_check.h"

struct writer {
	struct unitmeta_writer out;
	struct buffer function; /* the one at work; its length goes in front */
};

static void write_line(struct writer *w, const struct pathmeta_line *before, const struct pathmeta_line *l)
{
	struct buffer *b = &w->function;
	uint32_t function = string_table_ref(&w->out.strings, l->function);
	uint32_t file = string_table_ref(&w->out.strings, l->file);
	bool is_elsewhere = function != string_table_ref(&w->out.strings, before->function) ||
			    file != string_table_ref(&w->out.strings, before->file);

	buffer_uleb128(b, zigzag((int64_t)l->line - before->line) << LINE_SHIFT | (is_elsewhere ? LINE_ELSEWHERE : 0u) |
				  (l->is_branch_only ? LINE_BRANCH_ONLY : 0u));
	if (is_elsewhere) {
		buffer_uleb128(b, function);
		buffer_uleb128(b, file);
	}
	buffer_uleb128(b, l->column);
}

static void write_cases(struct writer *w, const struct pathmeta_cases *c)
{
	uint64_t before = 0;

	buffer_uleb128(&w->function, 2 * c->count + c->has_more);
	for (uint32_t i = 0; i < c->count; i++) {
		buffer_uleb128(&w->function, zigzag((int64_t)((uint64_t)c->ranges[i].first - before)));
		buffer_uleb128(&w->function, (uint64_t)c->ranges[i].last - (uint64_t)c->ranges[i].first);
		before = (uint64_t)c->ranges[i].last;
	}
}

static void write_edge(struct writer *w, const struct cfg_edge *e, const struct pathmeta_outcome *o)
{
	buffer_uleb128(&w->function, e->to);
	buffer_uleb128(&w->function, (unsigned int)e->cut | (e->is_fixed ? EDGE_FIXED : 0u) |
					     (unsigned int)o->kind << EDGE_OUTCOME_SHIFT);
	if (o->kind == PATHMETA_CASE)
		buffer_uleb128(&w->function, zigzag(o->value));
	if (o->kind == PATHMETA_CASES)
		write_cases(w, o->cases);
}

static void write_graph(struct writer *w, const struct pathmeta_function *f)
{
	struct pathmeta_line before = {.file = f->file, .line = f->line};
	const struct cfg *g = &f->cfg;

	buffer_uleb128(&w->function, g->node_count);
	buffer_uleb128(&w->function, g->edge_count);
	buffer_uleb128(&w->function, f->first_line[g->node_count]);
	for (uint32_t n = 0; n < g->node_count; n++) {
		buffer_uleb128(&w->function, g->first_edge[n + 1] - g->first_edge[n]);
		buffer_uleb128(&w->function, f->first_line[n + 1] - f->first_line[n]);
		for (uint32_t i = f->first_line[n]; i < f->first_line[n + 1]; i++) {
			write_line(w, &before, &f->lines[i]);
			before = f->lines[i];
		}
		for (uint32_t i = g->first_edge[n]; i < g->first_edge[n + 1]; i++)
			write_edge(w, &g->edges[i], &f->outcomes[i]);
	}
}

static void write_tests(struct writer *w, const struct pathmeta_function *f)
{
	struct buffer *b = &w->function;

	buffer_uleb128(b, f->test_count);
	for (uint32_t i = 0; i < f->test_count; i++) {
		const struct pathmeta_test *t = &f->tests[i];

		buffer_uleb128(b, t->node - (i ? t[-1].node + 1 : 0));
		buffer_uleb128(b, t->flags);
		buffer_uleb128(b, t->compare);
		buffer_uleb128(b, string_table_ref(&w->out.strings, t->at.function));
		buffer_uleb128(b, string_table_ref(&w->out.strings, t->at.file));
		buffer_uleb128(b, t->at.line);
		buffer_uleb128(b, t->at.column);
		buffer_uleb128(b, string_table_ref(&w->out.strings, t->name));
		buffer_uleb128(b, t->number);
		buffer_uleb128(b, t->count);
		if (t->flags & PATHMETA_TEST_JOINED)
			buffer_uleb128(b, t->from);
	}
}

static void write_hiding(struct writer *w, const struct pathmeta_function *f)
{
	struct buffer *b = &w->function;

	buffer_uleb128(b, (f->is_unseen ? HIDING_UNSEEN : 0u) | (f->is_optimized ? HIDING_OPTIMIZED : 0u));
	buffer_uleb128(b, f->hidden_count);
	for (uint32_t i = 0; i < f->hidden_count; i++)
		buffer_uleb128(b, string_table_ref(&w->out.strings, f->hidden[i]));
	if (!f->is_optimized)
		return;
	buffer_uleb128(b, f->firm_count);
	for (uint32_t i = 0; i < f->firm_count; i++)
		buffer_uleb128(b, f->firm[i] - (i ? f->firm[i - 1] : 0));
}

static void write_function(struct writer *w, const struct pathmeta_function *f)
{
	struct buffer *b = &w->function;

	b->len_bytes = 0;
	buffer_u64(b, f->name_key);
	buffer_u64(b, f->cfg_key);
	buffer_uleb128(b, f->path_count);
	buffer_uleb128(b, string_table_ref(&w->out.strings, f->link_name));
	buffer_uleb128(b, string_table_ref(&w->out.strings, f->name ? f->name : f->link_name));
	buffer_uleb128(b, string_table_ref(&w->out.strings, f->file));
	buffer_uleb128(b, f->line);
	buffer_uleb128(b, f->kind);
	buffer_uleb128(b, f->bits);
	buffer_uleb128(b, f->flags);
	buffer_uleb128(b, f->interesting);
	buffer_uleb128(b, f->interval);
	buffer_uleb128(b, f->has_plan ? (uint64_t)f->planned_count + 1 : 0);
	for (uint32_t i = 0; f->has_plan && i < f->planned_count; i++)
		buffer_uleb128(b, f->planned[i] - (i ? f->planned[i - 1] : 0));
	write_graph(w, f);
	buffer_uleb128(b, f->selects);
	buffer_uleb128(b, f->switch_tables);
	write_tests(w, f);
	write_hiding(w, f);
	buffer_uleb128(&w->out.tables, b->len_bytes);
	buffer_bytes(&w->out.tables, b->bytes, b->len_bytes);
}

static void write_tables(struct writer *w, const struct pathmeta *m)
{
	const struct pathmeta_unit *u = &m->units[0];

	unitmeta_write_text(&w->out, u->producer);
	unitmeta_write_text(&w->out, u->name);
	buffer_uleb128(&w->out.tables, (uint64_t)u->stage);
	buffer_uleb128(&w->out.tables, m->function_count);
	for (uint32_t i = 0; i < m->function_count; i++)
		write_function(w, &m->functions[i]);
	unitmeta_write_skipped(&w->out, m->skipped, m->skipped_count);
}

static struct error *check_function(const struct pathmeta_function *f, uint32_t number)
{
	const struct cfg *g = &f->cfg;
	struct error *err = pathmeta_check(f);

	for (uint32_t n = 0; n < g->node_count && !err; n++)
		if (f->first_line[n] > f->first_line[n + 1])
			err = error_create(ERROR_ARGUMENT, "lines of block %" PRIu32 " end before they begin", n);
	for (uint32_t i = 0; i < f->hidden_count && !err; i++)
		if (!f->hidden[i])
			err = error_create(ERROR_ARGUMENT, "a hidden function without a name");
	for (uint32_t i = 0; i < f->firm_count && !err; i++)
		if (f->firm[i] >= f->first_line[g->node_count] || (i && f->firm[i] <= f->firm[i - 1]))
			err = error_create(ERROR_ARGUMENT, "a firm line that is none");
	for (uint32_t i = 0; i < g->edge_count && !err; i++)
		if ((unsigned int)f->outcomes[i].kind >= PATHMETA_OUTCOMES)
			err = error_create(ERROR_ARGUMENT, "edge %" PRIu32 " has no outcome", i);
	return err ? error_context(err, "metadata of paths: function %" PRIu32 " (%s)", number,
				   f->link_name ? f->link_name : "?")
		   : NULL;
}

static struct error *check_model(const struct pathmeta *m)
{
	struct error *err = unitmeta_check("paths", m->unit_count, m->skipped, m->skipped_count);

	if (!err && (unsigned int)m->units[0].stage >= PATHMETA_STAGES)
		err = error_create(ERROR_ARGUMENT, "metadata of paths: stage %u", (unsigned int)m->units[0].stage);
	for (uint32_t i = 0; i < m->function_count && !err; i++)
		err = check_function(&m->functions[i], i);
	return err;
}

struct error *pathmeta_write(const struct pathmeta *m, struct buffer *out)
{
	struct writer w = {0};
	uint64_t key;
	struct error *err = check_model(m);

	if (!err) {
		write_tables(&w, m);
		err = buffer_error(&w.function);
	}
	err = unitmeta_write(&w.out, &PATHMETA_KIND, err, &key, out);
	buffer_deinit(&w.function);
	return err;
}

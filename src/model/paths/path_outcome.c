/*
 * path_outcome.c - words for what a branch decided.
 *
 * In code as its compiler's front end made it, that is what the source tests and whether it is true. An optimizer turns branches
 * round: then it is where control goes, unless a variable or a call by itself is tested. Where a line has several tests each is named by its text, or else by its column.
 */
#include <ctype.h>
#include <inttypes.h>

#include "base/text.h"
#include "model/paths/path_outcome.h"
#include "model/source/source_cases.h"
#include "model/source/source_condition.h"

static const char *line_text(const struct pathmeta_function *f, const struct pathmeta_line *line, const char *verb,
			     struct arena *arena)
{
	if (!line->file || text_equal(line->file, f->file))
		return arena_printf(arena, "%s line %" PRIu32, verb, line->line);
	return arena_printf(arena, "%s %s:%" PRIu32, verb, text_base_name(line->file), line->line);
}

const char *path_way(const struct pathmeta_function *f, uint32_t edge, const char *verb, const char *unknown,
		     struct arena *arena)
{
	const struct pathmeta_line *line = path_node_place(f, f->cfg.edges[edge].to);

	return line ? line_text(f, line, verb, arena) : unknown;
}

/* ---- cases ---- */

/* A character as C writes it; "" where it has no such form. */
static const char *character_text(int64_t value, char buffer[8])
{
	static const char escapes[][2] = {{0, '0'},    {'\a', 'a'}, {'\b', 'b'}, {'\t', 't'},  {'\n', 'n'},
					  {'\v', 'v'}, {'\f', 'f'}, {'\r', 'r'}, {'\'', '\''}, {'\\', '\\'}};
	char *at = buffer;

	*at++ = ' ';
	*at++ = '\'';
	for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
		if (value != escapes[i][0])
			continue;
		*at++ = '\\';
		*at++ = escapes[i][1];
	}
	if (at == buffer + 2 && (value < ' ' || value > '~'))
		return "";
	if (at == buffer + 2)
		*at++ = (char)value;
	*at++ = '\'';
	*at = '\0';
	return buffer;
}

static const char *value_text(int64_t value, bool is_character, struct arena *arena)
{
	char buffer[8];

	return arena_printf(arena, "%" PRId64 "%s", value, is_character ? character_text(value, buffer) : "");
}

const char *path_cases(const struct pathmeta_cases *cases, bool is_character, struct arena *arena)
{
	const char *text = "";

	for (uint32_t i = 0; i < cases->count && text; i++) {
		const struct pathmeta_range *r = &cases->ranges[i];
		const char *first = value_text(r->first, is_character, arena);
		const char *last = r->last > r->first ? value_text(r->last, is_character, arena) : "";

		if (!first || !last)
			return NULL;
		text = arena_printf(arena, "%s%s%s%s%s", text, i ? ", " : "", first, *last ? " to " : "", last);
	}
	return text && *text && cases->has_more ? arena_printf(arena, "%s or others", text) : text;
}

/* ---- conditions ---- */

static bool is_apart(const struct path_decision *b, const struct pathmeta_test *t)
{
	return b->step && b->step->line && (b->step->line != t->at.line || !text_equal(b->step->file, t->at.file));
}

/* A test of several on its line has a name: its text, its column, or its number among those of a macro. */
static struct error *name_test(const struct path_decision *b, const struct pathmeta_test *t, struct arena *arena,
			       struct source_condition *ret_condition, const char **ret)
{
	struct error *err = NULL;

	*ret_condition = (struct source_condition){0};
	if (b->walk->sources)
		err = source_condition_find(b->walk->sources, t, arena, ret_condition);
	if (err)
		return err;
	if (ret_condition->text)
		*ret = ret_condition->text;
	else if (t->count > 1)
		*ret = arena_printf(arena, "test %" PRIu32 " of %" PRIu32, t->number + 1, t->count);
	else
		*ret = arena_printf(arena, "column %" PRIu32, t->at.column);
	return *ret ? NULL : &error_no_memory;
}

/* The branch of an optimized condition is one of several, and the path comes to another of them next: that one decides. */
static bool goes_on_testing(const struct path_decision *b, const struct pathmeta_test *t)
{
	const struct pathmeta_function *f = b->walk->flow;

	for (uint32_t i = b->index; t && i < b->path->edge_count; i++) {
		const uint32_t node = b->nodes[i + 1];
		const struct pathmeta_test *next = pathmeta_find_test(f, node);

		if (next && next->at.line == t->at.line && next->at.column == t->at.column &&
		    text_equal(next->at.file, t->at.file) && text_equal(next->name, t->name))
			return true;
		if (f->outcomes[b->path->edges[i]].kind == PATHMETA_PLAIN && path_node_place(f, node))
			return false;
		if (i > b->index)
			return false;
	}
	return false;
}

static const struct pathmeta_line *first_line(const struct pathmeta_function *f, uint32_t node)
{
	for (uint32_t l = f->first_line[node]; l < f->first_line[node + 1]; l++)
		if (f->lines[l].line && !f->lines[l].is_branch_only)
			return &f->lines[l];
	return NULL;
}

/* Where an edge goes: the first place behind it, or, behind branches that have none, the first one on the path. */
static const struct pathmeta_line *place_behind(const struct path_decision *b)
{
	const struct pathmeta_function *f = b->walk->flow;
	const struct pathmeta_line *line = path_node_place(f, f->cfg.edges[b->edge].to);

	for (uint32_t i = b->index + 1; !line && i <= b->path->edge_count; i++)
		line = first_line(f, b->nodes[i]);
	return line;
}

/* Where an edge goes; on the line of the test itself, to which test or column of it. */
static struct error *way_from(const struct path_decision *b, const struct pathmeta_test *t, struct arena *arena,
			      const char **ret)
{
	const struct pathmeta_function *f = b->walk->flow;
	const struct pathmeta_line *line = place_behind(b);
	const struct pathmeta_test *next = pathmeta_find_test(f, f->cfg.edges[b->edge].to);
	struct source_condition condition;
	const char *name;
	struct error *err;

	*ret = line ? line_text(f, line, "to", arena) : "one way";
	if (!*ret)
		return &error_no_memory;
	if (!t || !line || line->line != t->at.line || !text_equal(line->file, t->at.file))
		return NULL;
	if (next && next->at.line == t->at.line && text_equal(next->at.file, t->at.file)) {
		err = name_test(b, next, arena, &condition, &name);
		if (!err)
			*ret = arena_printf(arena, "to %s", name);
		return err ? err : *ret ? NULL : &error_no_memory;
	}
	if (line->column && line->column != t->at.column)
		*ret = arena_printf(arena, "to column %" PRIu32, line->column);
	return *ret ? NULL : &error_no_memory;
}

/* A phi joins constants with one test: control comes from the block of the test by no branch. */
static bool is_decided_before(const struct path_decision *b, const struct pathmeta_test *t)
{
	const struct pathmeta_function *f = b->walk->flow;

	if (!(t->flags & PATHMETA_TEST_JOINED))
		return false;
	for (uint32_t i = b->index; i > 0; i--) {
		if (f->outcomes[b->path->edges[i - 1]].kind != PATHMETA_PLAIN &&
		    f->outcomes[b->path->edges[i - 1]].kind != PATHMETA_NORMAL)
			return true;
		if (b->nodes[i - 1] == t->from)
			return false;
	}
	return true;
}

/* Which way the branch went, as the source has it. */
struct truth {
	bool is_true;
	bool is_known; /* is_true holds */
	bool is_said;  /* the condition is one that the source has as a whole */
};

static struct truth truth_of(const struct path_decision *b, const struct pathmeta_test *t,
			     const struct source_condition *condition)
{
	struct truth truth = {.is_true = b->walk->flow->outcomes[b->edge].kind == PATHMETA_TRUE,
			      .is_known = b->walk->stage == PATHMETA_SOURCE};

	if (condition->is_known && t->flags & (PATHMETA_TEST_AS_WRITTEN | PATHMETA_TEST_VALUE)) {
		truth.is_known = truth.is_said = true;
		truth.is_true ^= (t->flags & PATHMETA_TEST_NEGATED) != 0;
		truth.is_true ^= condition->is_negated;
	} else if (condition->text && t->flags & PATHMETA_TEST_ONE_OF) {
		truth.is_known = false;
	}
	return truth;
}

/* Else another branch, or the end of the path, says it. */
static bool says_way(const struct path_decision *b, const struct pathmeta_test *t)
{
	const struct pathmeta_function *f = b->walk->flow;

	return !cfg_edge_ends(&f->cfg.edges[b->edge]) && (t || first_line(f, b->nodes[b->index])) &&
	       !goes_on_testing(b, t);
}

/* *ret: "true", "false" or the way that control went, with the condition's name where that is needed; NULL: nothing is to be said. */
static struct error *truth_or_way(const struct path_decision *b, struct arena *arena, const char **ret,
				  bool *ret_is_forced)
{
	const struct pathmeta_function *f = b->walk->flow;
	const struct pathmeta_test *t = pathmeta_find_test(f, f->cfg.edges[b->edge].from);
	struct source_condition condition = {0};
	const char *name = NULL, *value = NULL;
	struct truth truth;
	struct error *err;

	*ret = NULL;
	if (t && t->flags & PATHMETA_TEST_CONSTANT)
		return NULL;
	if (t && !t->at.line)
		t = NULL;
	*ret_is_forced = t && is_decided_before(b, t);
	if (*ret_is_forced)
		return NULL;
	err = t ? name_test(b, t, arena, &condition, &name) : NULL;
	if (err)
		return err;
	truth = truth_of(b, t, &condition);
	if (truth.is_known)
		value = truth.is_true ? "true" : "false";
	else if (says_way(b, t))
		err = way_from(b, t, arena, &value);
	if (err || !value)
		return err;
	if (t && (t->flags & PATHMETA_TEST_ONE_OF || is_apart(b, t) || (truth.is_said && !condition.is_alone)))
		value = arena_printf(arena, "%s: %s", name, value);
	*ret = value;
	return value ? NULL : &error_no_memory;
}

/* Labels as the source has them, else numbers, and of characters these too. */
static struct error *case_text(const struct path_decision *b, struct arena *arena, const char **ret)
{
	const struct pathmeta_function *f = b->walk->flow;
	const struct pathmeta_outcome *o = &f->outcomes[b->edge];
	const struct pathmeta_cases one = {.ranges = {{o->value, o->value}}, .count = 1};
	const struct pathmeta_cases *cases = o->kind == PATHMETA_CASE ? &one : o->cases;
	const struct pathmeta_test *t = pathmeta_find_test(f, f->cfg.edges[b->edge].from);
	const struct pathmeta_line *place = path_node_place(f, f->cfg.edges[b->edge].to);
	const char *text = NULL;
	struct error *err = NULL;

	if (b->walk->sources && place)
		err = source_cases_find(b->walk->sources, place, cases, t && t->flags & PATHMETA_TEST_AS_WRITTEN, arena,
					&text);
	if (!err && !text)
		text = path_cases(cases, t && t->flags & PATHMETA_TEST_CHARACTER, arena);
	if (!err && text)
		*ret = *text ? arena_printf(arena, "case %s", text) : "a case";
	return err ? err : text && *ret ? NULL : &error_no_memory;
}

struct error *path_outcome(const struct path_decision *b, struct arena *arena, const char **ret, bool *ret_is_forced)
{
	const struct pathmeta_outcome *o = &b->walk->flow->outcomes[b->edge];
	const char *text = NULL;

	*ret = NULL;
	*ret_is_forced = false;
	switch (o->kind) {
	case PATHMETA_TRUE:
	case PATHMETA_FALSE:
		return truth_or_way(b, arena, ret, ret_is_forced);
	case PATHMETA_CASE:
	case PATHMETA_CASES:
		return case_text(b, arena, ret);
	case PATHMETA_DEFAULT:
		text = "default";
		break;
	case PATHMETA_UNWIND:
		text = "throws";
		break;
	case PATHMETA_JUMP:
		text = path_way(b->walk->flow, b->edge, "jumps to", "jumps", arena);
		break;
	case PATHMETA_PLAIN:
	case PATHMETA_NORMAL:
	case PATHMETA_OUTCOMES:
		return NULL;
	}
	*ret = text;
	return text ? NULL : &error_no_memory;
}

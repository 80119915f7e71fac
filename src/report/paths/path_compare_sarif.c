/*
 * path_compare_sarif.c - field against tests as SARIF, for editors and code review: a result for each path that no test ran, with its lines as
 * a code flow, for each hot path of the tests that is cold in the field, and for each function that changed.
 */
#include <inttypes.h>

#include "base/json_writer.h"
#include "base/number_text.h"
#include "model/paths/path_steps.h"
#include "report/paths/path_compare_renderer.h"
#include "report/sarif.h"

static const struct sarif_rule rules[] = {
	{"new-path", "A path that ran in the field and in no test"},
	{"cold-path", "A hot path of the tests that is cold in the field"},
	{"changed-function", "A function whose control flow differs in the field: its paths are not compared"},
};

struct listing {
	const struct path_style *style;
	const char *before; /* of the next result */
	FILE *out;
};

static void begin_result(struct listing *l, const char *rule, const char *level)
{
	fprintf(l->out, "%s\n    {\"ruleId\": \"%s\", \"level\": \"%s\", ", l->before, rule, level);
	l->before = ",";
}

/* Where the function is. Of one whose metadata was not found only its key is known. */
static void print_function(const struct path_function *f, FILE *out)
{
	fputs(", \"locations\": [{", out);
	if (f->meta && f->meta->file) {
		sarif_print_place(out, f->meta->file, f->meta->line);
		fputs(", ", out);
	}
	fputs("\"logicalLocations\": [{", out);
	if (f->meta)
		json_print_member(out, "", "name", f->name);
	else
		fprintf(out, "\"name\": \"%016" PRIx64 "\"", f->name_key);
	fputs(", \"kind\": \"function\"}]}]", out);
}

static void print_step(const struct path_step *step, FILE *out)
{
	fputs("{\"location\": {", out);
	sarif_print_place(out, step->file, step->line);
	fputs(", \"message\": {\"text\": ", out);
	json_print_joined(out, step->outcome    ? (const char *const[]){"-> ", step->outcome, NULL}
			       : step->function ? (const char *const[]){"in ", step->function, NULL}
						: (const char *const[]){"runs", NULL});
	fputs("}}}", out);
}

static struct error *print_steps(const struct path_pair *pair, struct listing *l)
{
	struct path_steps s;
	const char *before = "\n       ";
	struct error *err;

	if (!pair->function->meta)
		return NULL;
	err = path_steps_create(pair->profile, pair->function, pair->number, l->style->sources, &s);
	if (err)
		return err;
	fputs(", \"codeFlows\": [{\"threadFlows\": [{\"locations\": [", l->out);
	for (size_t i = 0; i < s.steps.count; i++) {
		if (!s.steps.items[i].file)
			continue;
		fputs(before, l->out);
		before = ",\n       ";
		print_step(&s.steps.items[i], l->out);
	}
	fputs("]}]}]", l->out);
	path_steps_deinit(&s);
	return NULL;
}

static struct error *print_pair(const struct path_pair *pair, const char *rule, const char *level, struct listing *l)
{
	struct error *err;

	begin_result(l, rule, level);
	fprintf(l->out,
		"\"message\": {\"text\": \"path %" PRIu64 " of %" PRIu64 " ran %" PRIu64 " %s in the field and %" PRIu64
		" %s in the tests\"}",
		pair->number, pair->function->path_count, pair->field, noun_of(pair->field, "time", "times"),
		pair->tested, noun_of(pair->tested, "time", "times"));
	print_function(pair->function, l->out);
	err = print_steps(pair, l);
	putc('}', l->out);
	return err;
}

static struct error *print_pairs(const struct path_comparison *c, const struct path_pair_vec *v, const char *rule,
				 const char *level, struct listing *l)
{
	struct error *err = NULL;

	for (size_t i = 0; i < v->count && (!c->top || i < c->top) && !err; i++)
		err = print_pair(&v->items[i], rule, level, l);
	return err;
}

static void print_changes(const struct path_comparison *c, struct listing *l)
{
	for (size_t i = 0; i < c->changes.count && (!c->top || i < c->top); i++) {
		const struct path_change *change = &c->changes.items[i];

		begin_result(l, "changed-function", "note");
		fprintf(l->out,
			"\"message\": {\"text\": \"its paths ran %" PRIu64 " %s in the field and cannot be compared\"}",
			change->count, noun_of(change->count, "time", "times"));
		print_function(change->field, l->out);
		putc('}', l->out);
	}
}

struct error *path_compare_sarif(const struct path_comparison *c, const struct path_style *style, FILE *out)
{
	struct listing l = {.style = style, .before = "", .out = out};
	struct error *err;

	sarif_print_start(out, rules, sizeof rules / sizeof *rules);
	err = print_pairs(c, &c->news, "new-path", "warning", &l) ?: print_pairs(c, &c->cold, "cold-path", "note", &l);
	print_changes(c, &l);
	fputs("]}]}\n", out);
	return err;
}

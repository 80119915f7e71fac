/*
 * tune.c - `waymark tune`: chooses the schemes of functions in a program that is built already. All choices are made before
 * anything is written; one that cannot be made leaves the file as it is.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "base/order.h"
#include "base/plain_text.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/search_options.h"
#include "cli/tune_cores.h"
#include "format/scheme.h"
#include "object/tunables.h"

/* A rule, and what --set it is from. */
struct wanted_rule {
	struct scheme_rule rule;
	bool is_used;
};

VEC_DECLARE(rule_vec, struct wanted_rule);

struct request {
	struct arena arena; /* texts of rules */
	struct rule_vec rules;
	struct value_vec cores;
	struct object_search search;
	const char *output;
	bool is_list;
};

static struct error *add_rules(struct request *r, const char *text, const char *origin)
{
	struct scheme_problem problem;
	struct wanted_rule wanted = {0};
	struct error *err = NULL;
	size_t before = r->rules.count;

	while (!err && scheme_next_rule(&text, &wanted.rule, &problem)) {
		if (wanted.rule.count > 1)
			return error_create(ERROR_ARGUMENT, "%s: \"%.*s\" has several schemes: choose one", origin,
					    (int)wanted.rule.glob_len, wanted.rule.glob);
		err = rule_vec_append(&r->rules, wanted);
	}
	if (!err && problem.what)
		err = error_create(ERROR_ARGUMENT, "%s: %s at \"%.*s\"", origin, problem.what,
				   (int)strcspn(problem.at, "\n"), problem.at);
	if (!err && r->rules.count == before)
		err = error_create(ERROR_ARGUMENT, "%s: it contains no rule", origin);
	return err;
}

static struct error *add_file(struct request *r, const char *path)
{
	struct mapped_file file;
	char *text = NULL;
	struct error *err = file_map(path, &file);

	if (err)
		return err;
	if (memchr(file.bytes, 0, file.len_bytes))
		err = error_create(ERROR_ARGUMENT, "%s: is no text", path);
	else if (!(text = arena_strndup(&r->arena, (const char *)file.bytes, file.len_bytes)))
		err = &error_no_memory;
	file_unmap(&file);
	return err ? err : add_rules(r, text, path);
}

static struct error *add_set(void *state, const char *text)
{
	return text[0] == '@' ? add_file(state, text + 1) : add_rules(state, text, "--set");
}

static const struct option_row option_rows[] = {
	{.name = "set",
	 .argument = "RULES",
	 .help = "PATTERN=SCHEME for functions of that name (*, ?, [a-z] as in the shell), or file:PATTERN=SCHEME for those "
		 "of a source file; several with ; between them, or @FILE with one a line. The first rule that matches a "
		 "function is its own. SCHEME is none, fc, cc, fc+cc or stmt, with +pt or without, or pt",
	 .is_repeatable = true,
	 OPTION_SET(add_set)},
	{.name = "from",
	 .argument = "CORE...",
	 .help = "keep paths in the functions on the stacks of these cores",
	 .completion = COMPLETE_FILE,
	 OPTION_LIST(struct request, cores)},
	OPTIONS_OF(search_options, struct request, search),
	{.name = "list",
	 .help = "show all functions that can be chosen for, as they are then",
	 OPTION_FLAG(struct request, is_list)},
	{.name = "output",
	 .letter = 'o',
	 .argument = "OUT",
	 .help = "write to OUT and leave PROGRAM as it is",
	 .completion = COMPLETE_FILE,
	 OPTION_TEXT(struct request, output)},
	OPTION_HELP,
	OPTIONS_END,
};

/* C++ names are matched as they are written, too: ns::f and ns::f(int). */
static bool rule_matches(const struct scheme_rule *rule, const struct tune_function *f)
{
	size_t len = strcspn(f->shown, "(");
	char *scoped;
	bool is_match;

	if (scheme_rule_matches(rule, f->name, f->plain, f->file) || scheme_rule_matches(rule, f->shown, NULL, f->file))
		return true;
	scoped = strndup(f->shown, len);
	is_match = scoped && scheme_rule_matches(rule, scoped, NULL, f->file);
	free(scoped);
	return is_match;
}

static struct error *choose_for(struct request *r, const struct tune_image *t, struct tune_function *f)
{
	for (size_t i = 0; i < r->rules.count; i++) {
		struct wanted_rule *wanted = &r->rules.items[i];

		if (rule_matches(&wanted->rule, f)) {
			wanted->is_used = true;
			return tune_choose(t, f, wanted->rule.schemes[0]);
		}
	}
	return NULL;
}

/* A rule that is for no function at all is a mistake; one that others leave nothing to may be. */
static struct error *check_used(const struct request *r, const struct tune_image *t)
{
	for (size_t i = 0; i < r->rules.count; i++) {
		const struct wanted_rule *wanted = &r->rules.items[i];
		bool is_matched = wanted->is_used;

		for (uint32_t k = 0; k < t->function_count && !is_matched; k++)
			is_matched = rule_matches(&wanted->rule, &t->functions[k]);
		if (!is_matched)
			return error_create(
				ERROR_NOT_FOUND,
				"%s: no function that can be chosen for matches \"%.*s\": --list shows them", t->name,
				(int)wanted->rule.glob_len, wanted->rule.glob);
		if (!wanted->is_used)
			message_warn(
				"tune",
				"\"%.*s\" has no effect: rules before it match its functions, and the first counts",
				(int)wanted->rule.glob_len, wanted->rule.glob);
	}
	return NULL;
}

static struct error *choose_all(struct request *r, struct tune_image *t)
{
	struct error *err = NULL;
	uint32_t others = 0;

	for (uint32_t i = 0; i < t->function_count; i++) {
		struct error *one = choose_for(r, t, &t->functions[i]);

		if (one && one->code == ERROR_NOT_FOUND && err)
			others++;
		if (err)
			error_destroy(one);
		else
			err = one;
	}
	if (err && others) {
		struct error *all = error_create(err->code, "%s; %" PRIu32 " more lack theirs: nothing is changed",
						 err->message, others);

		error_destroy(err);
		return all;
	}
	return err ? err : check_used(r, t);
}

static int compare_functions(const void *a, const void *b)
{
	const struct tune_function *const *f = a, *const *g = b;

	return strcmp((*f)->file, (*g)->file) ?: strcmp((*f)->shown, (*g)->shown) ?: compare_u64((*f)->off, (*g)->off);
}

/* A column and the blanks to the next one. */
static void print_cell(FILE *out, const char *text, int width)
{
	int len = (int)strlen(text);

	plain_print(out, text);
	fprintf(out, "%*s", (width > len ? width - len : 0) + 2, "");
}

static void print_functions(const struct tune_function *const *functions, uint32_t count, FILE *out)
{
	int widths[3] = {8, 4, 7};

	for (uint32_t i = 0; i < count; i++) {
		const struct tune_function *f = functions[i];
		int shown = (int)strlen(f->shown), file = (int)strlen(f->file);
		int chosen = (int)strlen(scheme_name(f->schemes[f->chosen]));

		widths[0] = shown > widths[0] && shown <= 48 ? shown : widths[0];
		widths[1] = file > widths[1] && file <= 48 ? file : widths[1];
		widths[2] = chosen > widths[2] ? chosen : widths[2];
	}
	fprintf(out, "%-*s  %-*s  %-*s  available\n", widths[0], "function", widths[1], "file", widths[2], "chosen");
	for (uint32_t i = 0; i < count; i++) {
		const struct tune_function *f = functions[i];

		print_cell(out, f->shown, widths[0]);
		print_cell(out, f->file[0] ? f->file : "-", widths[1]);
		print_cell(out, scheme_name(f->schemes[f->chosen]), widths[2]);
		for (uint8_t k = 0; k < f->scheme_count; k++)
			fprintf(out, "%s%s", k ? " " : "", scheme_name(f->schemes[k]));
		putc('\n', out);
	}
}

static struct error *print_list(const struct tune_image *t, FILE *out)
{
	const struct tune_function **sorted = calloc((size_t)t->function_count + 1, sizeof *sorted);

	if (!sorted)
		return &error_no_memory;
	for (uint32_t i = 0; i < t->function_count; i++)
		sorted[i] = &t->functions[i];
	qsort(sorted, t->function_count, sizeof *sorted, compare_functions);
	print_functions(sorted, t->function_count, out);
	free(sorted);
	return NULL;
}

static struct error *choose_from_core(const struct request *r, const struct tune_image *t, const char *core,
				      bool *is_any)
{
	struct tune_from from;
	struct error *err = tune_from_core(t, &r->search, core, &from);

	if (err)
		return err;
	if (from.nameless)
		message_warn("tune",
			     "%s: %" PRIu32 " %s of %s %s no known function: give its debug file with --exe or "
			     "--debug-dir",
			     core, from.nameless, noun_of(from.nameless, "frame", "frames"), t->name,
			     noun_of(from.nameless, "has", "have"));
	if (from.pathless > 1)
		message_warn("tune",
			     "%s: %s and %" PRIu32 " more of its functions have no scheme with paths compiled in", core,
			     from.example, from.pathless - 1);
	else if (from.pathless)
		message_warn("tune", "%s: %s has no scheme with paths compiled in", core, from.example);
	*is_any |= from.functions != 0;
	return NULL;
}

static struct error *choose_from(const struct request *r, const struct tune_image *t)
{
	bool is_any = r->cores.count == 0;
	struct error *err = NULL;

	for (size_t i = 0; i < r->cores.count && !err; i++)
		err = choose_from_core(r, t, r->cores.items[i], &is_any);
	if (!err && !is_any)
		err = error_create(ERROR_NOT_FOUND,
				   "%s: no function on the stacks of %s%s has a scheme with paths to choose", t->name,
				   r->cores.items[0], r->cores.count > 1 ? " and the others" : "");
	return err;
}

/* A file that is as wanted already is not touched. */
static struct error *write_image(const struct request *r, const struct tune_image *t, FILE *out)
{
	uint32_t changed = tune_changed(t);
	struct error *err = NULL;

	if (changed || r->output)
		err = tune_write(t, r->output ? r->output : t->path);
	if (!err) {
		plain_print(out, r->output ? r->output : t->name);
		fprintf(out, ": %" PRIu32 " of %" PRIu32 " %s changed\n", changed, t->function_count,
			noun_of(t->function_count, "function", "functions"));
	}
	return err;
}

static struct error *tune(struct request *r, const char *path)
{
	struct tune_image t;
	struct output out;
	struct error *err = tune_read(path, &t);

	if (err)
		return err;
	err = choose_all(r, &t) ?: choose_from(r, &t) ?: output_open(NULL, &out);
	if (!err) {
		if (r->rules.count || r->cores.count || r->output)
			err = write_image(r, &t, out.file);
		if (!err && r->is_list)
			err = print_list(&t, out.file);
		err = output_end(&out, err);
	}
	tune_deinit(&t);
	return err;
}

static int parse_and_tune(const struct command *command, struct request *r, int argc, char **argv)
{
	int status = options_parse(command, r, argc, argv);

	if (status != OPTIONS_PARSED)
		return status;
	if (optind == argc)
		return message_usage("tune", "a program is needed");
	if (!r->cores.count && optind + 1 < argc)
		return message_usage("tune", "%s: one program is enough", argv[optind + 1]);
	if (!r->rules.count && !r->cores.count && !r->is_list)
		return message_usage("tune", "--set, --from or --list is needed");
	for (int i = optind + 1; i < argc; i++) { /* --from core.* */
		struct error *err = value_vec_append(&r->cores, argv[i]);

		if (err)
			return message_error("tune", err);
	}
	return message_error("tune", tune(r, argv[optind]));
}

static int run(const struct command *command, int argc, char **argv)
{
	struct request r = {0};
	int status;

	arena_init(&r.arena);
	object_search_init(&r.search);
	status = parse_and_tune(command, &r, argc, argv);
	rule_vec_deinit(&r.rules);
	value_vec_deinit(&r.cores);
	object_search_deinit(&r.search);
	arena_deinit(&r.arena);
	return status;
}

const struct command command_tune = {
	.name = "tune",
	.summary = "choose what is traced in a program that is built already",
	.usage = "Usage: waymark tune PROGRAM [--set 'PATTERN=SCHEME']... [--from CORE]...\n"
		 "                    [--list] [-o OUT]\n"
		 "\n"
		 "Chooses what is traced in a program or shared library that was built with\n"
		 "several schemes for a function (waymark cc --wm=trace='*=none|cc+pt'). It may\n"
		 "be stripped. PROGRAM is replaced at once, also while it runs: what runs goes on\n"
		 "as it is, the next start is as chosen.\n",
	.options = option_rows,
	.operands = {{"program", COMPLETE_FILE, NULL, false}, {"core", COMPLETE_FILE, NULL, true}},
	.run = run,
};

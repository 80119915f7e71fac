/* cc_options.c - reads --wm= and --wm-*=: tables of options, each with a function that checks its value. */
#include "cli/cc_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "format/scheme.h"
#include "waymark/paths.h"
#include "waymark/trace.h"

/* All of them can be read. */
static struct error *check_rules(const char *text)
{
	struct scheme_rule rule;
	struct scheme_problem problem = {0};
	while (scheme_next_rule(&text, &rule, &problem))
		;
	return problem.what ? error_create(ERROR_ARGUMENT, "--wm=trace: %s, at \"%.20s\"", problem.what, problem.at)
			    : NULL;
}

/* Build systems change directories between here and the pass: "@FILE" becomes absolute. */
static struct error *set_rules(struct cc_options *o, const char *value, size_t len)
{
	char path[PATH_MAX];
	free(o->rules);
	o->rules = strndup(value, len);
	if (!o->rules)
		return &error_no_memory;
	if (o->rules[0] != '@')
		return check_rules(o->rules);
	if (!realpath(o->rules + 1, path) || access(path, R_OK))
		return error_os(errno, "--wm=trace=%s: cannot read the rules", o->rules);
	free(o->rules);
	return asprintf(&o->rules, "@%s", path) < 0 ? (o->rules = NULL, &error_no_memory) : NULL;
}

enum {
	NO_KIND = SIZE_MAX, /* a word that is help and nothing to compare with */
};

/* The kinds that can be asked for: a flag of struct cc_options each. */
static const struct kind {
	struct word word;
	size_t flag_off;
} kinds[] = {
	{{"contexts", "calling contexts (the default)"}, offsetof(struct cc_options, contexts)},
	{{"paths", "paths through functions"}, offsetof(struct cc_options, paths)},
	{{"trace", "what a crash leaves behind: last paths and calls of each frame (waymark core)"},
	 offsetof(struct cc_options, trace)},
	{{"trace=RULES", "the same, by function: GLOB=SCHEME;... (man waymark-cc)"},
	 offsetof(struct cc_options, trace)},
	{{"contexts,paths", "several, with commas"}, NO_KIND},
	{{"contexts,trace", NULL}, NO_KIND},
	{{"none", "only run clang"}, NO_KIND},
	{.word = {0}},
};
static const struct word_table what_words = {kinds, sizeof *kinds};

/* One of the kinds, which commas separate. *is_known: it is one. */
static struct error *add_kind(struct cc_options *o, const char *text, size_t len, bool *is_known)
{
	*is_known = false;
	for (const struct kind *kind = kinds; kind->word.name; kind++) {
		size_t name_len = strcspn(kind->word.name, "=");
		size_t fixed_len = name_len + (kind->word.name[name_len] == '='); /* then comes a value */

		if (kind->flag_off == NO_KIND || len < fixed_len || memcmp(text, kind->word.name, fixed_len) ||
		    (fixed_len == name_len && len > name_len))
			continue;
		*is_known = true;
		*(bool *)((char *)o + kind->flag_off) = true;
		return fixed_len > name_len ? set_rules(o, text + fixed_len, len - fixed_len) : NULL;
	}
	return NULL;
}

static struct error *set_what(void *state, const char *value)
{
	struct cc_options *o = state;
	const char *kind = value;
	o->contexts = o->paths = o->trace = false;
	free(o->rules);
	o->rules = NULL;
	if (!strcmp(value, "none"))
		return NULL;
	for (;;) {
		size_t len = strcspn(kind, ",");
		bool is_known;
		struct error *err = add_kind(o, kind, len, &is_known);
		if (err)
			return err;
		if (!is_known)
			return error_create(
				ERROR_ARGUMENT,
				"--wm=%s: not known; use contexts, paths, trace, trace=RULES, several of them with "
				"commas between them, or none",
				value);
		if (!kind[len])
			return NULL;
		kind += len + 1;
	}
}

static const struct word events[] = {
	{"malloc", "allocations, and all else that other code captures"},
	{"token", "wm_capture and wm_event"},
	{"none", "nothing"},
	{0},
};
static const struct word_table event_words = {events, sizeof *events};

/* Any other word is the name of an event. */
static struct error *set_events(void *state, const char *value)
{
	struct cc_options *o = state;
	const size_t len = strlen(value);
	if (!len || value[0] == ',' || value[len - 1] == ',' || strstr(value, ",,"))
		return error_create(ERROR_ARGUMENT,
				    "--wm-events=%s: malloc, token or names of events are needed, with commas between "
				    "them, or none",
				    value);
	o->events = strcmp(value, "none") != 0 ? value : "";
	return NULL;
}

enum {
	STAGE_SOURCE,
	STAGE_FINAL,
};

static const struct word stages[] = {
	[STAGE_SOURCE] = {"source", "the code as written, before the optimizer (the default of paths)"},
	[STAGE_FINAL] = {"final", "the optimized code, when the program is linked: most often costs less"},
	{0},
};
static const struct word_table stage_words = {stages, sizeof *stages};

static struct error *set_stage(void *state, const char *value)
{
	struct cc_options *o = state;
	const struct word *stage = word_table_find(&stage_words, value);
	if (!stage)
		return error_create(ERROR_ARGUMENT, "--wm-stage=%s: not known; use source or final", value);
	o->is_final = stage == &stages[STAGE_FINAL];
	o->traces_source = !o->is_final;
	return NULL;
}

static struct error *set_ring(void *state, const char *value)
{
	struct cc_options *o = state;
	char *end;
	errno = 0;
	unsigned long n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || !n || n > WM1_TRACE_RING_MAX || n & (n - 1))
		return error_create(ERROR_ARGUMENT, "--wm-trace-paths=%s: a power of two from 1 to %d is needed", value,
				    WM1_TRACE_RING_MAX);
	o->ring = value;
	return NULL;
}

static struct error *set_array(void *state, const char *value)
{
	struct cc_options *o = state;
	char *end;
	errno = 0;
	unsigned long n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n > WM1_PATHS_MAX_COUNTERS)
		return error_create(ERROR_ARGUMENT, "--wm-path-array=%s: a number from 0 to %d is needed", value,
				    WM1_PATHS_MAX_COUNTERS);
	o->array = value;
	return NULL;
}

static const struct word hashes[] = {
	{"inline", "look paths up in place (the default)"},
	{"call", "in a function of the runtime: smaller and slower code"},
	{0},
};
static const struct word_table hash_words = {hashes, sizeof *hashes};

static struct error *set_hash(void *state, const char *value)
{
	struct cc_options *o = state;
	const struct word *hash = word_table_find(&hash_words, value);
	if (!hash)
		return error_create(ERROR_ARGUMENT, "--wm-path-hash=%s: not known; use inline or call", value);
	o->hash = hash->name;
	return NULL;
}

/* Build systems change directories between here and the pass. */
static struct error *set_plan(void *state, const char *value)
{
	struct cc_options *o = state;
	struct stat st;
	if (!realpath(value, o->plan) || access(o->plan, R_OK) || stat(o->plan, &st))
		return error_os(errno, "--wm-plan=%s: cannot read it", value);
	if (!S_ISREG(st.st_mode))
		return error_create(ERROR_ARGUMENT, "--wm-plan=%s: is no file; use a profile (.wmk) or a list", value);
	return NULL;
}

enum need {
	NEED_NOTHING = 0,
	NEED_PATHS = 1,
	NEED_TRACE = 2,
};

static const struct option_row what_options[] = {
	{.name = "wm",
	 .argument = "=WHAT",
	 .help = "what to instrument",
	 .kind = OPTION_KIND_JOINED,
	 .set = set_what,
	 .words = &what_words},
	OPTIONS_END,
};
static const struct option_row object_options[] = {
	{.name = "wm-thin-objects",
	 .help = "no machine code in objects: they compile in half the time, and link with waymark cc only",
	 OPTION_FLAG(struct cc_options, thin_objects)},
	{.name = "wm-no-recorder",
	 .help = "a small program: it keeps contexts and has nothing that records them, unless it captures itself",
	 OPTION_FLAG(struct cc_options, no_recorder)},
	OPTIONS_END,
};
static const struct option_row event_options[] = {
	{.name = "wm-events",
	 .argument = "=LIST",
	 .help = "events that need a calling context, with commas: malloc, token, names of wm_event; else all",
	 .kind = OPTION_KIND_JOINED,
	 .set = set_events,
	 .words = &event_words},
	{.name = "wm-hybrid",
	 .help = "let the offset of the stack tell contexts apart: less code, but a program is linked several times",
	 OPTION_FLAG(struct cc_options, is_hybrid)},
	OPTIONS_END,
};
static const struct option_row stage_options[] = {
	{.name = "wm-stage",
	 .argument = "=STAGE",
	 .help = "which code to count paths in",
	 .kind = OPTION_KIND_JOINED,
	 .set = set_stage,
	 .words = &stage_words},
	OPTIONS_END,
};
static const struct option_row trace_options[] = {
	{.name = "wm-trace-paths",
	 .argument = "=N",
	 .help = "last paths kept for each frame, a power of two",
	 .preset = WM1_TRACE_RING_DEFAULT,
	 .kind = OPTION_KIND_JOINED,
	 .set = set_ring},
	OPTIONS_END,
};
static const struct option_row path_options[] = {
	{.name = "wm-plan",
	 .argument = "=FILE",
	 .help = "give the paths of a profile (.wmk) or a list the cheapest counters",
	 .completion = COMPLETE_FILE,
	 .kind = OPTION_KIND_JOINED,
	 .set = set_plan},
	{.name = "wm-path-array",
	 .argument = "=N",
	 .help = "functions with up to N paths have a counter for each, others a hash table",
	 .preset = WM1_PATHS_ARRAY_DEFAULT,
	 .kind = OPTION_KIND_JOINED,
	 .set = set_array},
	{.name = "wm-path-hash",
	 .argument = "=HOW",
	 .help = "how paths are looked up in hash tables",
	 .kind = OPTION_KIND_JOINED,
	 .set = set_hash,
	 .words = &hash_words},
	OPTIONS_END,
};

const struct option_row cc_option_rows[] = {
	{.table = what_options},
	{.table = object_options},
	OPTIONS_HEADING("With contexts:"),
	{.table = event_options},
	OPTIONS_HEADING("With paths and trace:"),
	{.table = stage_options},
	OPTIONS_HEADING("With trace:"),
	{.table = trace_options},
	OPTIONS_HEADING("With paths:"),
	{.table = path_options},
	OPTIONS_HEADING("Others:"),
	{.name = "help", .help = "this text, then clang's", .kind = OPTION_KIND_HELP},
	OPTIONS_END,
};

static const struct {
	const struct option_row *rows;
	enum need need; /* one of them */
} groups[] = {
	{what_options, NEED_NOTHING},  {object_options, NEED_NOTHING},
	{event_options, NEED_NOTHING}, {stage_options, NEED_PATHS | NEED_TRACE},
	{trace_options, NEED_TRACE},   {path_options, NEED_PATHS},
};

bool cc_options_is_own(const char *word)
{
	return !strncmp(word, "--wm=", 5) || !strncmp(word, "--wm-", 5);
}

/* The value behind "--NAME=", NULL: word is another option. */
static const char *value_of(const char *word, const struct option_row *row)
{
	size_t len = strlen(row->name);
	return !strncmp(word + 2, row->name, len) && word[2 + len] == '=' ? word + 2 + len + 1 : NULL;
}

static struct error *unknown_option(const char *word)
{
	struct option_item items[OPTIONS_MAX];
	size_t count = options_list(cc_option_rows, items), last = 0;
	struct buffer list = {0};
	struct error *err;
	for (size_t i = 0; i < count; i++)
		if (items[i].row->kind == OPTION_KIND_JOINED)
			last = i;
	for (size_t i = 0; i <= last; i++)
		if (items[i].row->kind == OPTION_KIND_JOINED)
			buffer_printf(&list, "%s--%s=", !i ? "" : i < last ? ", " : " or ", items[i].row->name);
	buffer_printf(&list, ", each with a value after the =");
	for (size_t i = 0; i < count; i++)
		if (items[i].row->kind == OPTION_KIND_FLAG)
			buffer_printf(&list, ", or --%s", items[i].row->name);
	buffer_u8(&list, 0);
	err = buffer_error(&list);
	if (!err)
		err = error_create(ERROR_ARGUMENT, "%s: not known; use %s", word, (char *)list.bytes);
	buffer_deinit(&list);
	return err;
}

static struct error *read_word(struct cc_options *o, const char *word, enum need *need)
{
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		for (const struct option_row *row = groups[i].rows; row->name; row++) {
			const char *value = value_of(word, row);
			if (row->kind == OPTION_KIND_FLAG) {
				if (strcmp(word + 2, row->name))
					continue;
				*(bool *)((char *)o + row->off) = true;
				return NULL;
			}
			if (!value)
				continue;
			*need = groups[i].need;
			return row->set(o, value);
		}
	}
	return unknown_option(word);
}

static struct error *needs(const char *word, enum need need)
{
	return error_create(ERROR_ARGUMENT, "%s: needs %s%s%s", word,
			    need & NEED_PATHS ? "--wm=paths or --wm=contexts,paths" : "",
			    need == (NEED_PATHS | NEED_TRACE) ? " or " : "", need & NEED_TRACE ? "--wm=trace" : "");
}

static struct error *read_words(char *const *words, int count, struct cc_options *o)
{
	const char *of_one = NULL; /* an option that only one kind has */
	enum need its_need = NEED_NOTHING;
	bool says_what = false;
	for (int i = 0; i < count; i++) {
		enum need need = NEED_NOTHING;
		struct error *err = cc_options_is_own(words[i]) ? read_word(o, words[i], &need) : NULL;
		if (err)
			return err;
		if (need) {
			of_one = words[i];
			its_need = need;
		}
		says_what |= !strncmp(words[i], "--wm=", 5);
	}
	/* With a --wm= it is fine: makefiles switch off for one file what CC= asks for. */
	return of_one && !says_what ? needs(of_one, its_need) : NULL;
}

struct error *cc_options_read(char *const *words, int count, struct cc_options *ret)
{
	struct cc_options options = {.contexts = true};
	struct error *err = read_words(words, count, &options);
	if (!err && options.is_hybrid && options.contexts && (options.paths || options.trace))
		err = error_create(ERROR_ARGUMENT, "--wm-hybrid: only with --wm=contexts alone");
	if (err)
		cc_options_deinit(&options);
	else
		*ret = options;
	return err;
}

void cc_options_deinit(struct cc_options *options)
{
	free(options->rules);
	options->rules = NULL;
}

static void export(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

void cc_options_clear_environment(void)
{
	cc_options_export(&(struct cc_options){0}, &(struct cc_request){0});
}

void cc_options_export(const struct cc_options *o, const struct cc_request *r)
{
	const bool is_thin = cc_options_at_link(o) && cc_request_object(r, o->thin_objects) == CC_OBJECT_THIN;
	export("WAYMARK_CONTEXTS", o->contexts ? "1" : NULL);
	export("WAYMARK_EVENTS", o->contexts ? o->events : NULL);
	export("WAYMARK_HYBRID", NULL);
	export("WAYMARK_PATHS", !o->paths ? NULL : o->is_final ? "final" : "source");
	export("WAYMARK_PATHS_ARRAY", o->paths ? o->array : NULL);
	export("WAYMARK_PATHS_HASH", o->paths ? o->hash : NULL);
	export("WAYMARK_PATHS_PLAN", o->paths && *o->plan ? o->plan : NULL);
	export("WAYMARK_TRACE", !o->trace ? NULL : o->traces_source ? "source" : "final");
	export("WAYMARK_TRACE_RULES", o->trace ? o->rules : NULL);
	export("WAYMARK_TRACE_RING", o->trace ? o->ring : NULL);
	export("WAYMARK_TRACE_UNITS",
	       o->trace && o->traces_source && (r->uses_lto || cc_options_at_link(o)) ? "1" : NULL);
	export("WAYMARK_THIN_OBJECT", is_thin ? "1" : NULL);
}

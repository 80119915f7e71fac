/* cc_options.c - reads --wm= and --wm-*=: a table of names, each with a function that checks its value. */
#include "cli/cc_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

/* One of the kinds, which commas separate. *is_known: it is one. */
static struct error *add_kind(struct cc_options *o, const char *kind, size_t len, bool *is_known)
{
	static const char rules[] = "trace=";
	*is_known = true;
	if (is_word(kind, len, "contexts")) {
		o->contexts = true;
	} else if (is_word(kind, len, "paths")) {
		o->paths = true;
	} else if (is_word(kind, len, "trace")) {
		o->trace = true;
	} else if (len >= strlen(rules) && !memcmp(kind, rules, strlen(rules))) {
		o->trace = true;
		return set_rules(o, kind + strlen(rules), len - strlen(rules));
	} else {
		*is_known = false;
	}
	return NULL;
}

static struct error *set_what(struct cc_options *o, const char *value)
{
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

static struct error *set_stage(struct cc_options *o, const char *value)
{
	o->is_final = !strcmp(value, "final");
	o->traces_source = !o->is_final;
	if (!o->is_final && strcmp(value, "source"))
		return error_create(ERROR_ARGUMENT, "--wm-stage=%s: not known; use source or final", value);
	return NULL;
}

static struct error *set_ring(struct cc_options *o, const char *value)
{
	char *end;
	errno = 0;
	unsigned long n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || !n || n > WM1_TRACE_RING_MAX || n & (n - 1))
		return error_create(ERROR_ARGUMENT, "--wm-trace-paths=%s: a power of two from 1 to %d is needed", value,
				    WM1_TRACE_RING_MAX);
	o->ring = value;
	return NULL;
}

static struct error *set_array(struct cc_options *o, const char *value)
{
	char *end;
	errno = 0;
	unsigned long n = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || n > WM1_PATHS_MAX_COUNTERS)
		return error_create(ERROR_ARGUMENT, "--wm-path-array=%s: a number from 0 to %d is needed", value,
				    WM1_PATHS_MAX_COUNTERS);
	o->array = value;
	return NULL;
}

static struct error *set_hash(struct cc_options *o, const char *value)
{
	if (strcmp(value, "inline") && strcmp(value, "call"))
		return error_create(ERROR_ARGUMENT, "--wm-path-hash=%s: not known; use inline or call", value);
	o->hash = value;
	return NULL;
}

/* Build systems change directories between here and the pass. */
static struct error *set_plan(struct cc_options *o, const char *value)
{
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

static const struct {
	const char *prefix;
	struct error *(*set)(struct cc_options *o, const char *value);
	enum need need; /* one of them */
} table[] = {
	{"--wm=", set_what, NEED_NOTHING},         {"--wm-stage=", set_stage, NEED_PATHS | NEED_TRACE},
	{"--wm-plan=", set_plan, NEED_PATHS},      {"--wm-path-array=", set_array, NEED_PATHS},
	{"--wm-path-hash=", set_hash, NEED_PATHS}, {"--wm-trace-paths=", set_ring, NEED_TRACE},
};

bool cc_options_is_own(const char *word)
{
	return !strncmp(word, "--wm=", 5) || !strncmp(word, "--wm-", 5);
}

static struct error *read_word(struct cc_options *o, const char *word, enum need *need)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		size_t len = strlen(table[i].prefix);
		if (strncmp(word, table[i].prefix, len))
			continue;
		*need = table[i].need;
		return table[i].set(o, word + len);
	}
	return error_create(ERROR_ARGUMENT,
			    "%s: not known; use --wm=, --wm-stage=, --wm-plan=, --wm-path-array=, --wm-path-hash= or "
			    "--wm-trace-paths=, each with a value after the =",
			    word);
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
	cc_options_export(&(struct cc_options){0}, false);
}

void cc_options_export(const struct cc_options *o, bool uses_lto)
{
	export("WAYMARK_CONTEXTS", o->contexts ? "1" : NULL);
	export("WAYMARK_PATHS", !o->paths ? NULL : o->is_final ? "final" : "source");
	export("WAYMARK_PATHS_ARRAY", o->paths ? o->array : NULL);
	export("WAYMARK_PATHS_HASH", o->paths ? o->hash : NULL);
	export("WAYMARK_PATHS_PLAN", o->paths && *o->plan ? o->plan : NULL);
	export("WAYMARK_TRACE", !o->trace ? NULL : o->traces_source ? "source" : "final");
	export("WAYMARK_TRACE_RULES", o->trace ? o->rules : NULL);
	export("WAYMARK_TRACE_RING", o->trace ? o->ring : NULL);
	uses_lto |= cc_options_at_link(o);
	export("WAYMARK_TRACE_UNITS", o->trace && o->traces_source && uses_lto ? "1" : NULL);
}

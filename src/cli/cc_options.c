/* cc_options.c - reads --wm= and --wm-*=: a table of names, each with a function that checks its value. */
#include "cli/cc_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "waymark/paths.h"

static struct error *set_what(struct cc_options *o, const char *value)
{
	static const struct {
		const char *name;
		bool contexts, paths;
	} known[] = {
		{"contexts", true, false},      {"paths", false, true}, {"contexts,paths", true, true},
		{"paths,contexts", true, true}, {"none", false, false},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(value, known[i].name)) {
			o->contexts = known[i].contexts;
			o->paths = known[i].paths;
			return NULL;
		}
	return error_create(ERROR_ARGUMENT, "--wm=%s: not known; use contexts, paths, contexts,paths or none", value);
}

static struct error *set_stage(struct cc_options *o, const char *value)
{
	o->is_final = !strcmp(value, "final");
	if (!o->is_final && strcmp(value, "source"))
		return error_create(ERROR_ARGUMENT, "--wm-stage=%s: not known; use source or final", value);
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

static const struct {
	const char *prefix;
	struct error *(*set)(struct cc_options *o, const char *value);
	bool is_of_paths;
} table[] = {
	{"--wm=", set_what, false},          {"--wm-stage=", set_stage, true},
	{"--wm-plan=", set_plan, true},      {"--wm-path-array=", set_array, true},
	{"--wm-path-hash=", set_hash, true},
};

bool cc_options_is_own(const char *word)
{
	return !strncmp(word, "--wm=", 5) || !strncmp(word, "--wm-", 5);
}

static struct error *read_word(struct cc_options *o, const char *word, bool *is_of_paths)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		size_t len = strlen(table[i].prefix);
		if (strncmp(word, table[i].prefix, len))
			continue;
		*is_of_paths = table[i].is_of_paths;
		return table[i].set(o, word + len);
	}
	return error_create(
		ERROR_ARGUMENT,
		"%s: not known; use --wm=, --wm-stage=, --wm-plan=, --wm-path-array= or --wm-path-hash=, each "
		"with a value after the =",
		word);
}

struct error *cc_options_read(char *const *words, int count, struct cc_options *ret)
{
	struct cc_options options = {.contexts = true};
	const char *of_paths = NULL; /* an option that only paths have */
	bool says_what = false;
	for (int i = 0; i < count; i++) {
		bool is_of_paths = false;
		struct error *err = cc_options_is_own(words[i]) ? read_word(&options, words[i], &is_of_paths) : NULL;
		if (err)
			return err;
		if (is_of_paths)
			of_paths = words[i];
		says_what |= !strncmp(words[i], "--wm=", 5);
	}
	/* With a --wm= it is fine: makefiles switch off for one file what CC= asks for. */
	if (of_paths && !says_what)
		return error_create(ERROR_ARGUMENT, "%s: needs --wm=paths or --wm=contexts,paths", of_paths);
	*ret = options;
	return NULL;
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
	cc_options_export(&(struct cc_options){0});
}

void cc_options_export(const struct cc_options *o)
{
	export("WAYMARK_CONTEXTS", o->contexts ? "1" : NULL);
	export("WAYMARK_PATHS", !o->paths ? NULL : o->is_final ? "final" : "source");
	export("WAYMARK_PATHS_ARRAY", o->paths ? o->array : NULL);
	export("WAYMARK_PATHS_HASH", o->paths ? o->hash : NULL);
	export("WAYMARK_PATHS_PLAN", o->paths && *o->plan ? o->plan : NULL);
}

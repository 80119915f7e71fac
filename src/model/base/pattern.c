/* pattern.c - globs by fnmatch, regular expressions by POSIX regcomp. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/pattern.h"

enum {
	REASON_MAX = 128,
};

static struct error *compile(struct pattern *p, const char *option, const char *text, size_t len)
{
	char reason[REASON_MAX], *expression = strndup(text + 1, len - 2);
	int failed;

	if (!expression)
		return &error_no_memory;
	failed = regcomp(&p->regex, expression, REG_EXTENDED | REG_NOSUB);
	free(expression);
	if (!failed)
		return NULL;
	regerror(failed, &p->regex, reason, sizeof reason);
	return error_create(ERROR_ARGUMENT, "%s %s: %s", option, text, reason);
}

struct error *patterns_add(struct pattern_vec *patterns, const char *option, const char *text)
{
	size_t len = strlen(text);
	struct pattern p = {.text = text, .is_regex = len > 2 && *text == '/' && text[len - 1] == '/'};
	struct error *err = p.is_regex ? compile(&p, option, text, len) : NULL;

	if (err)
		return err;
	err = pattern_vec_append(patterns, p);
	if (err && p.is_regex)
		regfree(&p.regex);
	return err;
}

void patterns_deinit(struct pattern_vec *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (patterns->items[i].is_regex)
			regfree(&patterns->items[i].regex);
	pattern_vec_deinit(patterns);
}

bool patterns_match(const struct pattern_vec *patterns, const char *text)
{
	for (size_t i = 0; text && i < patterns->count; i++) {
		const struct pattern *p = &patterns->items[i];

		if (p->is_regex ? regexec(&p->regex, text, 0, NULL, 0) == 0 : fnmatch(p->text, text, 0) == 0)
			return true;
	}
	return false;
}

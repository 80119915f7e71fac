/*
 * scheme.c - reads rules of schemes and matches functions with them. Without malloc, stdio and locale, and nothing of libc but
 * mem*, so that the runtime can carry it into any program.
 *
 * Patterns are matched greedily with one point to come back to (the last `*`), which is enough since a later `*` can take
 * whatever an earlier one could: at most pattern times name steps.
 */
#include "format/scheme.h"

#include <string.h>

static const char *const names[1 << WM1_SCHEME_BITS] = {
	[WM1_SCHEME_NONE] = "none",
	[WM1_SCHEME_FUNCTION] = "fc",
	[WM1_SCHEME_CALLS] = "cc",
	[WM1_SCHEME_FUNCTION | WM1_SCHEME_CALLS] = "fc+cc",
	[WM1_SCHEME_BLOCKS] = "stmt",
	[WM1_SCHEME_PATHS] = "pt",
	[WM1_SCHEME_FUNCTION | WM1_SCHEME_PATHS] = "fc+pt",
	[WM1_SCHEME_CALLS | WM1_SCHEME_PATHS] = "cc+pt",
	[WM1_SCHEME_FUNCTION | WM1_SCHEME_CALLS | WM1_SCHEME_PATHS] = "fc+cc+pt",
	[WM1_SCHEME_BLOCKS | WM1_SCHEME_PATHS] = "stmt+pt",
};

bool scheme_exists(uint8_t scheme)
{
	return scheme < sizeof names / sizeof *names && names[scheme];
}

const char *scheme_name(uint8_t scheme)
{
	return scheme_exists(scheme) ? names[scheme] : "?";
}

static bool is_text(const char *at, size_t len, const char *text)
{
	return strlen(text) == len && memcmp(at, text, len) == 0;
}

bool scheme_parse(const char *text, size_t len, uint8_t *ret)
{
	for (unsigned int i = 0; i < sizeof names / sizeof *names; i++) {
		if (names[i] && is_text(text, len, names[i])) {
			*ret = (uint8_t)i;
			return true;
		}
	}
	if (is_text(text, len, "none+pt")) {
		*ret = WM1_SCHEME_PATHS;
		return true;
	}
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_separator(char c)
{
	return c == ';' || c == '\n';
}

static const char *skip_comment(const char *at)
{
	while (*at && *at != '\n')
		at++;
	return at;
}

static const char *skip_to_rule(const char *at)
{
	for (;;) {
		if (is_blank(*at) || is_separator(*at))
			at++;
		else if (*at == '#')
			at = skip_comment(at);
		else
			return at;
	}
}

/* Where the rule's text ends: at its separator, a comment behind a blank, or the end. */
static const char *end_of_rule(const char *at)
{
	const char *start = at;

	while (*at && !is_separator(*at) && !(*at == '#' && at > start && is_blank(at[-1])))
		at++;
	return at;
}

static void trim(const char **start, const char **end)
{
	while (*start < *end && is_blank(**start))
		(*start)++;
	while (*end > *start && is_blank((*end)[-1]))
		(*end)--;
}

static bool fail(struct scheme_problem *problem, const char *at, const char *what)
{
	*problem = (struct scheme_problem){.at = at, .what = what};
	return false;
}

static bool add_scheme(struct scheme_rule *rule, const char *start, const char *end, struct scheme_problem *problem)
{
	uint8_t scheme = 0;

	trim(&start, &end);
	if (!scheme_parse(start, (size_t)(end - start), &scheme))
		return fail(problem, start, "unknown scheme: none, fc, cc, fc+cc or stmt, alone or with +pt, or pt");
	for (uint8_t i = 0; i < rule->count; i++)
		if (rule->schemes[i] == scheme)
			return fail(problem, start, "the same scheme twice");
	rule->schemes[rule->count++] = scheme; /* different ones: WM1_SCHEMES at most */
	return true;
}

static bool read_schemes(struct scheme_rule *rule, const char *start, const char *end, struct scheme_problem *problem)
{
	while (true) {
		const char *bar = memchr(start, '|', (size_t)(end - start));

		if (!add_scheme(rule, start, bar ? bar : end, problem))
			return false;
		if (!bar)
			return true;
		start = bar + 1;
	}
}

static bool read_rule(const char *start, const char *end, struct scheme_rule *rule, struct scheme_problem *problem)
{
	const char *equals, *glob_end;

	trim(&start, &end);
	equals = memrchr(start, '=', (size_t)(end - start)); /* the last one: operator== is a name */
	if (!equals)
		return fail(problem, start, "no \"=\": a rule is PATTERN=SCHEME");
	rule->glob = start;
	glob_end = equals;
	trim(&rule->glob, &glob_end);
	rule->glob_len = (size_t)(glob_end - rule->glob);
	if (rule->glob_len == 0)
		return fail(problem, start, "no pattern before \"=\": a rule is PATTERN=SCHEME");
	if (rule->glob_len > SCHEME_GLOB_MAX)
		return fail(problem, start, "the pattern is longer than 512 bytes");
	return read_schemes(rule, equals + 1, end, problem);
}

bool scheme_next_rule(const char **text, struct scheme_rule *ret, struct scheme_problem *problem)
{
	const char *start = skip_to_rule(*text), *end = end_of_rule(start);
	struct scheme_rule rule = {0};

	*problem = (struct scheme_problem){0};
	*text = *end == '#' ? skip_comment(end) : end;
	if (is_separator(**text))
		++*text;
	if (start == end || !read_rule(start, end, &rule, problem))
		return false;
	*ret = rule;
	return true;
}

/* A set: at is behind its "[". Returns behind its "]", NULL when it has none (then the "[" is a character as any other). */
static const char *match_set(const char *at, const char *end, char c, bool *ret)
{
	bool is_not = at < end && (*at == '!' || *at == '^'), is_in = false, is_first = true;

	if (is_not)
		at++;
	for (; at < end && (*at != ']' || is_first); is_first = false) {
		char first = *at++, last;

		if (first == '\\' && at < end)
			first = *at++;
		last = first;
		if (end - at >= 2 && at[0] == '-' && at[1] != ']') {
			last = at[1];
			at += 2;
			if (last == '\\' && at < end)
				last = *at++;
		}
		is_in |= (unsigned char)first <= (unsigned char)c && (unsigned char)c <= (unsigned char)last;
	}
	*ret = is_in != is_not;
	return at < end ? at + 1 : NULL;
}

/* One character of the pattern (not `*`) against c: behind it in the pattern, NULL when it does not match. */
static const char *match_one(const char *at, const char *end, char c)
{
	const char *behind;
	bool is_match;

	switch (*at) {
	case '?':
		return at + 1;
	case '[':
		behind = match_set(at + 1, end, c, &is_match);
		if (behind)
			return is_match ? behind : NULL;
		break;
	case '\\':
		at += end - at > 1;
		break;
	default:
		break;
	}
	return *at == c ? at + 1 : NULL;
}

static bool matches(const char *glob, size_t glob_len, const char *text)
{
	const char *end = glob + glob_len, *at = glob;
	const char *star = NULL, *from = NULL; /* behind the last `*`, and where what it takes ends so far */

	while (*text || at < end) {
		const char *next;

		if (at < end && *at == '*') {
			star = ++at;
			from = text;
			continue;
		}
		next = *text && at < end ? match_one(at, end, *text) : NULL;
		if (next) {
			at = next;
			text++;
		} else if (star && *from) {
			at = star;
			text = ++from;
		} else {
			return false;
		}
	}
	return true;
}

static bool matches_file(const char *glob, size_t glob_len, const char *file)
{
	if (matches(glob, glob_len, file))
		return true;
	for (; *file; file++)
		if (*file == '/' && matches(glob, glob_len, file + 1))
			return true;
	return false;
}

bool scheme_rule_matches(const struct scheme_rule *rule, const char *name, const char *plain, const char *file)
{
	static const char prefix[] = "file:";
	const size_t prefix_len = sizeof prefix - 1;

	if (rule->glob_len > prefix_len && memcmp(rule->glob, prefix, prefix_len) == 0)
		return file && *file && matches_file(rule->glob + prefix_len, rule->glob_len - prefix_len, file);
	return matches(rule->glob, rule->glob_len, name) || (plain && matches(rule->glob, rule->glob_len, plain));
}

/* test_scheme.c - rules of schemes: syntax, problems, and patterns against fnmatch(3). */
#include <fnmatch.h>
#include <stdlib.h>

#include "check.h"
#include "format/scheme.h"
#include "waymark/trace.h"

static void test_names(void)
{
	/* As docs/format.md numbers them. */
	static const char *const names[16] = {
		[0] = "none", [1] = "fc",    [2] = "cc",     [3] = "fc+cc",     [4] = "stmt",
		[8] = "pt",   [9] = "fc+pt", [10] = "cc+pt", [11] = "fc+cc+pt", [12] = "stmt+pt"};
	unsigned int count = 0;
	uint8_t scheme = 99;

	for (unsigned int i = 0; i <= UINT8_MAX; i++) {
		if (i >= 16 || !names[i]) {
			CHECK(!scheme_exists((uint8_t)i));
			CHECK_TEXT(scheme_name((uint8_t)i), "?");
			continue;
		}
		CHECK(scheme_exists((uint8_t)i));
		CHECK_TEXT(scheme_name((uint8_t)i), names[i]);
		CHECK(scheme_parse(names[i], strlen(names[i]), &scheme) && scheme == i);
		CHECK(strlen(names[i]) <= SCHEME_NAME_MAX);
		count++;
	}
	CHECK_U64(count, WM1_SCHEMES);
	CHECK(scheme_parse("none+pt", 7, &scheme) && scheme == WM1_SCHEME_PATHS);
	scheme = 99;
	CHECK(!scheme_parse("", 0, &scheme) && !scheme_parse("cc+", 3, &scheme) && !scheme_parse("pt+cc", 5, &scheme) &&
	      !scheme_parse("cc+fc", 5, &scheme) && !scheme_parse("fc+stmt", 7, &scheme) &&
	      !scheme_parse("CC", 2, &scheme) && scheme == 99);
	CHECK(scheme_parse("cc+pt", 2, &scheme) && scheme == WM1_SCHEME_CALLS);
}

static void check_rule(const struct scheme_rule *rule, const char *glob, const char *schemes)
{
	char got[128] = "";

	CHECK(rule->glob_len == strlen(glob) && memcmp(rule->glob, glob, rule->glob_len) == 0);
	for (uint8_t i = 0; i < rule->count; i++) {
		if (i)
			strcat(got, "|");
		strcat(got, scheme_name(rule->schemes[i]));
	}
	CHECK_TEXT(got, schemes);
}

static void test_rules(void)
{
	const char *text = "\n ;# all of it = nothing ; at all\n"
			   "main=none|cc+pt ; file:lib/*.c = cc | stmt+pt # as = before\n"
			   "\toperator==*=fc\r\n"
			   "a#b=pt\n"
			   "* = cc";
	struct scheme_problem problem;
	struct scheme_rule rule;

	CHECK(scheme_next_rule(&text, &rule, &problem));
	check_rule(&rule, "main", "none|cc+pt");
	CHECK(scheme_next_rule(&text, &rule, &problem));
	check_rule(&rule, "file:lib/*.c", "cc|stmt+pt");
	CHECK(scheme_next_rule(&text, &rule, &problem));
	check_rule(&rule, "operator==*", "fc");
	CHECK(scheme_next_rule(&text, &rule, &problem));
	check_rule(&rule, "a#b", "pt");
	CHECK(scheme_next_rule(&text, &rule, &problem));
	check_rule(&rule, "*", "cc");
	CHECK(!scheme_next_rule(&text, &rule, &problem) && !problem.what && *text == '\0');
	text = "f=none|fc|cc|fc+cc|stmt|pt|fc+pt|cc+pt|fc+cc+pt|stmt+pt";
	CHECK(scheme_next_rule(&text, &rule, &problem) && rule.count == WM1_SCHEMES);
	text = "f=none|fc|cc|fc+cc|stmt|pt|fc+pt|cc+pt|fc+cc+pt|stmt+pt|pt;*=cc";
	CHECK(!scheme_next_rule(&text, &rule, &problem) && strstr(problem.what, "twice"));
	text = " # nothing";
	CHECK(!scheme_next_rule(&text, &rule, &problem) && !problem.what && *text == '\0');
}

static void expect_problem(const char *all, const char *at, const char *what, int line)
{
	const char *text = all;
	struct scheme_problem problem;
	struct scheme_rule rule;

	if (scheme_next_rule(&text, &rule, &problem) || !problem.what || !strstr(problem.what, what) ||
	    strncmp(problem.at, at, strlen(at)) != 0) {
		fprintf(stderr, "%s:%d: \"%s\": %s at \"%s\"\n", __FILE__, line, all,
			problem.what ? problem.what : "no problem", problem.what ? problem.at : "");
		check_failures++;
	}
	/* Behind the bad rule is the next one. */
	if (!CHECK(scheme_next_rule(&text, &rule, &problem)))
		return;
	check_rule(&rule, "next", "cc");
	CHECK(!scheme_next_rule(&text, &rule, &problem) && !problem.what);
}
#define EXPECT_PROBLEM(all, at, what) expect_problem(all, at, what, __LINE__)

static void test_problems(void)
{
	static char longest[1024];
	const char *text = longest;
	struct scheme_problem problem;
	struct scheme_rule rule;

	EXPECT_PROBLEM("main;next=cc", "main", "no \"=\"");
	EXPECT_PROBLEM(" =cc\nnext=cc", "=cc", "no pattern");
	EXPECT_PROBLEM("a=;next=cc", ";", "unknown scheme");
	EXPECT_PROBLEM("a=none,fc;next=cc", "none,fc", "unknown scheme");
	EXPECT_PROBLEM("a=cc | stmt|;next=cc", ";", "unknown scheme");
	EXPECT_PROBLEM("a=cc|dd |fc # x\nnext=cc", "dd", "unknown scheme");
	EXPECT_PROBLEM("a=cc|fc|cc;next=cc", "cc;", "twice");
	EXPECT_PROBLEM("a=pt|none+pt;next=cc", "none+pt", "twice");
	memset(longest, 'a', SCHEME_GLOB_MAX);
	strcpy(longest + SCHEME_GLOB_MAX, "=cc");
	CHECK(scheme_next_rule(&text, &rule, &problem) && rule.glob_len == SCHEME_GLOB_MAX);
	memset(longest, 'a', SCHEME_GLOB_MAX + 1);
	strcpy(longest + SCHEME_GLOB_MAX + 1, "=cc;next=cc");
	EXPECT_PROBLEM(longest, "aaa", "longer than 512");
}

static bool is_match(const char *glob, const char *name, const char *plain, const char *file)
{
	struct scheme_rule rule = {.glob = glob, .glob_len = strlen(glob)};

	return scheme_rule_matches(&rule, name, plain, file);
}

static void test_matches(void)
{
	CHECK(is_match("main", "main", NULL, NULL));
	CHECK(!is_match("main", "main2", NULL, "main"));
	CHECK(is_match("ns::f*", "_ZN2ns1fEv", "ns::f()", NULL));
	CHECK(!is_match("ns::f*", "_ZN2ns1fEv", NULL, NULL));
	CHECK(is_match("*", "", NULL, NULL));
	CHECK(is_match("file:*", "f", NULL, "a.c"));
	CHECK(!is_match("file:*", "f", NULL, "") && !is_match("file:*", "f", NULL, NULL));
	CHECK(is_match("file:x.c", "f", NULL, "/src/lib/x.c"));
	CHECK(is_match("file:lib/x.c", "f", NULL, "/src/lib/x.c"));
	CHECK(is_match("file:l*/x.c", "f", NULL, "src/lib/x.c"));
	CHECK(is_match("file:/src/*", "f", NULL, "/src/lib/x.c"));
	CHECK(!is_match("file:ib/x.c", "f", NULL, "/src/lib/x.c"));
	CHECK(!is_match("file:lib", "f", NULL, "/src/lib/x.c"));
	CHECK(!is_match("x.c", "f", NULL, "x.c"));
	CHECK(is_match("file:", "file:", NULL, "x.c")); /* no pattern behind it: a name */
}

/* Short patterns and texts of few characters, so that many match. */
static void test_random(void)
{
	static const char pattern_chars[] = "aab*?[]!^-\\/.", text_chars[] = "aab-]!\\/.";
	uint32_t state = 20261121;
	unsigned int matched = 0;

	for (int i = 0; i < 400000; i++) {
		char pattern[10], text[10];
		bool want;
		size_t n;

		state = state * 1664525 + 1013904223;
		n = state >> 24 & 7;
		for (size_t k = 0; k < n; k++) {
			state = state * 1664525 + 1013904223;
			pattern[k] = pattern_chars[(state >> 16) % (sizeof pattern_chars - 1)];
		}
		pattern[n] = '\0';
		state = state * 1664525 + 1013904223;
		n = state >> 24 & 7;
		for (size_t k = 0; k < n; k++) {
			state = state * 1664525 + 1013904223;
			text[k] = text_chars[(state >> 16) % (sizeof text_chars - 1)];
		}
		text[n] = '\0';
		/* What POSIX leaves open: a pattern that ends in a backslash, ranges, sets without an end, [. [: [=. */
		if (strchr(pattern, '[') && (strpbrk(pattern, "\\/") || strchr(pattern, '-') ||
					     !strchr(strchr(pattern, '[') + 1, ']') || strstr(pattern, "[.")))
			continue;
		if (*pattern && pattern[strlen(pattern) - 1] == '\\')
			continue;
		want = fnmatch(pattern, text, 0) == 0;
		matched += want;
		if (is_match(pattern, text, NULL, NULL) != want) {
			fprintf(stderr, "\"%s\" and \"%s\": fnmatch says %d\n", pattern, text, want);
			check_failures++;
			if (check_failures > 20)
				break;
		}
	}
	CHECK(matched > 10000);
	/* With backtracking over all stars this would take ages. */
	CHECK(!is_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
			NULL, NULL));
}

int main(void)
{
	test_names();
	test_rules();
	test_problems();
	test_matches();
	test_random();
	return check_status();
}

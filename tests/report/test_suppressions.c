/*
 * test_suppressions.c - suppressions of valgrind and LeakSanitizer: what is read, what is refused, and which contexts they match: random
 * ones against a matcher that tries every way.
 *
 *     test_suppressions [SEED]
 */
#include "model/base/suppressions.h"
#include "random_profile.h"

enum {
	ROUNDS = 400,
	LINES_MAX = 6,
};

static void parse(struct suppressions *s, const char *text)
{
	suppressions_init(s);
	CHECK_OK(suppressions_parse(s, text, strlen(text), "x.supp"));
}

static void check_wrong(const char *text, const char *message)
{
	struct suppressions s;

	suppressions_init(&s);
	CHECK_ERROR(suppressions_parse(&s, text, strlen(text), "x.supp"), ERROR_FORMAT, message);
	suppressions_deinit(&s);
}

static void check_reading(void)
{
	struct suppressions s;

	parse(&s, "");
	CHECK_U64(s.all.count, 0);
	suppressions_deinit(&s);
	parse(&s,
	      "# a comment\n\n leak:libX11 \n{\n  name { of it\n  Memcheck:Leak\n  match-leak-kinds: reachable\n"
	      "  fun:malloc\n  ...\n  obj:*/libX11.so*\n  src:x.c*\n}\n{\n  a race\n  Helgrind:Race\n  fun:f\n  what:ever\n}\n"
	      "{\nboth\nMemcheck,Addrcheck:Leak\nfun:f\n}");
	CHECK_U64(s.all.count, 3);
	CHECK_U64(s.skipped, 1);
	CHECK_U64(s.all.items[1].count, 4);
	CHECK_TEXT(s.lines.items[0].pattern, "*libX11*");
	CHECK_TEXT(s.lines.items[3].pattern, "*/libX11.so*");
	suppressions_deinit(&s);
	parse(&s, "leak:^f\nleak:f$\nleak:^f$\nleak:a*b");
	CHECK_TEXT(s.lines.items[0].pattern, "f*");
	CHECK_TEXT(s.lines.items[1].pattern, "*f");
	CHECK_TEXT(s.lines.items[2].pattern, "f");
	CHECK_TEXT(s.lines.items[3].pattern, "*a*b*");
	suppressions_deinit(&s);
	check_wrong("leak:x\nrace:x\n", "x.supp:2: race:x: no suppression");
	check_wrong("leak:\n", "x.supp:1: leak:: no suppression");
	check_wrong("{\nname\nMemcheck:Leak\nfun:f\n", "x.supp:4: it ends within one");
	check_wrong("{\nname\n", "it ends within one");
	check_wrong("{\nname\nMemcheck:Leak\nfunc:f\n}\n", "x.supp:4: func:f: no suppression");
}

/* ---- matching ---- */

/* Every way: a star is nothing, or one character and a star. */
static bool wild(const char *pattern, const char *text)
{
	if (!*pattern)
		return !*text;
	if (*pattern == '*')
		return wild(pattern + 1, text) || (*text && wild(pattern, text + 1));
	return *text && (*pattern == '?' || *pattern == *text) && wild(pattern + 1, text + 1);
}

static bool wild_or_none(const char *pattern, const char *text)
{
	return text && wild(pattern, text);
}

static bool line_matches(const char *line, const struct frame *f)
{
	const char *pattern = line + 4;

	if (strncmp(line, "fun:", 4) == 0)
		return wild(pattern, f->name) || wild(pattern, f->link_name);
	return strncmp(line, "obj:", 4) == 0 ? wild_or_none(pattern, f->image) : wild_or_none(pattern, f->file);
}

/* frames: outermost first. */
static bool stack_matches(const char *const *lines, size_t line_count, const struct frame *frames, size_t count)
{
	if (!line_count)
		return true;
	if (strcmp(*lines, "...") == 0)
		return stack_matches(lines + 1, line_count - 1, frames, count) ||
		       (count && stack_matches(lines, line_count, frames, count - 1));
	return count && line_matches(*lines, &frames[count - 1]) &&
	       stack_matches(lines + 1, line_count - 1, frames, count - 1);
}

static bool leak_matches(const char *pattern, const struct frame *frames, size_t count)
{
	char wide[32];

	snprintf(wide, sizeof wide, "*%s*", pattern);
	for (size_t i = 0; i < count; i++)
		if (wild(wide, frames[i].name) || wild(wide, frames[i].link_name) ||
		    wild_or_none(wide, frames[i].file) || wild_or_none(wide, frames[i].image))
			return true;
	return false;
}

static void check_round(void)
{
	static const char *const all_lines[] = {"fun:f",   "fun:m*", "fun:?*n",  "fun:malloc", "fun:*",
						"fun:_Z*", "obj:*a", "obj:*.so", "src:?.c",    "..."};
	static const char *const leaks[] = {"Class", "b.c", "a.so", "zzz"};
	const char *lines[LINES_MAX], *leak = leaks[pick(4)];
	size_t count = 1 + pick(LINES_MAX - 1);
	char text[512];
	size_t len = (size_t)snprintf(text, sizeof text, "leak:%s\n{\nname\nMemcheck:Leak\n", leak);
	bool *wanted, *marks;
	struct frame_vec frames = {0};
	struct suppressions s;
	struct profile p;

	for (size_t i = 0; i < count; i++) {
		lines[i] = all_lines[pick(10)];
		len += (size_t)snprintf(text + len, sizeof text - len, "%s\n", lines[i]);
	}
	snprintf(text + len, sizeof text - len, "}\n");
	parse(&s, text);
	CHECK_OK(profile_init(&p));
	build_profile(&p, true);
	profile_finish(&p);
	wanted = calloc(p.nodes.count, sizeof *wanted);
	for (size_t n = 1; n < p.nodes.count; n++)
		wanted[n] = pick(4) != 0;
	if (CHECK_OK(suppressions_mark(&s, &p, wanted, &marks))) {
		for (uint32_t n = 1; n < p.nodes.count; n++) {
			CHECK_OK(view_frames(&p, n, &frames));
			CHECK_U64(marks[n], wanted[n] && (leak_matches(leak, frames.items, frames.count) ||
							  stack_matches(lines, count, frames.items, frames.count)));
		}
		free(marks);
	}
	frame_vec_deinit(&frames);
	free(wanted);
	profile_deinit(&p);
	suppressions_deinit(&s);
}

int main(int argc, char **argv)
{
	take_seed(argc, argv);
	check_reading();
	for (int i = 0; i < ROUNDS; i++)
		check_round();
	return check_status();
}

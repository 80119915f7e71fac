/*
 * test_source.c - operands and labels that are cut out of source text: what is found at a place, and that no place of any text, damaged
 * ones too, is more than "not known".
 */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "model/source/source_cases.h"
#include "model/source/source_condition.h"

static char directory[] = "/tmp/waymark-source.XXXXXX";

/* A file of that text; the caller frees the name. */
static char *write_file(const char *text, size_t len_bytes, struct sources *s)
{
	static unsigned int number;
	char *name = NULL;
	FILE *f;

	if (asprintf(&name, "%s/%u.c", directory, number++) < 0)
		abort();
	f = fopen(name, "w");
	if (!f || fwrite(text, 1, len_bytes, f) != len_bytes || fclose(f) != 0)
		abort();
	sources_init(s);
	return name;
}

/* @ stands in front of the place. */
static void expect(const char *marked, const char *name, enum pathmeta_compare compare, const char *want,
		   int want_known, int want_negated, int line)
{
	struct pathmeta_test test = {
		.name = name, .compare = (uint8_t)compare, .count = 1, .at = {.line = 1, .column = 1}};
	size_t at = strcspn(marked, "@"), len = strlen(marked);
	struct source_condition got;
	struct sources s;
	struct arena arena;
	char *text = strdup(marked);
	char *file;

	memmove(text + at, text + at + 1, len - at);
	for (size_t i = 0; i < at; i++) {
		test.at.line += text[i] == '\n';
		test.at.column = text[i] == '\n' ? 1 : test.at.column + 1;
	}
	file = write_file(text, len - 1, &s);
	test.at.file = file;
	arena_init(&arena);
	if (CHECK_OK(source_condition_find(&s, &test, &arena, &got))) {
		if (!want != !got.text || (want && strcmp(want, got.text) != 0) ||
		    (want && got.is_known != want_known) || (want && got.is_known && got.is_negated != want_negated)) {
			fprintf(stderr, "%s:%d: %s: got \"%s\", known %d, negated %d\n", __FILE__, line, marked,
				got.text ? got.text : "(none)", got.is_known, got.is_negated);
			check_failures++;
		}
	}
	arena_deinit(&arena);
	sources_deinit(&s);
	unlink(file);
	free(file);
	free(text);
}

#define EXPECT(marked, name, compare, want, known, negated) \
	expect(marked, name, PATHMETA_COMPARE_##compare, want, known, negated, __LINE__)

static void test_conditions(void)
{
	EXPECT("{ if (@a && b) c(); }", "a", TRUTH, "a", 1, 0);
	EXPECT("{ if (a && !@b) c(); }", "b", TRUTH, "!b", 1, 1);
	EXPECT("{ if (a @== 1 || b) c(); }", "a", EQUAL, "a == 1", 1, 0);
	EXPECT("{ if (!(a @== b)) c(); }", "a", EQUAL, "!(a == b)", 1, 1);
	EXPECT("{ if (!!(a @== b) && c) d(); }", "a", EQUAL, "!!(a == b)", 1, 0);
	EXPECT("{ x = @a ? b : c; }", "a", TRUTH, "a", 1, 0);
	EXPECT("{ if (x || p->q->@r) c(); }", "p", TRUTH, "p->q->r", 1, 0);
	EXPECT("{ if (@f(a, b && c) && d) e(); }", "f", TRUTH, "f(a, b && c)", 1, 0);
	EXPECT("{ while ((c @= next()) && d) e(); }", "next", TRUTH, "c = next()", 1, 0);
	EXPECT("{ if (a /* && ( */ @== /* ) */ \"&&\"[0] && x) c(); }", "a", EQUAL, "a == \"&&\"[0]", 1, 0);
	EXPECT("{\n#define A (\n\tif (a &&\n\t    b @< 1\n\t    && c)\n\t\td(); }", "b", LESS, "b < 1", 1, 0);
	EXPECT("/* it's\n{ if (a */ { if (@a) b(); }", "a", TRUTH, "a", 1, 0);
	EXPECT("{ if (a @& 4) b(); }", "a", TRUTH, "a & 4", 1, 0);
	EXPECT("{ if (@*p && *q) b(); }", "p", TRUTH, "*p", 1, 0);
	/* Not the operand's outermost operator: another part of it is tested. */
	EXPECT("{ if (@a == b) c(); }", "a", TRUTH, NULL, 0, 0);
	EXPECT("{ if (f(@a)) c(); }", "a", TRUTH, "a", 1, 0);
	/* The code compares in another way: its truth is not the text's. */
	EXPECT("{ if (a @== 1 && b) c(); }", "a", UNEQUAL, "a == 1", 0, 0);
	/* Macros. */
	EXPECT("{ @assert(a); }", "a", TRUTH, "a", 1, 0);
	EXPECT("{ @assert(!a); }", "a", TRUTH, "!a", 1, 1);
	EXPECT("{ @assert(a && b); }", "b", TRUTH, "b", 1, 0);
	EXPECT("{ @assert((a == 1 || !(b)) && c); }", "b", TRUTH, "!(b)", 1, 1);
	EXPECT("{ @EMPTY(a); }", "a", EQUAL, "EMPTY(a)", 0, 0);
	EXPECT("{ @BOTH(a, a && b); }", "a", TRUTH, "BOTH(a, a && b)", 0, 0);
	EXPECT("{ @SAME(NOT(a)); }", "a", TRUTH, "SAME(NOT(a))", 0, 0);
	EXPECT("{ if (@FAILED) c(); }", "ok", TRUTH, NULL, 0, 0);
	/* C++, which takes types. */
	EXPECT("{ if (x @== f<a, b>(c)) d(); }", "x", EQUAL, NULL, 0, 0);
	EXPECT("{ if (a @== b && R\"x(&&)\" )x\"[0]) d(); }", "operator==", TRUTH, "a == b", 1, 0);
	/* What is not there any more. */
	EXPECT("{ if (a@bc && d) c(); }", "bc", TRUTH, NULL, 0, 0);
	EXPECT("@a", "a", TRUTH, NULL, 0, 0);
	EXPECT("a && @b", "b", TRUTH, NULL, 0, 0);
	EXPECT("{ if (@a", "a", TRUTH, NULL, 0, 0);
}

/* Each place of a text and of its beginnings: an answer, whatever it is. */
/* A macro without parameters, of whose tests the number is not known: none of its parameters is the one. */
static void test_no_parameter(void)
{
	struct sources s;
	char *file = write_file("{ SAVE(); }", 11, &s);
	struct pathmeta_test test = {.name = "a", .compare = PATHMETA_COMPARE_TRUTH, .at = {NULL, file, 1, 3, false}};
	struct source_condition got;
	struct arena arena;

	arena_init(&arena);
	if (CHECK_OK(source_condition_find(&s, &test, &arena, &got)))
		CHECK(!got.is_known);
	arena_deinit(&arena);
	sources_deinit(&s);
	unlink(file);
	free(file);
}

static void test_anywhere(void)
{
	static const char text[] =
		"/*\n*/ if (!(a && R\"(x)\") || '\\'' ? f<b, (c)>(d) : M(e[1], !g)) {\n"
		"#if \\\n 'x /*\n*/ switch (h) { case 'x': case -0x7: default: i = { 1 }; } )]}\n\"\\";

	for (size_t len = 0; len < sizeof text; len++) {
		struct sources s;
		char *file = write_file(text, len, &s);
		struct arena arena;

		arena_init(&arena);
		for (uint32_t line = 0; line < 7; line++) {
			for (uint32_t column = 0; column < 66; column++) {
				const struct pathmeta_cases cases = {.ranges = {{-7, -7}, {'x', 'x'}}, .count = 2};
				struct pathmeta_test test = {
					.name = "a", .count = 2, .number = 1, .at = {NULL, file, line, column, false}};
				struct source_condition condition;
				const char *labels;

				CHECK_OK(source_condition_find(&s, &test, &arena, &condition));
				CHECK_OK(source_cases_find(&s, &test.at, &cases, true, &arena, &labels));
			}
		}
		arena_deinit(&arena);
		sources_deinit(&s);
		unlink(file);
		free(file);
	}
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	test_conditions();
	test_no_parameter();
	test_anywhere();
	rmdir(directory);
	return check_status();
}

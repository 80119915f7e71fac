/*
 * source_condition.c - cuts an operand out of tokens, and checks that what is tested there is the operand's value: the place must be
 * that of its outermost operator, or it has none but `!`. What looks like a function or a variable but is not the one that is tested
 * is a macro: its parameters are looked through for one that can be it.
 */
#include <string.h>

#include "model/source/source_condition.h"
#include "model/source/source_tokens.h"

enum {
	LINES_BEFORE = 30, /* of a condition's beginning, and of its end */
	TEXT_MAX = 60,     /* bytes */
	LEAVES_MAX = 32,   /* operands of a macro's parameters */
};

struct span {
	size_t first, end; /* tokens */
};

struct cut {
	const struct source_token *tokens;
	size_t count;
	size_t at; /* the test's token */
	const struct pathmeta_test *test;
};

static bool is_any(const struct source_token *t, const char *const *list)
{
	for (; *list; list++)
		if (source_token_is(t, *list))
			return true;
	return false;
}

static bool is_open(const struct source_token *t)
{
	return t->kind == SOURCE_OPERATOR && t->len == 1 && strchr("([{", *t->text);
}

static bool is_close(const struct source_token *t)
{
	return t->kind == SOURCE_OPERATOR && t->len == 1 && strchr(")]}", *t->text);
}

static bool is_assignment(const struct source_token *t)
{
	static const char *const list[] = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};

	return t->kind == SOURCE_OPERATOR && is_any(t, list);
}

static bool is_not(const struct source_token *t)
{
	return source_token_is(t, "!") || source_token_is(t, "not");
}

/* A token that ends an operand at its own level. */
static bool is_boundary(const struct source_token *t)
{
	static const char *const list[] = {"&&",    "||",        "?",        ":",      ",",    ";",    "{",
					   "}",     "and",       "or",       "return", "case", "else", "do",
					   "throw", "co_return", "co_yield", "goto",   NULL};

	return is_any(t, list);
}

/* The bracket that belongs to the one at i; count when it is not there. */
static size_t matching(const struct cut *c, size_t i)
{
	bool is_forward = is_open(&c->tokens[i]);
	size_t depth = 0;

	for (; i < c->count; i += is_forward ? 1 : (size_t)-1) {
		bool opens = is_open(&c->tokens[i]), closes = is_close(&c->tokens[i]);

		depth += is_forward ? opens : closes;
		depth -= is_forward ? closes : opens;
		if (!depth)
			return i;
	}
	return c->count;
}

/* The operand around a token; false: it goes beyond what is there. */
static bool find_operand(const struct cut *c, size_t at, struct span *ret)
{
	size_t i = at, end = at;

	for (; i > 0; i--) {
		const struct source_token *t = &c->tokens[i - 1];

		if (is_open(t) || is_boundary(t) || is_assignment(t))
			break;
		if (is_close(t))
			i = matching(c, i - 1) + 1;
		if (i > c->count)
			return false;
	}
	if (i == 0)
		return false;
	ret->first = i;
	while (end < c->count) {
		const struct source_token *t = &c->tokens[end];

		if (end > at && (is_boundary(t) || is_assignment(t)))
			break;
		if (is_close(t))
			break;
		end = is_open(t) ? matching(c, end) : end;
		if (end >= c->count)
			return false;
		end++;
	}
	ret->end = end;
	return end < c->count && end > at;
}

/* ---- what an operand is ---- */

/* A value ends with it: an operator behind it has two operands. */
static bool ends_value(const struct source_token *t)
{
	return t->kind != SOURCE_OPERATOR || source_token_is(t, ")") || source_token_is(t, "]") ||
	       source_token_is(t, "++") || source_token_is(t, "--");
}

/* How an operator with two operands binds, weakest first; 0: it is none. */
static int binding(const struct source_token *t)
{
	static const char *const levels[][10] = {
		{"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", NULL},
		{"|", NULL},
		{"^", NULL},
		{"&", NULL},
		{"==", "!=", NULL},
		{"<", ">", "<=", ">=", NULL},
		{"<=>", NULL},
		{"<<", ">>", NULL},
		{"+", "-", NULL},
		{"*", "/", "%", NULL},
	};

	if (t->kind != SOURCE_OPERATOR)
		return 0;
	if (is_assignment(t))
		return 1;
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (is_any(t, levels[i]))
			return (int)i + 1;
	return 0;
}

/* Its outermost operator with two operands; span.end: it has none. Of equal ones the last, of assignments the first. */
static size_t outermost(const struct cut *c, struct span s)
{
	size_t found = s.end;
	int weakest = 0;

	for (size_t i = s.first; i < s.end; i++) {
		int level = i > s.first && ends_value(&c->tokens[i - 1]) ? binding(&c->tokens[i]) : 0;

		if (level && (!weakest || level < weakest || (level == weakest && level > 1))) {
			weakest = level;
			found = i;
		}
		if (is_open(&c->tokens[i]))
			i = matching(c, i);
	}
	return found;
}

static bool is_in_brackets(const struct cut *c, struct span s, size_t at)
{
	for (size_t i = s.first; i < at; i++) {
		if (!is_open(&c->tokens[i]))
			continue;
		i = matching(c, i);
		if (i >= at)
			return true;
	}
	return false;
}

static bool has_name(const struct cut *c, struct span s, const char *name)
{
	for (size_t i = s.first; i < s.end; i++)
		if (c->tokens[i].kind == SOURCE_NAME && source_token_is(&c->tokens[i], name))
			return true;
	return false;
}

/* `f < a, b > (x)` may be one value of C++: what a comma cuts off may not be. */
static bool may_be_template(const struct cut *c, struct span s)
{
	if (!source_token_is(&c->tokens[s.first - 1], ",") && !source_token_is(&c->tokens[s.end], ","))
		return false;
	for (size_t i = s.first; i < s.end; i++) {
		if (source_token_is(&c->tokens[i], "<") || source_token_is(&c->tokens[i], ">"))
			return true;
		if (is_open(&c->tokens[i]))
			i = matching(c, i);
	}
	return false;
}

/* How many `!` it begins with. */
static size_t count_nots(const struct cut *c, struct span s)
{
	size_t i = s.first;

	while (i < s.end && is_not(&c->tokens[i]))
		i++;
	return i - s.first;
}

/* The test stands at the outermost operator of the operand, apart from `!`. */
static bool is_outermost(const struct cut *c, struct span s)
{
	size_t op = outermost(c, s), first = s.first + count_nots(c, s);

	if (op < s.end)
		return op == c->at;
	if (c->at < first) /* of `!x`, x may be compared at the `!`; one of C++'s own is a call */
		return !c->test->name || !source_token_is(&c->tokens[c->at], "!") ||
		       strcmp(c->test->name, "operator!") != 0;
	if (is_in_brackets(c, s, c->at))
		return false;
	return c->at == first || c->tokens[first].kind == SOURCE_NAME || c->tokens[first].kind == SOURCE_TEXT;
}

/* A name that is not what is tested may be a macro, which can turn what it is given round. */
static bool may_be_macro(const struct cut *c, struct span s)
{
	const struct source_token *t = &c->tokens[c->at];
	const char *name = c->test->name;

	if (t->kind != SOURCE_NAME || source_token_is(&c->tokens[c->at - 1], "->") ||
	    source_token_is(&c->tokens[c->at - 1], "."))
		return false;
	if (!name)
		return true;
	if (source_token_is(&c->tokens[c->at + 1], "("))
		return !source_token_is(t, name);
	return !has_name(c, s, name);
}

static enum pathmeta_compare compare_of(const struct source_token *t)
{
	static const struct {
		const char *text;
		enum pathmeta_compare compare;
	} list[] = {
		{"==", PATHMETA_COMPARE_EQUAL},  {"!=", PATHMETA_COMPARE_UNEQUAL},
		{"<", PATHMETA_COMPARE_LESS},    {"<=", PATHMETA_COMPARE_LESS_EQUAL},
		{">", PATHMETA_COMPARE_GREATER}, {">=", PATHMETA_COMPARE_GREATER_EQUAL},
	};

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (source_token_is(t, list[i].text))
			return list[i].compare;
	return PATHMETA_COMPARE_TRUTH;
}

/* The code compares as the operand does, which is what an operand of that place and another compiler would not. */
static bool compares_so(const struct cut *c, struct span s)
{
	size_t op = outermost(c, s);
	enum pathmeta_compare compare = op < s.end ? compare_of(&c->tokens[op]) : PATHMETA_COMPARE_TRUTH;
	enum pathmeta_compare is = (enum pathmeta_compare)c->test->compare;
	const char *name = c->test->name;

	if (op < s.end && name && strncmp(name, "operator", strlen("operator")) == 0)
		return source_token_is(&c->tokens[op], name + strlen("operator"));
	return is == compare || (is == PATHMETA_COMPARE_TRUTH && compare == PATHMETA_COMPARE_UNEQUAL);
}

/* The operand is the variable or the call that the test names, apart from `!`. */
static bool is_value(const struct cut *c, struct span s)
{
	size_t at = s.first + count_nots(c, s);

	return at == c->at && c->test->name && source_token_is(&c->tokens[at], c->test->name) &&
	       (at + 1 == s.end || (source_token_is(&c->tokens[at + 1], "(") && matching(c, at + 1) + 1 == s.end));
}

/* ---- more of it ---- */

/* `!(a == b)`: the whole of what is in parentheses is turned round. */
static void take_parentheses(const struct cut *c, struct span *s, bool *is_negated)
{
	while (s->first > 1 && source_token_is(&c->tokens[s->first - 1], "(") &&
	       source_token_is(&c->tokens[s->end], ")") && is_not(&c->tokens[s->first - 2])) {
		struct span wider;
		size_t nots = 0;

		if (!find_operand(c, s->first - 1, &wider) || wider.end != s->end + 1)
			return;
		nots = count_nots(c, wider);
		if (wider.first + nots != s->first - 1)
			return;
		*is_negated ^= nots % 2;
		*s = wider;
	}
}

static bool is_joint(const struct source_token *t)
{
	static const char *const list[] = {"&&", "||", "?", ":", "and", "or", NULL};

	return is_any(t, list);
}

static bool is_same_line(const struct source_token *a, const struct source_token *b)
{
	return !memchr(a->text, '\n', (size_t)(b->text - a->text));
}

/* No other operand of the condition stands on its line: the line says what it is. */
static bool is_alone(const struct cut *c, struct span s)
{
	const struct source_token *first = &c->tokens[s.first], *last = &c->tokens[s.end - 1];

	if (is_joint(&first[-1]) && s.first > 1 && is_same_line(&first[-2], first))
		return false;
	return !is_joint(&last[1]) || s.end + 1 == c->count || !is_same_line(last, &last[2]);
}

static struct error *keep_text(const struct cut *c, struct span s, struct arena *arena, const char **ret)
{
	const char *text = "";

	for (size_t i = s.first; i < s.end && text; i++) {
		const struct source_token *t = &c->tokens[i];
		bool is_apart = i > s.first && t[-1].text + t[-1].len != t->text;

		text = arena_printf(arena, "%s%s%.*s", text, is_apart ? " " : "",
				    (int)(t->len > TEXT_MAX ? TEXT_MAX : t->len), t->text);
		if (text && strlen(text) > TEXT_MAX) {
			size_t len = TEXT_MAX - 3;

			while (len && (text[len] & 0xc0) == 0x80)
				len--;
			text = arena_printf(arena, "%.*s...", (int)len, text);
			break;
		}
	}
	*ret = text;
	return text ? NULL : &error_no_memory;
}

/* ---- macros ---- */

/* The operands of `&&` and `||` in a macro's parameters, also in parentheses. */
static size_t find_leaves(const struct cut *c, struct span s, struct span *leaves, size_t count)
{
	size_t first = s.first;

	for (size_t i = s.first; i <= s.end && count < LEAVES_MAX; i++) {
		struct span leaf = {first, i};
		size_t nots;

		if (i < s.end && is_open(&c->tokens[i])) {
			i = matching(c, i);
			if (i >= s.end)
				return LEAVES_MAX;
			continue;
		}
		if (i < s.end && !is_boundary(&c->tokens[i]))
			continue;
		first = i + 1;
		if (leaf.first == leaf.end)
			continue;
		nots = count_nots(c, leaf);
		if (leaf.first + nots < leaf.end && source_token_is(&c->tokens[leaf.first + nots], "(") &&
		    matching(c, leaf.first + nots) == leaf.end - 1) {
			struct span inner = {leaf.first + nots + 1, leaf.end - 1};
			size_t before = count;

			count = find_leaves(c, inner, leaves, count);
			if (count == before + 1 && nots)
				leaves[before] = leaf;
			continue;
		}
		leaves[count++] = leaf;
	}
	return count;
}

/* It calls something else, or what looks so: another macro. */
static bool calls_other(const struct cut *c, struct span s)
{
	for (size_t i = s.first; i < s.end; i++) {
		const struct source_token *t = &c->tokens[i];

		if (t->kind == SOURCE_NAME && source_token_is(t + 1, "(") &&
		    !(c->test->name && source_token_is(t, c->test->name)))
			return true;
		if (is_open(t))
			i = matching(c, i);
	}
	return false;
}

static bool can_be(const struct cut *c, struct span leaf)
{
	return !calls_other(c, leaf) && (!c->test->name || has_name(c, leaf, c->test->name)) && compares_so(c, leaf);
}

/* The macro's parameter that is tested: the only one that can be, or that of its number when all are. */
static bool find_parameter(const struct cut *c, struct span *ret)
{
	struct span leaves[LEAVES_MAX], inside = {c->at + 2, 0};
	size_t count, found = 0;

	if (!source_token_is(&c->tokens[c->at + 1], "("))
		return false;
	inside.end = matching(c, c->at + 1);
	if (inside.end >= c->count)
		return false;
	count = find_leaves(c, inside, leaves, 0);
	if (count == LEAVES_MAX)
		return false;
	if (c->test->number < count && count == c->test->count && c->test->name && can_be(c, leaves[c->test->number])) {
		*ret = leaves[c->test->number];
		return true;
	}
	for (size_t i = 0; i < count; i++) {
		if (!c->test->name || !can_be(c, leaves[i]))
			continue;
		*ret = leaves[i];
		found++;
	}
	return found == 1;
}

/* ---- */

static struct error *find_condition(struct cut *c, struct arena *arena, struct source_condition *ret)
{
	struct source_condition condition = {0};
	struct span s;
	struct error *err;

	if (!find_operand(c, c->at, &s) || may_be_template(c, s) || !is_outermost(c, s))
		return NULL;
	if (may_be_macro(c, s)) {
		struct span parameter;

		if (c->test->name && !source_token_is(&c->tokens[c->at + 1], "("))
			return NULL;
		if (find_parameter(c, &parameter)) {
			s = parameter;
			condition.is_known = !(c->test->flags & PATHMETA_TEST_VALUE);
		}
	} else {
		condition.is_known = c->test->flags & PATHMETA_TEST_VALUE
					     ? is_value(c, s)
					     : compares_so(c, s) || c->test->compare == PATHMETA_COMPARE_UNKNOWN;
		condition.is_alone = true;
	}
	if (outermost(c, s) == s.end)
		condition.is_negated = count_nots(c, s) % 2;
	if (condition.is_alone) {
		take_parentheses(c, &s, &condition.is_negated);
		condition.is_alone = is_alone(c, s);
	}
	err = keep_text(c, s, arena, &condition.text);
	if (!err)
		*ret = condition;
	return err;
}

struct error *source_condition_find(struct sources *sources, const struct pathmeta_test *test, struct arena *arena,
				    struct source_condition *ret)
{
	struct source_token_vec tokens = {0};
	struct cut c = {.test = test};
	const struct source_file *f;
	const char *place;
	struct error *err;

	*ret = (struct source_condition){0};
	if (!test->at.file || !test->at.line || !test->at.column)
		return NULL;
	err = sources_get(sources, test->at.file, &f);
	if (err || !f->path || test->at.line > f->line_count)
		return err;
	err = source_tokens(f, test->at.line, LINES_BEFORE, LINES_BEFORE, &tokens);
	place = (const char *)f->file.bytes + f->line_offs[test->at.line - 1] + test->at.column - 1;
	c.tokens = tokens.items;
	c.count = tokens.count;
	while (c.at < c.count && c.tokens[c.at].text < place)
		c.at++;
	if (!err && c.at && c.at + 1 < c.count && c.tokens[c.at].text == place)
		err = find_condition(&c, arena, ret);
	source_token_vec_deinit(&tokens);
	return err;
}

/* source_cases.c - goes back over tokens from a statement to the labels in front of it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "model/source/source_cases.h"
#include "model/source/source_tokens.h"

enum {
	LINES_BEFORE = 40,
	LINES_BEHIND = 2,
	TEXT_MAX = 40, /* bytes of a label */
	LABELS_MAX = 8,
};

struct labels {
	const struct source_token *tokens;
	size_t count;
	struct {
		size_t first, end; /* tokens */
	} items[LABELS_MAX];       /* the last one first */
	size_t item_count;
};

/* The `:` of the label, or `{` behind it, in front of the statement that token `at` is in; count: there is none. */
static size_t statement_start(const struct labels *l, size_t at)
{
	size_t depth = 0;

	for (size_t i = at; i-- > 0;) {
		const struct source_token *t = &l->tokens[i];

		if (source_token_is(t, ")") || source_token_is(t, "]"))
			depth++;
		else if (source_token_is(t, "(") || source_token_is(t, "["))
			depth -= depth > 0;
		else if (!depth && (source_token_is(t, ";") || source_token_is(t, "}") || source_token_is(t, "?")))
			return l->count;
		else if (!depth && source_token_is(t, "{"))
			return i && source_token_is(t - 1, ":") ? i - 1 : l->count;
		else if (!depth && source_token_is(t, ":"))
			return i;
	}
	return l->count;
}

/* The labels that end with the `:` at `colon`. */
static void find_labels(struct labels *l, size_t colon)
{
	while (l->item_count < LABELS_MAX) {
		size_t i = colon;

		while (i > 0 && i + 16 > colon && !source_token_is(&l->tokens[i], "case"))
			i--;
		if (!source_token_is(&l->tokens[i], "case"))
			return;
		l->items[l->item_count].first = i + 1;
		l->items[l->item_count++].end = colon;
		if (!i || !source_token_is(&l->tokens[i - 1], ":"))
			return;
		colon = i - 1;
	}
	l->item_count = 0;
}

static bool character_value(const struct source_token *t, int64_t *ret)
{
	static const char escapes[] = "a\ab\bf\fn\nr\rt\tv\v\\\\''\"\"";
	const char *found;

	if (t->len == 3 && t->text[0] == '\'' && t->text[1] != '\\') {
		const int byte = (unsigned char)t->text[1];

		*ret = byte > SCHAR_MAX ? byte - 256 : byte; /* char has a sign here */
		return true;
	}
	if (t->len != 4 || t->text[0] != '\'' || t->text[1] != '\\')
		return false;
	if (t->text[2] == '0') {
		*ret = 0;
		return true;
	}
	for (found = escapes; *found && *found != t->text[2]; found += 2)
		;
	*ret = found[0] ? found[1] : 0;
	return *found != '\0';
}

static bool number_value(const struct source_token *t, int64_t *ret)
{
	char buffer[32];
	char *end;

	if (t->len >= sizeof buffer)
		return false;
	memcpy(buffer, t->text, t->len);
	buffer[t->len] = '\0';
	errno = 0;
	*ret = strtoll(buffer, &end, 0);
	end += strspn(end, "uUlL");
	return !errno && !*end;
}

/* The value of a label that is a literal. */
static bool literal_value(const struct labels *l, size_t item, int64_t *ret)
{
	size_t first = l->items[item].first, count = l->items[item].end - first;
	bool is_negative = count == 2 && source_token_is(&l->tokens[first], "-");
	const struct source_token *t = &l->tokens[first + is_negative];

	if (count != 1u + is_negative)
		return false;
	if (!(t->kind == SOURCE_TEXT ? character_value(t, ret) : t->kind == SOURCE_NUMBER && number_value(t, ret)))
		return false;
	*ret = is_negative ? -*ret : *ret;
	return true;
}

static bool has_value(const struct pathmeta_cases *cases, int64_t value)
{
	for (uint32_t i = 0; i < cases->count; i++)
		if (cases->ranges[i].first <= value && value <= cases->ranges[i].last)
			return true;
	return false;
}

static bool are_right(const struct labels *l, const struct pathmeta_cases *cases, bool is_as_written)
{
	uint64_t values = 0;

	for (uint32_t i = 0; i < cases->count; i++)
		values += (uint64_t)cases->ranges[i].last - (uint64_t)cases->ranges[i].first + 1;
	if (cases->has_more || values != l->item_count)
		return false;
	for (size_t i = 0; i < l->item_count; i++) {
		int64_t value;
		bool is_literal = literal_value(l, i, &value);

		if (is_literal ? !has_value(cases, value) : !is_as_written)
			return false;
		for (size_t k = l->items[i].first; k < l->items[i].end; k++)
			if (source_token_is(&l->tokens[k], "..."))
				return false;
	}
	return true;
}

static const char *labels_text(const struct labels *l, struct arena *arena)
{
	const char *text = "";

	for (size_t i = l->item_count; i-- > 0 && text;) {
		const struct source_token *first = &l->tokens[l->items[i].first],
					  *last = &l->tokens[l->items[i].end - 1];
		size_t len = (size_t)(last->text + last->len - first->text);

		if (last < first || len > TEXT_MAX || memchr(first->text, '\n', len))
			return "";
		text = arena_printf(arena, "%s%s%.*s", text, *text ? ", " : "", (int)len, first->text);
	}
	return text;
}

struct error *source_cases_find(struct sources *sources, const struct pathmeta_line *place,
				const struct pathmeta_cases *cases, bool is_as_written, struct arena *arena,
				const char **ret)
{
	struct source_token_vec tokens = {0};
	const struct source_file *f;
	struct labels l = {0};
	size_t at = 0, colon;
	const char *text = "";
	struct error *err;

	*ret = NULL;
	if (!place->file || !place->line || !place->column)
		return NULL;
	err = sources_get(sources, place->file, &f);
	if (err || !f->path || place->line > f->line_count)
		return err;
	err = source_tokens(f, place->line, LINES_BEFORE, LINES_BEHIND, &tokens);
	l.tokens = tokens.items;
	l.count = tokens.count;
	while (at < l.count &&
	       tokens.items[at].text < (const char *)f->file.bytes + f->line_offs[place->line - 1] + place->column - 1)
		at++;
	colon = err || at == l.count ? l.count : statement_start(&l, at);
	if (colon < l.count)
		find_labels(&l, colon);
	if (l.item_count && are_right(&l, cases, is_as_written))
		text = labels_text(&l, arena);
	source_token_vec_deinit(&tokens);
	if (!err && !text)
		err = &error_no_memory;
	if (!err && *text)
		*ret = text;
	return err;
}

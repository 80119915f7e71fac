/*
 * source_tokens.c - a lexer of C and C++. Only from the start of a file on is it known what is in a comment: once, all of it is
 * read to find the lines that begin in the middle of something. From any other line on the lexer can begin.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/source/source_tokens.h"

struct lexer {
	const char *at, *end;
	bool is_line_start;
	const struct source_file *f;
	uint8_t *is_inside; /* [f->line_count]: the line begins in the middle of something; NULL: nobody asks */
	uint32_t line;      /* is_inside: the first that may still be */
};

/* The token that began at `from` has ended: lines in between begin inside it. */
static void note_end(struct lexer *l, const char *from)
{
	size_t start = (size_t)(from - (const char *)l->f->file.bytes),
	       end = (size_t)(l->at - (const char *)l->f->file.bytes);

	if (!l->is_inside)
		return;
	while (l->line < l->f->line_count && l->f->line_offs[l->line] <= start)
		l->line++;
	for (; l->line < l->f->line_count && l->f->line_offs[l->line] < end; l->line++)
		l->is_inside[l->line] = true;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool starts(const struct lexer *l, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(l->end - l->at) >= len && memcmp(l->at, text, len) == 0;
}

/* To the end of the line, which backslashes put off; and in front of a comment when it is a preprocessor's. */
static void skip_line(struct lexer *l, bool is_directive)
{
	while (l->at < l->end && *l->at != '\n') {
		if (*l->at == '\\' && l->at + 1 < l->end)
			l->at++;
		else if (is_directive && (starts(l, "/*") || starts(l, "//")))
			return;
		l->at++;
	}
}

static void skip_comment(struct lexer *l)
{
	const char *end = memmem(l->at + 2, (size_t)(l->end - l->at) - 2, "*/", 2);

	l->at = end ? end + 2 : l->end;
}

static void skip_blanks(struct lexer *l)
{
	while (l->at < l->end) {
		const char *from = l->at;

		if (*l->at == '\n') {
			l->is_line_start = true;
			l->at++;
			continue;
		}
		if (isspace((unsigned char)*l->at) || *l->at == '\0' || starts(l, "\\\n")) {
			l->at += *l->at == '\\' ? 2 : 1;
		} else if (starts(l, "//")) {
			skip_line(l, false);
		} else if (starts(l, "/*")) {
			skip_comment(l);
		} else if (*l->at == '#' && l->is_line_start) {
			skip_line(l, true);
		} else {
			break;
		}
		note_end(l, from);
	}
	l->is_line_start = false;
}

/* A string or character, at its first quote; it ends with its line at the latest. */
static void skip_text(struct lexer *l)
{
	char quote = *l->at++;

	while (l->at < l->end && *l->at != quote && *l->at != '\n')
		l->at += *l->at == '\\' && l->at + 1 < l->end ? 2 : 1;
	if (l->at < l->end && *l->at == quote)
		l->at++;
}

/* R"x(...)x", at the quote. */
static void skip_raw_text(struct lexer *l)
{
	const char *open = memchr(l->at, '(', (size_t)(l->end - l->at)), *start = l->at + 1;
	size_t len = open ? (size_t)(open - start) : 0;

	l->at = l->end;
	for (const char *p = open; p && (p = memchr(p, ')', (size_t)(l->end - p))) != NULL; p++) {
		if ((size_t)(l->end - p) < len + 2 || memcmp(p + 1, start, len) != 0 || p[len + 1] != '"')
			continue;
		l->at = p + len + 2;
		return;
	}
}

static void skip_number(struct lexer *l)
{
	while (l->at < l->end) {
		bool is_exponent = strchr("eEpP", *l->at) && l->at + 1 < l->end && (l->at[1] == '+' || l->at[1] == '-');
		bool is_separator = *l->at == '\'' && l->at + 1 < l->end && isalnum((unsigned char)l->at[1]);

		if (!is_name_char(*l->at) && *l->at != '.' && !is_separator)
			return;
		l->at += is_exponent || is_separator ? 2 : 1;
	}
}

static void skip_operator(struct lexer *l)
{
	static const char *const longest_first[] = {"<<=", ">>=", "...", "->*", "<=>", "::", "->", "++", "--",
						    "<<",  ">>",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=",
						    "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", ".*"};

	for (size_t i = 0; i < sizeof longest_first / sizeof *longest_first; i++) {
		if (starts(l, longest_first[i])) {
			l->at += strlen(longest_first[i]);
			return;
		}
	}
	l->at++;
}

static bool next(struct lexer *l, struct source_token *ret)
{
	skip_blanks(l);
	if (l->at >= l->end)
		return false;
	ret->text = l->at;
	ret->kind = SOURCE_OPERATOR;
	if (isdigit((unsigned char)*l->at) ||
	    (*l->at == '.' && l->at + 1 < l->end && isdigit((unsigned char)l->at[1]))) {
		ret->kind = SOURCE_NUMBER;
		skip_number(l);
	} else if (*l->at == '"' || *l->at == '\'') {
		ret->kind = SOURCE_TEXT;
		skip_text(l);
	} else if (is_name_char(*l->at)) {
		ret->kind = SOURCE_NAME;
		while (l->at < l->end && is_name_char(*l->at))
			l->at++;
		if (l->at < l->end && (*l->at == '"' || *l->at == '\'') && l->at - ret->text <= 3) { /* u8R"... */
			ret->kind = SOURCE_TEXT;
			if (*l->at == '"' && l->at[-1] == 'R')
				skip_raw_text(l);
			else
				skip_text(l);
		}
	} else {
		skip_operator(l);
	}
	ret->len = (size_t)(l->at - ret->text);
	note_end(l, ret->text);
	return true;
}

static struct lexer lexer_at(const struct source_file *f, uint32_t line)
{
	const char *bytes = (const char *)f->file.bytes;

	return (struct lexer){
		.at = bytes + f->line_offs[line], .end = bytes + f->file.len_bytes, .is_line_start = true, .f = f};
}

static struct error *find_inside(const struct source_file *f)
{
	struct lexer l = lexer_at(f, 0);
	struct source_token token;

	if (*f->is_inside)
		return NULL;
	l.is_inside = calloc(f->line_count, 1);
	if (!l.is_inside)
		return &error_no_memory;
	while (next(&l, &token))
		;
	*f->is_inside = l.is_inside;
	return NULL;
}

struct error *source_tokens(const struct source_file *f, uint32_t line, uint32_t before, uint32_t behind,
			    struct source_token_vec *ret)
{
	struct source_token token;
	struct lexer l;
	struct error *err;
	uint32_t first;

	if (!f->path || !line || line > f->line_count)
		return NULL;
	err = find_inside(f);
	if (err)
		return err;
	first = line > before ? line - 1 - before : 0;
	while (first && (*f->is_inside)[first])
		first--;
	l = lexer_at(f, first);
	l.end = (const char *)f->file.bytes +
		f->line_offs[f->line_count - line > behind ? line + behind : f->line_count];
	while (!err && next(&l, &token))
		err = source_token_vec_append(ret, token);
	return err;
}

bool source_token_is(const struct source_token *t, const char *text)
{
	return t->len == strlen(text) && memcmp(t->text, text, t->len) == 0;
}

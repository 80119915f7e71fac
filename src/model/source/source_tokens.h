/*
 * source_tokens.h - tokens of C and C++ in a source file, as far as it takes to cut expressions out: identifiers, numbers, texts
 * and operators, without comments and preprocessor lines.
 */
#ifndef WM_MODEL_PATHS_SOURCE_TOKENS_H
#define WM_MODEL_PATHS_SOURCE_TOKENS_H

#include "base/vec.h"
#include "model/source/source.h"

enum source_token_kind {
	SOURCE_NAME,
	SOURCE_NUMBER,
	SOURCE_TEXT, /* a string or character */
	SOURCE_OPERATOR,
};

struct source_token {
	const char *text; /* the file's */
	size_t len;
	enum source_token_kind kind;
};
VEC_DECLARE(source_token_vec, struct source_token);

/* The tokens from about `before` lines before a line to about `behind` lines behind it: never from within a comment. */
struct error *source_tokens(const struct source_file *f, uint32_t line, uint32_t before, uint32_t behind,
			    struct source_token_vec *ret);

/* The token is that operator or name. */
bool source_token_is(const struct source_token *t, const char *text);

#endif

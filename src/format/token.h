/*
 * token.h - the printable form of a captured context, as wm_token writes it, and finding it in any text.
 *
 *     wm1:RUN:BUILD:SITE:ID:PREFIX:CHECK             lower-case hex; docs/format.md has the fields
 *     wm1:RUN:BUILD:SITE:ID:PREFIX:vEPOCH:CHECK      where the epoch is not 0
 *     wm1:not-instrumented
 */
#ifndef WM_FORMAT_TOKEN_H
#define WM_FORMAT_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
	TOKEN_CONTEXT,
	TOKEN_NOT_INSTRUMENTED,
	TOKEN_DAMAGED, /* begins as a token does, but is cut, altered or of a form unknown here */
};

enum token_build_kind {
	TOKEN_BUILD_NONE, /* site is 0, or a number of the process: its image was not known any more */
	TOKEN_BUILD_ID,   /* first 4 bytes of the build id, the first one highest */
	TOKEN_BUILD_KEY,  /* low 32 bits of the metadata key */
};

struct token {
	enum token_kind kind;
	const char *damage; /* TOKEN_DAMAGED: why */
	/* TOKEN_CONTEXT */
	uint64_t run; /* 0: nothing could be recorded */
	enum token_build_kind build_kind;
	uint32_t build;
	uint32_t site; /* index in that image; 0: in foreign code */
	uint64_t id;
	uint32_t prefix;
	uint32_t epoch;
};

enum {
	TOKEN_BYTES_MAX = 95,  /* of a good one: WM_TOKEN_MAX without the NUL */
	TOKEN_BEFORE_MAX = 64, /* bytes of what goes before a token that say whether it is one */
};

/*
 * Finds the first token of text[start, len_bytes). Returns false when there is none; then bytes before *ret_off are surely none, and
 * what follows them (fewer than TOKEN_BYTES_MAX + 1 bytes) may be the beginning of one that further text completes. is_end says that
 * no text follows: *ret_off is then len_bytes. A token found is at *ret_off, *ret_len bytes long.
 *
 * text[0, start): what goes before, the last TOKEN_BEFORE_MAX bytes of it at least. "xwm1:" is no token, but one behind the escape
 * sequence of a colour is, though that ends with a letter.
 */
bool token_find(const char *text, size_t start, size_t len_bytes, bool is_end, struct token *ret, size_t *ret_off,
		size_t *ret_len);

/* The CHECK of a token's text up to but without the last colon. */
uint16_t token_check(const char *text, size_t len_bytes);

#endif

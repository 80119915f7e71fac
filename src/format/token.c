/*
 * token.c - a scanner for tokens. It never needs more text than one token is long, so callers can stream.
 */
#include <string.h>

#include "base/hash.h"
#include "format/section.h"
#include "format/token.h"

static const char magic[] = "wm1:";
static const char not_instrumented[] = "not-instrumented";

enum {
	MAGIC_BYTES = sizeof magic - 1,
	NOT_INSTRUMENTED_BYTES = sizeof not_instrumented - 1,
	RUN_DIGITS = 16,
	BUILD_DIGITS = 8,
	CHECK_DIGITS = 4,
	ESC = 0x1b,
};

uint16_t token_check(const char *text, size_t len_bytes)
{
	uint64_t h = hash_bytes(HASH_START, text, len_bytes);

	return (uint16_t)(h ^ h >> 16 ^ h >> 32 ^ h >> 48);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_word(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

struct scanner {
	const char *text;
	size_t len_bytes;
	size_t off;
	const char *damage; /* the first thing that is wrong */
};

static void damaged(struct scanner *s, const char *why)
{
	if (!s->damage)
		s->damage = why;
}

/* 1 to max digits, exactly max if is_full; the longest run of digits is taken. */
static uint64_t take_hex(struct scanner *s, size_t max, bool is_full)
{
	size_t start = s->off;
	uint64_t v = 0;

	while (s->off < s->len_bytes && s->off - start < max && digit(s->text[s->off]) >= 0)
		v = v << 4 | (uint64_t)digit(s->text[s->off++]);
	if (s->off == start || (is_full && s->off - start != max))
		damaged(s, "it is cut");
	else if (s->off < s->len_bytes && digit(s->text[s->off]) >= 0)
		damaged(s, "it has too many digits");
	return v;
}

static void take_colon(struct scanner *s)
{
	if (s->damage)
		return;
	if (s->off < s->len_bytes && s->text[s->off] == ':')
		s->off++;
	else
		damaged(s, "it is cut");
}

static void take_build(struct scanner *s, struct token *t)
{
	size_t start = s->off;

	if (s->damage)
		return;
	t->build_kind = TOKEN_BUILD_ID;
	if (s->off < s->len_bytes && s->text[s->off] == 'm') {
		t->build_kind = TOKEN_BUILD_KEY;
		s->off++;
		t->build = (uint32_t)take_hex(s, BUILD_DIGITS, false);
		return;
	}
	t->build = (uint32_t)take_hex(s, BUILD_DIGITS, false);
	if (s->off - start == 1 && t->build == 0)
		t->build_kind = TOKEN_BUILD_NONE;
	else if (s->off - start != BUILD_DIGITS)
		damaged(s, "it is cut");
}

/* None is epoch 0, which is not written. */
static void take_epoch(struct scanner *s, struct token *t)
{
	if (s->damage || s->off >= s->len_bytes || s->text[s->off] != 'v')
		return;
	s->off++;
	t->epoch = (uint32_t)take_hex(s, 8, false);
	if (!t->epoch)
		damaged(s, "its epoch is 0");
}

static void take_fields(struct scanner *s, struct token *t)
{
	size_t end;
	uint64_t check;

	t->run = take_hex(s, RUN_DIGITS, true);
	take_colon(s);
	take_build(s, t);
	take_colon(s);
	if (!s->damage)
		t->site = (uint32_t)take_hex(s, 8, false);
	take_colon(s);
	if (!s->damage)
		t->id = take_hex(s, 16, false);
	take_colon(s);
	if (!s->damage)
		t->prefix = (uint32_t)take_hex(s, 8, false);
	end = s->off;
	take_colon(s);
	take_epoch(s, t);
	if (t->epoch) {
		end = s->off;
		take_colon(s);
	}
	if (s->damage)
		return;
	check = take_hex(s, CHECK_DIGITS, true);
	if (!s->damage && check != token_check(s->text, end))
		damaged(s, "its check digits are wrong");
	if (!s->damage && t->site == 0 && t->build_kind != TOKEN_BUILD_NONE)
		damaged(s, "its fields contradict each other");
}

/* text starts with the magic. Returns how many bytes the token has; 0 when it is none after all. */
static size_t parse(const char *text, size_t len_bytes, struct token *ret)
{
	struct scanner s = {.text = text, .len_bytes = len_bytes, .off = MAGIC_BYTES};
	struct token t = {.kind = TOKEN_CONTEXT};

	if (len_bytes - MAGIC_BYTES >= NOT_INSTRUMENTED_BYTES &&
	    memcmp(text + MAGIC_BYTES, not_instrumented, NOT_INSTRUMENTED_BYTES) == 0) {
		ret->kind = TOKEN_NOT_INSTRUMENTED;
		return MAGIC_BYTES + NOT_INSTRUMENTED_BYTES;
	}
	if (len_bytes == MAGIC_BYTES || digit(text[MAGIC_BYTES]) < 0)
		return 0;
	take_fields(&s, &t);
	if (s.damage)
		t = (struct token){.kind = TOKEN_DAMAGED, .damage = s.damage};
	*ret = t;
	return s.off;
}

/* Whether the whole of text could go on as a token. */
static bool may_go_on(const char *text, size_t len_bytes)
{
	size_t i = MAGIC_BYTES;

	if (len_bytes > TOKEN_BYTES_MAX)
		return false;
	if (memcmp(text, magic, len_bytes < MAGIC_BYTES ? len_bytes : MAGIC_BYTES) != 0)
		return false;
	if (len_bytes <= MAGIC_BYTES)
		return true;
	if (len_bytes - i <= NOT_INSTRUMENTED_BYTES && memcmp(text + i, not_instrumented, len_bytes - i) == 0)
		return true;
	while (i < len_bytes && (digit(text[i]) >= 0 || text[i] == ':' || text[i] == 'm' || text[i] == 'v'))
		i++;
	return i == len_bytes;
}

/* ---- where a token may begin ---- */

static bool is_between(char c, unsigned char first, unsigned char last)
{
	return (unsigned char)c >= first && (unsigned char)c <= last;
}

/* text[0, end) ends with the byte ESC, or with what loggers write for it: JSON, C, rsyslog, cat -v. */
static bool ends_with_escape(const char *text, size_t end)
{
	static const char *const written[] = {"\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033", "\\e", "#033", "^["};

	if (end && text[end - 1] == ESC)
		return true;
	for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
		size_t len = strlen(written[i]);

		if (end >= len && memcmp(text + end - len, written[i], len) == 0)
			return true;
	}
	return false;
}

/*
 * The last byte of text[0, end) ends an escape sequence (ECMA-48, ECMA-35), and so is no part of a word:
 *
 *      ESC [ 3 1 m     control sequence: parameters 30 to 3f, intermediate bytes 20 to 2f, the last one 40 to 7e (hexadecimal)
 *      ESC ( B         escape sequence: intermediate bytes, the last one 30 to 7e
 *      \ n             a control character as JSON and C write it
 */
static bool ends_sequence(const char *text, size_t end)
{
	const size_t last = end - 1;
	size_t at = last;

	if (last && text[last - 1] == '\\' && text[last] && strchr("abfnrtv", text[last]))
		return true;
	while (at && end - at < TOKEN_BEFORE_MAX - 8 && is_between(text[at - 1], 0x20, 0x2f))
		at--;
	if (is_between(text[last], 0x30, 0x7e) && ends_with_escape(text, at))
		return true;
	while (at && end - at < TOKEN_BEFORE_MAX - 8 && is_between(text[at - 1], 0x20, 0x3f))
		at--;
	return is_between(text[last], 0x40, 0x7e) && at && text[at - 1] == '[' && ends_with_escape(text, at - 1);
}

static bool is_in_word(const char *text, size_t off)
{
	return off && is_word((unsigned char)text[off - 1]) && !ends_sequence(text, off);
}

bool token_find(const char *text, size_t start, size_t len_bytes, bool is_end, struct token *ret, size_t *ret_off,
		size_t *ret_len)
{
	for (size_t off = start; off < len_bytes; off++) {
		const char *w = memchr(text + off, 'w', len_bytes - off);
		size_t left, len;

		if (!w)
			break;
		off = (size_t)(w - text);
		left = len_bytes - off;
		if (left >= 2 && w[1] != 'm')
			continue;
		if (is_in_word(text, off))
			continue;
		if (!is_end && may_go_on(w, left)) {
			*ret_off = off;
			return false;
		}
		if (left < MAGIC_BYTES || memcmp(w, magic, MAGIC_BYTES) != 0)
			continue;
		len = parse(w, left, ret);
		if (len) {
			*ret_off = off;
			*ret_len = len;
			return true;
		}
	}
	*ret_off = len_bytes;
	return false;
}

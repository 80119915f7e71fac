/*
 * test_token.c - tokens: golden texts, where they begin and end in text, damage, and blocks cut anywhere.
 */
#include "check.h"
#include "format/token.h"
#include "support/builder.h"

static const char golden[] = "wm1:0123456789abcdef:aabbccdd:2:1f:11:";

static void test_golden(void)
{
	char text[128];
	struct token t;
	size_t off, len;

	snprintf(text, sizeof text, "ctx=%s%04x: rest", golden, token_check(golden, sizeof golden - 2));
	if (CHECK(token_find(text, 0, strlen(text), true, &t, &off, &len))) {
		CHECK_U64(off, 4);
		CHECK_U64(len, sizeof golden - 1 + 4);
		CHECK_U64(t.kind, TOKEN_CONTEXT);
		CHECK_U64(t.run, 0x0123456789abcdef);
		CHECK_U64(t.build_kind, TOKEN_BUILD_ID);
		CHECK_U64(t.build, 0xaabbccdd);
		CHECK_U64(t.site, 2);
		CHECK_U64(t.id, 0x1f);
		CHECK_U64(t.prefix, 0x11);
		CHECK_U64(t.epoch, 0);
	}
	/* "abcd" might be a CHECK: the v tells that it is none. */
	snprintf(text, sizeof text, "%svabcd:", golden);
	snprintf(text + strlen(text), 8, "%04x:", token_check(text, strlen(text) - 1));
	if (CHECK(token_find(text, 0, strlen(text), true, &t, &off, &len))) {
		CHECK_U64(off, 0);
		CHECK_U64(len, sizeof golden - 1 + 10);
		CHECK_U64(t.kind, TOKEN_CONTEXT);
		CHECK_U64(t.prefix, 0x11);
		CHECK_U64(t.epoch, 0xabcd);
	}
	/* FNV-1a-64 of "" is its offset basis, of "a" a published test vector: af63dc4c8601ec8c. */
	CHECK_U64(token_check("", 0), 0xcbf2 ^ 0x9ce4 ^ 0x8422 ^ 0x2325);
	CHECK_U64(token_check("a", 1), 0xaf63 ^ 0xdc4c ^ 0x8601 ^ 0xec8c);
}

static enum token_kind kind_of(const char *text, const char *before, size_t *ret_len)
{
	char all[160];
	struct token t;
	size_t off;

	*ret_len = 0;
	snprintf(all, sizeof all, "%s%s", before, text);
	if (!token_find(all, strlen(before), strlen(all), true, &t, &off, ret_len))
		return (enum token_kind)99;
	return t.kind;
}

static void test_forms(void)
{
	char buf[96];
	size_t len;

	CHECK_U64(kind_of("wm1:not-instrumented.", "", &len), TOKEN_NOT_INSTRUMENTED);
	CHECK_U64(len, 20);
	CHECK_U64(kind_of(build_token(buf, 0, "0", 0, 0, 2), "", &len), TOKEN_CONTEXT);
	CHECK_U64(kind_of(build_token(buf, UINT64_MAX, "m123", UINT32_MAX, UINT64_MAX, UINT32_MAX), "", &len),
		  TOKEN_CONTEXT);
	CHECK_U64(len, strlen(buf));
	build_epoch_token(buf, 1, "m12345678", UINT32_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX);
	CHECK_U64(kind_of(buf, "", &len), TOKEN_CONTEXT);
	CHECK_U64(len, strlen(buf));
	CHECK(len <= TOKEN_BYTES_MAX);
	CHECK_U64(kind_of(buf, "x", &len), 99);
	CHECK_U64(kind_of(buf, "=", &len), TOKEN_CONTEXT);
	CHECK_U64(kind_of("wm1: is the magic", "", &len), 99);
	CHECK_U64(kind_of("wm1:x", "", &len), 99);
	CHECK_U64(kind_of("wm1:", "", &len), 99);
	CHECK_U64(kind_of("", "", &len), 99);
	CHECK_U64(kind_of(build_token(buf, 1, "0", 5, 0, 2), "", &len),
		  TOKEN_CONTEXT); /* a site of an unloaded image */
	CHECK_U64(kind_of(build_token(buf, 1, "12345678", 0, 0, 2), "", &len), TOKEN_DAMAGED);
	/* Epoch 0 is not written: no context has two tokens. */
	len = strlen(build_token(buf, 1, "12345678", 5, 0, 2)) - 4;
	snprintf(buf + len, sizeof buf - len, "v0:");
	snprintf(buf + len + 3, sizeof buf - len - 3, "%04x", token_check(buf, len + 2));
	CHECK_U64(kind_of(buf, "", &len), TOKEN_DAMAGED);
}

/* Every shortened token and every token with one digit changed is damaged; none is taken for good. */
static void test_damage(uint32_t epoch)
{
	char good[96], text[97];
	size_t len, size;

	size = strlen(build_epoch_token(good, 0x1122334455667788, "aabbccdd", 0x23, 0x4567, 0x89, epoch));

	for (size_t i = 5; i < size; i++) {
		memcpy(text, good, i);
		text[i] = '\0';
		CHECK_U64(kind_of(text, "", &len), TOKEN_DAMAGED);
		CHECK_U64(len, i);
	}
	for (size_t i = 4; i < size; i++) {
		memcpy(text, good, size + 1);
		text[i] = text[i] == '7' ? '8' : '7';
		CHECK(kind_of(text, "", &len) == TOKEN_DAMAGED);
	}
	snprintf(text, sizeof text, "%s0", good);
	CHECK_U64(kind_of(text, "", &len), TOKEN_DAMAGED);
}

/* The same text in one block and cut in two at any place gives the same tokens at the same places. */
static void test_cuts(uint32_t epoch)
{
	char token[96], text[512];
	size_t size;

	build_epoch_token(token, 0x1122334455667788, "aabbccdd", 0x23, 0x4567, 0x89, epoch);
	size = (size_t)snprintf(text, sizeof text, "w wm wm1 %s,%s wm1:not-instrumented wm1:12 x", token, token);
	for (size_t cut = 0; cut <= size; cut++) {
		size_t used = 0, count = 0, end = cut, sum = 0;

		for (;;) {
			struct token t;
			size_t off, len;
			bool is_found = token_find(text, used, end, end == size, &t, &off, &len);

			used = off;
			if (is_found) {
				count++;
				sum += used * len * (t.kind + 1);
				used += len;
				continue;
			}
			if (end == size)
				break;
			CHECK(end - used <= TOKEN_BYTES_MAX);
			end = size;
		}
		CHECK_U64(count, 4);
		CHECK_U64(used, size);
		CHECK_U64(sum, 9 * strlen(token) + (9 + strlen(token) + 1) * strlen(token) +
				       (9 + 2 * strlen(token) + 2) * 20 * 2 + (9 + 2 * strlen(token) + 2 + 21) * 6 * 3);
	}
}

/* A letter that ends an escape sequence is no part of a word; without the sequence's beginning it is. */
static void test_sequences(void)
{
	static const struct {
		const char *before;
		bool is_token;
	} cases[] = {
		{"\033[31m", true},
		{"\033[m", true},
		{"text \033[1;38;2;255;255;255;48;2;100;100;100m", true},
		{"\033(B", true},
		{"\033[0m\033(B", true},
		{"\033[0 q", true},
		{"\033M", true},
		{"\\u001b[31m", true},
		{"\\x1B[31m", true},
		{"\\033[31m", true},
		{"#033[31m", true},
		{"^[[31m", true},
		{"a\\n", true},
		{"a\\t", true},
		{"[31m", false},
		{"31m", false},
		{"\033[31mx", false},
		{"\033[31", false},
		{"\033[31;xm", false},
		{"(B", false},
		{"\\q", false},
		{"\033]0;title", false},
		{"m", false},
	};
	char token[96];
	size_t len;

	build_token(token, 1, "12345678", 5, 6, 2);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!CHECK((kind_of(token, cases[i].before, &len) == TOKEN_CONTEXT) == cases[i].is_token))
			printf("behind case %zu\n", i);
}

int main(void)
{
	test_golden();
	test_sequences();
	test_forms();
	test_damage(0);
	test_damage(0xfe);
	test_cuts(0);
	test_cuts(0xfe);
	return check_status();
}

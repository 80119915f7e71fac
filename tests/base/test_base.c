/*
 * test_base.c - errors, arenas, cursors, vectors, buffers, sorting and plain text.
 */
#include "check.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <wchar.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/json_writer.h"
#include "base/plain_text.h"
#include "base/sort.h"
#include "base/vec.h"

VEC_DECLARE(u64_vec, uint64_t);

static void test_error(void)
{
	struct error *err = error_create(ERROR_NOT_FOUND, "%s: no section %d", "a.out", 3);

	CHECK(err->code == ERROR_NOT_FOUND);
	CHECK_TEXT(err->message, "a.out: no section 3");
	err = error_context(err, "while reading %s", "x");
	CHECK_TEXT(err->message, "while reading x: a.out: no section 3");
	error_destroy(err);

	err = error_os(ENOENT, "cannot open %s", "f");
	CHECK(err->code == ERROR_OS);
	CHECK_TEXT(err->message, "cannot open f: No such file or directory");
	error_destroy(err);

	CHECK(error_context(&error_no_memory, "x") == &error_no_memory);
	CHECK_TEXT(error_no_memory.message, "out of memory");
	CHECK(!error_context(NULL, "x"));
	error_destroy(&error_no_memory);
	error_destroy(NULL);
}

static void test_arena(void)
{
	static const size_t sizes[] = {0,    1,    15,   16,     17,      1000, 1024,
				       1025, 4096, 5000, 100000, 1 << 20, 3,    (1 << 20) + 1};
	unsigned char *blocks[1000] = {0};
	size_t lengths[1000] = {0};
	struct arena arena;
	size_t asked = 0;

	arena_init(&arena);
	CHECK(!arena_alloc(&arena, SIZE_MAX));
	CHECK(!arena_alloc(&arena, SIZE_MAX - 15));
	CHECK(!arena_calloc(&arena, SIZE_MAX / 2, 3));
	CHECK(!arena_copy(&arena, sizes, SIZE_MAX / 2, 3));
	CHECK(!arena_strndup(&arena, "", SIZE_MAX));
	CHECK_U64(arena.used_bytes, 0);
	for (size_t i = 0; i < 1000; i++) {
		lengths[i] = i % 50 ? i % 97 : sizes[i / 50 % (sizeof(sizes) / sizeof(sizes[0]))];
		asked += lengths[i];
		blocks[i] = arena_alloc(&arena, lengths[i]);
		if (!CHECK(blocks[i]) || !CHECK((uintptr_t)blocks[i] % 16 == 0))
			break;
		for (size_t j = 0; j < lengths[i]; j++)
			if (!CHECK(blocks[i][j] == 0))
				break;
		memset(blocks[i], (int)(i % 255 + 1), lengths[i]);
	}
	for (size_t i = 0; i < 1000; i++)
		for (size_t j = 0; j < lengths[i]; j++)
			if (!CHECK(blocks[i][j] == i % 255 + 1))
				break;
	CHECK_U64(arena.used_bytes, asked);
	CHECK(arena_alloc(&arena, 0) != arena_alloc(&arena, 0));
	CHECK(arena_copy(&arena, NULL, 0, 8));
	CHECK(!memcmp(arena_copy(&arena, sizes, 3, sizeof(*sizes)), sizes, 3 * sizeof(*sizes)));
	CHECK_TEXT(arena_strdup(&arena, "hello"), "hello");
	CHECK_TEXT(arena_strdup(&arena, ""), "");
	CHECK_TEXT(arena_strndup(&arena, "hello", 2), "he");
	CHECK_TEXT(arena_printf(&arena, "%d-%s", 42, "x"), "42-x");
	arena_deinit(&arena);
	CHECK_U64(arena.used_bytes, 0);
	CHECK(arena_calloc(&arena, 10, 10));
	arena_deinit(&arena);
}

static void test_cursor_integers(void)
{
	static const uint8_t bytes[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
					0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
	struct cursor c;
	const uint8_t *view = NULL;
	uint64_t v64 = 77;
	uint32_t v32 = 77;
	uint8_t v8 = 77;

	cursor_init(&c, bytes, sizeof(bytes), "t.wmk");
	CHECK_OK(cursor_u8(&c, &v8));
	CHECK_U64(v8, 0x01);
	CHECK_OK(cursor_u8(&c, &v8));
	CHECK_U64(v8, 0x02);
	CHECK_OK(cursor_u8(&c, &v8));
	CHECK_U64(v8, 0x03);
	CHECK_OK(cursor_u32(&c, &v32));
	CHECK_U64(v32, 0x07060504);
	CHECK_OK(cursor_u64(&c, &v64));
	CHECK_U64(v64, 0x0f0e0d0c0b0a0908);
	CHECK_U64(cursor_left(&c), 0);
	CHECK_ERROR(cursor_u8(&c, &v8), ERROR_FORMAT, "t.wmk: offset 0xf: needs 1 bytes, has 0");

	CHECK_OK(cursor_seek(&c, 14));
	CHECK_ERROR(cursor_u32(&c, &v32), ERROR_FORMAT, "offset 0xe");
	CHECK_ERROR(cursor_u64(&c, &v64), ERROR_FORMAT, NULL);
	CHECK_ERROR(cursor_skip(&c, SIZE_MAX), ERROR_FORMAT, NULL);
	CHECK_ERROR(cursor_bytes(&c, 2, &view), ERROR_FORMAT, NULL);
	CHECK_ERROR(cursor_seek(&c, 16), ERROR_FORMAT, "0x10");
	CHECK_U64(c.off, 14);
	CHECK_U64(v8, 0x03);
	CHECK_U64(v32, 0x07060504);
	CHECK_U64(v64, 0x0f0e0d0c0b0a0908);
	CHECK(!view);
	CHECK_OK(cursor_bytes(&c, 1, &view));
	CHECK(view == bytes + 14);
	CHECK_OK(cursor_skip(&c, 0));
	CHECK_ERROR(cursor_error(&c, "bad %d", 5), ERROR_FORMAT, "t.wmk: offset 0xf: bad 5");

	cursor_init(&c, NULL, 0, "empty");
	CHECK_ERROR(cursor_u8(&c, &v8), ERROR_FORMAT, "empty");
	CHECK_OK(cursor_bytes(&c, 0, &view));
}

static void check_uleb(const char *bytes, size_t len_bytes, int is_good, uint64_t want, int is_good32)
{
	struct cursor c;
	uint64_t v64 = 1234;
	uint32_t v32 = 1234;
	struct error *err;

	cursor_init(&c, bytes, len_bytes, "u");
	err = cursor_uleb128(&c, &v64);
	CHECK((err == NULL) == is_good);
	error_destroy(err);
	CHECK_U64(v64, is_good ? want : 1234);
	CHECK_U64(c.off, is_good ? len_bytes : 0);

	cursor_init(&c, bytes, len_bytes, "u");
	err = cursor_uleb32(&c, &v32);
	CHECK((err == NULL) == is_good32);
	error_destroy(err);
	CHECK_U64(v32, is_good32 ? want : 1234);
	CHECK_U64(c.off, is_good32 ? len_bytes : 0);
}

static void test_cursor_uleb(void)
{
	check_uleb("\x00", 1, 1, 0, 1);
	check_uleb("\x7f", 1, 1, 127, 1);
	check_uleb("\x80\x01", 2, 1, 128, 1);
	check_uleb("\xff\xff\xff\xff\x0f", 5, 1, UINT32_MAX, 1);
	check_uleb("\x80\x80\x80\x80\x10", 5, 1, UINT64_C(1) << 32, 0);
	check_uleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, 1, UINT64_MAX, 0);
	check_uleb("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 0, 0, 0);
	check_uleb("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, 0, 0, 0);
	check_uleb("\x81\x80\x00", 3, 1, 1, 1);
	check_uleb("\x80", 1, 0, 0, 0);
	check_uleb("", 0, 0, 0, 0);
}

static void test_vec(void)
{
	struct u64_vec v = {0};
	size_t capacity = 3;

	for (uint64_t i = 0; i < 10000; i++)
		if (!CHECK_OK(u64_vec_append(&v, i * i)))
			break;
	CHECK_U64(v.count, 10000);
	for (uint64_t i = 0; i < v.count; i++)
		CHECK_U64(v.items[i], i * i);
	CHECK_OK(u64_vec_reserve(&v, 50000));
	CHECK(v.capacity >= 50000);
	CHECK_U64(v.items[9999], 9999 * 9999);
	CHECK_ERROR(u64_vec_reserve(&v, SIZE_MAX / 4), ERROR_NO_MEMORY, NULL);
	CHECK_U64(v.count, 10000);
	u64_vec_deinit(&v);
	CHECK(!v.items && !v.count && !v.capacity);
	CHECK(!vec_grow(NULL, &capacity, SIZE_MAX, 2));
	CHECK_U64(capacity, 3);
}

static void test_buffer(void)
{
	static const uint64_t numbers[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
	struct buffer b = {0};
	struct cursor c;
	const uint8_t *view;
	uint64_t v64;
	uint32_t v32;
	uint8_t v8;

	buffer_u8(&b, 0x12);
	buffer_u16(&b, 0x3456);
	buffer_u32(&b, 0xdeadbeef);
	buffer_u64(&b, 0x0123456789abcdef);
	for (size_t i = 0; i < 8; i++)
		buffer_uleb128(&b, numbers[i]);
	buffer_bytes(&b, "abc", 3);
	buffer_bytes(&b, NULL, 0);
	buffer_printf(&b, "%s=%d", "k", 7);
	buffer_put_u32(&b, 3, 0xcafebabe);
	buffer_put(&b, 7, 42, 8);
	CHECK_OK(buffer_error(&b));

	cursor_init(&c, b.bytes, b.len_bytes, "b");
	CHECK_OK(cursor_u8(&c, &v8));
	CHECK_U64(v8, 0x12);
	CHECK_OK(cursor_u8(&c, &v8));
	CHECK_U64(v8, 0x56);
	CHECK_OK(cursor_u8(&c, &v8));
	CHECK_U64(v8, 0x34);
	CHECK_OK(cursor_u32(&c, &v32));
	CHECK_U64(v32, 0xcafebabe);
	CHECK_OK(cursor_u64(&c, &v64));
	CHECK_U64(v64, 42);
	for (size_t i = 0; i < 8; i++) {
		CHECK_OK(cursor_uleb128(&c, &v64));
		CHECK_U64(v64, numbers[i]);
	}
	CHECK_OK(cursor_bytes(&c, 6, &view));
	CHECK(memcmp(view, "abck=7", 6) == 0);
	CHECK_U64(cursor_left(&c), 0);
	buffer_deinit(&b);

	b.failed = 1;
	buffer_u64(&b, 1);
	buffer_put_u32(&b, 0, 1);
	CHECK_U64(b.len_bytes, 0);
	CHECK_ERROR(buffer_error(&b), ERROR_NO_MEMORY, NULL);
	buffer_deinit(&b);
}

struct pair {
	uint32_t key;
	uint32_t place;
};

static int compare_keys(const struct pair *l, const struct pair *r)
{
	return (l->key > r->key) - (l->key < r->key);
}
SORT_DECLARE(pairs, struct pair, compare_keys);

/* By key, then by place: what a stable sort does. */
static int compare_pairs(const void *left, const void *right)
{
	const struct pair *l = left, *r = right;
	int order = compare_keys(l, r);

	return order ? order : (l->place > r->place) - (l->place < r->place);
}

/* The same as qsort, for lengths around the powers of two, from random to sorted already. */
static void test_sort(void)
{
	static struct pair items[1100], wanted[1100], scratch[1100];
	uint32_t seed = 1;

	for (uint32_t count = 0; count <= 1100; count += count < 70 ? 1 : 57) {
		for (uint32_t keys = 1; keys <= 2000; keys = keys * 5 + 1) {
			for (uint32_t i = 0; i < count; i++) {
				seed = seed * 1664525 + 1013904223;
				items[i] = (struct pair){keys > 1000 ? i : (seed >> 8) % keys, i};
			}
			memcpy(wanted, items, sizeof wanted);
			qsort(wanted, count, sizeof *wanted, compare_pairs);
			pairs_sort(items, count, count > SORT_RUN ? scratch : NULL);
			if (!CHECK(memcmp(items, wanted, sizeof items) == 0))
				return;
		}
	}
}

/* What libc's decoder says of the character at text: its number, or WEOF for what must not be shown. */
static wint_t shown_char(const char *text, size_t *ret_len)
{
	mbstate_t state = {0};
	wchar_t c;
	size_t len = mbrtowc(&c, text, strlen(text), &state);

	if (len > 4 || c > 0x10ffff || c < 0x20 || (c >= 0x7f && c < 0xa0))
		return WEOF;
	*ret_len = len;
	return (wint_t)c;
}

/* Each way of printing text shows it as the oracle does, byte by byte. */
static void check_plain(const char *text)
{
	char *got = NULL, *json = NULL, want[64] = "", made[64];
	size_t size, want_len = 0;
	FILE *memory = open_memstream(&got, &size), *json_memory = open_memstream(&json, &size);

	for (const char *p = text; *p;) {
		size_t len = 1;

		if (shown_char(p, &len) == WEOF)
			want[want_len++] = '?';
		else
			want_len += (size_t)(mempcpy(want + want_len, p, len) - (void *)(want + want_len));
		p += len;
	}
	plain_print(memory, text);
	json_print_string(json_memory, text);
	fclose(memory);
	fclose(json_memory);
	snprintf(made, sizeof made, "%s", text);
	plain_make(made);
	CHECK_TEXT(got, want);
	CHECK_TEXT(made, want);
	for (const char *p = json; *p;) {
		size_t len = 1;

		if (!CHECK(shown_char(p, &len) != WEOF))
			break;
		p += len;
	}
	free(got);
	free(json);
}

static void test_plain(void)
{
	static const unsigned char bytes[] = {1,    '\t', '\n', 0x1b, ' ',  'a',  0x7e, 0x7f, 0x80,
					      0x9b, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xc3, 0xdf, 0xe0,
					      0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff};
	char text[8] = "";
	uint32_t seed = 7;

	if (!CHECK(setlocale(LC_CTYPE, "C.UTF-8")))
		return;
	for (int a = 1; a < 256; a++)
		for (int b = 1; b < 256; b++)
			check_plain((char[]){(char)a, (char)b, 'x', '\0'});
	for (int i = 0; i < 50000; i++) {
		for (size_t j = 0; j < sizeof text - 1; j++) {
			seed = seed * 1664525 + 1013904223;
			text[j] = (char)bytes[(seed >> 16) % sizeof bytes];
		}
		check_plain(text);
	}
}

static void test_plain_parts(void)
{
	char *got = NULL;
	size_t size;
	FILE *memory = open_memstream(&got, &size);

	plain_print_part(memory, "ab\xc3\xa4", 3); /* cut within a character */
	plain_print_word(memory, ";a;\033;", ';', ':');
	json_print_string(memory, "\xc2\x9b[31m\x7f\"");
	fclose(memory);
	CHECK_TEXT(got, "ab?:a:?:\"\\u009b[31m\\u007f\\\"\"");
	free(got);
}

int main(void)
{
	test_plain();
	test_plain_parts();
	test_error();
	test_arena();
	test_cursor_integers();
	test_cursor_uleb();
	test_vec();
	test_buffer();
	test_sort();
	return check_status();
}

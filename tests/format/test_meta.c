/*
 * test_meta.c - `.debug_waymark` byte for byte, there and back, and what the reader says of damaged sections.
 */
#include "base/hash.h"
#include "golden.h"
#include "support/builder.h"

/* clang-format off */
/* The raw body of build_example(), as docs/format.md says. */
static const uint8_t golden[] = {
	9, 61,						/* 9 strings, 61 bytes */
	'w', 'a', 'y', 'm', 'a', 'r', 'k', ' ', 't', 'e', 's', 't', 0, /* 1 */
	'u', 0,						/* 2 */
	'm', 'a', 'i', 'n', 0,				/* 3 */
	't', 'e', 's', 't', '.', 'c', 0,		/* 4 */
	'_', 'Z', '1', 'f', 'v', 0,			/* 5 */
	'f', '(', ')', 0,				/* 6 */
	'e', 'x', 't', 'e', 'r', 'n', 'a', 0,		/* 7 */
	'i', 'n', 'l', 'i', 'n', 'e', 'd', '_', 'o', 'n', 'e', 0, /* 8 */
	'a', '.', 'h', 0,				/* 9 */
	1, 2,						/* producer, unit */
	2,						/* functions: link_name name file line flags contexts restart */
	3, 3, 4, 10, 5, 1, 0,
	5, 6, 4, 20, 0, 0x80, 2, 0,			/* 256 contexts */
	1, 7, 1,					/* aliases: link_name function */
	2,						/* locations: function file line column inlined_at */
	3, 4, 11, 1, 0,
	8, 9, 0x81, 1, 1, 1,				/* line 129, inlined at location 1 */
	8,						/* sites 1 .. 7: kind flags caller ... location */
	0, 0, 0, 1, 0xff, 1, 2,				/* call of 1, addend 255, at location 2 */
	1, 0, 1, 0, 0,					/* back edge to 0 */
	4, 1, 1, 7, 0,					/* foreign, a tail call */
	3, 0, 1, 0,					/* indirect */
	6, 0, 1, 0,					/* capture */
	7, 0, 1, 0,					/* in place of function 1 */
	8, 8, 1, 2, 3, 0,				/* function 1 calls itself: two bits, code 3 */
	1, 2, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 5, 6, 0xac, 2, 8, /* stats */
};
/* clang-format on */

static void build_example(struct meta_builder *b)
{
	uint32_t location;

	build_meta_init(b, "u");
	build_function(b, "main", META_FUNCTION_ROOT | META_FUNCTION_HAS_DUMMY, 1, 0);
	build_function(b, "_Z1fv", 0, 256, 0);
	b->functions[1].name = "f()";
	b->meta.aliases = &b->alias;
	b->meta.alias_count = 1;
	b->alias = (struct meta_alias){"externa", 1};
	location = build_location(b, "main", "test.c", 11, 0);
	location = build_location(b, "inlined_one", "a.h", 129, location);
	build_call(b, META_SITE_CALL, 0, 1, 255);
	b->sites[1].location = location;
	build_call(b, META_SITE_BACK, 1, 0, 0);
	build_site(b, META_SITE_FOREIGN, 1, "externa");
	b->sites[3].flags = META_SITE_TAIL;
	build_site(b, META_SITE_INDIRECT, 1, NULL);
	build_site(b, META_SITE_CAPTURE, 1, NULL);
	build_site(b, META_SITE_BOUND, 1, NULL);
	build_call(b, META_SITE_SELF_CALL, 1, 1, 0);
	b->sites[7].flags = META_SITE_SPILLS;
	b->sites[7].bits = 2;
	b->sites[7].code = 3;
	b->meta.stats = (struct meta_stats){1, 2, 3, UINT64_MAX, 5, 6, 300, 8};
}

static void write_example(struct buffer *out)
{
	static struct meta_builder b;

	build_example(&b);
	CHECK_OK(meta_write(&b.meta, out));
	CHECK(b.meta.key != 0);
}

static void test_round_trip(void)
{
	struct buffer out = {0};
	struct meta m;

	write_example(&out);
	meta_init(&m);
	if (CHECK_OK(meta_read(out.bytes, out.len_bytes, "u: .debug_waymark", &m))) {
		CHECK_TEXT(m.producer, "waymark test");
		CHECK_TEXT(m.unit, "u");
		CHECK_U64(m.key, hash_bytes(HASH_START, golden, sizeof golden));
		CHECK_U64(m.function_count, 2);
		CHECK_TEXT(m.functions[1].link_name, "_Z1fv");
		CHECK_TEXT(m.functions[1].name, "f()");
		CHECK_U64(m.functions[1].contexts, 256);
		CHECK_U64(m.functions[0].flags, META_FUNCTION_ROOT | META_FUNCTION_HAS_DUMMY);
		CHECK_U64(m.alias_count, 1);
		CHECK_TEXT(m.aliases[0].link_name, "externa");
		CHECK_U64(m.aliases[0].function, 1);
		CHECK_U64(m.site_count, 8);
		CHECK_U64(m.sites[1].addend, 255);
		CHECK_U64(m.sites[1].location, 2);
		CHECK_U64(m.sites[2].kind, META_SITE_BACK);
		CHECK_TEXT(m.sites[3].foreign, "externa");
		CHECK_U64(m.sites[6].kind, META_SITE_BOUND);
		CHECK_TEXT(m.sites[6].foreign, "_Z1fv");
		CHECK_U64(m.sites[7].kind, META_SITE_SELF_CALL);
		CHECK_U64(m.sites[7].callee, 1);
		CHECK_U64(m.sites[7].bits, 2);
		CHECK_U64(m.sites[7].code, 3);
		CHECK_U64(m.locations[1].line, 129);
		CHECK_U64(m.locations[1].inlined_at, 1);
		CHECK_U64(m.stats.ball_larus_max_id, UINT64_MAX);
		CHECK_U64(m.stats.cut_nodes, 6);
		CHECK_U64(m.stats.foreign_objects, 300);
		CHECK_U64(m.stats.foreign_members, 8);
	}
	meta_deinit(&m);
	buffer_deinit(&out);
}

/* Sizes of frames, which only hybrid encoding has. */
static void test_hybrid(void)
{
	static struct meta_builder b;
	struct buffer out = {0};
	struct meta m;

	build_example(&b);
	b.meta.is_hybrid = true;
	b.functions[0].frame_bytes = 300;
	b.functions[0].flags |= META_FUNCTION_PLACED;
	b.sites[1].flags = META_SITE_JUMP;
	CHECK_OK(meta_write(&b.meta, &out));
	meta_init(&m);
	if (CHECK_OK(meta_read(out.bytes, out.len_bytes, "u", &m))) {
		CHECK(m.is_hybrid);
		CHECK_U64(m.functions[0].frame_bytes, 300);
		CHECK_U64(m.functions[1].frame_bytes, 0);
		CHECK_U64(m.functions[0].flags, META_FUNCTION_ROOT | META_FUNCTION_HAS_DUMMY | META_FUNCTION_PLACED);
		CHECK_U64(m.sites[1].flags, META_SITE_JUMP);
	}
	buffer_deinit(&out);
	build_example(&b);
	CHECK_OK(meta_write(&b.meta, &out));
	if (CHECK_OK(meta_read(out.bytes, out.len_bytes, "u", &m)))
		CHECK(!m.is_hybrid);
	meta_deinit(&m);
	buffer_deinit(&out);
}

static void expect_at(const uint8_t *bytes, size_t len, const char *text, int line)
{
	struct meta m;

	meta_init(&m);
	check_has_error(meta_read(bytes, len, "u: .debug_waymark", &m), ERROR_FORMAT, text, __FILE__, line);
	check_equal_u64(m.site_count, 0, __FILE__, line, "m after an error");
	meta_deinit(&m);
}

static void expect_same_or_damaged(const struct buffer *section)
{
	struct meta m;
	struct error *err;

	meta_init(&m);
	err = meta_read(section->bytes, section->len_bytes, "u: .debug_waymark", &m);
	if (err)
		CHECK_ERROR(err, ERROR_FORMAT, "u: .debug_waymark: offset 0x");
	else
		CHECK_U64(m.key, hash_bytes(HASH_START, golden, sizeof golden));
	meta_deinit(&m);
}

static const struct golden section = {
	.kind = 'D',
	.version = 2,
	.raw = golden,
	.raw_bytes = sizeof golden,
	.where = "u: .debug_waymark: offset 0x",
	.build = build_section,
	.expect_damaged = expect_at,
	.expect_same_or_damaged = expect_same_or_damaged,
};

static void test_golden(void)
{
	struct buffer out = {0};

	write_example(&out);
	golden_check(&section, &out);
	golden_check_every_byte(&section, &out, __LINE__);
	buffer_deinit(&out);
}

#define EXPECT_DAMAGED(bytes, len, text) golden_expect(&section, bytes, len, text, __LINE__)

static void test_headers(void)
{
	struct buffer one = {0}, two = {0};

	write_example(&one);
	write_example(&two);
	write_example(&two);
	EXPECT_DAMAGED(two.bytes, two.len_bytes, "a second section follows");
	buffer_u64(&one, 0);
	EXPECT_DAMAGED(one.bytes, one.len_bytes, "behind the end");
	write_example(&one); /* 8 bytes of padding between */
	EXPECT_DAMAGED(one.bytes, one.len_bytes, "a second section follows");
	buffer_put_u32(&two, 8, 3);
	EXPECT_DAMAGED(two.bytes, two.len_bytes, "version 3, this waymark reads version 2");
	buffer_put_u32(&two, 8, 1);
	buffer_put(&two, SECTION_RAW_BYTES_OFF, UINT64_C(1) << 40, 8);
	EXPECT_DAMAGED(two.bytes, two.len_bytes, "that unpack to");
	buffer_put(&two, SECTION_BODY_BYTES_OFF, 1 << 20, 8);
	EXPECT_DAMAGED(two.bytes, two.len_bytes, "truncated");
	buffer_deinit(&one);
	buffer_deinit(&two);
}

#define EXPECT_BODY(at, v, text) golden_check_body(&section, at, v, text, __LINE__)

static void test_bodies(void)
{
	const size_t functions = 2 + 61 + 2, aliases = functions + 1 + 15;
	const size_t locations = aliases + 3, sites = locations + 1 + 11;

	EXPECT_BODY(0, 8, "string pool");
	EXPECT_BODY(0, 10, "string pool");
	EXPECT_BODY(0, 127, "string pool");
	EXPECT_BODY(1, 127, "string pool");
	EXPECT_BODY(14, 'x', "string pool");
	EXPECT_BODY(functions - 1, 10, "string 10 of 9");
	EXPECT_BODY(functions, 127, "127 functions cannot fit");
	EXPECT_BODY(functions + 1, 0, "without a name");
	EXPECT_BODY(functions + 6, 0, "restart 0 of 0 contexts");
	EXPECT_BODY(functions + 7, 1, "restart 1 of 1 contexts");
	EXPECT_BODY(aliases, 60, "60 aliases cannot fit");
	EXPECT_BODY(aliases + 1, 0, "alias of nothing");
	EXPECT_BODY(aliases + 2, 2, "alias of nothing");
	EXPECT_BODY(locations, 120, "120 locations cannot fit");
	EXPECT_BODY(locations + 5, 3, "location 3 of 2");
	EXPECT_BODY(locations + 5, 1, "inlined into itself");
	EXPECT_BODY(locations + 5, 2, "inlined into itself");
	EXPECT_BODY(sites, 100, "sites cannot fit");
	EXPECT_BODY(sites + 1, META_SITE_KINDS, "unknown kind");
	EXPECT_BODY(sites + 3, 2, "names what does not exist");
	EXPECT_BODY(sites + 4, 2, "names what does not exist");
	EXPECT_BODY(sites + 7, 3, "names what does not exist");
	EXPECT_BODY(sites + 16, 0, "function without a name");
	EXPECT_BODY(sites + 33, 0, "code 3 of 0 bits");
	EXPECT_BODY(sites + 33, META_SELF_CALL_BITS_MAX + 1, "code 3 of 9 bits");
	EXPECT_BODY(sites + 34, 4, "code 4 of 2 bits");
	EXPECT_BODY(sites, 7, "");
	EXPECT_BODY(sizeof golden - 1, 0x80, "truncated");
}

static void test_writer_refuses(void)
{
	static struct meta_builder b;
	struct buffer out = {0};

	build_example(&b);
	b.sites[1].callee = 7;
	CHECK_ERROR(meta_write(&b.meta, &out), ERROR_ARGUMENT, "site 1");
	build_example(&b);
	b.functions[1].restart = 256;
	CHECK_ERROR(meta_write(&b.meta, &out), ERROR_ARGUMENT, "function 1");
	CHECK_U64(out.len_bytes, 0);
	buffer_deinit(&out);
}

/* Many strings: the table of the writer grows. */
static void test_many_strings(void)
{
	enum {
		COUNT = 20000
	};
	struct meta m, back;
	struct buffer out = {0};

	meta_init(&m);
	meta_init(&back);
	m.producer = m.unit = "u";
	m.functions = arena_calloc(&m.arena, COUNT, sizeof *m.functions);
	if (!CHECK(m.functions != NULL))
		return;
	m.function_count = COUNT;
	m.site_count = 1;
	for (uint32_t i = 0; i < COUNT; i++)
		m.functions[i] = (struct meta_function){.link_name = arena_printf(&m.arena, "f%u", i % (COUNT / 2)),
							.contexts = 1};
	CHECK_OK(meta_write(&m, &out));
	if (CHECK_OK(meta_read(out.bytes, out.len_bytes, "u", &back))) {
		for (uint32_t i = 0; i < COUNT; i += 997)
			CHECK_TEXT(back.functions[i].link_name, m.functions[i].link_name);
		CHECK(back.functions[0].link_name == back.functions[COUNT / 2].link_name);
	}
	meta_deinit(&m);
	meta_deinit(&back);
	buffer_deinit(&out);
}

/* Chains of 10000 are read, longer ones are damage; in whatever order their locations are. */
static void test_deep_inlining(void)
{
	enum {
		COUNT = 10001
	};

	for (int is_backwards = 0; is_backwards < 2; is_backwards++) {
		for (uint32_t count = COUNT - 1; count <= COUNT; count++) {
			struct meta m, back;
			struct buffer out = {0};

			meta_init(&m);
			meta_init(&back);
			m.site_count = 1;
			m.location_count = count;
			m.locations = arena_calloc(&m.arena, COUNT, sizeof *m.locations);
			if (!CHECK(m.locations != NULL))
				return;
			for (uint32_t i = 0; i < count; i++)
				m.locations[i].inlined_at = is_backwards ? i : (i + 2) % (count + 1);
			CHECK_OK(meta_write(&m, &out));
			if (count < COUNT)
				CHECK_OK(meta_read(out.bytes, out.len_bytes, "u", &back));
			else
				CHECK_ERROR(meta_read(out.bytes, out.len_bytes, "u", &back), ERROR_FORMAT,
					    "deeper than");
			meta_deinit(&m);
			meta_deinit(&back);
			buffer_deinit(&out);
		}
	}
}

int main(void)
{
	test_deep_inlining();
	test_golden();
	test_round_trip();
	test_hybrid();
	test_headers();
	test_bodies();
	test_writer_refuses();
	test_many_strings();
	return check_status();
}

/*
 * seeds.c - writes the seed corpora: `fuzz-seeds DIR` fills DIR/meta, DIR/wmk and so on, one directory a target. Inputs are built,
 * not kept: a change of a format changes them with it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <lz4frame.h>
#include <lzma.h>
#include <zstd.h>

#include "core/contexts/lucce.h"
#include "format/section.h"
#include "fuzz/fuzz.h"
#include "jvm/c/classes/cache.h"
#include "jvm/c/classes/template.h"
#include "jvm/class_seed.h"
#include "jvm/template_seed.h"
#include "model/archive/archive.h"
#include "snapshot/perf_data_seed.h"
#include "support/builder.h"
#include "support/epoch_builder.h"
#include "support/path_builder.h"
#include "support/trace_builder.h"
#include "waymark/paths.h"

static const char *root_dir;

static void write_seed(const char *target, const char *name, const void *bytes, size_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", root_dir, target);
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		perror(path);
	snprintf(path, sizeof path, "%s/%s/%s", root_dir, target, name);
	f = fopen(path, "wb");
	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

/* Functions in a chain with two ways each, a back edge, every kind of site, inlining. */
static void build_program(struct meta_builder *b, uint32_t depth)
{
	const uint32_t root = META_FUNCTION_ROOT | META_FUNCTION_HAS_DUMMY;
	static const char *const names[] = {"main", "_Z1fi", "g", "_RNvC1a1h", "cmp.5", "i", "j", "k"};
	uint64_t contexts = 1;
	uint32_t location;

	build_meta_init(b, "prog");
	for (uint32_t i = 0; i < depth; i++) {
		build_function(b, names[i % 8], i == 0 ? root : META_FUNCTION_HAS_DUMMY, contexts + (i != 0),
			       i == 0 ? 0 : contexts);
		contexts = (contexts + (i != 0)) * 2;
	}
	location = build_location(b, "main", "main.c", 3, 0);
	location = build_location(b, "_Z6inlineE", "a.h", 300, location);
	for (uint32_t i = 1; i < depth; i++) {
		uint32_t site = build_call(b, META_SITE_CALL, i - 1, i, 0);

		b->sites[site].location = i % 2 ? location : 0;
		build_call(b, META_SITE_CALL, i - 1, i, b->functions[i - 1].contexts);
	}
	build_call(b, META_SITE_BACK, depth - 1, depth > 1 ? 1 : 0, 0);
	build_site(b, META_SITE_FOREIGN, depth - 1, "qsort");
	b->sites[build_site(b, META_SITE_INDIRECT, 0, NULL)].flags = META_SITE_TAIL;
	build_site(b, META_SITE_ASM, 0, NULL);
	build_site(b, META_SITE_BOUND, depth - 1, NULL);
	for (uint32_t i = 0; i < depth; i++)
		build_site(b, META_SITE_CAPTURE, i, NULL);
	b->sites[build_call(b, META_SITE_SELF_CALL, depth > 1 ? 1 : 0, depth > 1 ? 1 : 0, 0)].bits = 1;
}

static size_t raw_of(struct meta_builder *b, uint8_t *raw, size_t max, struct buffer *section)
{
	struct error *err = meta_write(&b->meta, section);
	size_t len;

	if (err) {
		fprintf(stderr, "seeds: %s\n", err->message);
		exit(1);
	}
	len = ZSTD_decompress(raw, max, section->bytes + SECTION_HEADER_BYTES,
			      section->len_bytes - SECTION_HEADER_BYTES);
	if (ZSTD_isError(len))
		exit(1);
	return len;
}

static void put_record(struct buffer *b, uint64_t id, uint32_t prefix, uint32_t site, uint32_t run)
{
	buffer_u64(b, id);
	buffer_u32(b, prefix);
	buffer_u32(b, site);
	buffer_u32(b, run);
}

static void write_programs(void)
{
	static struct meta_builder b;
	static uint8_t raw[1 << 14];

	for (uint32_t depth = 1; depth <= 8; depth++) {
		struct buffer section = {0}, input = {0};
		char name[32];
		size_t len;
		uint32_t back, captures;

		build_program(&b, depth);
		len = raw_of(&b, raw, sizeof raw, &section);
		snprintf(name, sizeof name, "section-%u", depth);
		buffer_u8(&input, 0);
		buffer_bytes(&input, section.bytes, section.len_bytes);
		write_seed("meta", name, input.bytes, input.len_bytes);
		input.len_bytes = 0;
		buffer_u8(&input, 1);
		buffer_bytes(&input, raw, len);
		snprintf(name, sizeof name, "raw-%u", depth);
		write_seed("meta", name, input.bytes, input.len_bytes);
		input.len_bytes = 0;
		buffer_u16(&input, (uint16_t)len);
		buffer_bytes(&input, raw, len);
		back = 2 * (depth - 1) + 1; /* the sites in the order of build_program */
		captures = back + 4;
		put_record(&input, 0, WM_PREFIX_PROCESS, WM_SITE_FIRST + back, 1);                   /* 16 */
		put_record(&input, b.functions[depth - 1].restart, 16, WM_SITE_FIRST + back + 1, 1); /* 17: in qsort */
		put_record(&input, 0, 17, WM_SITE_FIRST + back + 2, 1);                              /* 18: indirect */
		put_record(&input, 0, 16, WM_SITE_FIRST + back, 1000);
		for (uint32_t i = 0; i < depth; i++)
			put_record(&input, 0, WM_PREFIX_PROCESS + i % 4, WM_SITE_FIRST + captures + i, 1);
		put_record(&input, 0, 18, WM_SITE_FIRST + captures, 1);
		put_record(&input, 0, 17, WM_SITE_FOREIGN, 1);
		put_record(&input, 0, 17, WM_SITE_THREAD, 1);
		put_record(&input, 0, 22 + depth, WM_SITE_FIRST + captures, 1);
		put_record(&input, 2, WM_PREFIX_PROCESS, WM_SITE_HISTORY, 1); /* 24 + depth */
		put_record(&input, 0, 24 + depth, WM_SITE_FIRST + captures + depth + 1, 2);
		put_record(&input, 0, 24 + depth, WM_SITE_FIRST + captures + 2, 1);
		write_seed("context", name, input.bytes, input.len_bytes);
		buffer_deinit(&section);
		buffer_deinit(&input);
	}
}

static void write_wmk(void)
{
	static const uint8_t build_id[20] = {1, 2, 3};
	struct wmk_builder b;
	struct buffer input = {0};
	uint64_t path;

	build_wmk_init(&b, 7, "/bin/prog");
	build_chunk(&b, WMK_STRINGS, 0, 0);
	path = build_string(&b, 0, "/bin/prog");
	build_string(&b, 0, "event");
	build_chunk(&b, WMK_IMAGES, 0, 0);
	build_image(&b, 5, 16, 10, path, build_id, sizeof build_id);
	build_image(&b, 6, 26, 10, path, NULL, 0);
	build_chunk(&b, WMK_NODES, 16, 0);
	for (uint32_t i = 0; i < 8; i++)
		build_node(&b, i ? 15 + i : 1, i, 16 + i, 1 + i);
	build_chunk(&b, WMK_EVENTS, 0, 42);
	for (uint32_t i = 0; i < 6; i++)
		build_event(&b, i, i, i, 16 + i, 17, 24);
	build_chunk(&b, WMK_HEAP, 0, 0);
	build_heap(&b, 1, 16, 17, 2, 300, 1, 100, 300);
	build_chunk(&b, WMK_HEAP_TIMES, 0, 0);
	build_heap_time(&b, 3, 200, 0, 300);
	build_chunk(&b, WMK_THREADS, 0, 0);
	build_thread(&b, 2, 4242, 24);
	build_wmk_finish(&b);
	for (uint32_t chunks = 0; chunks <= b.chunk_count; chunks++) {
		char name[32];

		input.len_bytes = 0;
		buffer_bytes(&input, b.out.bytes, FUZZ_WMK_HEADER_BYTES);
		for (uint32_t i = 0; i < chunks; i++)
			buffer_bytes(&input, b.out.bytes + WMK_HEADER_BYTES + i * WMK_CHUNK_BYTES,
				     FUZZ_WMK_CHUNK_BYTES);
		snprintf(name, sizeof name, "chunks-%u", chunks);
		write_seed("wmk", name, input.bytes, input.len_bytes);
	}
	buffer_deinit(&input);
	buffer_deinit(&b.out);
}

/* Few bytes of each kind of counter, so that they are in what an input holds of a chunk. */
static void write_path_counters(void)
{
	struct wmk_paths head = {
		.name_key = 1, .cfg_key = 2, .path_count = 4, .kind = WM1_PATHS_ARRAY, .entry_count = 4};
	struct wmk_path_count single = {.name_key = 3,
					.cfg_key = 4,
					.path_count = 1000,
					.r = 500,
					.count = 11,
					.id = 12,
					.prefix = 17,
					.site = 19,
					.kind = WM1_PATHS_HASH,
					.flags = WMK_PATHS_RESIDUAL};
	struct wmk_builder b;
	struct buffer input = {0};

	build_wmk_init(&b, 7, "/bin/prog");
	build_chunk(&b, WMK_IMAGES, 0, 0);
	build_image(&b, 0, 0, 0, 0, NULL, 0);
	build_image(&b, 5, 16, 10, 0, NULL, 0);
	build_chunk(&b, WMK_NODES, 16, 0);
	build_node(&b, 1, 3, 17, 1);
	build_node(&b, 16, 4, 18, 2);
	build_chunk(&b, WMK_PATHS, 0, 0);
	build_table(&b, &head, 3, (uint64_t[]){1, 0, 5, 9}, 4);
	buffer_u64(&b.out, 0);
	buffer_u64(&b.out, 0);
	head.kind = WM1_PATHS_HASH;
	head.flags = WMK_PATHS_INHERITED;
	head.bits = 1;
	head.entry_count = 2;
	build_table(&b, &head, 3, (uint64_t[]){1, 6, 4, 7}, 4);
	head.kind = WM1_PATHS_PLAN;
	head.image = 1;
	build_table(&b, &head, 3, (uint64_t[]){0, 0, UINT64_C(1) << 63 | 2, 7}, 4);
	build_chunk(&b, WMK_PATH_COUNTS, 0, 0);
	build_path_count(&b, &single);
	single.kind = WM1_PATHS_PLAN;
	single.bits = 4;
	build_path_count(&b, &single);
	build_chunk(&b, WMK_RUNS, 0, 0);
	build_run(&b, 5);
	build_wmk_finish(&b);
	buffer_bytes(&input, b.out.bytes, FUZZ_WMK_HEADER_BYTES);
	for (uint32_t i = 0; i < b.chunk_count; i++)
		buffer_bytes(&input, b.out.bytes + WMK_HEADER_BYTES + i * WMK_CHUNK_BYTES, FUZZ_WMK_CHUNK_BYTES);
	write_seed("wmk", "paths", input.bytes, input.len_bytes);
	buffer_deinit(&input);
	buffer_deinit(&b.out);
}

/* Chunk after chunk, so that what is missing is tried, too. */
static void write_epochs(const char *prefix, void (*build)(struct wmk_builder *b))
{
	struct wmk_builder b;
	struct buffer input = {0};

	build(&b);
	buffer_bytes(&input, b.out.bytes, FUZZ_WMK_HEADER_BYTES);
	for (uint32_t i = 0; i < b.chunk_count; i++) {
		char name[32];

		buffer_bytes(&input, b.out.bytes + WMK_HEADER_BYTES + i * WMK_CHUNK_BYTES, FUZZ_WMK_CHUNK_BYTES);
		snprintf(name, sizeof name, "%s-%02u", prefix, i);
		if (i >= 11)
			write_seed("wmk", name, input.bytes, input.len_bytes);
	}
	buffer_deinit(&input);
	buffer_deinit(&b.out);
}

static void build_changes(struct wmk_builder *b)
{
	build_epochs_changes(b, 1);
}

/* Ends behind the last instruction, which has no operands. */
static void write_cut_class(void)
{
	uint8_t bytes[256];
	size_t len = class_seed_len - CLASS_SEED_CODE + 8;

	memcpy(bytes, class_seed, len);
	bytes[class_seed_len - CLASS_SEED_CODE_LENGTH] =
		2 + 2 + 4 + 8; /* max_stack, max_locals, the length of the code, the code */
	write_seed("jvm_class", "cut", bytes, len);
}

static void write_path_metadata(void)
{
	static const struct pathmeta_cases cases = {.ranges = {{-9, -2}, {7, 7}}, .count = 2, .has_more = true};
	static const struct build_edge edges[] = {
		{0, 1, CFG_KEPT, {PATHMETA_PLAIN, 0, NULL}},    {1, 2, CFG_KEPT, {PATHMETA_CASES, 0, &cases}},
		{1, 3, CFG_KEPT, {PATHMETA_CASE, -5, NULL}},    {2, 1, CFG_CUT_BACK, {PATHMETA_PLAIN, 0, NULL}},
		{3, 4, CFG_CUT_JUMP, {PATHMETA_JUMP, 0, NULL}},
	};
	static struct pathmeta_test tests[] = {
		{1, PATHMETA_TEST_CHARACTER, 0, {0}, NULL, UINT32_MAX, 0, 0},
		{3, PATHMETA_TEST_JOINED, PATHMETA_COMPARE_LESS, {NULL, "test.c", 12, 3, false}, "k", 1, 1, 2},
	};
	static uint64_t planned[] = {0, 2};
	static struct path_builder b;
	static uint8_t raw[1 << 12];
	const char *hidden[] = {"k"};
	uint32_t firm[] = {0};
	struct skipped_function skipped = {.name = "h", .reason = "no"};
	struct buffer section = {0}, input = {0};
	struct pathmeta_function *f;
	struct error *err;
	size_t len;

	build_paths_init(&b, "u.c", PATHMETA_FINAL);
	f = build_paths_simple(&b, "f", 5, edges, 5, 7);
	f->has_plan = true;
	f->planned = planned;
	f->planned_count = 2;
	f->lines[1].function = "inlined";
	f->is_unseen = f->is_optimized = true;
	f->hidden = hidden;
	f->hidden_count = 1;
	f->firm = firm;
	f->firm_count = 1;
	f->tests = tests;
	f->test_count = 2;
	build_paths_simple(&b, "g", 1, NULL, 0, 30);
	b.meta.skipped = &skipped;
	b.meta.skipped_count = 1;
	err = pathmeta_write(&b.meta, &section);
	if (err)
		exit(1);
	len = ZSTD_decompress(raw, sizeof raw, section.bytes + SECTION_HEADER_BYTES,
			      section.len_bytes - SECTION_HEADER_BYTES);
	if (ZSTD_isError(len))
		exit(1);
	buffer_u8(&input, 1);
	buffer_bytes(&input, raw, len);
	write_seed("pathmeta", "raw", input.bytes, input.len_bytes);
	input.len_bytes = 0;
	buffer_u8(&input, 0);
	buffer_bytes(&input, section.bytes, section.len_bytes);
	buffer_u64(&input, 0);
	buffer_bytes(&input, section.bytes, section.len_bytes);
	write_seed("pathmeta", "two", input.bytes, input.len_bytes);
	build_paths_deinit(&b);
	buffer_deinit(&section);
	buffer_deinit(&input);
}

static void write_trace_metadata(void)
{
	static uint8_t raw[1 << 12];
	struct trace_builder b;
	struct buffer section = {0}, input = {0};
	uint64_t keys[2];
	size_t len;

	build_trace(&b, "a.c");
	if (tracemeta_write(&b.meta, &keys[0], &section))
		exit(1);
	len = ZSTD_decompress(raw, sizeof raw, section.bytes + SECTION_HEADER_BYTES,
			      section.len_bytes - SECTION_HEADER_BYTES);
	if (ZSTD_isError(len))
		exit(1);
	buffer_u8(&input, 1);
	buffer_bytes(&input, raw, len);
	write_seed("tracemeta", "raw", input.bytes, input.len_bytes);
	build_trace(&b, "b.c");
	if (tracemeta_write(&b.meta, &keys[1], &section))
		exit(1);
	input.len_bytes = 0;
	buffer_u8(&input, 0);
	buffer_bytes(&input, section.bytes, section.len_bytes);
	write_seed("tracemeta", "two", input.bytes, input.len_bytes);
	input.len_bytes = 0;
	for (int i = 0; i < 2; i++) {
		build_point_unit(&input, keys[i], 0x5000);
		build_point_frame(&input, 0x2000, 0, BUILD_TRACE_SCHEME, "-40(%rbp)");
		build_point(&input, 0x1000, WM1_POINT_NODE, 0, WM1_SCHEME_BLOCKS, 9);
		build_point(&input, 0, WM1_POINT_START, 0, WM1_SCHEME_BLOCKS, 1);
		build_point(&input, 0x1010, WM1_POINT_COVERED, 0, BUILD_TRACE_SCHEME, 2);
	}
	write_seed("tracepoint", "two", input.bytes, input.len_bytes);
	buffer_deinit(&section);
	buffer_deinit(&input);
}

static void write_blocks(void)
{
	static const uint8_t functions[] = {
		2, 15,   2,                                               /* all features, two ranges */
		0, 0x10, 0, 0,    0, 0, 0, 0, 2, 0, 0, 8,  8, 1, 2, 8, 2, /* 0x1000 */
		0, 0x30, 0, 0,    0, 0, 0, 0, 1, 2, 0, 16, 5,             /* 0x3000 */
		7, 9,    2, 1,    1, 2, 1, 8, 0, 7, 0,                    /* profile */
		1, 0,    0, 0x20, 0, 0, 0, 0, 0, 0, 1, 0,  4, 1,          /* version 1 */
	};

	write_seed("bbmap", "two", functions, sizeof functions);
}

static void write_schemes(void)
{
	static const char text[] = "main=none|fc+cc|cc+pt;file:lib/*.c = stmt # rest\n[a-c]?\\*=pt\nbad\n*=fc";

	write_seed("scheme", "rules", text, sizeof text - 1);
}

static void write_plans(void)
{
	static const char *const plans[] = {
		"waymark-plan 1\nprofile p.wmk\nhot 99.5%\n",
		"# all\nwaymark-plan 1\nfunction f*\nfunction ma[i-n]n # here\nline u.c:3-4\n",
		"waymark-plan 1\r\nprofile p.wmk\nline test.c:2\nline ./test.c:12-900\n",
	};

	for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
		char name[] = "0";

		name[0] = (char)('0' + i);
		write_seed("plan", name, plans[i], strlen(plans[i]));
	}
}

static void write_jvm_profiles(void)
{
	static const char profile[] = "waymark-jvm-profile 1\n9\tf()V\tA\tmain\t()V\t7\n4\tf()V\tB\tmain\t()V\t7\n"
				      "3\tg(I)V\tA\tmain\t(I)V\t65535\n";

	write_seed("jvm_profile", "profile", profile, sizeof profile - 1);
}

/* Of an input of the template's target, too. */
static void write_jvm_caches(void)
{
	static const char name[] = "/jvm_cache/cache";
	char path[4096];
	size_t len;
	void *template = template_seed(seed_code, seed_code_len, JVM_METHOD_HAS_NUMBER | JVM_METHOD_HAS_CODES, &len);

	write_seed("jvm_template", "made", template, len);
	if (!jvm_template_locate(&template, &len))
		exit(1);
	write_seed("jvm_template", "located", template, len);
	write_seed("jvm_cache", name + strlen("/jvm_cache/"), "", 0);
	jvm_cache_add("A", (const uint8_t *)"one", 3, template, len);
	jvm_cache_add("Plain", (const uint8_t *)"one", 3, NULL, 0);
	snprintf(path, sizeof path, "%s%s", root_dir, name);
	if (!jvm_cache_write(path, 7)) {
		perror(path);
		exit(1);
	}
}

static void write_tokens(void)
{
	char token[96], text[1024];
	int len;

	build_token(token, 0x0123456789abcdef, "aabbccdd", 0x12, 0x3456, 0x789);
	len = snprintf(text, sizeof text, "\x20log %s: and wm1:not-instrumented, %.20s w wm wm1 wm1:%s\n", token, token,
		       token);
	write_seed("token", "line", text, (size_t)len);
	len = snprintf(text, sizeof text, "\x05%s%s", token, build_token(token, 0, "0", 0, 0, 2));
	write_seed("token", "two", text, (size_t)len);
	len = snprintf(text, sizeof text, "\x40%s",
		       build_token(token, UINT64_MAX, "m12", UINT32_MAX, UINT64_MAX, UINT32_MAX));
	write_seed("token", "longest", text, (size_t)len);
}

/* Packed by each of the libraries, too. */
static void write_cores(void)
{
	static uint8_t core[CORE_SEED_BYTES_MAX], packed[2 * CORE_SEED_BYTES_MAX + 4096];
	size_t len = core_seed_build(core), at = 0;

	write_seed("core", "small", core, len);
	write_seed("core", "zstd", packed, ZSTD_compress(packed, sizeof packed, core, len, 3));
	write_seed("core", "lz4", packed, LZ4F_compressFrame(packed, sizeof packed, core, len, NULL));
	if (lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, core, len, packed, &at, sizeof packed) == LZMA_OK)
		write_seed("core", "xz", packed, at);
}

static void write_eh_frames(void)
{
	uint8_t image[EH_FRAME_SEED_BYTES_MAX];

	write_seed("eh_frame", "four", image, eh_frame_seed_build(image));
}

static void write_perf_maps(void)
{
	static const char text[] = "1000 20 first\n1010 8 second\nno line\n";
	const uint32_t header[] = {0x4a695444, 1, 40, 62, 0, 7, 0, 0, 0, 0};
	const uint32_t load[] = {0, 62, 0, 0, 7, 7, 0x1000, 0, 0x1000, 0, 32, 0, 1, 0};
	const uint32_t move[] = {1, 64, 0, 0, 7, 7, 0x1000, 0, 0x1000, 0, 0x2000, 0, 32, 0, 1, 0};
	struct buffer dump = {0};

	buffer_bytes(&dump, header, sizeof header);
	buffer_bytes(&dump, load, sizeof load);
	buffer_bytes(&dump, "JS:f\0\xc3", 6);
	buffer_bytes(&dump, move, sizeof move);
	write_seed("perf_map", "text", text, sizeof text - 1);
	write_seed("perf_map", "jitdump", dump.bytes, dump.len_bytes);
	buffer_deinit(&dump);
}

static void write_perf_data(void)
{
	uint8_t bytes[PERF_DATA_SEED_BYTES];

	write_seed("perf_data", "three", bytes, perf_data_seed_build(bytes));
}

/* A block of bitcode that is one blob, as of ir_symbols.c. */
static void add_blob_block(struct buffer *out, uint32_t number, const struct buffer *blob)
{
	uint64_t bits = 0x940312 | (uint64_t)(blob->len_bytes & 31) << 24;
	bool is_long = blob->len_bytes > 31;
	size_t start = out->len_bytes;

	buffer_u32(out, 1 | number << 2 | 3u << 10);
	buffer_u32(out, 0);
	if (is_long)
		bits |= UINT64_C(32) << 24 | (uint64_t)(blob->len_bytes >> 5) << 30;
	buffer_bytes(out, &bits, is_long ? 8 : 4);
	buffer_bytes(out, blob->bytes, blob->len_bytes);
	while (out->len_bytes % 4)
		buffer_u8(out, 0);
	buffer_put_u32(out, start + 4, (uint32_t)(out->len_bytes - start - 8) / 4);
}

static void write_ir_symbols(void)
{
	static const uint32_t symbols[][6] = {
		{0, 4, 0, 4, 0, 0x2400}, {4, 6, 4, 6, UINT32_MAX, 0x2408}, {0, 10, 0, 0, 0, 0x800}};
	const uint32_t header[] = {3, 0, 0, 0, 0, 0, 0, 36, sizeof symbols / sizeof *symbols};
	struct buffer table = {0}, strings = {0}, out = {0};

	buffer_bytes(&table, header, sizeof header);
	buffer_bytes(&table, symbols, sizeof symbols);
	buffer_bytes(&strings, "mainprintf", 10);
	buffer_u32(&out, 0xdec04342);
	add_blob_block(&out, 13, &strings);
	add_blob_block(&out, 25, &table);
	add_blob_block(&out, 23, &strings);
	write_seed("ir_symbols", "two", out.bytes, out.len_bytes);
	buffer_deinit(&table);
	buffer_deinit(&strings);
	buffer_deinit(&out);
}

/* The log of a recursion of two functions that outgrows its numbers. */
static void write_lucce(void)
{
	static const uint32_t calls[][2] = {{LUCCE_ROOT, 1}, {1, 2}, {2, 1}, {1, 1}};
	const struct lucce_limits limits = {.max_number = 3};
	struct lucce_id id = {0, 0};
	struct lucce l;
	struct error *err = lucce_init(&l, NULL, &limits);
	uint32_t ignored;

	for (int i = 0; i < 2 && !err; i++)
		err = lucce_add_node(&l, &ignored);
	for (uint32_t i = 0; i < 4 && !err; i++)
		err = lucce_add_edge(&l, calls[i][0], calls[i][1], i, &ignored);
	if (err)
		exit(1);
	for (uint32_t i = 0; i < 12; i++) {
		struct lucce_step step = lucce_enter(&l, i ? 1 + (i - 1) % 3 : 0, id);

		id = lucce_step_to(&step, id);
	}
	write_seed("lucce", "recursion", l.log.items, l.log.count * sizeof(*l.log.items));
	lucce_deinit(&l);
}

/* The body of an archive of a profile with a metric and two contexts. */
static void write_archive(void)
{
	static const struct metric metric = {.name = "tick", .unit = UNIT_COUNT};
	static const struct frame frame = {.name = "main", .file = "main.c", .line = 3};
	const struct source_text text = {.file = "main.c", .text = "f();", .line = 3};
	const struct profile_source source = {.path = "x.wmk", .header.program = "/bin/x", .header.pid = 1};
	struct profile p;
	struct buffer bytes = {0};
	uint8_t body[1024] = {FUZZ_ARCHIVE};
	uint32_t node, group;
	size_t len;

	if (profile_init(&p) || profile_add_frame(&p, 0, &frame, &node) ||
	    profile_add_metrics(&p, &metric, 1, &group) || profile_add_value(&p, node, group, 7) ||
	    profile_add_frame(&p, node, &frame, &node) || profile_add_value(&p, node, group, 1) ||
	    profile_source_vec_append(&p.sources, source) || profile_add_text(&p, &text) ||
	    profile_event_vec_append(&p.events,
				     (struct profile_event){.realtime_ns = 5, .metric = group, .node = node}) ||
	    archive_write(&p, &(struct archive_options){.is_anonymous = false}, &bytes))
		exit(1);
	len = ZSTD_decompress(body + 1, sizeof body - 1, bytes.bytes + ARCHIVE_HEADER_BYTES,
			      bytes.len_bytes - ARCHIVE_HEADER_BYTES);
	if (ZSTD_isError(len))
		exit(1);
	write_seed("import", "archive", body, len + 1);
	profile_deinit(&p);
	buffer_deinit(&bytes);
}

static void write_imports(void)
{
	static const char
		folded[] = "main;f;g 42\nmain;[lib];g 3.5\n",
		perf[] = "prog 12/13 [001] 5.000001:  250000 cpu-clock:\n\t 55 leaf+0x1f (/tmp/prog) (inlined)\n"
			 "\t 66 [unknown] (/lib/x.so (deleted))\n\t 77 [unknown] (\n\nprog 12 6.5: cycles:u:\n";
	/* Strings "", "n" and "f"; a type, a function, a location and a sample. */
	static const uint8_t pprof[] = {0x32, 0,    0x32, 1, 'n',  0x32, 1,  'f',  0x0a, 4,  8, 1,    16,
					1,    0x2a, 4,    8, 1,    16,   2,  0x22, 8,    8,  1, 0x22, 4,
					8,    1,    16,   3, 0x12, 6,    10, 1,    1,    18, 1, 5};

	write_seed("import", "folded", folded, sizeof folded - 1);
	write_seed("import", "perf", perf, sizeof perf - 1);
	write_seed("import", "pprof", pprof, sizeof pprof);
	write_archive();
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: fuzz-seeds DIR\n");
		return 2;
	}
	root_dir = argv[1];
	if (mkdir(root_dir, 0777) != 0 && errno != EEXIST) {
		perror(root_dir);
		return 1;
	}
	write_programs();
	write_wmk();
	write_epochs("epochs", build_epochs);
	write_epochs("changes", build_changes);
	write_path_counters();
	write_path_metadata();
	write_trace_metadata();
	write_blocks();
	write_schemes();
	write_plans();
	write_jvm_profiles();
	write_jvm_caches();
	write_seed("jvm_class", "small", class_seed, class_seed_len);
	write_cut_class();
	write_tokens();
	write_cores();
	write_eh_frames();
	write_perf_maps();
	write_perf_data();
	write_ir_symbols();
	write_lucce();
	write_imports();
	return 0;
}

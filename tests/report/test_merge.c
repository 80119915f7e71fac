/*
 * test_merge.c - path counts added up: whatever the order of the files and of the merges, the numbers are the same; contexts
 * of residual paths are the same stacks under new numbers.
 *
 * A file is compared as lines of text: image, function, path, context and count, sorted.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "check.h"
#include "model/merge/profile_merge.h"
#include "support/builder.h"
#include "waymark/paths.h"

enum {
	NAME = 0x1111111111,
	CFG = 0x2222222222,
};

struct lines {
	char *text[512];
	size_t count;
};

static void add_line(struct lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_line(struct lines *l, const char *format, ...)
{
	va_list args;

	if (l->count == sizeof l->text / sizeof l->text[0])
		abort();
	va_start(args, format);
	if (vasprintf(&l->text[l->count++], format, args) < 0)
		abort();
	va_end(args);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *image_name(const struct wmk_file *w, uint32_t record_number)
{
	const struct wmk_file_image *image = wmk_image_by_record(w, record_number);

	return image ? image->path : "(none)";
}

/* "site of image", as far as it is of one. */
static void print_site(const struct wmk_file *w, uint32_t site, FILE *out)
{
	const struct wmk_file_image *image = wmk_find_image(w, site & ~(uint32_t)WM1_SITE_ELIDED);

	fprintf(out, "%s", site & WM1_SITE_ELIDED ? "elided " : "");
	site &= ~(uint32_t)WM1_SITE_ELIDED;
	if (image)
		fprintf(out, "%s+%u", image->path, site - image->record.site_base);
	else if (site < WM_SITE_FIRST)
		fprintf(out, "%u", site);
	else
		fprintf(out, "unknown");
}

static void print_epoch(uint32_t epoch, FILE *out)
{
	if (epoch)
		fprintf(out, "epoch %u ", epoch);
}

static void print_chain(const struct wmk_file *w, uint32_t prefix, FILE *out);

/* Of a task the id has two nodes. */
static void print_id(const struct wmk_file *w, const struct wmk_node *node, FILE *out)
{
	if (node->site != WM_SITE_TASK) {
		fprintf(out, "id %llu ", (unsigned long long)node->id);
		return;
	}
	fprintf(out, "begun (");
	print_chain(w, (uint32_t)(node->id >> 32), out);
	fprintf(out, ") enqueued (");
	print_chain(w, (uint32_t)node->id, out);
	fprintf(out, ") ");
}

static void print_chain(const struct wmk_file *w, uint32_t prefix, FILE *out)
{
	struct wmk_node node;

	for (; prefix >= WM_PREFIX_FIRST; prefix = node.parent) {
		if (!CHECK(wmk_find_node(w, prefix, &node)))
			return;
		fprintf(out, " < ");
		print_epoch(node.epoch, out);
		print_id(w, &node, out);
		print_site(w, node.site, out);
		fprintf(out, " x%u", node.run);
	}
	fprintf(out, " < root %u", prefix);
}

static void print_context(const struct wmk_file *w, const struct wmk_path_count *c, FILE *out)
{
	if (!c->prefix)
		return;
	fprintf(out, " at ");
	print_epoch(c->epoch, out);
	fprintf(out, "id %llu ", (unsigned long long)c->id);
	print_site(w, c->site, out);
	print_chain(w, c->prefix, out);
}

/* Tables of one function are one line for each of their paths: numbers of lines that are the same otherwise are added. */
static void describe(const struct buffer *b, struct lines *l)
{
	struct wmk_file w;
	struct wmk_walk tables = {0}, singles = {0}, runs = {0};
	struct wmk_path_table t;
	struct wmk_path_count c;
	uint64_t number, count, run;

	memset(l, 0, sizeof *l);
	if (!CHECK_OK(wmk_read(b->bytes, b->len_bytes, "merged", &w)))
		return;
	while (wmk_next_path_table(&w, &tables, &t)) {
		const char *part = t.record.flags & WMK_PATHS_INHERITED ? "inherited" : "own";

		add_line(l, "%s %llx %llx of %llu %s begun %llu", image_name(&w, t.record.image),
			 (unsigned long long)t.record.name_key, (unsigned long long)t.record.cfg_key,
			 (unsigned long long)t.record.path_count, part, (unsigned long long)t.activations);
		for (uint32_t i = 0; i < t.record.entry_count; i++)
			if (wmk_table_count(&w, &t, i, &number, &count))
				add_line(l, "%s %llx %llx %s path %llu: %llu", image_name(&w, t.record.image),
					 (unsigned long long)t.record.name_key, (unsigned long long)t.record.cfg_key,
					 part, (unsigned long long)number, (unsigned long long)count);
	}
	while (wmk_next_path_count(&w, &singles, &c, &number)) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		if (!out)
			abort();
		print_context(&w, &c, out);
		fclose(out);
		add_line(l, "%s %llx %llx single %u path %llu%s: %llu", image_name(&w, c.image),
			 (unsigned long long)c.name_key, (unsigned long long)c.cfg_key, c.flags,
			 (unsigned long long)number, text, (unsigned long long)c.count);
		free(text);
	}
	while (wmk_next_run(&w, &runs, &run))
		add_line(l, "run %llx", (unsigned long long)run);
	add_line(l, "header %llx flags %u runs %llu dropped %llu %llu %llu errno %llu start %llu program %s",
		 (unsigned long long)w.header.run, w.header.flags, (unsigned long long)w.header.merged_runs,
		 (unsigned long long)w.header.dropped_prefixes, (unsigned long long)w.header.dropped_path_tables,
		 (unsigned long long)w.header.dropped_paths, (unsigned long long)w.header.drop_errno,
		 (unsigned long long)w.header.start_realtime_ns, w.header.program);
	if (w.header.samples)
		add_line(l, "samples %llu unknown %llu in agent %llu checked %llu agreed %llu unchecked %llu",
			 (unsigned long long)w.header.samples, (unsigned long long)w.header.samples_unknown,
			 (unsigned long long)w.header.samples_in_agent, (unsigned long long)w.header.samples_checked,
			 (unsigned long long)w.header.samples_agreed, (unsigned long long)w.header.samples_unchecked);
	qsort(l->text, l->count, sizeof l->text[0], compare_lines);
	wmk_file_deinit(&w);
}

static void free_lines(struct lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->text[i]);
}

static void expect_same_at(const struct buffer *a, const struct buffer *b, int line)
{
	static struct lines i, j;

	describe(a, &i);
	describe(b, &j);
	check_equal_u64(i.count, j.count, __FILE__, line, "lines");
	for (size_t n = 0; n < i.count && n < j.count; n++)
		check_equal_text(i.text[n], j.text[n], __FILE__, line);
	free_lines(&i);
	free_lines(&j);
}
#define EXPECT_SAME(a, b) expect_same_at(a, b, __LINE__)

static void expect_lines_at(const struct buffer *b, const char *const *wanted, size_t count, int line)
{
	static struct lines l;

	describe(b, &l);
	check_equal_u64(l.count, count, __FILE__, line, "lines");
	for (size_t i = 0; i < l.count; i++) {
		if (i < count)
			check_equal_text(l.text[i], wanted[i], __FILE__, line);
		else
			fprintf(stderr, "also: %s\n", l.text[i]);
	}
	free_lines(&l);
}

/* NULL ends the list. The result is the caller's. */
static struct error *merge(struct buffer *out, const struct buffer *const *files)
{
	struct merge *m;
	struct error *err = merge_create(&m);
	char name[] = "1.wmk";

	*out = (struct buffer){0};
	for (; *files && !err; files++, name[0]++) {
		struct wmk_file w;

		err = wmk_read((*files)->bytes, (*files)->len_bytes, name, &w);
		if (!err) {
			err = merge_add(m, &w);
			wmk_file_deinit(&w);
		}
	}
	if (!err)
		err = merge_write(m, out);
	merge_destroy(m);
	return err;
}
#define MERGE(out, ...) merge(out, (const struct buffer *const[]){__VA_ARGS__, NULL})

static const uint8_t id_a[20] = {1}, id_b[20] = {2};

/* Two programs with call sites and a library without; the sites of both begin where `first_site` says. */
static void build_images(struct wmk_builder *b, uint64_t run, const char *where, bool is_swapped)
{
	uint64_t prog, lib, other;
	char path[64];

	build_wmk_init(b, run, "/bin/prog");
	build_chunk(b, WMK_STRINGS, 0, 0);
	snprintf(path, sizeof path, "%s/prog", where);
	prog = build_string(b, 0, path);
	lib = build_string(b, 0, "/lib/plain.so");
	other = build_string(b, 0, "/lib/other.so");
	build_chunk(b, WMK_IMAGES, 0, 0);
	if (is_swapped) {
		build_image(b, 7, 116, 10, other, id_b, sizeof id_b);
		build_image(b, 0, 0, 0, lib, NULL, 0);
		build_image(b, 9, 16, 100, prog, id_a, sizeof id_a);
	} else {
		build_image(b, 9, 26, 100, prog, id_a, sizeof id_a);
		build_image(b, 0, 26, 0, lib, NULL, 0);
		build_image(b, 7, 16, 10, other, id_b, sizeof id_b);
	}
}

static const struct wmk_paths array_head = {
	.name_key = NAME, .cfg_key = CFG, .path_count = 4, .kind = WM1_PATHS_ARRAY, .entry_count = 4};

/* What an agent sampled, in the order of the header. */
static void build_samples(struct wmk_builder *b, const uint64_t samples[6])
{
	for (size_t i = 0; i < 6; i++)
		build_header_u64(b, offsetof(struct wmk_header, samples) + i * sizeof *samples, samples[i]);
}

/* The test build: an array, pairs, what a fork left, residual paths. */
static void build_a(struct wmk_builder *b)
{
	struct wmk_paths head = array_head;
	struct wmk_path_count c = {.name_key = NAME,
				   .cfg_key = CFG,
				   .path_count = 4,
				   .r = 3,
				   .count = 5,
				   .id = 77,
				   .prefix = 18,
				   .site = 26 + 3,
				   .kind = WM1_PATHS_HASH,
				   .flags = WMK_PATHS_RESIDUAL};

	build_images(b, 0xa, "/usr/bin", false);
	build_chunk(b, WMK_NODES, 16, 0);
	build_node(b, 1, 5, 26 + 1, 3);                      /* 16: in prog */
	build_node(b, 16, 6, (16 + 2) | WM1_SITE_ELIDED, 1); /* 17: in other */
	build_node(b, 17, 7, 26 + 99, 1);                    /* 18: in prog */
	build_chunk(b, WMK_PATHS, 0, 0);
	build_table(b, &head, 10, (uint64_t[]){1, 0, 2, 0}, 4);
	build_table(b, &head, 5, (uint64_t[]){1, 0, 0, 4}, 4); /* another thread */
	head.flags = WMK_PATHS_INHERITED;
	build_table(b, &head, 3, (uint64_t[]){1, 1, 0, 0}, 4);
	head.flags = 0;
	head.image = 1;
	build_table(b, &head, 2, (uint64_t[]){0, 0, 0, 2}, 4);
	head.name_key = NAME + 1;
	head.path_count = UINT64_C(1) << 40;
	head.kind = WM1_PATHS_HASH;
	head.bits = 1;
	head.entry_count = 2;
	build_table(b, &head, 9, (uint64_t[]){1, 8, UINT64_C(1) << 40, 1}, 4);
	head.name_key = NAME + 2;
	head.path_count = head.entry_count = 1;
	head.kind = WM1_PATHS_ARRAY;
	head.bits = 0;
	head.flags = WMK_PATHS_AT_ENTRY;
	build_table(b, &head, 0, (uint64_t[]){6}, 1);
	build_chunk(b, WMK_PATH_COUNTS, 0, 0);
	build_path_count(b, &c);
	c.prefix = 1;
	build_path_count(b, &c);
	c.prefix = 0;
	build_path_count(b, &c);
	c.flags = WMK_PATHS_INHERITED;
	build_path_count(b, &c);
	c.flags = 0;
	build_path_count(b, &c);
	build_wmk_finish(b);
	build_header_u64(b, offsetof(struct wmk_header, dropped_paths), 1);
	build_header_u64(b, offsetof(struct wmk_header, dropped_path_tables), 2);
	build_header_u64(b, offsetof(struct wmk_header, dropped_prefixes), 3);
	build_header_u64(b, offsetof(struct wmk_header, drop_errno), 28);
	build_header_u64(b, offsetof(struct wmk_header, start_realtime_ns), 1000);
	build_samples(b, (uint64_t[]){100, 1, 20, 90, 89, 9});
}

/* The same build elsewhere, with a plan: other numbers of images, sites and prefixes. */
static void build_b(struct wmk_builder *b)
{
	struct wmk_paths head = array_head;
	struct wmk_path_count c = {.name_key = NAME,
				   .cfg_key = CFG,
				   .path_count = 4,
				   .r = 3,
				   .count = 50,
				   .id = 77,
				   .prefix = 1002,
				   .site = 16 + 3,
				   .image = 2,
				   .kind = WM1_PATHS_PLAN,
				   .bits = 2,
				   .flags = WMK_PATHS_RESIDUAL};

	build_images(b, 0xb, "/opt/bin", true);
	build_chunk(b, WMK_NODES, 1000, 0);
	build_node(b, 1, 5, 16 + 1, 3);
	build_node(b, 1000, 6, (116 + 2) | WM1_SITE_ELIDED, 1);
	build_node(b, 1001, 7, 16 + 99, 1);
	build_node(b, 999, 8, 5000, 1); /* what it stands on was not recorded, its site is nobody's */
	build_chunk(b, WMK_PATHS, 0, 0);
	head.image = 2;
	head.kind = WM1_PATHS_PLAN;
	head.bits = 2;
	build_table(b, &head, 100, (uint64_t[]){1, 30, UINT64_C(1) << 62 | 4, 20, 0, 0, 0, 0}, 8);
	build_chunk(b, WMK_PATH_COUNTS, 0, 0);
	build_path_count(b, &c);
	c.prefix = 1003;
	c.site = 0;
	build_path_count(b, &c);
	build_wmk_finish(b);
	build_header_u64(b, offsetof(struct wmk_header, dropped_paths), 10);
	build_header_u64(b, offsetof(struct wmk_header, start_realtime_ns), 900);
}

/* A child that inherited, killed; another program. */
static void build_c(struct wmk_builder *b)
{
	struct wmk_paths head = array_head;

	build_images(b, 0xc, "/usr/bin", false);
	build_chunk(b, WMK_PATHS, 0, 0);
	build_table(b, &head, 7, (uint64_t[]){0, 7, 0, 0}, 4);
	head.flags = WMK_PATHS_INHERITED;
	build_table(b, &head, 30, (uint64_t[]){10, 10, 0, 0}, 4);
	head.flags = 0;
	head.image = 77; /* of no image that was recorded */
	build_table(b, &head, 1, (uint64_t[]){1, 0, 0, 0}, 4);
	build_wmk_finish(b);
	build_header_u32(b, offsetof(struct wmk_header, flags), 0);
	memcpy(b->out.bytes + offsetof(struct wmk_header, program), "/bin/else", 10);
	build_samples(b, (uint64_t[]){1000, 300, UINT64_MAX, 600, 500, 100});
}

/* Contexts in tasks, one enqueued in another one; the nodes have numbers from `first` on, and a task that has enqueued itself is damaged. */
static void build_tasks(struct wmk_builder *b, uint64_t run, uint32_t first, bool is_damaged)
{
	struct wmk_path_count c = {.name_key = NAME,
				   .cfg_key = CFG,
				   .path_count = 4,
				   .r = 3,
				   .count = first,
				   .prefix = first + 4,
				   .kind = WM1_PATHS_HASH,
				   .flags = WMK_PATHS_RESIDUAL};

	build_images(b, run, "/usr/bin", false);
	build_chunk(b, WMK_NODES, first, 0);
	build_node(b, 1, 5, 26 + 1, 1); /* who enqueues */
	build_node(b, 2, 6, 26 + 2, 1); /* where the task begins */
	build_node(b, 2, 7, 26 + 3, 1); /* what it does */
	build_node(b, first + 2, (uint64_t)(first + 1) << 32 | (is_damaged ? first + 3 : first), WM_SITE_TASK, 1);
	build_node(b, first + 2, (uint64_t)(first + 1) << 32 | (first + 3), WM_SITE_TASK, 1);
	build_chunk(b, WMK_PATH_COUNTS, 0, 0);
	build_path_count(b, &c);
	build_wmk_finish(b);
}

static void test_tasks(void)
{
	static const char wanted[] =
		"/usr/bin/prog 1111111111 2222222222 single 4 path 2 at id 0 0"
		" < begun ( < id 6 /usr/bin/prog+2 x1 < root 2) enqueued ( < begun ( < id 6 /usr/bin/prog+2 x1 < root 2)"
		" enqueued ( < id 5 /usr/bin/prog+1 x1 < root 1) 3 x1 < id 7 /usr/bin/prog+3 x1 < root 2)"
		" 3 x1 < id 7 /usr/bin/prog+3 x1 < root 2: 516";
	struct wmk_builder a, b, damaged;
	struct buffer ab, out;
	struct lines lines;
	bool is_found = false;

	build_tasks(&a, 0xa, 16, false);
	build_tasks(&b, 0xb, 500, false);
	build_tasks(&damaged, 0xd, 16, true);
	if (!CHECK_OK(MERGE(&ab, &a.out, &b.out)) || !CHECK_OK(MERGE(&out, &a.out, &damaged.out)))
		return;
	describe(&ab, &lines);
	for (size_t i = 0; i < lines.count; i++) {
		is_found |= strcmp(lines.text[i], wanted) == 0;
		free(lines.text[i]);
	}
	CHECK(is_found);
	buffer_deinit(&ab);
	buffer_deinit(&out);
	buffer_deinit(&a.out);
	buffer_deinit(&b.out);
	buffer_deinit(&damaged.out);
}

static void test_sums(void)
{
	/* clang-format off */
	static const char *const wanted[] = {
		"(none) 1111111111 2222222222 of 4 own begun 1",
		"(none) 1111111111 2222222222 own path 0: 1",
		"/lib/plain.so 1111111111 2222222222 of 4 own begun 2",
		"/lib/plain.so 1111111111 2222222222 own path 3: 2",
		"/lib/plain.so 1111111112 2222222222 of 1099511627776 own begun 9",
		"/lib/plain.so 1111111112 2222222222 own path 0: 8",
		"/lib/plain.so 1111111112 2222222222 own path 1099511627775: 1",
		"/lib/plain.so 1111111113 2222222222 of 1 own begun 6",
		"/lib/plain.so 1111111113 2222222222 own path 0: 6",
		"/opt/bin/prog 1111111111 2222222222 inherited path 0: 11",
		"/opt/bin/prog 1111111111 2222222222 inherited path 1: 11",
		"/opt/bin/prog 1111111111 2222222222 inherited path 2: 5",
		"/opt/bin/prog 1111111111 2222222222 of 4 inherited begun 33",
		"/opt/bin/prog 1111111111 2222222222 of 4 own begun 122",
		"/opt/bin/prog 1111111111 2222222222 own path 0: 32",
		"/opt/bin/prog 1111111111 2222222222 own path 1: 7",
		"/opt/bin/prog 1111111111 2222222222 own path 2: 7",
		"/opt/bin/prog 1111111111 2222222222 own path 3: 24",
		"/opt/bin/prog 1111111111 2222222222 single 4 path 2 at id 77 "
			"/opt/bin/prog+3 < id 7 /opt/bin/prog+99 x1 < id 6 elided /lib/other.so+2 x1 < id 5 /opt/bin/prog+1 x3 < root 1: 55",
		"/opt/bin/prog 1111111111 2222222222 single 4 path 2 at id 77 /opt/bin/prog+3 < root 1: 5",
		"/opt/bin/prog 1111111111 2222222222 single 4 path 2 at id 77 0 < id 8 unknown x1 < root 4: 50",
		"/opt/bin/prog 1111111111 2222222222 single 4 path 2: 5",
		NULL, /* the header's line, with a run that is a hash */
		"run a",
		"run b",
		"run c",
		"samples 1100 unknown 301 in agent 18446744073709551615 checked 690 agreed 589 unchecked 109",
	};
	/* clang-format on */
	enum {
		COUNT = sizeof wanted / sizeof wanted[0],
	};
	const char *lines[COUNT];
	struct wmk_builder a, b, c;
	struct buffer abc, acb, ac, ac_b, cba, one, again;
	struct wmk_file w;
	char header[256];

	build_a(&a);
	build_b(&b);
	build_c(&c);
	if (!CHECK_OK(MERGE(&abc, &a.out, &b.out, &c.out)) || !CHECK_OK(wmk_read(abc.bytes, abc.len_bytes, "abc", &w)))
		return;
	snprintf(header, sizeof header,
		 "header %llx flags 4 runs 3 dropped 3 2 11 errno 28 start 900 program several programs",
		 (unsigned long long)w.header.run);
	CHECK(w.header.run != 0);
	wmk_file_deinit(&w);
	memcpy(lines, wanted, sizeof lines);
	for (size_t i = 0; i < COUNT; i++)
		if (!lines[i])
			lines[i] = header;
	expect_lines_at(&abc, lines, COUNT, __LINE__);

	CHECK_OK(MERGE(&acb, &a.out, &c.out, &b.out));
	CHECK_OK(MERGE(&cba, &c.out, &b.out, &a.out));
	CHECK_OK(MERGE(&ac, &a.out, &c.out));
	CHECK_OK(MERGE(&ac_b, &ac, &b.out));
	EXPECT_SAME(&abc, &acb);
	EXPECT_SAME(&abc, &cba);
	EXPECT_SAME(&abc, &ac_b);
	CHECK_OK(MERGE(&one, &ac_b));
	EXPECT_SAME(&abc, &one);
	buffer_deinit(&one);
	CHECK_OK(MERGE(&again, &a.out, &b.out, &c.out));
	CHECK(again.len_bytes == abc.len_bytes && memcmp(again.bytes, abc.bytes, abc.len_bytes) == 0);

	CHECK_ERROR(MERGE(&one, &a.out, &b.out, &a.out), ERROR_MISMATCH,
		    "3.wmk: run 000000000000000a is in 1.wmk already");
	CHECK_ERROR(MERGE(&one, &b.out, &ac, &c.out), ERROR_MISMATCH,
		    "3.wmk: run 000000000000000c is in 2.wmk already");
	CHECK_ERROR(MERGE(&one, &c.out, &ac), ERROR_MISMATCH, "2.wmk: run 000000000000000c is in 1.wmk already");
	buffer_deinit(&abc);
	buffer_deinit(&acb);
	buffer_deinit(&cba);
	buffer_deinit(&ac);
	buffer_deinit(&ac_b);
	buffer_deinit(&again);
	buffer_deinit(&a.out);
	buffer_deinit(&b.out);
	buffer_deinit(&c.out);
}

/* Contexts with equal numbers of two epochs are two, and so are the nodes below them. */
static void test_epochs(void)
{
	/* clang-format off */
	static const char *const wanted[] = {
		"/usr/bin/prog 1111111111 2222222222 of 4 own begun 0",
		"/usr/bin/prog 1111111111 2222222222 single 4 path 2 at epoch 1 id 77 "
			"/usr/bin/prog+3 < id 5 /usr/bin/prog+1 x1 < root 1: 20",
		"/usr/bin/prog 1111111111 2222222222 single 4 path 2 at id 77 "
			"/usr/bin/prog+3 < epoch 1 id 5 /usr/bin/prog+1 x1 < root 1: 4",
		"/usr/bin/prog 1111111111 2222222222 single 4 path 2 at id 77 "
			"/usr/bin/prog+3 < id 5 /usr/bin/prog+1 x1 < root 1: 2",
		"run a",
	};
	/* clang-format on */
	struct wmk_path_count c = {.name_key = NAME,
				   .cfg_key = CFG,
				   .path_count = 4,
				   .r = 3,
				   .count = 2,
				   .id = 77,
				   .prefix = 16,
				   .site = 26 + 3,
				   .kind = WM1_PATHS_HASH,
				   .flags = WMK_PATHS_RESIDUAL};
	struct wmk_builder a;
	struct buffer once, twice;
	static struct lines l;

	build_images(&a, 0xa, "/usr/bin", false);
	build_chunk(&a, WMK_NODES, 16, 0);
	build_node(&a, 1, 5, 26 + 1, 1);
	build_node(&a, 1, 5, 26 + 1, 1);
	build_epoch(&a, 1);
	build_chunk(&a, WMK_PATH_COUNTS, 0, 0);
	build_path_count(&a, &c);
	c.prefix = 17;
	c.count = 4;
	build_path_count(&a, &c);
	c.prefix = 16;
	c.count = 9;
	c.epoch = 1;
	build_path_count(&a, &c);
	c.count = 11;
	build_path_count(&a, &c);
	build_wmk_finish(&a);
	if (!CHECK_OK(MERGE(&once, &a.out)) || !CHECK_OK(MERGE(&twice, &once)))
		return;
	describe(&once, &l);
	CHECK_U64(l.count, 6);
	for (size_t i = 0, line = 0; i < l.count && line < 5; i++)
		if (strncmp(l.text[i], "header ", 7) != 0)
			CHECK_TEXT(l.text[i], wanted[line++]);
	free_lines(&l);
	EXPECT_SAME(&once, &twice);
	buffer_deinit(&once);
	buffer_deinit(&twice);
	buffer_deinit(&a.out);
}

/* More paths than a table of pairs takes, and more tables than a chunk does. */
static void test_large(void)
{
	enum {
		FUNCTIONS = 3,
		EACH = 100000,
	};
	struct wmk_builder b;
	struct buffer once, twice;
	const struct buffer *files[] = {&b.out, NULL};
	struct wmk_file w;
	struct wmk_walk tables = {0}, singles = {0};
	struct wmk_path_table t;
	struct wmk_path_count c;
	uint64_t number, count, paths = 0, sum = 0;

	build_wmk_init(&b, 1, "/bin/prog");
	build_chunk(&b, WMK_PATH_COUNTS, 0, 0);
	for (uint32_t i = 0; i < FUNCTIONS * EACH; i++) {
		struct wmk_path_count single = {.name_key = NAME + i % FUNCTIONS,
						.cfg_key = CFG,
						.path_count = UINT64_C(1) << 44,
						.r = 1 + (uint64_t)i * 12345,
						.count = i + 1,
						.kind = WM1_PATHS_HASH};

		if (i && i % 900 == 0)
			build_chunk(&b, WMK_PATH_COUNTS, 0, 0);
		build_path_count(&b, &single);
	}
	build_wmk_finish(&b);
	if (!CHECK_OK(merge(&once, files)))
		return;
	files[0] = &once;
	CHECK_OK(merge(&twice, files));
	CHECK(once.len_bytes == twice.len_bytes && memcmp(once.bytes, twice.bytes, once.len_bytes) == 0);
	if (CHECK_OK(wmk_read(twice.bytes, twice.len_bytes, "large", &w))) {
		while (wmk_next_path_table(&w, &tables, &t))
			for (uint32_t i = 0; i < t.record.entry_count; i++)
				if (wmk_table_count(&w, &t, i, &number, &count)) {
					CHECK(number == (count - 1) * 12345);
					paths++;
					sum += count;
				}
		CHECK_U64(paths, FUNCTIONS * 65536);
		for (; wmk_next_path_count(&w, &singles, &c, &number); paths++)
			sum += c.count;
		CHECK_U64(paths, FUNCTIONS * EACH);
		CHECK_U64(sum, (uint64_t)FUNCTIONS * EACH * (FUNCTIONS * EACH + 1) / 2);
		wmk_file_deinit(&w);
	}
	buffer_deinit(&once);
	buffer_deinit(&twice);
	buffer_deinit(&b.out);
}

static void test_refused(void)
{
	struct wmk_paths head = array_head;
	struct wmk_builder a, b, none;
	struct wmk_path_count c = {.name_key = NAME,
				   .cfg_key = CFG,
				   .path_count = 4,
				   .r = 1,
				   .count = 1,
				   .prefix = 16,
				   .kind = WM1_PATHS_ARRAY,
				   .flags = WMK_PATHS_RESIDUAL};
	struct buffer out;

	build_wmk_init(&none, 1, "/bin/prog");
	build_wmk_finish(&none);
	CHECK_ERROR(MERGE(&out, &none.out), ERROR_MISMATCH, "no paths, no heap and no events");
	build_wmk_init(&a, 2, "/bin/prog");
	build_chunk(&a, WMK_PATHS, 0, 0);
	build_table(&a, &head, 1, (uint64_t[]){0, 0, 0, 0}, 4);
	build_wmk_finish(&a);
	build_wmk_init(&b, 3, "/bin/prog");
	build_chunk(&b, WMK_PATHS, 0, 0);
	head.path_count = head.entry_count = 3;
	build_table(&b, &head, 1, (uint64_t[]){0, 0, 0, 0}, 3);
	build_wmk_finish(&b);
	CHECK_ERROR(MERGE(&out, &a.out, &b.out), ERROR_FORMAT, "2.wmk: a function has 3 paths, elsewhere 4");
	buffer_deinit(&b.out);
	build_wmk_init(&b, 3, "/bin/prog");
	build_chunk(&b, WMK_NODES, 16, 0);
	build_node(&b, 17, 0, 0, 1);
	build_node(&b, 16, 0, 0, 1);
	build_chunk(&b, WMK_PATH_COUNTS, 0, 0);
	build_path_count(&b, &c);
	build_wmk_finish(&b);
	CHECK_ERROR(MERGE(&out, &a.out, &b.out), ERROR_FORMAT, "is its own parent");
	CHECK_OK(MERGE(&out, &none.out, &a.out)); /* entered, and not one path ended */
	buffer_deinit(&out);
	buffer_deinit(&a.out);
	buffer_deinit(&b.out);
	buffer_deinit(&none.out);
}

int main(void)
{
	test_sums();
	test_tasks();
	test_epochs();
	test_large();
	test_refused();
	return check_status();
}

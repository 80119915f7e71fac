/*
 * test_context.c - every rule of what frames a context has, on hand-built programs: pieces, pushes of every kind, runs,
 * roots, inlining, tail calls, two images; and that damaged numbers are errors.
 *
 * The program `prog` (site numbers from 16) and the library `lib` (from 100), contexts by Algorithm 1:
 *
 *   main --1 +0--> f --3 +0--> g        f: main via site 1 or 2: 2 contexts + dummy 0 (a root) = 3
 *   main --2 +1--> f                    g: f 3 contexts, back edge from h: dummy, restart 3
 *   g --4 +0--> h, h --5 back--> g
 */
#include "check.h"
#include "model/contexts/context.h"
#include "support/builder.h"

enum {
	BASE = 16,
	LIB_BASE = 100,
	RUN = 7,
};

struct world {
	struct wmk_builder wmk_bytes;
	struct wmk_file wmk;
	struct image *prog, *lib;
	struct process_image images[2];
	struct process process;
	uint32_t main, f, g, h, cmp; /* functions */
	uint32_t main_f, main_f2, f_g, g_h, h_g, g_qsort, g_indirect, h_asm, f_lib, f_create, tail_g, cut, bound_f,
		bound_g;
	uint32_t at_main, at_f, at_g, at_h, at_cmp;
	uint32_t lib_entry, lib_capture, lib_back;
};

static struct image *make_image(struct meta_builder *b)
{
	struct buffer bytes = {0};
	struct meta m;
	struct image *image = NULL;

	meta_init(&m);
	if (CHECK_OK(meta_write(&b->meta, &bytes)) && CHECK_OK(meta_read(bytes.bytes, bytes.len_bytes, "test", &m)))
		CHECK_OK(image_create(&m, &image));
	meta_deinit(&m);
	buffer_deinit(&bytes);
	return image;
}

static void build_prog(struct world *w)
{
	static struct meta_builder b;
	const uint32_t dummy = META_FUNCTION_HAS_DUMMY;
	const uint32_t root = META_FUNCTION_ROOT | META_FUNCTION_HAS_DUMMY;
	uint32_t outer, inner;

	build_meta_init(&b, "prog");
	w->main = build_function(&b, "main", root, 1, 0);
	w->f = build_function(&b, "f", root, 3, 0);
	w->g = build_function(&b, "g", dummy, 5, 4);
	w->h = build_function(&b, "h", dummy, 6, 5);
	w->cmp = build_function(&b, "cmp", root, 1, 0);
	w->main_f = build_call(&b, META_SITE_CALL, w->main, w->f, 1);
	w->main_f2 = build_call(&b, META_SITE_CALL, w->main, w->f, 2);
	w->f_g = build_call(&b, META_SITE_CALL, w->f, w->g, 0);
	w->g_h = build_call(&b, META_SITE_CALL, w->g, w->h, 0);
	w->h_g = build_call(&b, META_SITE_BACK, w->h, w->g, 0);
	w->g_qsort = build_site(&b, META_SITE_FOREIGN, w->g, "qsort");
	w->g_indirect = build_site(&b, META_SITE_INDIRECT, w->g, NULL);
	w->h_asm = build_site(&b, META_SITE_ASM, w->h, NULL);
	w->f_lib = build_site(&b, META_SITE_FOREIGN, w->f, "lib_entry");
	w->f_create = build_site(&b, META_SITE_FOREIGN, w->f, "pthread_create");
	w->tail_g = build_call(&b, META_SITE_CALL, w->f, w->g, 3);
	b.sites[w->tail_g].flags = META_SITE_TAIL;
	b.functions[w->g].contexts = 7; /* f's 3 contexts at 0 and again at 3, the dummy at 6 */
	b.functions[w->g].restart = 6;
	b.functions[w->h].contexts = 8;
	b.functions[w->h].restart = 7;
	w->cut = build_call(&b, META_SITE_CUT, w->main, w->h, 0);
	w->bound_f = build_site(&b, META_SITE_BOUND, w->f, NULL);
	w->bound_g = build_site(&b, META_SITE_BOUND, w->g, NULL);
	w->at_main = build_site(&b, META_SITE_CAPTURE, w->main, NULL);
	w->at_f = build_site(&b, META_SITE_CAPTURE, w->f, NULL);
	w->at_g = build_site(&b, META_SITE_CAPTURE, w->g, NULL);
	w->at_h = build_site(&b, META_SITE_CAPTURE, w->h, NULL);
	w->at_cmp = build_site(&b, META_SITE_CAPTURE, w->cmp, NULL);
	/* the capture in cmp is in a call of `less`, inlined from `_Z7comparei`, inlined into cmp */
	outer = build_location(&b, "cmp", "cmp.c", 5, 0);
	inner = build_location(&b, "_Z7comparei", "cmp.h", 6, outer);
	b.sites[w->at_cmp].location = build_location(&b, "less", "less.h", 7, inner);
	w->prog = make_image(&b);
}

static void build_lib(struct world *w)
{
	static struct meta_builder b;

	build_meta_init(&b, "lib.so");
	w->lib_entry = build_function(&b, "lib_entry",
				      META_FUNCTION_ROOT | META_FUNCTION_HAS_DUMMY | META_FUNCTION_EXPORTED, 1, 0);
	w->lib_capture = build_site(&b, META_SITE_CAPTURE, w->lib_entry, NULL);
	w->lib_back = build_call(&b, META_SITE_BACK, w->lib_entry, w->lib_entry, 0);
	w->lib = make_image(&b);
}

static void open_world(struct world *w)
{
	*w = (struct world){0};
	build_prog(w);
	build_lib(w);
	build_wmk_init(&w->wmk_bytes, RUN, "/prog");
	build_chunk(&w->wmk_bytes, WMK_NODES, WM_PREFIX_FIRST, 0);
}

/* Nodes are there: the process can decode. */
static int close_world(struct world *w)
{
	build_wmk_finish(&w->wmk_bytes);
	if (!w->prog || !w->lib ||
	    !CHECK_OK(wmk_read(w->wmk_bytes.out.bytes, w->wmk_bytes.out.len_bytes, "test.wmk", &w->wmk)))
		return 0;
	w->images[0] =
		(struct process_image){.site_base = BASE, .site_count = w->prog->meta.site_count, .image = w->prog};
	w->images[1] =
		(struct process_image){.site_base = LIB_BASE, .site_count = w->lib->meta.site_count, .image = w->lib};
	w->process = (struct process){.wmk = &w->wmk, .images = w->images, .image_count = 2};
	return 1;
}

static void free_world(struct world *w)
{
	wmk_file_deinit(&w->wmk);
	buffer_deinit(&w->wmk_bytes.out);
	image_destroy(w->prog);
	image_destroy(w->lib);
}

static struct error *decode(const struct world *w, uint32_t prefix, uint32_t site, uint64_t id,
			    struct frame_vec *frames)
{
	struct context_key key = {.id = id, .prefix = prefix, .site = site};

	frames->count = 0;
	return context_decode(&w->process, &key, 100, frames);
}

static void expect_at(const struct world *w, uint32_t prefix, uint32_t site, uint64_t id, const char *want, int line)
{
	struct frame_vec frames = {0};
	char got[1024] = "";
	struct error *err = decode(w, prefix, site, id, &frames);

	if (!check_no_error(err, __FILE__, line))
		return;
	for (size_t i = 0; i < frames.count; i++) {
		strncat(got, i ? ";" : "", sizeof got - strlen(got) - 1);
		strncat(got, frames.items[i].name, sizeof got - strlen(got) - 1);
	}
	check_equal_text(got, want, __FILE__, line);
	frame_vec_deinit(&frames);
}
#define EXPECT(prefix, site, id, want) expect_at(&w, prefix, site, id, want, __LINE__)

static void expect_error_at(const struct world *w, uint32_t prefix, uint32_t site, uint64_t id, enum error_code code,
			    const char *text, int line)
{
	struct frame_vec frames = {0};

	check_has_error(decode(w, prefix, site, id, &frames), code, text, __FILE__, line);
	check_equal_u64(frames.count, 0, __FILE__, line, "frames.count after an error");
	frame_vec_deinit(&frames);
}
#define EXPECT_ERROR(prefix, site, id, code, text) expect_error_at(&w, prefix, site, id, code, text, __LINE__)

static void test_pieces_and_roots(void)
{
	struct world w;

	open_world(&w);
	if (close_world(&w)) {
		EXPECT(WM_PREFIX_PROCESS, BASE + w.at_main, 0, "main");
		EXPECT(WM_PREFIX_PROCESS, BASE + w.at_f, 1, "main;f");
		EXPECT(WM_PREFIX_PROCESS, BASE + w.at_f, 0, "f");
		EXPECT(WM_PREFIX_PROCESS, BASE + w.at_h, 2, "main;f;g;h");
		EXPECT(WM_PREFIX_PROCESS, BASE + w.at_h, 5, "main;f;g;h");
		EXPECT(WM_PREFIX_THREAD, BASE + w.at_f, 0, "[thread];f");
		EXPECT(WM_PREFIX_SIGNAL, BASE + w.at_g, 0, "[signal];f;g");
		EXPECT(WM_PREFIX_LOST, BASE + w.at_g, 6, "[lost];g");
		EXPECT(WM_PREFIX_PROCESS, WM_SITE_FOREIGN, 0, "[foreign]");
		EXPECT(WM_PREFIX_THREAD, WM_SITE_FOREIGN, 0, "[thread]");
		EXPECT_ERROR(WM_PREFIX_PROCESS, BASE + w.at_g, 6, ERROR_FORMAT, "no place to begin");
		EXPECT_ERROR(WM_PREFIX_PROCESS, BASE + w.at_f, 3, ERROR_FORMAT, NULL);
		EXPECT_ERROR(WM_PREFIX_PROCESS, BASE + w.g_h, 0, ERROR_FORMAT, "does not capture");
		EXPECT_ERROR(WM_PREFIX_PROCESS, BASE, 0, ERROR_FORMAT, "no site 0");
		EXPECT_ERROR(WM_PREFIX_PROCESS, 99, 0, ERROR_FORMAT, "no image has site 99");
		EXPECT_ERROR(WM_PREFIX_PROCESS, WM_SITE_FOREIGN, 1, ERROR_FORMAT, "damaged");
		EXPECT_ERROR(WM_PREFIX_NONE, BASE + w.at_f, 0, ERROR_FORMAT, "prefix 0");
		EXPECT(WM_PREFIX_NOT_KEPT, WM_SITE_FOREIGN, 0, "[not kept]");
		EXPECT_ERROR(8, BASE + w.at_f, 0, ERROR_FORMAT, "prefix 8");
		EXPECT_ERROR(WM_PREFIX_FIRST, BASE + w.at_f, 0, ERROR_NOT_FOUND, "was not recorded");
	}
	free_world(&w);
}

static void test_pushes(void)
{
	struct world w;

	open_world(&w);
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 2, BASE + w.h_g, 1);    /* 16: main;f;g;h -> g */
	build_node(&w.wmk_bytes, 16, 6, BASE + w.g_qsort, 1);               /* 17: ;g in qsort */
	build_node(&w.wmk_bytes, 16, 6, BASE + w.g_indirect, 1);            /* 18: ;g calls something */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 1, BASE + w.f_lib, 1);  /* 19: main;f in lib_entry */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 0, BASE + w.cut, 1);    /* 20: main -> h */
	build_node(&w.wmk_bytes, 20, 7, BASE + w.h_asm, 1);                 /* 21: ;h in asm */
	build_node(&w.wmk_bytes, WM_PREFIX_SIGNAL, 0, BASE + w.f_lib, 1);   /* 22: [signal];f in lib_entry */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 0, BASE + w.main_f, 1); /* 23: a call that does not push */
	if (close_world(&w)) {
		EXPECT(16, BASE + w.at_g, 6, "main;f;g;h;g");
		EXPECT(16, BASE + w.at_h, 6, "main;f;g;h;g;h");
		EXPECT(17, WM_SITE_FOREIGN, 0, "main;f;g;h;g;[qsort]");
		EXPECT(17, BASE + w.at_f, 0, "main;f;g;h;g;[qsort];f");
		EXPECT(18, BASE + w.at_f, 0, "main;f;g;h;g;f");
		EXPECT(18, WM_SITE_FOREIGN, 0, "main;f;g;h;g;[indirect]");
		EXPECT(19, LIB_BASE + w.lib_capture, 0, "main;f;lib_entry");
		EXPECT(19, WM_SITE_FOREIGN, 0, "main;f;[lib_entry]");
		EXPECT(19, BASE + w.at_f, 0, "main;f;[lib_entry];f");
		EXPECT(20, BASE + w.at_h, 7, "main;h");
		EXPECT(21, BASE + w.at_f, 0, "main;h;f");
		EXPECT(21, WM_SITE_FOREIGN, 0, "main;h;[asm]");
		EXPECT(22, LIB_BASE + w.lib_capture, 0, "[signal];f;lib_entry");
		EXPECT_ERROR(16, BASE + w.at_f, 0, ERROR_FORMAT, "another function");
		EXPECT_ERROR(16, LIB_BASE + w.lib_capture, 0, ERROR_FORMAT, "another function");
		EXPECT_ERROR(16, BASE + w.at_g, 1, ERROR_FORMAT, "another function");
		EXPECT_ERROR(17, BASE + w.at_g, 6, ERROR_FORMAT, "unknown caller");
		EXPECT_ERROR(16, WM_SITE_FOREIGN, 0, ERROR_FORMAT, "does not call foreign code");
		EXPECT_ERROR(23, BASE + w.at_f, 0, ERROR_FORMAT, "does not push");
	}
	free_world(&w);
}

/* Another image's f or g runs in place of that which was called. */
static void test_bound(void)
{
	struct world w;
	struct frame_vec frames = {0};

	open_world(&w);
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 1, BASE + w.bound_f, 1); /* 16: main calls f by its first call */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 2, BASE + w.bound_f, 1); /* 17: by its second */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 4, BASE + w.bound_g, 1); /* 18: main;f calls g as its last act */
	build_node(&w.wmk_bytes, 16, 0, BASE + w.bound_g, 3); /* 19: which calls f, that calls g; thrice */
	build_node(&w.wmk_bytes, 16, 0, WM_SITE_THREAD, 1);   /* 20: it creates a thread */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 0, BASE + w.bound_f,
		   1); /* 21: f was entered from outside: damaged */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 3, BASE + w.bound_f, 1); /* 22: damaged */
	if (close_world(&w)) {
		EXPECT(16, WM_SITE_FOREIGN, 0, "main;[f]");
		EXPECT(17, LIB_BASE + w.lib_capture, 0, "main;[f];lib_entry");
		EXPECT(18, WM_SITE_FOREIGN, 0, "main;f;[g]");
		EXPECT(19, BASE + w.at_cmp, 0, "main;[f];f;[g];f;[g];f;[g];cmp;compare(int);less");
		EXPECT(20, BASE + w.at_f, 0, "main;[f];[thread];f");
		EXPECT_ERROR(16, BASE + w.at_g, 6, ERROR_FORMAT, "unknown caller");
		EXPECT_ERROR(21, WM_SITE_FOREIGN, 0, ERROR_FORMAT, "nothing of this image has called");
		EXPECT_ERROR(22, WM_SITE_FOREIGN, 0, ERROR_FORMAT, "no context 3");
		CHECK_OK(decode(&w, 18, WM_SITE_FOREIGN, 0, &frames));
		if (CHECK(frames.count == 3)) {
			CHECK_U64(frames.items[1].flags, FRAME_TAIL);
			CHECK_U64(frames.items[2].flags, FRAME_FOREIGN);
			CHECK_TEXT(frames.items[2].link_name, "g");
		}
	}
	frame_vec_deinit(&frames);
	free_world(&w);
}

static void test_threads(void)
{
	struct world w;

	open_world(&w);
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 1, BASE + w.f_create, 1); /* 16: main;f in pthread_create */
	build_node(&w.wmk_bytes, 16, 0, WM_SITE_THREAD, 1);                   /* 17: the thread */
	build_node(&w.wmk_bytes, 17, 0, BASE + w.f_create, 1);                /* 18: it creates another */
	build_node(&w.wmk_bytes, 18, 0, WM_SITE_THREAD, 1);                   /* 19 */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 1, BASE + w.f_lib, 1);    /* 20: main;f in foreign code */
	build_node(&w.wmk_bytes, 20, 0, WM_SITE_THREAD, 1);                   /* 21: that creates a thread */
	build_node(&w.wmk_bytes, 21, 0, WM_SITE_THREAD, 1);                   /* 22: and that another one */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 2, BASE + w.h_g, 1);      /* 23: main;f;g;h -> g */
	build_node(&w.wmk_bytes, 23, 6, BASE + w.g_indirect, 1);              /* 24: calls something */
	build_node(&w.wmk_bytes, 24, 0, WM_SITE_THREAD, 1);                   /* 25: that creates a thread */
	build_node(&w.wmk_bytes, WM_PREFIX_SIGNAL, 0, WM_SITE_THREAD, 1);     /* 26 */
	build_node(&w.wmk_bytes, 16, 1, WM_SITE_THREAD, 1);                   /* 27: damaged */
	build_node(&w.wmk_bytes, 16, 0, WM_SITE_THREAD, 2);                   /* 28: damaged */
	build_node(&w.wmk_bytes, 23, 0, WM_SITE_THREAD, 1);                   /* 29: damaged */
	build_node(&w.wmk_bytes, 16, 0, 5, 1);                                /* 30: damaged */
	build_node(&w.wmk_bytes, 17, 7, BASE + w.h_g, 1);                     /* 31: damaged */
	if (close_world(&w)) {
		EXPECT(16, WM_SITE_FOREIGN, 0, "main;f;[pthread_create]");
		EXPECT(17, WM_SITE_FOREIGN, 0, "main;f;[thread]");
		EXPECT(17, BASE + w.at_f, 0, "main;f;[thread];f");
		EXPECT(17, BASE + w.at_g, 0, "main;f;[thread];f;g");
		EXPECT(19, BASE + w.at_f, 0, "main;f;[thread];f;[thread];f");
		EXPECT(21, BASE + w.at_f, 0, "main;f;[lib_entry];[thread];f");
		EXPECT(22, BASE + w.at_f, 0, "main;f;[lib_entry];[thread];[thread];f");
		EXPECT(22, LIB_BASE + w.lib_capture, 0, "main;f;[lib_entry];[thread];[thread];lib_entry");
		EXPECT(25, BASE + w.at_f, 0, "main;f;g;h;g;[thread];f");
		EXPECT(26, BASE + w.at_f, 0, "[signal];[thread];f");
		EXPECT_ERROR(17, BASE + w.at_g, 6, ERROR_FORMAT, "no place to begin");
		EXPECT_ERROR(17, WM_SITE_THREAD, 0, ERROR_FORMAT, "no image has site 1");
		EXPECT_ERROR(27, BASE + w.at_f, 0, ERROR_FORMAT, "a thread with id 1, 1 times");
		EXPECT_ERROR(28, BASE + w.at_f, 0, ERROR_FORMAT, "a thread with id 0, 2 times");
		EXPECT_ERROR(29, BASE + w.at_g, 0, ERROR_FORMAT, "does not call foreign code");
		EXPECT_ERROR(30, BASE + w.at_f, 0, ERROR_FORMAT, "no image has site 5");
		EXPECT_ERROR(31, BASE + w.at_g, 6, ERROR_FORMAT, "no place to begin");
	}
	free_world(&w);
}

/* The node of a context in a task: where it began, and who enqueued it. */
static uint64_t task_id(uint32_t begun, uint32_t enqueued)
{
	return (uint64_t)begun << 32 | enqueued;
}

static void test_tasks(void)
{
	struct world w;

	open_world(&w);
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 1, BASE + w.at_f, 1);    /* 16: main;f enqueues */
	build_node(&w.wmk_bytes, WM_PREFIX_THREAD, 0, BASE + w.at_f, 1);     /* 17: f begins */
	build_node(&w.wmk_bytes, WM_PREFIX_THREAD, 0, BASE + w.at_g, 1);     /* 18: f;g in the task */
	build_node(&w.wmk_bytes, 18, task_id(17, 16), WM_SITE_TASK, 1);      /* 19 */
	build_node(&w.wmk_bytes, 19, 0, WM_SITE_THREAD, 1);                  /* 20: creates a thread */
	build_node(&w.wmk_bytes, 18, task_id(17, 19), WM_SITE_TASK, 1);      /* 21: enqueued by 19 */
	build_node(&w.wmk_bytes, 18, task_id(16, 16), WM_SITE_TASK, 1);      /* 22: what has begun does not run */
	build_node(&w.wmk_bytes, WM_PREFIX_THREAD, 0, BASE + w.f_create, 1); /* 23: f in pthread_create, */
	build_node(&w.wmk_bytes, 23, 0, WM_SITE_FOREIGN, 1);                 /* 24: a capture there */
	build_node(&w.wmk_bytes, 24, task_id(17, 16), WM_SITE_TASK, 1);      /* 25 */
	build_node(&w.wmk_bytes, 25, 0, WM_SITE_THREAD, 1);                  /* 26: the thread */
	build_node(&w.wmk_bytes, 18, task_id(17, 27), WM_SITE_TASK, 1);      /* 27: damaged, its own */
	build_node(&w.wmk_bytes, 18, task_id(17, 9), WM_SITE_TASK, 1);       /* 28: damaged */
	build_node(&w.wmk_bytes, 18, task_id(17, 16), WM_SITE_TASK, 2);      /* 29: damaged */
	if (close_world(&w)) {
		EXPECT(19, WM_SITE_FOREIGN, 0, "main;f;[task];f;g");
		EXPECT(20, BASE + w.at_f, 0, "main;f;[task];f;g;[thread];f");
		EXPECT(21, WM_SITE_FOREIGN, 0, "main;f;[task];f;g;[task];f;g");
		EXPECT(22, WM_SITE_FOREIGN, 0, "[thread];f;g");
		EXPECT(25, WM_SITE_FOREIGN, 0, "main;f;[task];f;[pthread_create]");
		EXPECT(26, BASE + w.at_f, 0, "main;f;[task];f;[thread];f");
		EXPECT_ERROR(27, WM_SITE_FOREIGN, 0, ERROR_FORMAT, "tasks in more than 1024 others");
		EXPECT_ERROR(28, WM_SITE_FOREIGN, 0, ERROR_FORMAT, "prefix 9 means nothing");
		EXPECT_ERROR(29, WM_SITE_FOREIGN, 0, ERROR_FORMAT, "a task, 2 times");
	}
	free_world(&w);
}

static void test_signals(void)
{
	struct world w;

	open_world(&w);
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 2, BASE + w.at_g, 1); /* 16: main;f;g is interrupted */
	build_node(&w.wmk_bytes, 16, 0, WM_SITE_SIGNAL, 1);               /* 17: by a handler */
	build_node(&w.wmk_bytes, 17, 0, BASE + w.f_lib, 1);               /* 18: f in foreign code */
	build_node(&w.wmk_bytes, 18, 0, WM_SITE_SIGNAL, 1); /* 19: of which a signal interrupts something */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 0, WM_SITE_SIGNAL, 1); /* 20: nothing was pushed */
	build_node(&w.wmk_bytes, WM_PREFIX_THREAD, 0, WM_SITE_SIGNAL, 1);  /* 21 */
	build_node(&w.wmk_bytes, 16, 1, WM_SITE_SIGNAL, 1);                /* 22: damaged */
	build_node(&w.wmk_bytes, 16, 0, WM_SITE_SIGNAL, 2);                /* 23: damaged */
	build_node(&w.wmk_bytes, 16, 0, BASE + w.f_lib, 1);                /* 24: damaged: a point calls nothing */
	if (close_world(&w)) {
		EXPECT(17, BASE + w.at_f, 0, "main;f;g;[signal];f");
		EXPECT(17, WM_SITE_FOREIGN, 0, "main;f;g;[signal]");
		EXPECT(19, BASE + w.at_f, 0, "main;f;g;[signal];f;[interrupted];[signal];f");
		EXPECT(20, BASE + w.at_f, 0, "[interrupted];[signal];f");
		EXPECT(21, BASE + w.at_f, 0, "[thread];[interrupted];[signal];f");
		EXPECT_ERROR(22, BASE + w.at_f, 0, ERROR_FORMAT, "a signal with id 1, 1 times");
		EXPECT_ERROR(23, BASE + w.at_f, 0, ERROR_FORMAT, "a signal with id 0, 2 times");
		EXPECT_ERROR(24, BASE + w.at_f, 0, ERROR_FORMAT, "does not push");
	}
	free_world(&w);
}

static void test_inlining_and_tail_calls(void)
{
	struct world w;
	struct frame_vec frames = {0};

	open_world(&w);
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 0, BASE + w.cut, 1);             /* 16 */
	build_node(&w.wmk_bytes, 16, 6, (BASE + w.g_indirect) | WM1_SITE_ELIDED, 1); /* 17: h ... g calls something */
	if (close_world(&w)) {
		EXPECT(WM_PREFIX_THREAD, BASE + w.at_cmp, 0, "[thread];cmp;compare(int);less");
		EXPECT(17, BASE + w.at_f, 0, "main;[tail calls];g;f");
		CHECK_OK(decode(&w, WM_PREFIX_THREAD, BASE + w.at_cmp, 0, &frames));
		if (CHECK(frames.count == 4)) {
			CHECK_U64(frames.items[0].flags, FRAME_ROOT);
			CHECK_U64(frames.items[1].flags, 0);
			CHECK_TEXT(frames.items[1].file, "cmp.c");
			CHECK_U64(frames.items[2].flags, FRAME_INLINED);
			CHECK_TEXT(frames.items[2].link_name, "_Z7comparei");
			CHECK_U64(frames.items[3].line, 7);
		}
		CHECK_OK(decode(&w, WM_PREFIX_PROCESS, BASE + w.at_g, 4, &frames));
		if (CHECK(frames.count == 3)) {
			CHECK_U64(frames.items[1].flags, FRAME_TAIL);
			CHECK_TEXT(frames.items[1].name, "f");
			CHECK_U64(frames.items[1].line, 0);
		}
	}
	frame_vec_deinit(&frames);
	free_world(&w);
}

static void test_runs(void)
{
	struct world w;
	struct frame_vec frames = {0};
	struct context_key key = {.id = 6, .prefix = 17};

	open_world(&w);
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 2, BASE + w.h_g, 1);
	build_node(&w.wmk_bytes, 16, 6, BASE + w.h_g, 3); /* 17: three times around g;h */
	build_node(&w.wmk_bytes, 16, 6, BASE + w.h_g, 500000);
	build_node(&w.wmk_bytes, 16, 6, BASE + w.h_g, UINT32_MAX);
	build_node(&w.wmk_bytes, 16, 6, BASE + w.h_g, 0);
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 2, BASE + w.h_g, 2); /* 21: from main;f;g;h the second cannot be */
	if (close_world(&w)) {
		EXPECT(17, BASE + w.at_g, 6, "main;f;g;h;g;h;g;h;g;h;g");
		EXPECT_ERROR(19, BASE + w.at_g, 6, ERROR_OVERFLOW, "deeper than 100 frames");
		EXPECT_ERROR(20, BASE + w.at_g, 6, ERROR_FORMAT, "no push");
		EXPECT_ERROR(21, BASE + w.at_g, 6, ERROR_FORMAT, "another function");
		key.prefix = 18;
		key.site = BASE + w.at_g;
		CHECK_OK(context_decode(&w.process, &key, 0, &frames));
		CHECK_U64(frames.count, 4 + 2 * 500000 + 1);
		key.prefix = 19;
		CHECK_ERROR(context_decode(&w.process, &key, 0, &frames), ERROR_OVERFLOW, "--max-depth");
	}
	frame_vec_deinit(&frames);
	free_world(&w);
}

/* A million different nodes, and a circle of them. */
static void test_long_chains(void)
{
	struct world w;
	struct frame_vec frames = {0};
	struct context_key key = {.id = 0};
	const uint32_t per_chunk = (WMK_CHUNK_BYTES - WMK_CHUNK_HEADER_BYTES) / sizeof(struct wmk_node);
	uint32_t prefix = WM_PREFIX_FIRST;

	open_world(&w);
	for (uint32_t i = 0; i < 1000000; i++, prefix++) {
		if (i && i % per_chunk == 0)
			build_chunk(&w.wmk_bytes, WMK_NODES, prefix, 0);
		build_node(&w.wmk_bytes, i ? prefix - 1 : WM_PREFIX_PROCESS, i % 2, BASE + w.f_lib, 1);
	}
	build_node(&w.wmk_bytes, prefix + 1, 0, BASE + w.f_lib, 1);
	build_node(&w.wmk_bytes, prefix, 0, BASE + w.f_lib, 1);
	if (close_world(&w)) {
		key.site = BASE + w.at_f;
		key.prefix = prefix - 1;
		CHECK_OK(context_decode(&w.process, &key, 0, &frames)); /* f [lib_entry] main f [lib_entry] f ... */
		CHECK_U64(frames.count, 1 + 500000 * 3 + 499999 * 2 + 2);
		key.prefix = prefix;
		CHECK_ERROR(context_decode(&w.process, &key, 0, &frames), ERROR_FORMAT, "circle");
	}
	frame_vec_deinit(&frames);
	free_world(&w);
}

static void walked_node(struct world *w, uint32_t parent, uint64_t id, uint32_t site)
{
	struct buffer *out = &w->wmk_bytes.out;

	buffer_u64(out, id);
	buffer_u32(out, parent);
	buffer_u32(out, site);
	buffer_u32(out, 1);
	buffer_u32(out, WM_EPOCH_WALKED);
	buffer_u32(out, 0);
	buffer_u32(out, 1);
}

static void expect_walked(const struct world *w, uint32_t prefix, uint32_t site, uint64_t id, const char *want,
			  uint32_t guessed)
{
	struct context_key key = {.id = id, .prefix = prefix, .site = site, .epoch = WM_EPOCH_WALKED};
	struct frame_vec frames = {0};
	char got[256] = "";
	uint32_t marked = 0;

	CHECK_OK(context_decode(&w->process, &key, 0, &frames));
	for (size_t i = 0; i < frames.count; i++) {
		strcat(strcat(got, i ? ";" : ""), frames.items[i].name);
		marked |= frames.items[i].flags & FRAME_GUESSED ? UINT32_C(1) << i : 0;
	}
	CHECK_TEXT(got, want);
	CHECK_U64(marked, guessed);
	frame_vec_deinit(&frames);
}

/* Each node of a walk is one frame, at whatever kind of site, and encodes nothing. */
static void test_walked(void)
{
	struct context_key damaged = {.id = 2, .prefix = WM_PREFIX_PROCESS, .epoch = WM_EPOCH_WALKED};
	struct frame_vec frames = {0};
	struct world w;

	open_world(&w);
	walked_node(&w, WM_PREFIX_PROCESS, 0, BASE + w.main_f);          /* 16: main */
	walked_node(&w, 16, WM_WALKED_GUESSED, BASE + w.at_h);           /* 17: ;h, by its frame pointer */
	walked_node(&w, 17, 0, WM_SITE_SIGNAL);                          /* 18: a handler interrupted that */
	walked_node(&w, 16, 0, WM_SITE_THREAD);                          /* 19: main created a thread */
	walked_node(&w, WM_PREFIX_NO_DATA, 0, LIB_BASE + w.lib_capture); /* 20 */
	walked_node(&w, WM_PREFIX_TOO_DEEP, 0, BASE + w.g_qsort);        /* 21 */
	if (close_world(&w)) {
		expect_walked(&w, WM_PREFIX_PROCESS, BASE + w.at_g, 0, "g", 0);
		expect_walked(&w, 17, BASE + w.at_f, 0, "main;h;f", 2);
		expect_walked(&w, 16, BASE + w.at_cmp, WM_WALKED_GUESSED, "main;cmp;compare(int);less", 14);
		expect_walked(&w, 18, BASE + w.at_g, 0, "main;h;[signal];g", 2);
		expect_walked(&w, 19, BASE + w.at_f, 0, "main;[thread];f", 0);
		expect_walked(&w, 20, BASE + w.at_f, 0, "[no unwind data];lib_entry;f", 0);
		expect_walked(&w, 21, BASE + w.at_f, 0, "[too deep];g;f", 0);
		damaged.site = BASE + w.at_f;
		CHECK_ERROR(context_decode(&w.process, &damaged, 0, &frames), ERROR_FORMAT, "walked frame with id 2");
		damaged.id = 0;
		damaged.site = 99;
		CHECK_ERROR(context_decode(&w.process, &damaged, 0, &frames), ERROR_FORMAT, "no image has site 99");
	}
	frame_vec_deinit(&frames);
	free_world(&w);
}

/* main calls walk, which calls itself from three places and `in`, which calls itself from one. */
struct selves {
	uint32_t main, walk, in;
	uint32_t self[3], at_walk, at_in;
};

static struct image *build_selves(struct selves *s)
{
	static struct meta_builder b;
	const uint32_t dummy = META_FUNCTION_HAS_DUMMY;

	build_meta_init(&b, "selves");
	s->main = build_function(&b, "main", META_FUNCTION_ROOT | dummy, 1, 0);
	s->walk = build_function(&b, "walk", dummy, 2, 1);
	s->in = build_function(&b, "in", dummy, 3, 2);
	build_call(&b, META_SITE_CALL, s->main, s->walk, 0);
	build_call(&b, META_SITE_CALL, s->walk, s->in, 0);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t function = i < 3 ? s->walk : s->in,
			 site = build_call(&b, META_SITE_SELF_CALL, function, function, 0);

		b.sites[site].bits = 2;
		b.sites[site].code = i;
		b.sites[site].flags = i == 1 ? META_SITE_SPILLS : 0;
		b.sites[site].location = build_location(&b,
							i == 1   ? "one"
							: i == 2 ? "two"
							: i == 3 ? "in"
								 : "walk",
							"a.c", i, 0);
		if (i < 3)
			s->self[i] = site;
	}
	s->at_walk = build_site(&b, META_SITE_CAPTURE, s->walk, NULL);
	s->at_in = build_site(&b, META_SITE_CAPTURE, s->in, NULL);
	return make_image(&b);
}

static void test_histories(void)
{
	struct selves s;
	struct world w;

	open_world(&w);
	image_destroy(w.prog);
	w.prog = build_selves(&s);
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 4, WM_SITE_HISTORY, 1);  /* 16: the first place */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 19, WM_SITE_HISTORY, 1); /* 17: that, and in by itself */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 0, BASE + s.self[0], 1); /* 18: a push of the first place */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 0, BASE + s.self[1],
		   1);                                        /* 19: a push that says nothing of its call */
	build_node(&w.wmk_bytes, 19, 2, WM_SITE_HISTORY, 1);  /* 20: it was the third */
	build_node(&w.wmk_bytes, 18, 4, WM_SITE_HISTORY, 1);  /* 21: the first one once more */
	build_node(&w.wmk_bytes, 21, 1, BASE + s.self[0], 3); /* 22: and thrice that with a push */
	build_node(&w.wmk_bytes, 20, 1, BASE + s.self[1], 2); /* 23: twice, of the third place */
	build_node(&w.wmk_bytes, 23, 1, WM_SITE_HISTORY, 1);  /* 24: and the second */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 4, WM_SITE_HISTORY, 2);          /* 25: damaged */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 1ull << 32, WM_SITE_HISTORY, 1); /* 26: damaged */
	build_node(&w.wmk_bytes, WM_PREFIX_PROCESS, 7, WM_SITE_HISTORY, 1);          /* 27: in by itself */
	build_node(&w.wmk_bytes, 16, 0, WM_SITE_HISTORY, 1);                         /* 28: it begins again */
	if (close_world(&w)) {
		EXPECT(WM_PREFIX_PROCESS, BASE + s.at_walk, 0, "main;walk");
		EXPECT(16, BASE + s.at_walk, 0, "main;walk;walk");
		EXPECT(16, BASE + s.at_in, 0, "main;walk;walk;in");
		EXPECT(17, BASE + s.at_in, 0, "main;walk;walk;in;in");
		EXPECT(18, BASE + s.at_walk, 1, "main;walk;walk");
		EXPECT(20, BASE + s.at_walk, 1, "main;two;walk");
		EXPECT(21, BASE + s.at_walk, 1, "main;walk;walk;walk");
		EXPECT(22, BASE + s.at_walk, 1, "main;walk;walk;walk;walk;walk;walk;walk;walk");
		EXPECT(24, BASE + s.at_walk, 1, "main;two;two;one;walk");
		EXPECT(28, BASE + s.at_walk, 0, "main;walk");
		EXPECT_ERROR(17, BASE + s.at_walk, 0, ERROR_FORMAT, "history 19 of walk");
		EXPECT_ERROR(27, BASE + s.at_walk, 0, ERROR_FORMAT, "history 7 of walk");
		EXPECT_ERROR(25, BASE + s.at_walk, 0, ERROR_FORMAT, "damaged: a history 4, 2 times");
		EXPECT_ERROR(26, BASE + s.at_walk, 0, ERROR_FORMAT, "damaged: a history");
	}
	free_world(&w);
}

int main(void)
{
	test_histories();
	test_walked();
	test_pieces_and_roots();
	test_pushes();
	test_bound();
	test_threads();
	test_tasks();
	test_signals();
	test_inlining_and_tail_calls();
	test_runs();
	test_long_chains();
	return check_status();
}

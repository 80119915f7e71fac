/* epoch_builder.c - a recording of two epochs by hand: see epoch_builder.h. */
#include "support/epoch_builder.h"
#include "waymark/paths.h"

enum {
	LOADER,
	PLUGIN,
	LIBRARY,
};

struct names {
	uint32_t main_class, order, tax, fixed_tax, log, worker;
	uint32_t main, total, rate, write, run;
	uint32_t of_main, of_int, of_nothing, of_string;
	uint32_t main_java, order_java, tax_java, fixed_tax_java, log_java, worker_java;
	uint32_t thread_start, plain_sort;
	uint64_t app, plugin, library;
};

static void put_strings(struct wmk_builder *b, struct names *n)
{
	build_chunk(b, WMK_STRINGS, 0, 0);
	build_string(b, 0, "hit"); /* number 0 */
	n->main_class = (uint32_t)build_string(b, 0, "shop.Main");
	n->order = (uint32_t)build_string(b, 0, "shop.Order");
	n->tax = (uint32_t)build_string(b, 0, "shop.Tax");
	n->fixed_tax = (uint32_t)build_string(b, 0, "shop.FixedTax");
	n->log = (uint32_t)build_string(b, 0, "shop.Log");
	n->worker = (uint32_t)build_string(b, 0, "shop.Worker");
	n->main = (uint32_t)build_string(b, 0, "main");
	n->total = (uint32_t)build_string(b, 0, "total");
	n->rate = (uint32_t)build_string(b, 0, "rate");
	n->write = (uint32_t)build_string(b, 0, "write");
	n->run = (uint32_t)build_string(b, 0, "run");
	n->of_main = (uint32_t)build_string(b, 0, "([Ljava/lang/String;)V");
	n->of_int = (uint32_t)build_string(b, 0, "(I)J");
	n->of_nothing = (uint32_t)build_string(b, 0, "()D");
	n->of_string = (uint32_t)build_string(b, 0, "(Ljava/lang/String;)V");
	n->main_java = (uint32_t)build_string(b, 0, "Main.java");
	n->order_java = (uint32_t)build_string(b, 0, "Order.java");
	n->tax_java = (uint32_t)build_string(b, 0, "Tax.java");
	n->fixed_tax_java = (uint32_t)build_string(b, 0, "FixedTax.java");
	n->log_java = (uint32_t)build_string(b, 0, "Log.java");
	n->worker_java = (uint32_t)build_string(b, 0, "Worker.java");
	n->thread_start = (uint32_t)build_string(b, 0, "java.lang.Thread.start");
	n->plain_sort = (uint32_t)build_string(b, 0, "plain_sort");
	n->app = build_string(b, 0, "app");
	n->plugin = build_string(b, 0, "plugin");
	n->library = build_string(b, 0, "/usr/lib/libplain.so");
}

static void put_images(struct wmk_builder *b, const struct names *n)
{
	static const uint8_t build_id[20] = {0xfe, 0xdc, 0xba, 0x98};

	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, 0, 0, 0, n->app, NULL, 0);
	build_image_kind(b, WMK_IMAGE_LOADER);
	build_image(b, 0, 0, 0, n->plugin, NULL, 0);
	build_image_kind(b, WMK_IMAGE_LOADER);
	build_image(b, 0, 0, 0, n->library, build_id, sizeof build_id);
	build_image_kind(b, WMK_IMAGE_BINARY);
}

static void put_method(struct wmk_builder *b, uint32_t image, uint32_t owner, uint32_t name, uint32_t descriptor,
		       uint32_t file, uint32_t line)
{
	const struct wmk_function f = {
		.image = image, .name = name, .owner = owner, .descriptor = descriptor, .file = file, .line = line};

	build_recorded_function(b, &f);
}

static void put_native(struct wmk_builder *b, uint64_t address, uint32_t name, uint32_t flags)
{
	const struct wmk_function f = {.address = address,
				       .image = LIBRARY,
				       .name = name,
				       .owner = WMK_NO_STRING,
				       .descriptor = WMK_NO_STRING,
				       .file = WMK_NO_STRING,
				       .flags = flags};

	build_recorded_function(b, &f);
}

static void put_functions(struct wmk_builder *b, const struct names *n)
{
	build_chunk(b, WMK_FUNCTIONS, EPOCHS_MAIN, 0);
	put_method(b, LOADER, n->main_class, n->main, n->of_main, n->main_java, 3);
	put_method(b, LOADER, n->order, n->total, n->of_int, n->order_java, 19);
	put_method(b, LOADER, n->tax, n->rate, n->of_nothing, n->tax_java, 30);
	put_method(b, LOADER, n->fixed_tax, n->rate, n->of_nothing, n->fixed_tax_java, 40);
	put_method(b, LOADER, n->log, n->write, n->of_string, n->log_java, 9);
	put_method(b, PLUGIN, n->tax, n->rate, n->of_nothing, n->tax_java, 7);
	put_native(b, 0x1000, n->plain_sort, WMK_FUNCTION_EXPORTED);
	put_native(b, 0x1234, WMK_NO_STRING, 0);
	put_method(b, LOADER, n->worker, n->run, n->of_nothing, n->worker_java, 50);
}

static void put_sites(struct wmk_builder *b, const struct names *n)
{
	build_chunk(b, WMK_SITES, 20, 0);
	build_recorded_site(b, EPOCHS_MAIN, WMK_SITE_CALL, WMK_NO_STRING, 5, 0, 0);               /* 20 */
	build_recorded_site(b, EPOCHS_ORDER, WMK_SITE_CALL, WMK_NO_STRING, 9, 0, 0);              /* 21 */
	build_recorded_site(b, EPOCHS_TAX, WMK_SITE_CALL, WMK_NO_STRING, 2, 0, 0);                /* 22 */
	build_recorded_site(b, EPOCHS_FIXED_TAX, WMK_SITE_CALL, WMK_NO_STRING, 4, 0, 0);          /* 23 */
	build_recorded_site(b, EPOCHS_PLUGIN_TAX, WMK_SITE_CALL, WMK_NO_STRING, 2, 0, 0);         /* 24 */
	build_recorded_site(b, EPOCHS_LOG, WMK_SITE_CAPTURE, WMK_NO_STRING, 11, 0, 0);            /* 25 */
	build_recorded_site(b, EPOCHS_LOG, WMK_SITE_CALL, WMK_NO_STRING, 20, 0, 0);               /* 26 */
	build_recorded_site(b, EPOCHS_MAIN, WMK_SITE_FOREIGN, n->thread_start, 30, 0, 0);         /* 27 */
	build_recorded_site(b, EPOCHS_WORKER, WMK_SITE_CALL, WMK_NO_STRING, 1, 0, WMK_SITE_TAIL); /* 28 */
	build_recorded_site(b, EPOCHS_ORDER, WMK_SITE_ENTRY, WMK_NO_STRING, 0, 0, 0);             /* 29 */
	build_chunk(b, WMK_SITES, 60, 0);
	build_recorded_site(b, EPOCHS_LOG, WMK_SITE_FOREIGN, n->plain_sort, 30, 44, 0);          /* 60 */
	build_recorded_site(b, EPOCHS_PLAIN_SORT, WMK_SITE_INDIRECT, WMK_NO_STRING, 0x10, 0, 0); /* 61 */
	build_recorded_site(b, EPOCHS_UNNAMED, WMK_SITE_CAPTURE, WMK_NO_STRING, 8, 0, 0);        /* 62 */
	build_chunk(b, WMK_LINES, 0, 0);
	build_recorded_line(b, EPOCHS_LOG, 15, 15); /* in any order */
	build_recorded_line(b, EPOCHS_LOG, 0, 10);
	build_recorded_line(b, EPOCHS_LOG, 11, 12);
	build_recorded_line(b, EPOCHS_MAIN, 0, 5);
	build_recorded_line(b, EPOCHS_MAIN, 5, 7);
	build_recorded_line(b, EPOCHS_MAIN, 27, 12);
	build_recorded_line(b, EPOCHS_ORDER, 0, 20);
	build_recorded_line(b, EPOCHS_ORDER, 8, 23);
	build_recorded_line(b, EPOCHS_TAX, 0, 31);
	build_recorded_line(b, EPOCHS_FIXED_TAX, 0, 41);
	build_recorded_line(b, EPOCHS_FIXED_TAX, 3, 42);
	build_recorded_line(b, EPOCHS_PLUGIN_TAX, 0, 8);
}

static void put_epoch_0(struct wmk_builder *b)
{
	const uint32_t root = WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY, dummy = WMK_EPOCH_HAS_DUMMY;

	build_chunk(b, WMK_EPOCH_FUNCTIONS, 0, 0);
	build_epoch_function(b, 0, EPOCHS_MAIN, 1, 0, root);
	build_epoch_function(b, 0, EPOCHS_WORKER, 1, 0, root);
	build_epoch_function(b, 0, EPOCHS_ORDER, 3, 2, dummy);
	build_epoch_function(b, 0, EPOCHS_TAX, 3, 0, 0);
	build_epoch_function(b, 0, EPOCHS_FIXED_TAX, 4, 0, root);
	build_epoch_function(b, 0, EPOCHS_PLUGIN_TAX, 1, 0, dummy);
	build_epoch_function(b, 0, EPOCHS_LOG, 8, 0, 0);
	build_chunk(b, WMK_EPOCH_EDGES, 0, 0);
	build_epoch_edge(b, 0, 20, EPOCHS_ORDER, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 0, 28, EPOCHS_ORDER, WMK_EDGE_ENCODED, 1);
	build_epoch_edge(b, 0, 21, EPOCHS_TAX, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 0, 21, EPOCHS_FIXED_TAX, WMK_EDGE_ENCODED, 1);
	build_epoch_edge(b, 0, 21, EPOCHS_PLUGIN_TAX, WMK_EDGE_CUT, 0);
	build_epoch_edge(b, 0, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 0, 23, EPOCHS_LOG, WMK_EDGE_ENCODED, 3);
	build_epoch_edge(b, 0, 24, EPOCHS_LOG, WMK_EDGE_ENCODED, 7);
	build_epoch_edge(b, 0, 26, EPOCHS_ORDER, WMK_EDGE_BACK, 0);
	build_chunk(b, WMK_EPOCHS, 0, 0);
	build_epoch_record(b, 0, 7, 9);
}

/* plain_sort and what it calls back were found when the epoch was under way. */
static void put_epoch_1(struct wmk_builder *b)
{
	const uint32_t root = WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY, dummy = WMK_EPOCH_HAS_DUMMY;

	build_chunk(b, WMK_EPOCH_FUNCTIONS, 0, 0);
	build_epoch_function(b, 1, EPOCHS_MAIN, 1, 0, root);
	build_epoch_function(b, 1, EPOCHS_WORKER, 1, 0, root);
	build_epoch_function(b, 1, EPOCHS_ORDER, 3, 2, dummy);
	build_epoch_function(b, 1, EPOCHS_TAX, 1, 0, dummy);
	build_epoch_function(b, 1, EPOCHS_FIXED_TAX, 4, 3, root);
	build_epoch_function(b, 1, EPOCHS_PLUGIN_TAX, 3, 0, 0);
	build_epoch_function(b, 1, EPOCHS_LOG, 8, 0, 0);
	build_epoch_function(b, 1, EPOCHS_PLAIN_SORT, 1, 0, root);
	build_epoch_function(b, 1, EPOCHS_UNNAMED, 1, 0, root);
	build_chunk(b, WMK_EPOCH_EDGES, 0, 0);
	build_epoch_edge(b, 1, 28, EPOCHS_ORDER, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 1, 20, EPOCHS_ORDER, WMK_EDGE_ENCODED, 1);
	build_epoch_edge(b, 1, 21, EPOCHS_PLUGIN_TAX, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 1, 21, EPOCHS_FIXED_TAX, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 1, 21, EPOCHS_TAX, WMK_EDGE_CUT, 0);
	build_epoch_edge(b, 1, 24, EPOCHS_LOG, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 1, 23, EPOCHS_LOG, WMK_EDGE_ENCODED, 3);
	build_epoch_edge(b, 1, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, 7);
	build_epoch_edge(b, 1, 26, EPOCHS_ORDER, WMK_EDGE_BACK, 0);
	build_chunk(b, WMK_EPOCHS, 0, 0);
	build_epoch_record(b, 1, 7, 9);
}

static void put_node(struct wmk_builder *b, uint32_t epoch, uint32_t parent, uint64_t id, uint32_t site, uint32_t run)
{
	build_node(b, parent, id, site, run);
	build_epoch(b, epoch);
}

static void put_nodes(struct wmk_builder *b)
{
	build_chunk(b, WMK_NODES, WM_PREFIX_FIRST, 0);
	put_node(b, 0, WM_PREFIX_PROCESS, 0, 21, 1); /* 16: Order.total pushed for the plugin's Tax.rate */
	put_node(b, 0, WM_PREFIX_PROCESS, 0, 27, 1); /* 17: main started a thread */
	put_node(b, 0, 17, 0, WM_SITE_THREAD, 1);    /* 18: which began here */
	put_node(b, 0, WM_PREFIX_PROCESS, 0, 26, 1); /* 19: Log.write called Order.total */
	put_node(b, 0, 19, 2, 26, 2);                /* 20: and two times more */
	put_node(b, 0, WM_PREFIX_PROCESS, 0, 29, 1); /* 21: Order.total was entered in epoch 0, began in epoch 1 */
	put_node(b, 1, WM_PREFIX_PROCESS, 4, 60, 1); /* 22: Log.write called plain_sort */
	put_node(b, 1, 22, 0, 61, 1);                /* 23: which called back */
	put_node(b, 1, WM_PREFIX_PROCESS, 0, 26, 1); /* 24: 19 but for the epoch */
	put_node(b, 1, WM_PREFIX_PROCESS, 1, 21, 1); /* 25: Order.total pushed for Tax.rate */
}

const struct epochs_context epochs_contexts[EPOCHS_CONTEXTS] = {
	{0, 1, 0, 25, 1},
	{0, 1, 4, 25, 2},
	{0, 16, 7, 25, 4},
	{0, 18, 5, 25, 8},
	{0, 20, 2, 25, 16},
	{1, 1, 0, 25, 32}, /* the first one's numbers */
	{1, 1, 4, 25, 64}, /* the second one's, and its frames */
	{1, 19, 5, 25, 128},
	{1, 24, 5, 25, 256},
	{1, 21, 2, 25, 512},
	{1, 23, 0, 62, 1024},
	{1, 23, 0, WM_SITE_FOREIGN, 2048},
	{1, 18, 0, 25, 4096},
	{1, 25, 7, 25, 8192},
};

static void put_records(struct wmk_builder *b)
{
	const struct epochs_context *first = &epochs_contexts[0], *twin = &epochs_contexts[5];
	struct wmk_path_count path = {.name_key = 1,
				      .cfg_key = 2,
				      .path_count = 4,
				      .r = 3,
				      .image = UINT32_MAX,
				      .kind = WM1_PATHS_HASH,
				      .flags = WMK_PATHS_RESIDUAL};

	build_chunk(b, WMK_EVENTS, 0, 4242);
	for (uint32_t i = 0; i < EPOCHS_CONTEXTS; i++) {
		const struct epochs_context *c = &epochs_contexts[i];

		build_event(b, 1000 + i, c->value, c->id, c->prefix, c->site, 0);
		build_epoch(b, c->epoch);
	}
	build_chunk(b, WMK_HEAP, 0, 0);
	build_heap(b, first->id, first->prefix, first->site, 1, 100, 0, 0, 100);
	build_heap(b, twin->id, twin->prefix, twin->site, 1, 10000, 0, 0, 10000);
	build_epoch(b, twin->epoch);
	build_chunk(b, WMK_PATH_COUNTS, 0, 0);
	for (uint32_t i = 0; i < EPOCHS_CONTEXTS; i++) {
		const struct epochs_context *c = &epochs_contexts[i];

		if (i > 0 && i < 4) /* so that a chunk of them is in a seed of the fuzzer */
			continue;
		path.count = c->value;
		path.id = c->id;
		path.prefix = c->prefix;
		path.site = c->site;
		path.epoch = c->epoch;
		build_path_count(b, &path);
	}
}

void build_epochs_code(struct wmk_builder *b)
{
	struct names n;

	build_wmk_init(b, EPOCHS_RUN, "/usr/bin/java");
	put_strings(b, &n);
	put_images(b, &n);
	put_functions(b, &n);
	put_sites(b, &n);
	put_epoch_0(b);
	put_epoch_1(b);
}

void build_epochs(struct wmk_builder *b)
{
	build_epochs_code(b);
	put_nodes(b);
	put_records(b);
	build_wmk_finish(b);
}

const struct epochs_context epochs_changed[EPOCHS_CHANGED] = {{7, 1, 0, 25, 1}, {8, 1, 0, 25, 2},  {8, 1, 1, 25, 4},
							      {9, 1, 0, 25, 8}, {9, 1, 1, 25, 16}, {9, 1, 2, 25, 32}};

static void put_changed_paths(struct wmk_builder *b)
{
	build_chunk(b, WMK_PATH_COUNTS, 0, 0);
	for (size_t i = EPOCHS_CHANGED; i-- > 0;)
		build_path_count(b, &(struct wmk_path_count){.name_key = 1,
							     .cfg_key = 2,
							     .path_count = 4,
							     .r = 3,
							     .count = epochs_changed[i].value,
							     .id = epochs_changed[i].id,
							     .prefix = epochs_changed[i].prefix,
							     .site = epochs_changed[i].site,
							     .image = UINT32_MAX,
							     .kind = WM1_PATHS_HASH,
							     .flags = WMK_PATHS_RESIDUAL,
							     .epoch = epochs_changed[i].epoch});
}

void build_epochs_changes(struct wmk_builder *b, uint64_t run)
{
	const uint32_t root = WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY;

	build_epochs_code(b);
	build_header_u64(b, offsetof(struct wmk_header, run), run);
	build_chunk(b, WMK_EPOCH_FUNCTIONS, 0, 0);
	build_epoch_function(b, 7, EPOCHS_TAX, 0, 0, root);
	build_epoch_function(b, 7, EPOCHS_LOG, 0, 0, 0);
	build_epoch_function(b, 8, EPOCHS_FIXED_TAX, 0, 0, root);
	build_epoch_function(b, 9, EPOCHS_PLUGIN_TAX, 0, 0, root);
	build_chunk(b, WMK_EPOCH_EDGES, 0, 0);
	build_epoch_edge(b, 7, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 8, 23, EPOCHS_LOG, WMK_EDGE_ENCODED, 0);
	build_epoch_edge(b, 8, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, 1);
	build_epoch_edge(b, 9, 24, EPOCHS_LOG, WMK_EDGE_ENCODED, 1);
	build_epoch_edge(b, 9, 22, EPOCHS_LOG, WMK_EDGE_ENCODED, 2);
	build_chunk(b, WMK_EPOCHS, 0, 0);
	build_ranked_epoch_record(b, 7, 0, 2, 1);
	build_ranked_epoch_record(b, 8, 7, 1, 2);
	build_ranked_epoch_record(b, 9, 8, 1, 2);
	put_changed_paths(b);
	build_wmk_finish(b);
}

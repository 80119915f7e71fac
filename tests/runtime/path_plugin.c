/* A library that counts paths; built more than once, with other names for its function (KEY). */
#include "waymark/paths.h"
#include "waymark/runtime.h"

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static _Thread_local uint64_t *slot;
static struct wm1_path_function function = {
	.abi_version = WM1_ABI_VERSION,
	.kind = WM1_PATHS_ARRAY,
	.name_key = KEY,
	.cfg_key = KEY * WM1_PATH_HASH,
	.path_count = 3,
	.ehdr = __ehdr_start,
	.entry_count = 3,
};

/* Counts path r; what tells whether it lies where another lay before. */
__attribute__((visibility("default"))) const void *plugin_count(unsigned int r);

__attribute__((visibility("default"))) const void *plugin_count(unsigned int r)
{
	uint64_t *table = slot ? slot : wm1_path_enter(&function, &slot);

	table[0]++;
	table[2 + r]++;
	return &function;
}

/* The first that is entered of the library, by dlopen. */
__attribute__((constructor(101))) static void start(void)
{
	plugin_count(0);
}

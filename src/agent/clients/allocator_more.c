/*
 * allocator_more.c - what libwaymark-heap.so cannot interpose: a malloc in the program itself, which all libraries use, too; the
 * operators new and delete of tcmalloc and jemalloc, which do not call malloc; their own names, which it must not have: programs ask by them
 * which allocator is there.
 *
 * Some of these are other names of malloc and free. What the client calls is not counted again.
 */
#include <dlfcn.h>
#include <link.h>

#include "agent/threads/thread.h"
#include "agent/clients/allocator.h"
#include "agent/clients/heap.h"
#include "agent/program/program.h"
#include "agent/os/log.h"
#include "agent/program/symbol.h"
#include "recorder/process.h"
#include "recorder/sys.h"

/* The client's image. Written once, at start. */
static const struct agent_image *client;

static bool begin(const void *return_address)
{
	if (agent_thread.is_allocating || agent_image_find((uintptr_t)return_address) == client)
		return false;
	agent_thread.is_allocating = true;
	return true;
}

static void *end(void *block, size_t size_bytes, const void *return_address, uint32_t function)
{
	agent_thread.is_allocating = false;
	if (block)
		wmrt_own_heap_alloc_from(block, size_bytes, return_address, (enum wm1_heap_function)function);
	return block;
}

/* Between begin and end: the block has moved, or could not be resized. */
static void settle(void *block, struct wm1_heap_block taken, bool is_resized)
{
	if (is_resized)
		wmrt_own_heap_freed(taken);
	else
		wmrt_own_heap_put_back(block, taken);
}

#define RETURN_ADDRESS __builtin_return_address(0)

/* size, and what else there is: flags, an alignment. */
#define SIZED(name, function)                                                                             \
	static void *(*next_##name)(size_t, uintptr_t, uintptr_t);                                        \
	static void *own_##name(size_t size_bytes, uintptr_t second, uintptr_t third)                     \
	{                                                                                                 \
		const void *return_address = RETURN_ADDRESS;                                              \
                                                                                                          \
		if (!begin(return_address))                                                               \
			return next_##name(size_bytes, second, third);                                    \
		return end(next_##name(size_bytes, second, third), size_bytes, return_address, function); \
	}
/* The block, and what else there is. */
#define FREES(name)                                                            \
	static void (*next_##name)(void *, uintptr_t, uintptr_t);              \
	static void own_##name(void *block, uintptr_t second, uintptr_t third) \
	{                                                                      \
		if (!block || !begin(RETURN_ADDRESS)) {                        \
			next_##name(block, second, third);                     \
			return;                                                \
		}                                                              \
		wmrt_own_heap_freed(wmrt_own_heap_take(block));                \
		next_##name(block, second, third);                             \
		agent_thread.is_allocating = false;                            \
	}
#define RESIZES(name, function)                                                               \
	static void *(*next_##name)(void *, size_t, int);                                     \
	static void *own_##name(void *block, size_t size_bytes, int flags)                    \
	{                                                                                     \
		const void *return_address = RETURN_ADDRESS;                                  \
		struct wm1_heap_block taken;                                                  \
		void *moved;                                                                  \
                                                                                              \
		if (!begin(return_address))                                                   \
			return next_##name(block, size_bytes, flags);                         \
		taken = block ? wmrt_own_heap_take(block) : (struct wm1_heap_block){0, 0, 0}; \
		moved = next_##name(block, size_bytes, flags);                                \
		if (block)                                                                    \
			settle(block, taken, moved || !size_bytes);                           \
		return end(moved, size_bytes, return_address, function);                      \
	}

/* clang-format off */
/* All of them: those of jemalloc, of tcmalloc, and the operators new and delete of both. OTHER: defined below. */
#define ALLOCATORS(SIZED, FREES, RESIZES, OTHER) \
	SIZED(mallocx, HEAP_MALLOCX) FREES(dallocx) FREES(sdallocx) RESIZES(rallocx, HEAP_RALLOCX) \
	OTHER(xallocx) \
	SIZED(tc_malloc, WM1_HEAP_MALLOC) SIZED(tc_valloc, WM1_HEAP_VALLOC) \
	SIZED(tc_pvalloc, WM1_HEAP_PVALLOC) RESIZES(tc_realloc, WM1_HEAP_REALLOC) FREES(tc_free) \
	FREES(tc_cfree) FREES(tc_free_sized) OTHER(tc_calloc) OTHER(tc_memalign) OTHER(tc_posix_memalign) \
	SIZED(_Znwm, HEAP_NEW) SIZED(_Znam, HEAP_NEW) SIZED(_ZnwmRKSt9nothrow_t, HEAP_NEW) \
	SIZED(_ZnamRKSt9nothrow_t, HEAP_NEW) SIZED(_ZnwmSt11align_val_t, HEAP_NEW) \
	SIZED(_ZnamSt11align_val_t, HEAP_NEW) SIZED(_ZnwmSt11align_val_tRKSt9nothrow_t, HEAP_NEW) \
	SIZED(_ZnamSt11align_val_tRKSt9nothrow_t, HEAP_NEW) \
	FREES(_ZdlPv) FREES(_ZdaPv) FREES(_ZdlPvm) FREES(_ZdaPvm) FREES(_ZdlPvRKSt9nothrow_t) \
	FREES(_ZdaPvRKSt9nothrow_t) FREES(_ZdlPvSt11align_val_t) FREES(_ZdaPvSt11align_val_t) \
	FREES(_ZdlPvmSt11align_val_t) FREES(_ZdaPvmSt11align_val_t) \
	FREES(_ZdlPvSt11align_val_tRKSt9nothrow_t) FREES(_ZdaPvSt11align_val_tRKSt9nothrow_t)
/* clang-format on */
#define NOTHING(name)
ALLOCATORS(SIZED, FREES, RESIZES, NOTHING)

static size_t (*next_xallocx)(void *, size_t, size_t, int);
static size_t own_xallocx(void *block, size_t size_bytes, size_t extra_bytes, int flags)
{
	const void *return_address = RETURN_ADDRESS;
	struct wm1_heap_block taken;
	size_t got;

	if (!begin(return_address))
		return next_xallocx(block, size_bytes, extra_bytes, flags);
	taken = wmrt_own_heap_take(block);
	got = next_xallocx(block, size_bytes, extra_bytes, flags);
	settle(block, taken, got >= size_bytes);
	end(got >= size_bytes ? block : NULL, size_bytes, return_address, HEAP_XALLOCX);
	return got;
}

static void *(*next_tc_calloc)(size_t, size_t);
static void *own_tc_calloc(size_t count, size_t size_bytes)
{
	const void *return_address = RETURN_ADDRESS;

	if (!begin(return_address))
		return next_tc_calloc(count, size_bytes);
	return end(next_tc_calloc(count, size_bytes), count * size_bytes, return_address, WM1_HEAP_CALLOC);
}

static void *(*next_tc_memalign)(size_t, size_t);
static void *own_tc_memalign(size_t alignment, size_t size_bytes)
{
	const void *return_address = RETURN_ADDRESS;

	if (!begin(return_address))
		return next_tc_memalign(alignment, size_bytes);
	return end(next_tc_memalign(alignment, size_bytes), size_bytes, return_address, WM1_HEAP_MEMALIGN);
}

static int (*next_tc_posix_memalign)(void **, size_t, size_t);
static int own_tc_posix_memalign(void **block, size_t alignment, size_t size_bytes)
{
	const void *return_address = RETURN_ADDRESS;
	int rc;

	if (!begin(return_address))
		return next_tc_posix_memalign(block, alignment, size_bytes);
	rc = next_tc_posix_memalign(block, alignment, size_bytes);
	end(rc == 0 ? *block : NULL, size_bytes, return_address, WM1_HEAP_POSIX_MEMALIGN);
	return rc;
}

/* Under the agent's lock. */
static struct allocator_hook hooks[] = {
#define HOOK(of, ...) {.name = #of, .own = (void *)own_##of, .next = (void **)&next_##of, .function = AGENT_NONE},
	ALLOCATORS(HOOK, HOOK, HOOK, HOOK)};
enum {
	HOOKS = sizeof hooks / sizeof *hooks,
};

static void say(const char *what, const char *name, const char *where, const struct agent_image *image, const char *end)
{
	char line[512];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, wmrt_getpid(), 10, 1);
	wmrt_text_add(&text, what);
	wmrt_text_add(&text, name);
	wmrt_text_add(&text, where);
	wmrt_text_add(&text, image->path);
	wmrt_text_add(&text, end);
	log_always(&text);
}

/* Where a function that is only a jump goes, 0: it is more. */
static uintptr_t forwards_to(uintptr_t at)
{
	const struct agent_image *image = agent_image_at(at);
	struct insn insn;
	uint64_t slot;

	if (image && scan_is_plt(&image->scan, at, &slot))
		return *(const uintptr_t *)slot; /* NOLINT(performance-no-int-to-ptr) */
	if (!image || !insn_decode((const uint8_t *)at, image->high - at, at, &insn) || /* NOLINT */
	    insn.kind != INSN_JUMP_DIRECT)
		return 0;
	return agent_resolve(insn.target);
}

/* By the client, or by what was put in front of it here: then calls that come there are counted. */
static bool is_followed(uintptr_t target)
{
	if (agent_image_at(target) == client)
		return true;
	for (int i = 0; i < HOOKS; i++)
		if (hooks[i].is_taken && agent_function(hooks[i].function)->start == target)
			return true;
	return false;
}

/* Some image refers to the name. */
static bool is_wanted(const char *name)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		const struct agent_image *image = agent_image_at((uintptr_t)map->l_ld);

		if (image && symbol_is_wanted(image, name))
			return true;
	}
	return false;
}

/* Only in a library that has malloc, too: libstdc++'s operators call that. */
static void take(struct allocator_hook *h)
{
	uintptr_t at = (uintptr_t)dlsym(RTLD_DEFAULT, h->name);
	const struct agent_image *image = at ? agent_image_at(at) : NULL;
	uint32_t function;

	if (!image || image->kind != AGENT_IMAGE_FOREIGN || !symbol_address(image, "malloc") ||
	    is_followed(forwards_to(at)))
		return;
	function = agent_function_at(at);
	if (function != AGENT_NONE && allocator_has_hook(hooks, h, function))
		return;
	h->is_taken = function != AGENT_NONE && agent_function(function)->start == at &&
		      allocator_make_hook(h, function) && patch_put_detour(&h->detour);
	if (!h->is_taken && is_wanted(h->name))
		say(": allocations by ", h->name, " of the allocator in ", image,
		    " cannot be followed: they are not recorded");
}

void allocator_take_more(void)
{
	uintptr_t at = (uintptr_t)dlsym(RTLD_DEFAULT, "malloc");
	const struct agent_image *image = at ? agent_image_at(at) : NULL;
	const char *missing;

	client = agent_image_at((uintptr_t)dlsym(RTLD_DEFAULT, "wm1_heap_attach"));
	if (!client)
		return;
	wmrt_own_heap_start();
	missing = image && allocator_is_own(at) ? allocator_take_own() : NULL;
	if (missing)
		say(": the function ", missing, " of the program's own allocator in ", image,
		    " has no room for a jump: allocations are not recorded");
	for (int i = 0; i < HOOKS; i++)
		take(&hooks[i]);
}

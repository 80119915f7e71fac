/*
 * alone.c - the part of the runtime that keeps contexts, without a recorder: in programs that record nothing by themselves.
 *
 * It defines, weakly, what that part uses of the rest. A program that captures, counts paths or has events is linked with a whole runtime, whose
 * definitions are in force there. So a program that does none of this keeps the context of each point, for core dumps and for a
 * recorder that comes with a library (struct wm1_whole), and has no code that makes a recording.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/agent.h"
#include "recorder/bus.h"
#include "recorder/handlers.h"
#include "recorder/image.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/sys.h"
#include "recorder/thread.h"
#include "runtime/clients.h"
#include "runtime/contexts/hybrid.h"
#include "runtime/contexts/origin.h"
#include "runtime/whole.h"

#define WEAK __attribute__((weak))

/* The whole runtime of a library; NULL: there is none yet. */
static _Atomic(const struct wm1_whole *) recorder;
/* The program's image. Written by its first constructor. */
static struct wm1_image *_Atomic program;

/* One that came with the program is known to the dynamic linker before any code of the process runs, one that comes later never. */
WEAK const struct wm1_whole *wmrt_front(void)
{
	static _Atomic int state; /* 0 not known, 1 there is none, 2 there is one */
	int known = atomic_load_explicit(&state, memory_order_relaxed);

	if (known == 0) {
		known = &wm1_whole && wm1_whole.is_in_front() ? 2 : 1;
		atomic_store_explicit(&state, known, memory_order_relaxed);
	}
	return known == 2 ? &wm1_whole : NULL;
}

WEAK bool wmrt_is_whole(void)
{
	return false;
}

WEAK bool wmrt_is_active(void)
{
	return !wmrt_agent() && !wmrt_front();
}

/* Its numbers are those that a recorder will give it. What is no program comes with a recorder, which knows it. */
WEAK void wm1_register(struct wm1_image *image)
{
	const struct wm1_whole *whole;

	if (&wm1_agent)
		return;
	if (image->flags & WM1_IMAGE_PROGRAM) {
		image->site_base = WM1_SITE_PROGRAM;
		atomic_store(&program, image);
	}
	whole = atomic_load(&recorder);
	if (whole)
		whole->register_image(image);
}

WEAK void wm1_unregister(struct wm1_image *image)
{
	(void)image;
}

extern __typeof(wm1_register) wmrt_own_register __attribute__((weak, alias("wm1_register"), visibility("hidden")));

static void attach(const struct wm1_whole *whole)
{
	const struct wm1_whole *none = NULL;
	struct wm1_image *image;

	if (wmrt_is_whole() || !atomic_compare_exchange_strong(&recorder, &none, whole))
		return;
	image = atomic_load(&program);
	if (image)
		whole->register_image(image);
}

const struct wm1_keeper wm1_keeper = {attach};

/* ---- numbers of a recording ---- */

WEAK uint32_t wmrt_signal_prefix(struct wm1_entry *entry)
{
	const struct wm1_whole *whole = atomic_load(&recorder);

	return whole ? whole->signal_prefix(entry) : (uint32_t)WM_PREFIX_SIGNAL;
}

WEAK uint32_t wmrt_task_root(void)
{
	const struct wm1_whole *whole = atomic_load(&recorder);

	return whole ? whole->task_root() : 0;
}

WEAK uint32_t wmrt_coroutine_prefix(void)
{
	const struct wm1_whole *whole = atomic_load(&recorder);

	return whole ? whole->coroutine_prefix() : (uint32_t)WM_PREFIX_LOST;
}

/* Programs with hybrid encoding are linked with a whole runtime. */
WEAK bool wmrt_has_hybrid;

WEAK uint64_t wmrt_hybrid_id_slow(uint64_t id, uint64_t sp, const struct wm1_entry *below)
{
	(void)sp;
	(void)below;
	return id;
}

/* ---- what there is no need of without a recording ---- */

WEAK void wmrt_mapping_drop(void *mapping, size_t len_bytes)
{
	(void)mapping;
	(void)len_bytes;
}

WEAK bool wmrt_bus_is_taken(void)
{
	return false;
}

WEAK bool wmrt_bus_was_taken(void)
{
	return false;
}

WEAK void wmrt_bus_start(void)
{
}

WEAK void wmrt_bus_take(void)
{
}

WEAK void wmrt_bus_give_back(void)
{
}

WEAK int wmrt_bus_action(const struct sigaction *act, struct sigaction *old)
{
	return wmrt_next_sigaction(SIGBUS, act, old);
}

WEAK uintptr_t wmrt_bus_open(const void *frame)
{
	(void)frame;
	return 0;
}

WEAK void wmrt_bus_close(uintptr_t outer)
{
	(void)outer;
}

WEAK bool wmrt_bus_is_blocked(uintptr_t sp)
{
	(void)sp;
	return false;
}

WEAK void wmrt_bus_set_blocked(bool is_blocked)
{
	(void)is_blocked;
}

WEAK wmrt_handler_fn wmrt_bus_handler(siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	return NULL;
}

/* ---- start ---- */

WEAK const struct wmrt_client *const wmrt_clients[] = {
	&wmrt_stacks, &wmrt_signals, &wmrt_jumps, &wmrt_coroutines, &wmrt_creators, NULL,
};

/* As recorder/start.c. */
__attribute__((constructor(101))) static void start(void)
{
	if (wmrt_is_whole() || !wmrt_is_active())
		return;
	wmrt_check_fork();
	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		if ((*c)->start)
			(*c)->start();
	if (wmrt_gettid() == wmrt_getpid())
		wmrt_process.main_thread = &wmrt_local;
}

/*
 * fork_log.c - the log. An entry is written by one process and never again: when there is no room left nothing more is told, and children
 * find anew what their siblings have found.
 */
#include "agent/follow/fork_log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "agent/epoch/epoch.h"
#include "agent/context/discover.h"
#include "agent/program/image.h"
#include "agent/threads/stop.h"
#include "recorder/sys.h"

enum {
	FINDS_MAX = 65536,
};

struct image_offset {
	uint32_t image; /* number */
	uint32_t offset;
};

struct find {
	_Atomic uint32_t kind; /* written last; 0: not there yet, or its writer has died */
	struct image_offset from, to;
};

/* Untouched pages are not there. */
struct log {
	_Atomic uint32_t count; /* may be more than there are */
	_Atomic uint32_t images;
	struct find finds[FINDS_MAX];
};

enum fork_log_kind {
	FORK_LOG_CALL = 1, /* the site at `from` calls `to` */
	FORK_LOG_ENTRY,    /* foreign code that comes back to `from` enters the function `to` */
};

struct fork_log_stats fork_log_stats;

/* Under the agent's lock. */
static struct log *fork_log; /* NULL: nothing was forked yet, or no memory */
static uint32_t taken;       /* so many are known here */
static bool is_child, is_taking;

static void number_image(struct agent_image *image)
{
	if (!image->fork_number)
		image->fork_number = 1 + atomic_fetch_add(&fork_log->images, 1);
}

static bool place_of(uintptr_t address, struct image_offset *ret)
{
	struct agent_image *image = agent_image_at(address);

	if (!image || address - image->low > UINT32_MAX)
		return false;
	number_image(image);
	*ret = (struct image_offset){image->fork_number, (uint32_t)(address - image->low)};
	return true;
}

static bool address_of(const struct image_offset *place, uintptr_t *ret)
{
	const struct agent_image *image = agent_images_first();

	while (image && image->fork_number != place->image)
		image = image->next;
	if (!image)
		return false;
	*ret = image->low + place->offset;
	return true;
}

static uint32_t count_finds(void)
{
	uint32_t count = atomic_load_explicit(&fork_log->count, memory_order_acquire);

	return count < FINDS_MAX ? count : FINDS_MAX;
}

/* Adds it to the log, in a process that was forked; nothing when the log is full. */
static void tell(enum fork_log_kind kind, uintptr_t from, uintptr_t to)
{
	struct image_offset from_place, to_place;
	uint32_t number;

	if (!is_child || is_taking || !fork_log)
		return;
	fork_log_stats.told++;
	if (count_finds() == FINDS_MAX || !place_of(from, &from_place) || !place_of(to, &to_place))
		return;
	number = atomic_fetch_add(&fork_log->count, 1);
	if (number >= FINDS_MAX)
		return;
	fork_log->finds[number].from = from_place;
	fork_log->finds[number].to = to_place;
	atomic_store_explicit(&fork_log->finds[number].kind, kind, memory_order_release);
}

static void tell_call(uintptr_t site, uintptr_t target)
{
	tell(FORK_LOG_CALL, site, target);
}

static void tell_entry(uintptr_t return_address, uintptr_t function)
{
	tell(FORK_LOG_ENTRY, return_address, function);
}

void fork_log_start(void)
{
	discover_tell(tell_call, tell_entry);
}

/* Takes in what other processes have found. */
static void import_finds(const struct unwind_regs *regs)
{
	uint32_t count = count_finds();

	/* Where a thread cannot be stopped now, the next fork may find that it can. */
	if (taken == count || !stop_others())
		return;
	is_taking = true;
	for (; taken < count; taken++) {
		struct find *find = &fork_log->finds[taken];
		uint32_t kind = atomic_load_explicit(&find->kind, memory_order_acquire);
		uintptr_t from, to;

		if (!kind || !address_of(&find->from, &from) || !address_of(&find->to, &to))
			continue;
		if (kind == FORK_LOG_CALL ? discover_import_call(from, to) : discover_import_entry(to, from))
			fork_log_stats.taken++;
	}
	epoch_retarget_returns(regs);
	is_taking = false;
	stop_end();
}

void fork_log_before_fork(const struct unwind_regs *regs)
{
	if (!fork_log) {
		long at = wmrt_sys6(SYS_mmap, 0, sizeof *fork_log, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at < 0)
			return;
		fork_log = (struct log *)at; /* NOLINT(performance-no-int-to-ptr) */
	}
	import_finds(regs);
	for (struct agent_image *image = agent_images_first(); image; image = image->next)
		number_image(image);
}

void fork_log_after_fork(void)
{
	is_child = true;
	fork_log_stats = (struct fork_log_stats){0};
}

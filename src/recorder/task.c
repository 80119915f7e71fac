/*
 * task.c - a stack of tasks for each thread, and the nodes of contexts in them.
 *
 *      thread       count   .-----------------.        known
 *      wmrt_tasks --------->| 0 is_ready ...  |        (context, begun, enqueued) -> node
 *                           | 1 is_ready ...  |        of the last contexts, so that most take no look at the prefix table
 *                           | ...             |
 *                           '-----------------'
 *
 * A handler may begin and end tasks of its own anywhere: an entry counts when is_ready is set, and count is larger before the entry is written.
 *
 * A task that enqueues itself again from the same place would have a longer context each time. So who enqueued is looked for among those that are there
 * already: a second equal link is the first one.
 */
#include "recorder/task.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "recorder/file.h"
#include "recorder/index.h"
#include "recorder/prefix_table.h"
#include "recorder/sys.h"
#include "recorder/thread.h"
#include "waymark/abi.h"

enum {
	TASKS = 64,  /* nested ones; contexts in more are lost */
	KNOWN = 64,  /* a power of two */
	LINKS = 256, /* that are looked through for an equal one */
	ENQUEUED_BITS = 32,
};

struct task {
	wm_context enqueued, begun;
	uint32_t enqueued_node, begun_node; /* 0: not interned yet */
	bool is_ready;
};

struct known {
	wm_context context;
	uint32_t begun, enqueued;
	uint32_t node; /* 0: it is free, or being written */
};

struct wmrt_task_memory {
	struct task tasks[TASKS];
	struct known known[KNOWN];  /* contexts in tasks */
	struct known queued[KNOWN]; /* of those who enqueued: the node of the context alone */
	bool is_writing;            /* in these: whoever interrupts that writes nothing there */
};

_Thread_local struct wmrt_tasks wmrt_tasks __attribute__((tls_model("initial-exec")));

/* In the record of a thread; a later owner goes on with it. */
struct slot {
	_Atomic(struct wmrt_task_memory *) memory;
};
static struct wmrt_client_slot client_slot = {.len_bytes = sizeof(struct slot)};
const struct wmrt_client wmrt_task_client = {.slot = &client_slot};

static inline void fence(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

static inline bool is_same(const wm_context *a, const wm_context *b)
{
	return a->id == b->id && a->prefix == b->prefix && a->site == b->site && a->epoch == b->epoch;
}

/* A handler may have been first. NULL without memory. */
static __attribute__((cold, noinline)) struct wmrt_task_memory *memory_new(void)
{
	struct wmrt_thread *thread;
	struct wmrt_task_memory *made, *memory = NULL;
	struct slot *slot;

	wmrt_check_fork();
	thread = wmrt_thread_self();
	if (!thread)
		return NULL;
	slot = wmrt_thread_slot(thread, &client_slot);
	memory = atomic_load(&slot->memory);
	if (!memory) {
		made = wmrt_map_memory(sizeof *made);
		if (!made)
			return NULL;
		if (atomic_compare_exchange_strong(&slot->memory, &memory, made))
			memory = made;
		else
			wmrt_unmap(made, sizeof *made);
	}
	/* The former owner may have ended in a task. */
	if (!wmrt_tasks.memory)
		for (size_t i = wmrt_tasks.count; i < TASKS; i++)
			memory->tasks[i].is_ready = false;
	return memory;
}

void wmrt_task_begin(const wm_context *enqueued, const wm_context *here)
{
	volatile struct wmrt_tasks *tasks = &wmrt_tasks;
	struct wmrt_task_memory *memory = tasks->memory;
	struct task *task;
	uint32_t place;

	if (WMRT_UNLIKELY(!memory))
		tasks->memory = memory = memory_new();
	place = tasks->count;
	tasks->count = place + 1;
	if (WMRT_UNLIKELY(!memory || place >= TASKS))
		return;
	task = &memory->tasks[place];
	fence();
	/* A thread of a pool begins its tasks at one place, mostly. */
	if (!is_same(&task->begun, here)) {
		task->begun_node = 0;
		task->begun = *here;
	}
	task->enqueued_node = 0;
	task->enqueued = *enqueued;
	fence();
	task->is_ready = true;
}

void wmrt_task_end(void)
{
	volatile struct wmrt_tasks *tasks = &wmrt_tasks;
	uint32_t count = tasks->count;

	if (!count)
		return;
	if (WMRT_LIKELY(tasks->memory && count <= TASKS))
		tasks->memory->tasks[count - 1].is_ready = false;
	fence();
	tasks->count = count - 1;
}

/* ---- contexts ---- */

static wm_context context_of(uint32_t prefix)
{
	return (wm_context){.prefix = prefix, .site = WM_SITE_FOREIGN, .epoch = WM_EPOCH_COMPILED};
}

/* The node of a context that was captured in a task, and the context without it. */
static bool read_task(wm_context c, struct wmk_node *ret)
{
	return c.site == WM_SITE_FOREIGN && !c.id && wmrt_prefix_read(c.prefix, ret) && ret->site == WM_SITE_TASK;
}

static uint32_t node_of(wm_context c)
{
	return wmrt_intern(c.prefix, c.epoch, c.id, c.site, 1);
}

static struct known *place_of(struct known places[KNOWN], wm_context c, uint32_t enqueued)
{
	uint64_t hash = wmrt_hash(c.id ^ (uint64_t)enqueued << 32, (uint64_t)c.prefix << 32 | c.site);

	return &places[hash % KNOWN];
}

static bool is_it(const struct known *k, wm_context c, uint32_t begun, uint32_t enqueued)
{
	return k->node && is_same(&k->context, &c) && k->begun == begun && k->enqueued == enqueued;
}

static void remember(struct wmrt_task_memory *memory, struct known *at, const struct known *known)
{
	if (memory->is_writing || known->node == WM_PREFIX_LOST)
		return;
	memory->is_writing = true;
	fence();
	at->node = 0;
	fence();
	at->context = known->context;
	at->begun = known->begun;
	at->enqueued = known->enqueued;
	fence();
	at->node = known->node;
	fence();
	memory->is_writing = false;
}

static uint32_t enqueued_node(struct wmrt_task_memory *memory, struct task *task)
{
	struct known *at, known = {.context = task->enqueued};
	struct wmk_node node;

	if (task->enqueued_node)
		return task->enqueued_node;
	at = place_of(memory->queued, known.context, 0);
	if (is_it(at, known.context, 0, 0)) {
		known.node = at->node;
	} else {
		known.node = read_task(known.context, &node) ? known.context.prefix : node_of(known.context);
		remember(memory, at, &known);
	}
	return task->enqueued_node = known.node;
}

static uint32_t begun_node(struct task *task)
{
	struct wmk_node node;

	if (!task->begun_node)
		task->begun_node = read_task(task->begun, &node) ? node.parent : node_of(task->begun);
	return task->begun_node;
}

/* The node of that context in a task, among those that the task stands on; 0: there is none. */
static uint32_t find_link(uint32_t plain, uint32_t enqueued)
{
	struct wmk_node node;

	for (int i = 0; i < LINKS && wmrt_prefix_read(enqueued, &node) && node.site == WM_SITE_TASK; i++) {
		if (node.parent == plain)
			return enqueued;
		enqueued = (uint32_t)node.id;
	}
	return 0;
}

static uint32_t intern_task(wm_context c, uint32_t begun, uint32_t enqueued)
{
	uint32_t plain = node_of(c), link;

	if (plain == WM_PREFIX_LOST || begun == WM_PREFIX_LOST || enqueued == WM_PREFIX_LOST)
		return WM_PREFIX_LOST;
	link = find_link(plain, enqueued);
	return link ? link
		    : wmrt_intern(plain, WM_EPOCH_COMPILED, (uint64_t)begun << ENQUEUED_BITS | enqueued, WM_SITE_TASK,
				  1);
}

/* The innermost one that has begun as a whole; NULL: there is none. */
static struct task *innermost(struct wmrt_task_memory *memory, uint32_t count)
{
	while (count && !memory->tasks[count - 1].is_ready)
		count--;
	return count ? &memory->tasks[count - 1] : NULL;
}

wm_context wmrt_task_wrap(wm_context c)
{
	struct wmrt_task_memory *memory = wmrt_tasks.memory;
	uint32_t count = wmrt_tasks.count;
	struct known known = {.context = c};
	struct known *at;
	struct task *task;

	if (c.epoch == WM_EPOCH_NONE || c.prefix == WM_PREFIX_LOST)
		return c;
	if (!memory || count > TASKS) {
		wmrt_file_drop(offsetof(struct wmk_header, dropped_prefixes));
		return context_of(WM_PREFIX_LOST);
	}
	task = innermost(memory, count);
	if (!task || task->enqueued.epoch == WM_EPOCH_NONE)
		return c;
	known.enqueued = enqueued_node(memory, task);
	known.begun = begun_node(task);
	at = place_of(memory->known, c, known.enqueued);
	if (WMRT_LIKELY(is_it(at, c, known.begun, known.enqueued)))
		return context_of(at->node);
	known.node = intern_task(c, known.begun, known.enqueued);
	remember(memory, at, &known);
	return context_of(known.node);
}

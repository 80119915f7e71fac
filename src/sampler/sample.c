/*
 * sample.c - a tick walks the stack of its own thread and records an event, whose value is the time since the thread's last one. Of CPU time, that is; what
 * ticks of the clock record is in waits.c.
 *
 * Each thread has a block of memory, mapped before its timer runs: the stack that walks run on, the frames of a walk, what the last one
 * became, and the cache of unwinding rows. Blocks are listed and never unmapped; a later thread takes over that of one that has ended.
 *
 * Where the sampler came later (sample_init, is_guest) nothing tells of threads: others give them their blocks (watch.h), and a thread finds
 * its own by its number, since not every thread has thread-local storage of the C library's.
 */
#include "sampler/sample.h"

#include <stdatomic.h>
#include <asm/prctl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <time.h>

#include "native/maps.h"
#include "native/own_stack.h"
#include "native/restart.h"
#include "recorder/bus.h"
#include "recorder/clock.h"
#include "recorder/file.h"
#include "recorder/filter.h"
#include "recorder/mapping.h"
#include "recorder/process.h"
#include "recorder/run.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "recorder/thread.h"
#include "sampler/allocator.h"
#include "sampler/block.h"
#include "sampler/helper.h"
#include "sampler/host.h"
#include "sampler/record.h"
#include "sampler/timer.h"
#include "sampler/trail.h"
#include "sampler/walk/sites.h"
#include "sampler/walk/walk.h"
#include "sampler/watch.h"
#include "waymark/abi.h"
#include "waymark/runtime.h"

enum {
	RED_ZONE_BYTES = 128,
	NAP_NS = 200000,
	NAPS = 50,
	WATCH_NS = 1000000000,
	TIDS = 4096, /* a power of two */
	HZ_MAX = 100000,
	REST = 20, /* times what a walk took passes before the next one: deep stacks cost a twentieth of the time at most */
};

static _Atomic(struct block *) blocks;
static _Atomic(struct block *) by_tid[TIDS]; /* where a block may be found */
_Thread_local struct block *block_own __attribute__((tls_model("initial-exec")));
/* On what this thread stands, also once it has ended here: destructors of its variables come after that. 0: not known. */
static _Thread_local uint32_t own_root __attribute__((tls_model("initial-exec")));
static uint64_t period_ns;
static bool is_guest;
static _Atomic bool is_on;

/* ---- a sample, on the stack of the block ---- */

/*
 * The C library keeps a thread's control block, where %fs is, above the thread's stack in the same mapping; the kernel puts the random bytes for the
 * program above main's. Above these addresses a mapping may be another's memory.
 */
static uintptr_t top_of(const struct unwind_stack *range, uintptr_t sp)
{
	uintptr_t thread = (uintptr_t)__builtin_thread_pointer(), program = getauxval(AT_RANDOM);

	if (thread > sp && thread < range->high)
		return thread;
	return program > sp && program < range->high ? program : 0;
}

static bool find_stack(void *data, uintptr_t sp, struct unwind_stack *ret)
{
	struct block *b = data;

	*ret = b->range;
	if (sp < ret->low || sp >= ret->high) {
		if (!maps_find_stack(&b->stacks, sp, &ret->low, &ret->high))
			return false;
		b->may_be_larger |= b->stacks.may_be_larger;
		b->is_cut |= b->stacks.is_cut;
		/* Other stacks, as coroutines have, come and go. */
		if (!b->stacks.is_recalled && b->stack_address >= ret->low && b->stack_address < ret->high) {
			b->range = *ret;
			b->stack_top = top_of(ret, sp);
		}
	}
	/* A stack that grows has more pages now than when it was looked up. */
	if (ret->low > sp - RED_ZONE_BYTES)
		ret->low = sp - RED_ZONE_BYTES;
	return true;
}

static uint64_t cpu_time_ns(void)
{
	return wmrt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it writes */
static void count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static bool has_guess(const struct walk *walk)
{
	for (size_t i = 0; i < walk->count; i++)
		if (walk->frames[i].flags & WALK_GUESSED)
			return true;
	return false;
}

/* The recording has the numbers however the process ends. */
static void publish(const struct walk *walk, enum walk_end end, bool is_wall)
{
	struct wmk_header *header = host->header();

	if (!header)
		return;
	if (is_wall) {
		header->wall_period_ns = waits_period_ns();
		count(&header->wall_samples);
	} else {
		header->sample_period_ns = period_ns;
		count(&header->samples);
	}
	if (end != WALK_COMPLETE)
		count(&header->samples_cut);
	if (has_guess(walk))
		count(&header->samples_guessed);
}

/* Returns what the outermost frame stands on. */
static uint32_t walk_from(struct block *b, const struct unwind_regs *regs, struct walk *walk, enum walk_end *ret_end)
{
	static const uint32_t roots[] = {[WALK_NO_DATA] = WM_PREFIX_NO_DATA, [WALK_TOO_DEEP] = WM_PREFIX_TOO_DEEP};

	*walk = (struct walk){.frames = b->frames,
			      .max = BLOCK_FRAMES_MAX,
			      .cache = &b->cache,
			      .code = &b->code,
			      .stack_of = find_stack,
			      .data = b};
	b->may_be_larger = b->is_cut = false;
	*ret_end = walk_stack(walk, regs);
	/* A frame may lie across the end of what was given of a large stack. */
	if ((b->may_be_larger && (*ret_end == WALK_NO_DATA || has_guess(walk))) ||
	    (b->is_cut && *ret_end == WALK_NO_DATA)) {
		b->stacks = (struct maps_stacks){0};
		*ret_end = walk_stack(walk, regs);
	}
	return *ret_end == WALK_COMPLETE ? b->root : roots[*ret_end];
}

/* context: NULL: there is no room for it. */
static void count_cpu(struct block *b, const wm_context *context, uint64_t cpu_ns)
{
	if (context)
		host->event(*context, "cpu", cpu_ns - b->counted_ns);
	else
		host->drop(offsetof(struct wmk_header, dropped_events));
	b->counted_ns = cpu_ns;
}

static void sample(void *data)
{
	struct block *b = block_own;
	struct walk walk;
	uint64_t cpu_ns = cpu_time_ns(), now_ns, took_ns;
	bool is_wall = b->tick == TICK_WALL, is_recorded;
	struct unwind_regs regs;
	enum walk_end end;
	uint32_t root;
	wm_context context;

	/* The next one has the time. */
	if (is_wall ? !waits_take(&b->waits) : cpu_ns < b->rest_ns)
		return;
	own_stack_no_alternate(data);
	unwind_regs_of_signal(data, &regs);
	regs.pc = allocator_place(regs.pc) ?: regs.pc;
	root = walk_from(b, &regs, &walk, &end);
	is_recorded = record_walk(&walk, root, &b->memory, &context);
	if (is_recorded)
		context = host_in_task(context);
	if (is_wall)
		waits_walked(&b->waits, is_recorded ? &context : NULL);
	else
		count_cpu(b, is_recorded ? &context : NULL, cpu_ns);
	publish(&walk, end, is_wall);
	now_ns = cpu_time_ns();
	took_ns = now_ns - cpu_ns;
	/* One walk may take long by chance: the first one of a process, of which all pages are new, or one beside which other machines ran. */
	b->rest_ns = now_ns + (took_ns < b->usual_ns ? took_ns : b->usual_ns) * REST;
	b->usual_ns = (b->usual_ns + took_ns) / 2;
}

/* ---- threads that were found ---- */

static struct block *find_block(uint32_t tid)
{
	struct block *b = atomic_load(&by_tid[tid % TIDS]);

	if (b && atomic_load(&b->tid) == tid)
		return b;
	for (b = atomic_load(&blocks); b && atomic_load(&b->tid) != tid; b = b->next)
		;
	if (b)
		atomic_store(&by_tid[tid % TIDS], b);
	return b;
}

static bool is_of_another(const struct block *mine, uintptr_t fs)
{
	for (struct block *b = atomic_load(&blocks); b; b = b->next) {
		uint32_t tid = atomic_load(&b->tid);

		if (b != mine && !b->is_foreign && tid && b->fs == fs && wmrt_thread_is_alive(wmrt_getpid(), tid))
			return true;
	}
	return false;
}

/*
 * Is a thread with that %fs the C library's? Its record of a thread begins there, and has its own address. Threads that it has not made may
 * have their creator's. mine: the thread's block, or NULL. Nothing here may use thread-local storage.
 */
static bool is_of_c_library(const struct block *mine, uintptr_t fs)
{
	enum {
		SELF = 16, /* in tcbhead_t of glibc */
	};
	uintptr_t self = 0;
	struct iovec to = {&self, sizeof self},
		     from = {(void *)(fs + SELF), sizeof self}; /* NOLINT(performance-no-int-to-ptr) */

	return fs && wmrt_sys6(SYS_process_vm_readv, wmrt_getpid(), (long)&to, 1, (long)&from, 1, 0) == sizeof self &&
	       self == fs && !is_of_another(mine, fs);
}

static uintptr_t fs_here(void)
{
	uintptr_t fs = 0;

	wmrt_sys3(SYS_arch_prctl, ARCH_GET_FS, (long)&fs, 0);
	return fs;
}

static void set_fs(struct block *b, uintptr_t fs)
{
	b->is_foreign = !is_of_c_library(b, fs);
	b->stack_address = atomic_load(&b->tid) == wmrt_getpid() ? getauxval(AT_RANDOM) : fs;
	b->fs = fs ? fs : 1;
}

/* The block of this thread, which others have given to it; NULL: it has none, or must not touch any. */
static struct block *guest_block(void)
{
	struct block *b = find_block(wmrt_gettid());

	if (!b)
		return NULL;
	if (!b->fs) {
		set_fs(b, fs_here());
		if (b->is_foreign) {
			sampler_timer_stop(&b->timer);
			waits_leave(&b->waits);
		}
	}
	if (b->is_foreign)
		return NULL;
	block_own = b;
	return b;
}

/* ---- ticks ---- */

/* Is a sample due, or something else done? */
static bool is_due(struct block *b, enum sampler_tick what)
{
	uint64_t now;

	if (what == TICK_SAMPLE || what == TICK_WALL)
		return true;
	now = cpu_time_ns();
	if (what == TICK_WATCH || now - b->watched_ns > WATCH_NS) {
		sampler_timer_watch(&b->timer);
		b->watched_ns = now;
	}
	return what == TICK_REST && now - b->counted_ns >= period_ns;
}

/* A clock that is not the thread's own is of the helper's. */
static bool is_alarm(const struct block *b, int clock_fd)
{
	return clock_fd >= 0 && !(b->timer.is_clock && clock_fd == b->timer.clock_fd);
}

static void on_tick(ucontext_t *context, enum sampler_tick what, int clock_fd)
{
	struct block *b;
	uintptr_t outer;

	if (wmrt_process.is_sealed)
		return;
	b = is_guest ? guest_block() : block_own;
	if (is_guest && !b)
		return;
	if (b && is_alarm(b, clock_fd))
		what = TICK_WALL;
	if (b && what == TICK_WALL)
		waits_interrupted(&b->waits, context);
	restart_call(context);
	if (!atomic_load(&is_on) || !b)
		return;
	if (what == TICK_SAMPLE)
		sampler_timer_go_on(&b->timer);
	if (what == TICK_WALL)
		waits_renew();
	if (atomic_load(&b->is_busy))
		return;
	if (is_due(b, what)) {
		atomic_store(&b->is_busy, true);
		b->tick = what;
		host->check_fork();
		outer = wmrt_bus_open(__builtin_frame_address(0));
		/* The kernel has blocked all signals but SIGBUS for the tick: nothing in it needs a system call for that. */
		wmrt_local.blocks++;
		own_stack_call(b->stack + BLOCK_STACK_BYTES, sample, context);
		wmrt_local.blocks--;
		wmrt_bus_close(outer);
		atomic_store(&b->is_busy, false);
	}
	watch_look();
}

bool restart_is_code(uintptr_t low, uintptr_t high)
{
	const struct sampler_image *image = sampler_image_at(low);

	return image && image == sampler_image_at(high) && sampler_image_has_text(image, low) &&
	       sampler_image_has_text(image, high);
}

/* ---- threads ---- */

/* The number behind NAME=, or behind nothing where there is no name. */
static uint32_t rate_at(const char *word, const char *name)
{
	size_t len = strlen(name);
	unsigned long hz = strncmp(word, name, len) == 0 ? strtoul(word + len, NULL, 10) : 0;

	return hz <= HZ_MAX ? (uint32_t)hz : 0;
}

bool sample_rates_parse(const char *text, struct sample_rates *ret)
{
	*ret = (struct sample_rates){0};
	for (; text && *text; text = strchr(text, ','), text = text ? text + 1 : NULL) {
		ret->cpu_hz += rate_at(text, "");
		ret->waits.wall_hz += rate_at(text, "wall=");
		ret->waits.off_cpu_hz += rate_at(text, "off-cpu=");
	}
	return ret->cpu_hz || ret->waits.wall_hz || ret->waits.off_cpu_hz;
}

bool sample_init(const struct sample_rates *wanted, bool guest)
{
	is_guest = guest;
	sites_init(host);
	period_ns = wanted->cpu_hz ? 1000000000u / wanted->cpu_hz : 0;
	atomic_store(&is_on, waits_init(&wanted->waits, guest ? watch_find : NULL) &&
				     sampler_timer_init(wanted->cpu_hz, guest, on_tick));
	return is_on;
}

bool sample_start_waits(void)
{
	return waits_start();
}

bool sample_is_on(void)
{
	return atomic_load(&is_on);
}

/* Once a process. */
static void say_no_timer(void)
{
	static _Atomic bool is_said;
	char line[256];
	struct wmrt_text text = {line, sizeof line, 0};

	if (atomic_exchange(&is_said, true))
		return;
	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, wmrt_getpid(), 10, 1);
	wmrt_text_add(&text, ": the kernel gives no timer (see ulimit -i): thread ");
	wmrt_text_number(&text, wmrt_gettid(), 10, 1);
	wmrt_text_add(&text, " has no samples, and later threads may have none\n");
	wmrt_sys3(SYS_write, 2, (long)text.data, (long)text.len);
}

/* From the thread with the number `from`; 0: from none. */
static bool take_over_block(struct block *b, uint32_t from, uint32_t tid)
{
	if (!atomic_compare_exchange_strong(&b->tid, &from, tid))
		return false;
	b->root = 0; /* of the thread that has had it */
	b->range = (struct unwind_stack){0, 0};
	b->stacks = (struct maps_stacks){0};
	b->stack_top = b->fs = 0;
	b->is_foreign = b->has_come = b->is_clock_due = false;
	trail_reset(&b->trail);
	return true;
}

/* A thread that allocates when it has said that it ends gets a block without a clock, and does not give that back. */
static bool is_left(struct block *b)
{
	uint32_t tid = atomic_load(&b->tid);

	return !is_guest && tid && !b->timer.is_given && !wmrt_thread_is_alive(wmrt_getpid(), tid);
}

static struct block *take_block(uint32_t tid)
{
	struct block *b;

	for (b = atomic_load(&blocks); b; b = b->next)
		if (!atomic_load(&b->tid) && take_over_block(b, 0, tid))
			return b;
	for (b = atomic_load(&blocks); b; b = b->next) {
		uint32_t left = atomic_load(&b->tid);

		if (is_left(b) && take_over_block(b, left, tid))
			return b;
	}
	b = wmrt_map_memory(sizeof *b);
	if (!b)
		return NULL;
	atomic_store(&b->tid, tid);
	b->memory.known = b->known;
	b->next = atomic_load(&blocks);
	while (!atomic_compare_exchange_weak(&blocks, &b->next, b))
		;
	return b;
}

bool sample_begin_thread(uint32_t root)
{
	struct block *b = block_own;
	bool is_started = false;
	uint64_t mask;

	if (!atomic_load(&is_on))
		return false;
	mask = wmrt_block_signals();
	if (!b)
		b = take_block(wmrt_gettid());
	if (b) {
		b->root = own_root = root;
		b->range = (struct unwind_stack){0, 0};
		b->stacks = (struct maps_stacks){0};
		b->stack_address = (uintptr_t)__builtin_frame_address(0);
		b->stack_top = 0;
		b->counted_ns = cpu_time_ns();
		b->rest_ns = b->usual_ns = b->watched_ns = 0;
		block_own = b;
		waits_begin(&b->waits, atomic_load(&b->tid));
		is_started = sampler_timer_start(&b->timer, atomic_load(&b->tid));
		if (!is_started)
			say_no_timer();
	}
	wmrt_unblock_signals(mask);
	return is_started;
}

void sample_end_thread(void)
{
	struct block *b = block_own;
	uint64_t mask;

	if (!b)
		return;
	mask = wmrt_block_signals();
	waits_leave(&b->waits);
	sampler_timer_stop(&b->timer);
	block_own = NULL;
	atomic_store(&b->tid, 0);
	wmrt_unblock_signals(mask);
}

void sample_after_fork(void)
{
	struct block *mine = block_own;

	sites_after_fork();
	sampler_images_after_fork();
	for (struct block *b = atomic_load(&blocks); b; b = b->next) {
		sampler_timer_forget(&b->timer);
		waits_forget(&b->waits);
		atomic_store(&b->is_busy, false);
		if (b != mine || is_guest)
			atomic_store(&b->tid, 0);
	}
	if (is_guest) {
		atomic_store(&is_on, false);
		block_own = NULL;
		return;
	}
	if (!mine)
		return;
	atomic_store(&mine->tid, wmrt_gettid());
	sample_begin_thread(mine->root);
	waits_start();
}

void sample_pause(void)
{
	if (block_own && atomic_load(&is_on))
		sampler_timer_stop(&block_own->timer);
}

void sample_resume(void)
{
	if (block_own && atomic_load(&is_on))
		sampler_timer_start(&block_own->timer, atomic_load(&block_own->tid));
}

/* ---- as a guest ---- */

bool sample_guest_is_thread(void)
{
	return is_of_c_library(find_block(wmrt_gettid()), fs_here());
}

static bool start_clock(struct block *b, uint32_t tid)
{
	b->is_clock_due = false;
	if (b->is_foreign)
		return true;
	waits_begin(&b->waits, tid);
	return sampler_timer_start(&b->timer, tid);
}

bool sample_guest_thread(uint32_t tid, uint32_t look, uintptr_t fs, bool is_clock_later)
{
	struct block *b;

	if (tid == helper_tid())
		return true;
	b = find_block(tid);
	if (b && (b->timer.is_given || b->is_foreign)) {
		b->look = look;
		return true;
	}
	/* It may be at work in its block. */
	if (b && (b->is_clock_due || b->has_come) && !fs) {
		b->look = look;
		return start_clock(b, tid);
	}
	if (!b)
		b = take_block(tid);
	if (!b)
		return false;
	b->root = tid == wmrt_getpid() ? WM_PREFIX_PROCESS : WM_PREFIX_THREAD;
	b->look = look;
	b->range = (struct unwind_stack){0, 0};
	b->fs = b->stack_address = 0;
	b->is_foreign = b->has_come = false;
	b->counted_ns = fs ? sampler_timer_time_of(tid) : 0;
	b->rest_ns = b->usual_ns = b->watched_ns = 0;
	atomic_store(&by_tid[tid % TIDS], b);
	if (fs)
		set_fs(b, fs);
	b->is_clock_due = is_clock_later;
	return is_clock_later || start_clock(b, tid);
}

void sample_guest_end(uint32_t look)
{
	for (struct block *b = atomic_load(&blocks); b; b = b->next) {
		uint32_t tid = atomic_load(&b->tid);

		/* A list of threads that begin and end may leave one out. */
		if (!tid || b->look == look || wmrt_thread_is_alive(wmrt_getpid(), tid))
			continue;
		sampler_timer_stop(&b->timer);
		waits_leave(&b->waits);
		atomic_store(&b->tid, 0);
	}
}

bool sample_guest_stop(void)
{
	bool ret = false;

	atomic_store(&is_on, false);
	helper_stop();
	for (struct block *b = atomic_load(&blocks); b; b = b->next) {
		ret |= b->timer.is_given;
		sampler_timer_stop(&b->timer);
	}
	return ret;
}

bool sample_guest_is_busy(uint32_t tid)
{
	struct block *b = find_block(tid);

	return tid == helper_tid() || (b && atomic_load(&b->is_busy));
}

/* This thread allocates. NULL: it has no block, or must not touch any. */
static struct block *come_as_guest(void)
{
	uint32_t tid = wmrt_gettid();
	struct block *b = find_block(tid);

	/* Nobody has told of the thread that has had this number. */
	if (b && b->fs && b->fs != fs_here() && !take_over_block(b, tid, tid))
		return NULL;
	if (!b) {
		b = take_block(tid);
		if (!b)
			return NULL;
		b->counted_ns = b->rest_ns = b->usual_ns = b->watched_ns = 0;
		b->has_come = true;
		atomic_store(&by_tid[tid % TIDS], b);
	}
	return guest_block();
}

/* ---- without a tick ---- */

/* Registers as they are here; those that callees may change are not known. */
static inline __attribute__((always_inline)) struct unwind_regs regs_here(void)
{
	struct unwind_regs regs = {.known = 1 << CFI_RSP | 1 << CFI_RBP | 1 << CFI_RBX | 1 << CFI_R12 | 1 << CFI_R13 |
					    1 << CFI_R14 | 1 << CFI_R15};

	__asm__ volatile("leaq 0(%%rip), %%rax\n\t"
			 "movq %%rax, %0\n\t"
			 "movq %%rsp, %1\n\t"
			 "movq %%rbp, %2\n\t"
			 "movq %%rbx, %3\n\t"
			 "movq %%r12, %4\n\t"
			 "movq %%r13, %5\n\t"
			 "movq %%r14, %6\n\t"
			 "movq %%r15, %7"
			 : "=m"(regs.pc), "=m"(regs.r[CFI_RSP]), "=m"(regs.r[CFI_RBP]), "=m"(regs.r[CFI_RBX]),
			   "=m"(regs.r[CFI_R12]), "=m"(regs.r[CFI_R13]), "=m"(regs.r[CFI_R14]), "=m"(regs.r[CFI_R15])
			 :
			 : "rax");
	return regs;
}

struct call {
	struct unwind_regs regs;
	uintptr_t return_address;
	const char *name; /* NULL: the context of the call itself */
	wm_context *ret;
	bool is_check; /* another walk counts */
	bool ok;
};

/* Trails are whole and have no guesses. */
static void count_allocation(const struct walk *walk, enum walk_end end)
{
	struct wmk_header *header = host->header();

	if (header && end != WALK_COMPLETE)
		count(&header->heap_cut);
	if (header && has_guess(walk))
		count(&header->heap_guessed);
}

/* On the stack of the block. */
static void record_here(void *data)
{
	struct call *call = data;
	struct block *b = block_own;
	struct walk walk;
	enum walk_end end;
	uint32_t root = walk_from(b, &call->regs, &walk, &end);

	if (call->name && !call->is_check)
		count_allocation(&walk, end);
	call->ok = call->name ? record_call(&walk, call->return_address, call->name, root, &b->memory, call->ret)
			      : record_walk(&walk, root, &b->memory, call->ret);
}

/* Ticks are left out meanwhile: the time of one that comes is the next one's. */
static inline __attribute__((always_inline)) bool record_from_here(struct call *call)
{
	uint64_t mask;

	if (!atomic_load(&is_on))
		return false;
	host->check_fork();
	mask = wmrt_block_signals();
	if (!block_own)
		block_own = is_guest ? come_as_guest() : take_block(wmrt_gettid());
	if (block_own) {
		if (!block_own->root)
			block_own->root = own_root ? own_root : WM_PREFIX_THREAD;
		call->regs = regs_here();
		own_stack_call(block_own->stack + BLOCK_STACK_BYTES, record_here, call);
	}
	wmrt_unblock_signals(mask);
	return call->ok;
}

bool sample_here(wm_context *ret)
{
	return record_from_here(&(struct call){.ret = ret});
}

bool sample_call(uintptr_t return_address, const char *name, bool is_check, wm_context *ret)
{
	return record_from_here(
		&(struct call){.return_address = return_address, .name = name, .ret = ret, .is_check = is_check});
}

uint32_t sample_thread_root(void)
{
	wm_context here;
	uint32_t prefix = WM_PREFIX_LOST;

	if (sample_here(&here)) {
		here = host_in_task(here);
		prefix = record_thread(&here);
	}
	return prefix == WM_PREFIX_LOST ? WM_PREFIX_THREAD : prefix;
}

/* ---- filters of system calls ---- */

static void say_filtered(void)
{
	char line[512];
	struct wmrt_text text = {line, sizeof line, 0};
	const char *path = wmrt_file_path();

	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, wmrt_getpid(), 10, 1);
	wmrt_text_add(&text,
		      " asks for a seccomp filter, under which no samples can be taken: its recording ends here");
	if (path) {
		wmrt_text_add(&text, ", whole: ");
		wmrt_text_add(&text, path);
	}
	wmrt_text_add(&text, "\n");
	wmrt_sys3(SYS_write, 2, (long)text.data, (long)text.len);
}

static bool is_any_busy(void)
{
	for (struct block *b = atomic_load(&blocks); b; b = b->next)
		if (atomic_load(&b->tid) && atomic_load(&b->is_busy))
			return true;
	return false;
}

/* The filter may be for all threads. No system call is made for a recording afterwards. */
void wmrt_before_filter(void)
{
	const struct timespec nap = {0, NAP_NS};

	if (!atomic_exchange(&is_on, false))
		return;
	waits_end();
	for (struct block *b = atomic_load(&blocks); b; b = b->next)
		sampler_timer_stop(&b->timer);
	for (int i = 0; i < NAPS && is_any_busy(); i++)
		wmrt_sys3(SYS_nanosleep, (long)&nap, 0, 0);
	say_filtered();
	wmrt_file_close(WMK_FLAG_FILTERED);
	wmrt_bus_give_back();
	wmrt_seal();
	wmrt_mapping_clear_all();
}

/* sampled_threads.c - records of threads in slots, by whose number a tick finds its own. A slot is taken over, never freed. */
#include "jvm/c/walk/sampled_threads.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "native/libc_signals.h"
#include "native/maps.h"
#include "native/restart.h"
#include "native/tasks.h"
#include "native/thread_timer.h"
#include "recorder/bus.h"
#include "recorder/clock.h"
#include "recorder/sys.h"
#include "recorder/text.h"
#include "recorder/thread_name.h"

enum {
	MAX_THREADS = 1 << 16,
	LOOK_NS = 100000000,
	NAME_BYTES = 64,
};

struct slot {
	_Atomic uint32_t tid; /* 0: free */
	_Atomic bool is_busy; /* in a tick; by its thread */
	_Atomic bool has_ticked;
	bool is_named;
	uint32_t look; /* when it was there last */
	struct thread_timer timer;
	struct jvm_sampled_thread thread;
};

/* Slots and their timers are changed under the lock; a tick reads its own, which is there before its timer. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot *slots[MAX_THREADS];
static uint32_t slot_count;
static uint32_t looks;
static uint32_t begun;   /* how often */
static uint32_t watcher; /* its number */
static uint64_t period_ns;
static void (*tick)(void *context, struct jvm_sampled_thread *thread);
static _Atomic bool is_on;
/* The C library's code, in which system calls are made again. */
static struct maps_range libc_code;

bool restart_is_code(uintptr_t low, uintptr_t high)
{
	return low >= libc_code.low && high < libc_code.high;
}

/* ---- ticks ---- */

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct slot *s;
	uintptr_t outer;

	if (info->si_code != SI_TIMER || (uint32_t)info->si_value.sival_int >= MAX_THREADS) {
		libc_signal_pass_on(number, info, context);
		return;
	}
	restart_call(context);
	s = slots[info->si_value.sival_int];
	if (!atomic_load(&is_on) || !s || atomic_load(&s->tid) != wmrt_gettid() || atomic_exchange(&s->is_busy, true))
		return;
	atomic_store_explicit(&s->has_ticked, true, memory_order_relaxed);
	outer = wmrt_bus_open(__builtin_frame_address(0));
	tick(context, &s->thread);
	wmrt_bus_close(outer);
	atomic_store(&s->is_busy, false);
}

/* ---- slots, under the lock ---- */

static uint64_t used_ns(uint32_t tid)
{
	return wmrt_clock_ns(thread_clock(tid, false));
}

/* Returns its number; MAX_THREADS: there are too many threads, or there is no memory. */
static uint32_t free_slot(void)
{
	uint32_t i = 0;

	while (i < slot_count && atomic_load(&slots[i]->tid))
		i++;
	if (i < slot_count)
		return i;
	if (i == MAX_THREADS)
		return MAX_THREADS;
	slots[i] = wmrt_map_memory(sizeof *slots[i]);
	if (!slots[i])
		return MAX_THREADS;
	slot_count++;
	return i;
}

static struct slot *find_slot(uint32_t tid)
{
	for (uint32_t i = 0; i < slot_count; i++)
		if (atomic_load(&slots[i]->tid) == tid)
			return slots[i];
	return NULL;
}

/* is_old: what it has used until now is not counted. */
static void add(uint32_t tid, bool is_named, bool is_old)
{
	uint32_t i = find_slot(tid) ? MAX_THREADS : free_slot();
	struct slot *s;

	if (i == MAX_THREADS)
		return;
	s = slots[i];
	s->is_named = is_named;
	s->look = looks;
	jvm_native_frames_forget(&s->thread.native);
	s->thread.counted_ns = is_old ? used_ns(tid) : 0;
	atomic_store(&s->has_ticked, false);
	atomic_store(&s->is_busy, false);
	atomic_store(&s->tid, tid);
	if (!thread_timer_start(&s->timer, tid, false, period_ns, (int)i)) {
		thread_timer_stop(&s->timer);
		atomic_store(&s->tid, 0);
	}
}

static void remove_slot(struct slot *s)
{
	thread_timer_stop(&s->timer);
	atomic_store(&s->tid, 0);
}

/* ---- threads that nobody tells of ---- */

static void look_at(uint32_t tid, void *data)
{
	const bool *is_first = data;
	struct slot *s = find_slot(tid);

	if (s)
		s->look = looks;
	else if (tid != watcher)
		add(tid, false, *is_first);
}

/* The virtual machine gives its threads names in the kernel. */
static void name_thread(struct slot *s)
{
	char path[NAME_BYTES], name[NAME_BYTES];
	struct wmrt_text text = {path, sizeof path, 0};
	long fd, len;

	wmrt_text_add(&text, "/proc/self/task/");
	wmrt_text_number(&text, atomic_load(&s->tid), 10, 1);
	wmrt_text_add(&text, "/comm");
	fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return;
	len = wmrt_sys3(SYS_read, fd, (long)name, sizeof name - 1);
	wmrt_sys3(SYS_close, fd, 0, 0);
	if (len <= 1)
		return;
	name[len - 1] = '\0';
	wmrt_thread_name(atomic_load(&s->tid), name);
	s->is_named = true;
}

static void look(bool is_first)
{
	static struct tasks_buffer buffer;

	looks++;
	tasks_each("/proc/self/task", &buffer, look_at, &is_first);
	for (uint32_t i = 0; i < slot_count; i++) {
		struct slot *s = slots[i];

		if (!atomic_load(&s->tid))
			continue;
		if (s->look != looks)
			remove_slot(s);
		else if (!s->is_named && atomic_load(&s->has_ticked))
			name_thread(s);
	}
}

/* data: whose watcher it is. It sleeps through an end that a begin follows soon. */
static void *watch(void *data)
{
	const struct timespec pause = {0, LOOK_NS};
	const uint32_t own = (uint32_t)(uintptr_t)data;
	bool goes_on = true;

	pthread_mutex_lock(&lock);
	watcher = wmrt_gettid();
	pthread_mutex_unlock(&lock);
	while (goes_on) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		pthread_mutex_lock(&lock);
		goes_on = atomic_load(&is_on) && own == begun;
		if (goes_on)
			look(false);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static bool start_watcher(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	bool ret;

	if (pthread_attr_init(&attr) != 0)
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&thread, &attr, watch, (void *)(uintptr_t)begun) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return ret;
}

bool jvm_sampled_threads_begin(uint64_t ns, void (*on_tick)(void *context, struct jvm_sampled_thread *thread))
{
	period_ns = ns;
	tick = on_tick;
	if (!maps_find((uintptr_t)getauxval, &libc_code))
		libc_code = (struct maps_range){0};
	libc_signal_init(TICK_SIGNAL, on_signal);
	if (!libc_signal_keep(TICK_SIGNAL))
		return false;
	pthread_mutex_lock(&lock);
	begun++;
	atomic_store(&is_on, true);
	look(true);
	pthread_mutex_unlock(&lock);
	return slot_count && start_watcher();
}

void jvm_sampled_threads_add(void)
{
	uint32_t tid = wmrt_gettid();
	struct slot *s;

	pthread_mutex_lock(&lock);
	s = find_slot(tid);
	if (s)
		s->is_named = true;
	else if (atomic_load(&is_on))
		add(tid, true, false);
	pthread_mutex_unlock(&lock);
}

void jvm_sampled_threads_name(uint32_t tid)
{
	struct slot *s;

	pthread_mutex_lock(&lock);
	s = find_slot(tid);
	if (s)
		s->is_named = true;
	pthread_mutex_unlock(&lock);
}

void jvm_sampled_threads_remove(void)
{
	struct slot *s;

	pthread_mutex_lock(&lock);
	s = find_slot(wmrt_gettid());
	if (s)
		remove_slot(s);
	pthread_mutex_unlock(&lock);
}

void jvm_sampled_threads_end(void)
{
	atomic_store(&is_on, false);
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < slot_count; i++)
		if (atomic_load(&slots[i]->tid))
			remove_slot(slots[i]);
	pthread_mutex_unlock(&lock);
}

/* sys.c - the system calls that need more than a number. See sys.h. */
#include "recorder/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum {
	HIGH_FD = 500,
	OWN_MEMORY_MAX = 1024,
};

void *wmrt_map(void *fixed, size_t len_bytes, int is_shared, int fd, uint64_t off)
{
	int flags = (is_shared ? MAP_SHARED : MAP_PRIVATE) | (fd < 0 ? MAP_ANONYMOUS | MAP_NORESERVE : 0) |
		    (fixed ? MAP_FIXED : 0);
	long at = wmrt_sys6(SYS_mmap, (long)fixed, (long)len_bytes, PROT_READ | PROT_WRITE, flags, fd, (long)off);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

/* Written once. */
static _Atomic(bool) is_sealed;

/* low is 0 in a place that is free; high is written behind it. */
static struct {
	_Atomic uintptr_t low, high;
} own_memory[OWN_MEMORY_MAX];

/* Places from here on have never been taken: nobody looks at them. */
static _Atomic size_t own_memory_end;

static void take_place(size_t place)
{
	size_t end = atomic_load(&own_memory_end);

	while (end <= place && !atomic_compare_exchange_weak(&own_memory_end, &end, place + 1))
		continue;
}

void wmrt_own_memory(uintptr_t low, uintptr_t high)
{
	for (size_t i = 0; i < OWN_MEMORY_MAX; i++) {
		uintptr_t none = 0;

		if (atomic_load_explicit(&own_memory[i].low, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&own_memory[i].low, &none, low))
			continue;
		take_place(i);
		atomic_store_explicit(&own_memory[i].high, high, memory_order_release);
		return;
	}
}

/* Before it is given back, and may be the program's. Of a mapping that loses its middle, the part in front is kept. */
static void forget_own_memory(uintptr_t low, uintptr_t high)
{
	for (size_t i = 0, end = atomic_load(&own_memory_end); i < end; i++) {
		uintptr_t from = atomic_load(&own_memory[i].low), to = atomic_load(&own_memory[i].high);

		if (!from || from >= high || to <= low)
			continue;
		if (from < low) {
			atomic_store(&own_memory[i].high, low);
		} else if (to > high) {
			atomic_store(&own_memory[i].low, high);
		} else {
			atomic_store(&own_memory[i].high, 0);
			atomic_store(&own_memory[i].low, 0);
		}
	}
}

int wmrt_own_memory_at(size_t index, uintptr_t *low, uintptr_t *high)
{
	if (index >= atomic_load_explicit(&own_memory_end, memory_order_relaxed))
		return 0;
	*high = atomic_load_explicit(&own_memory[index].high, memory_order_acquire);
	*low = atomic_load_explicit(&own_memory[index].low, memory_order_relaxed);
	return 1;
}

void *wmrt_map_memory(size_t len_bytes)
{
	void *at = atomic_load_explicit(&is_sealed, memory_order_relaxed) ? NULL : wmrt_map(NULL, len_bytes, 0, -1, 0);

	if (at)
		wmrt_own_memory((uintptr_t)at, (uintptr_t)at + len_bytes);
	return at;
}

void wmrt_memory_seal(void)
{
	atomic_store(&is_sealed, true);
}

void wmrt_unmap(void *at, size_t len_bytes)
{
	if (!at || atomic_load_explicit(&is_sealed, memory_order_relaxed))
		return;
	forget_own_memory((uintptr_t)at, (uintptr_t)at + len_bytes);
	wmrt_sys3(SYS_munmap, (long)at, (long)len_bytes, 0);
}

int wmrt_raise_fd(int fd)
{
	struct rlimit limit;
	long high = HIGH_FD;
	long raised;

	if (wmrt_sys3(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0) == 0 && limit.rlim_cur <= HIGH_FD + 8)
		high = limit.rlim_cur > 16 ? (long)limit.rlim_cur - 8 : 3;
	raised = wmrt_sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, high);
	if (raised < 0)
		return fd;
	wmrt_sys3(SYS_close, fd, 0, 0);
	return (int)raised;
}

int wmrt_borrow_fd(int fd)
{
	long process = wmrt_sys3(SYS_pidfd_open, wmrt_getpid(), 0, 0), ret;

	if (process < 0)
		return (int)process;
	ret = wmrt_sys3(SYS_pidfd_getfd, process, fd, 0);
	wmrt_sys3(SYS_close, process, 0, 0);
	return (int)ret;
}

uint32_t wmrt_gettid(void)
{
	return (uint32_t)wmrt_sys3(SYS_gettid, 0, 0, 0);
}

uint32_t wmrt_getpid(void)
{
	return (uint32_t)wmrt_sys3(SYS_getpid, 0, 0, 0);
}

int wmrt_thread_is_alive(uint32_t pid, uint32_t tid)
{
	return wmrt_sys3(SYS_tgkill, (long)pid, (long)tid, 0) != -ESRCH;
}

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

void *wmrt_map_memory(size_t len_bytes)
{
	return atomic_load_explicit(&is_sealed, memory_order_relaxed) ? NULL : wmrt_map(NULL, len_bytes, 0, -1, 0);
}

void wmrt_memory_seal(void)
{
	atomic_store(&is_sealed, true);
}

void wmrt_unmap(void *at, size_t len_bytes)
{
	if (at && !atomic_load_explicit(&is_sealed, memory_order_relaxed))
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

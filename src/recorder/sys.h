/*
 * sys.h - Linux system calls without libc around them (x86-64).
 *
 * They leave errno alone, are no cancellation points, cannot be interposed by the program and return -errno.
 */
#ifndef WM_RECORDER_SYS_H
#define WM_RECORDER_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if !defined(__x86_64__) || !defined(__linux__)
#error "the runtime is written for Linux on x86-64"
#endif

static inline long wmrt_sys6(long number, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long wmrt_sys3(long number, long a, long b, long c)
{
	return wmrt_sys6(number, a, b, c, 0, 0, 0);
}

/* The address, or NULL. fixed: replaces what is mapped there. */
void *wmrt_map(void *fixed, size_t len_bytes, int is_shared, int fd, uint64_t off);
/* Anonymous, zeroed, not reserved. NULL when there is no memory. */
void *wmrt_map_memory(size_t len_bytes);
void wmrt_unmap(void *at, size_t len_bytes);
/* Memory of the recorder and its clients, which has copies of what the program keeps elsewhere: of wmrt_map_memory, and what is told. */
void wmrt_own_memory(uintptr_t low, uintptr_t high);
/* The index-th of it as [low, high), empty: it was given back. False: there are not so many. What found no room is in no list. */
int wmrt_own_memory_at(size_t index, uintptr_t *low, uintptr_t *high);
/* Neither gives nor takes back memory any more, and makes no system call for it. */
void wmrt_memory_seal(void);
/* Moves a descriptor to a high number, which the program does not take for itself; returns what it is now. It is closed at exec. */
int wmrt_raise_fd(int fd);
/* In a thread that has descriptors of its own: another one for the process's, to be closed; -errno. */
int wmrt_borrow_fd(int fd);
uint32_t wmrt_gettid(void);
uint32_t wmrt_getpid(void);
/* 1 if the thread is of this process and alive (a zombie that was not reaped by the kernel counts as alive). */
int wmrt_thread_is_alive(uint32_t pid, uint32_t tid);

#endif

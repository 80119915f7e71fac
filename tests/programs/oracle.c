/*
 * oracle.c - a preload library that checks captured contexts of a whole program against the machine's own stack.
 *
 * It interposes malloc, calloc, realloc and free. At every Nth allocation it asks the instrumented program's runtime for the
 * context (wm_capture, wm_token) and unwinds the stack by itself, with libgcc's unwinder and the .eh_frame of every module;
 * nothing of Waymark takes part in that. Each pair is one line of the log:
 *
 *	TOKEN <tab> m:ADDR m:ADDR ...        innermost first; m is p (the program; ADDR is its link-time address), f (anything
 *	                                     else; ADDR is 0) or s (a signal frame)
 *
 * walk.c symbolises the addresses and compares. Build with a plain compiler; nothing here is instrumented.
 *
 *	ORACLE_LOG     where to write (appended; a process of its own for each fork and exec)
 *	ORACLE_EVERY   N (default 1)
 *	ORACLE_LIMIT   stop after this many captures in a process (default 20000)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

typedef struct context { /* as in waymark.h, which a plain compiler gets in its "not instrumented" form only */
	uint64_t id;
	uint32_t prefix, site, epoch, zero;
} context;

enum {
	FRAMES_MAX = 4096,
	LINE_MAX_BYTES = FRAMES_MAX * 20 + 256
};

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

/* Set once by the constructor, read-only after it. */
static context (*capture)(void);
static int (*token)(context, char *, size_t);
static uintptr_t program_base, program_start, program_end;
static int log_fd = -1;
static long every = 1, limit = 20000;

static __thread bool busy;
static long seen, written; /* relaxed atomics */

static int note_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	program_base = info->dlpi_addr;
	program_start = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		uintptr_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
		if (start < program_start)
			program_start = start;
		if (end > program_end)
			program_end = end;
	}
	return 1; /* the first is the program */
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("ORACLE_LOG"), *text;
	busy = true;
	capture = (context(*)(void))dlsym(RTLD_DEFAULT, "wm_capture");
	token = (int (*)(context, char *, size_t))dlsym(RTLD_DEFAULT, "wm_token");
	dl_iterate_phdr(note_program, NULL);
	if ((text = getenv("ORACLE_EVERY")) && atol(text) > 0)
		every = atol(text);
	if ((text = getenv("ORACLE_LIMIT")))
		limit = atol(text);
	if (path && capture && token)
		log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	/* High enough that programs which close or count their descriptors do not meet it. */
	if (log_fd >= 0) {
		int high = fcntl(log_fd, F_DUPFD_CLOEXEC, 900);
		if (high >= 0) {
			close(log_fd);
			log_fd = high;
		}
	}
	busy = false;
}

struct walk {
	char *line;
	size_t len;
	int frames;
};

static size_t put_hex(char *out, uintptr_t value)
{
	char digits[16];
	size_t n = 0;
	do
		digits[n++] = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	for (size_t i = 0; i < n; i++)
		out[i] = digits[n - 1 - i];
	return n;
}

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *unwind, void *arg)
{
	struct walk *walk = arg;
	int before = 0;
	uintptr_t ip = _Unwind_GetIPInfo(unwind, &before);
	bool inside = ip >= program_start && ip < program_end;
	if (!ip || walk->frames++ >= FRAMES_MAX)
		return _URC_END_OF_STACK;
	char *out = walk->line + walk->len;
	size_t n = 0;
	out[n++] = walk->frames == 1 ? '\t' : ' ';
	if (before && walk->frames > 1) { /* interrupted there: the frame below is the kernel's trampoline */
		out[n++] = 's';
		out[n++] = ':';
		out[n++] = '0';
		out[n++] = ' ';
	}
	out[n++] = inside ? 'p' : 'f';
	out[n++] = ':';
	n += put_hex(out + n, inside ? ip - program_base - (before ? 0 : 1) : 0);
	walk->len += n;
	return _URC_NO_REASON;
}

/* Never inlined and never left by a tail call: the frame of the interposer itself stays on the stack. */
__attribute__((noinline)) static void check(void)
{
	if (busy || log_fd < 0 || __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED) % every)
		return;
	if (__atomic_add_fetch(&written, 1, __ATOMIC_RELAXED) > limit)
		return;
	int saved = errno;
	busy = true;
	static __thread char *line;
	if (!line)
		line = __libc_malloc(LINE_MAX_BYTES);
	if (line) {
		struct walk walk = {line, 0, 0};
		walk.len = (size_t)token(capture(), line, 128);
		_Unwind_Backtrace(on_frame, &walk);
		line[walk.len++] = '\n';
		if (write(log_fd, line, walk.len) < 0)
			log_fd = -1;
	}
	busy = false;
	errno = saved;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	check();
	void *p = __libc_malloc(size);
	__asm__ volatile("" : "+r"(p));
	return p;
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	check();
	void *p = __libc_calloc(count, size);
	__asm__ volatile("" : "+r"(p));
	return p;
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
	check();
	void *p = __libc_realloc(old, size);
	__asm__ volatile("" : "+r"(p));
	return p;
}

__attribute__((visibility("default"))) void free(void *p)
{
	check();
	__libc_free(p);
	__asm__ volatile("");
}

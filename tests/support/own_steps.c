/*
 * own_steps.c - steps as ptrace_step.h does, and mprotect by the program's own hand where its code is not to run.
 */
#include "support/own_steps.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ptrace_step.h"

struct area {
	uint64_t start, end;
};

struct own_image {
	char *path;
	bool is_placed; /* its addresses are not those that it was linked to */
	uint64_t base;
	struct area code;
};

static pid_t child;
static struct own_image images[OWN_IMAGES_MAX];
static unsigned image_count;
static uint64_t syscall_at;
static bool is_locked;
static bool has_threads; /* it had */

void die(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	fprintf(stderr, "FAIL ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	if (child > 0)
		kill(child, SIGKILL);
	exit(1);
}

bool own_steps_read(uint64_t address, void *ret, size_t len_bytes)
{
	struct iovec local = {ret, len_bytes}, remote = {(void *)(uintptr_t)address, len_bytes};
	return process_vm_readv(child, &local, 1, &remote, 1, 0) == (ssize_t)len_bytes;
}

uint64_t own_steps_base(unsigned image)
{
	return images[image].is_placed ? images[image].base : 0;
}

static void get_registers(pid_t task, struct user_regs_struct *ret)
{
	if (ptrace(PTRACE_GETREGS, task, NULL, ret))
		die("no registers: %s", strerror(errno));
}

static void find_syscall(struct area where)
{
	uint8_t bytes[2];
	for (uint64_t at = where.start; at + 2 <= where.end && !syscall_at; at++)
		if (own_steps_read(at, bytes, sizeof bytes) && bytes[0] == 0x0f && bytes[1] == 0x05)
			syscall_at = at;
}

static void read_files(char *const *paths, unsigned count)
{
	Elf64_Ehdr header;
	for (unsigned i = 0; i < count && i < OWN_IMAGES_MAX; i++) {
		struct own_image *image = &images[image_count++];
		FILE *file = fopen(paths[i], "re");
		image->path = realpath(paths[i], NULL);
		if (!file || !image->path || fread(&header, sizeof header, 1, file) != 1)
			die("%s: cannot read it", paths[i]);
		image->is_placed = header.e_type == ET_DYN;
		fclose(file);
	}
}

/* What is loaded by now. */
static void read_maps(void)
{
	char path[64], line[4096];
	snprintf(path, sizeof path, "/proc/%d/maps", (int)child);
	FILE *maps = fopen(path, "re");
	if (!maps)
		die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof line, maps)) {
		struct area area;
		char flags[5];
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &area.start, &area.end, flags) != 3)
			continue;
		if (strstr(line, "[vdso]"))
			find_syscall(area);
		for (unsigned i = 0; i < image_count; i++) {
			if (!strstr(line, images[i].path))
				continue;
			if (!images[i].base)
				images[i].base = area.start;
			if (flags[2] == 'x')
				images[i].code = area;
		}
	}
	fclose(maps);
	if (!images[0].code.end || !syscall_at)
		die("%s: no code, or no vdso", images[0].path);
}

/* Has the task call mprotect where it stands. */
static void protect_area(pid_t task, struct area area, int rights)
{
	struct user_regs_struct before, regs;
	int status, held = 0;
	get_registers(task, &before);
	regs = before;
	regs.rax = SYS_mprotect;
	regs.orig_rax = UINT64_MAX; /* it is in no system call that would be begun again */
	regs.rdi = area.start;
	regs.rsi = area.end - area.start;
	regs.rdx = (unsigned)rights;
	regs.rip = syscall_at;
	if (ptrace(PTRACE_SETREGS, task, NULL, &regs))
		die("cannot call mprotect: %s", strerror(errno));
	do { /* a signal that comes now is for the program's own code */
		if (ptrace(PTRACE_SINGLESTEP, task, NULL, NULL))
			die("cannot call mprotect: %s", strerror(errno));
		waitpid(task, &status, __WALL);
		if (WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP)
			held = WSTOPSIG(status);
	} while (WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP);
	get_registers(task, &regs);
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP || regs.rax)
		die("mprotect failed");
	ptrace(PTRACE_SETREGS, task, NULL, &before);
	if (held)
		syscall(SYS_tkill, task, held);
}

static void protect(pid_t task, int rights)
{
	for (unsigned i = 0; i < image_count; i++)
		if (images[i].code.end)
			protect_area(task, images[i].code, rights);
}

static void lock(bool locks)
{
	protect(child, locks ? PROT_READ : PROT_READ | PROT_EXEC);
	is_locked = locks;
}

/* Threads and processes that it makes are let go, with code that they can execute. */
static void let_go(int event)
{
	unsigned long made;
	int status;
	if (ptrace(PTRACE_GETEVENTMSG, child, NULL, &made))
		die("no message of event %d: %s", event, strerror(errno));
	waitpid((pid_t)made, &status, __WALL);
	if (is_locked)
		protect((pid_t)made, PROT_READ | PROT_EXEC);
	if (event != PTRACE_EVENT_FORK)
		is_locked = false;
	has_threads |= event == PTRACE_EVENT_CLONE;
	ptrace(PTRACE_DETACH, (pid_t)made, NULL, NULL);
}

static bool is_alone(void)
{
	char path[64];
	unsigned count = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)child);
	DIR *tasks = has_threads ? opendir(path) : NULL;
	while (tasks && readdir(tasks))
		count++;
	if (tasks)
		closedir(tasks);
	has_threads = count > 3; /* and . and .. */
	return !has_threads;
}

static bool is_code(const struct user_regs_struct *regs)
{
	for (unsigned i = 0; i < image_count; i++)
		if (regs->rip >= images[i].code.start && regs->rip < images[i].code.end)
			return true;
	return false;
}

/* Lets the child go on, to its next instruction or into the program's code; false at its end. *regs are those of where it is. */
static bool go_on(int sig, struct user_regs_struct *regs, int *ret_sig)
{
	int status;
	if (is_locked || has_threads) {
		if (ptrace(is_locked ? PTRACE_CONT : PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)sig))
			return false;
		waitpid(child, &status, 0);
	} else if (!ptrace_step(sig, regs, &status)) {
		return false;
	}
	while (WIFSTOPPED(status) && status >> 16) { /* in the middle of a system call */
		let_go(status >> 16);
		if (ptrace(is_locked ? PTRACE_CONT : PTRACE_SINGLESTEP, child, NULL, NULL))
			return false;
		waitpid(child, &status, 0);
	}
	if (!WIFSTOPPED(status))
		return false;
	*ret_sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	get_registers(child, regs);
	return true;
}

static bool has_all(void)
{
	for (unsigned i = 0; i < image_count; i++)
		if (!images[i].code.end)
			return false;
	return true;
}

void own_steps_run(char **argv, char *const *paths, unsigned count, own_step step)
{
	int status, sig = 0;
	struct user_regs_struct regs;
	bool goes_on = true;
	child = fork();
	if (child < 0)
		die("fork: %s", strerror(errno));
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, NULL,
	       (void *)(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL));
	read_files(paths, count);
	read_maps();
	ptrace_step_begin(child);
	lock(true);
	while (goes_on) {
		if (sig && is_locked) /* its handler may be the program's */
			lock(false);
		if (!go_on(sig, &regs, &sig))
			break;
		if (is_locked && sig == SIGSEGV && is_code(&regs)) {
			lock(false);
			sig = 0;
			if (!has_all())
				read_maps();
		}
		if (is_locked)
			continue;
		goes_on = step(&regs);
		if (!is_code(&regs) && !sig && is_alone())
			lock(true);
	}
	kill(child, SIGKILL);
}

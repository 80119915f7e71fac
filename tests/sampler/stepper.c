/*
 * stepper.c - single-steps a program here and there, and compares the sampler's walk at random stops with a shadow stack.
 *
 *      stepper LIBRARY STOPS SEED COMMAND [ARG...]
 *
 * The shadow stack has where each call instruction that was stepped left its return address, and knows no call frame information: a call is
 * an instruction that moved the stack pointer by a word and left a word there that leads behind it. A word below the stack pointer is dead,
 * but for one that was popped and whose place is taken again at once: OCaml notes so where it was called from. Bursts of steps alternate with free running. What was called before a burst is not in the shadow stack, so that walks are
 * compared up to there; and up to the first frame that is marked as a guess. A signal's handler begins a new shadow stack.
 *
 * Not compared: where the innermost frame returns to an address in a register (longjmp, landing pads), and libgcc's unwinder, which writes over
 * the frames that it leaves.
 *
 * Prints the counts; exit status 1: the walk contradicted the shadow stack, or the program did not run for so long.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler/walk/walk.h"
#include "step_walk.h"

enum {
	CALLS_MAX = 1 << 16,
	BURST_STEPS = 8000,
	GAP_STEPS = 40,       /* twice the mean between stops */
	FREE_US = 10000,      /* the most */
	JUMP_BYTES = 1 << 16, /* the stack pointer moved so far: another stack */
	INSTRUCTION_BYTES = 15,
	RUNS_MAX = 500,
	FAILURES_MAX = 10,
};

struct call {
	uint64_t slot, address;
};

static pid_t pid;
static uint64_t area_at, enter_at;
static struct step_area area;
static struct call calls[CALLS_MAX];
static size_t call_count;
static struct call popped; /* by no return; address 0: none */
static unsigned long stops, compared, matched, guessed, early, skipped, failures, steps;

static void die(const char *what)
{
	perror(what);
	if (pid)
		kill(pid, SIGKILL);
	exit(2);
}

static bool copy(uint64_t address, void *to, size_t len, bool is_write)
{
	struct iovec here = {to, len}, there = {(void *)address, len}; /* NOLINT(performance-no-int-to-ptr) */

	return (is_write ? process_vm_writev(pid, &here, 1, &there, 1, 0)
			 : process_vm_readv(pid, &here, 1, &there, 1, 0)) == (ssize_t)len;
}

/* "PATH+0xOFFSET" in the file's own addresses, as far as the first mapping of the file tells. */
static const char *name_of(uint64_t address)
{
	static char text[4][4300];
	static unsigned int next;
	char *ret = text[next++ % 4], line[4300], path[4200], base_path[4200] = "";
	unsigned long low, high, base = 0;
	FILE *maps;

	snprintf(line, sizeof line, "/proc/%d/maps", (int)pid);
	maps = fopen(line, "re");
	snprintf(ret, sizeof text[0], "%#lx", address);
	while (maps && fgets(line, sizeof line, maps)) {
		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %4199[^\n]", &low, &high, path) < 2)
			continue;
		if (strcmp(path, base_path) != 0) {
			strcpy(base_path, path);
			base = low;
		}
		if (address >= low && address < high)
			snprintf(ret, sizeof text[0], "%s+%#lx", path, address - base);
	}
	if (maps)
		fclose(maps);
	return ret;
}

/* ---- the program ---- */

static bool wait_stop(int *ret_signal)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	if (WIFEXITED(status) || WIFSIGNALED(status))
		return false;
	if (status >> 16 == PTRACE_EVENT_EXEC) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return false;
	}
	*ret_signal = WSTOPSIG(status);
	return true;
}

static bool start_program(char **argv, const char *library)
{
	struct user_regs_struct regs;
	int sig;

	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		setenv("LD_PRELOAD", library, 1);
		setenv("WAYMARK_STEP", "1", 1);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (!wait_stop(&sig))
		return false;
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL);
	do {
		ptrace(PTRACE_CONT, pid, 0, 0);
		if (!wait_stop(&sig))
			return false;
	} while (sig != SIGTRAP);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC);
	ptrace(PTRACE_GETREGS, pid, 0, &regs);
	area_at = regs.rdi;
	enter_at = regs.rsi;
	return true;
}

/* Stops it somewhere after a while. False: it has ended. */
static bool run_freely(void)
{
	int sig = 0;

	ptrace(PTRACE_CONT, pid, 0, 0);
	usleep((useconds_t)(random() % FREE_US));
	kill(pid, SIGSTOP);
	while (wait_stop(&sig)) {
		if (sig == SIGSTOP)
			return true;
		ptrace(PTRACE_CONT, pid, 0, sig);
	}
	return false;
}

/* The walk, in the program. False: it has ended. */
static bool walk_there(const struct user_regs_struct *from)
{
	const uint64_t r[16] = {from->rax, from->rdx, from->rcx, from->rbx, from->rsi, from->rdi, from->rbp, from->rsp,
				from->r8,  from->r9,  from->r10, from->r11, from->r12, from->r13, from->r14, from->r15};
	struct user_regs_struct regs = *from;
	struct user_fpregs_struct vectors;
	uint64_t mask, all = ~UINT64_C(0), pc = from->rip;
	int sig = 0;

	if (!copy(area_at, (void *)r, sizeof r, true) ||
	    !copy(area_at + offsetof(struct step_area, pc), &pc, sizeof pc, true))
		return false;
	if (ptrace(PTRACE_GETFPREGS, pid, 0, &vectors) || ptrace(PTRACE_GETSIGMASK, pid, sizeof mask, &mask) ||
	    ptrace(PTRACE_SETSIGMASK, pid, sizeof all, &all))
		die("ptrace");
	regs.rip = enter_at;
	/* As after a call. */
	regs.rsp = ((area_at + offsetof(struct step_area, top)) & ~UINT64_C(15)) - 8;
	regs.eflags &= ~UINT64_C(0x500);
	regs.orig_rax = (uint64_t)-1;
	ptrace(PTRACE_SETREGS, pid, 0, &regs);
	ptrace(PTRACE_CONT, pid, 0, 0);
	if (!wait_stop(&sig))
		return false;
	if (sig != SIGTRAP) {
		fprintf(stderr, "the walk from %s ended with signal %d\n", name_of(from->rip), sig);
		failures++;
		kill(pid, SIGKILL);
		return false;
	}
	if (!copy(area_at, &area, offsetof(struct step_area, frames), false) ||
	    !copy(area_at + offsetof(struct step_area, frames), area.frames, area.count * sizeof area.frames[0], false))
		die("process_vm_readv");
	ptrace(PTRACE_SETFPREGS, pid, 0, &vectors);
	ptrace(PTRACE_SETREGS, pid, 0, from);
	ptrace(PTRACE_SETSIGMASK, pid, sizeof mask, &mask);
	return true;
}

/* ---- the comparison ---- */

static void contradiction(const struct user_regs_struct *regs, const char *what, size_t frame)
{
	if (++failures > FAILURES_MAX)
		return;
	fprintf(stderr, "at %s: frame %zu: %s; %u frames, end %u\n", name_of(regs->rip), frame, what, area.count,
		area.end);
	for (size_t i = 0; i < 6; i++)
		fprintf(stderr, "        %s | %s\n", i + 1 < area.count ? name_of(area.frames[i + 1].pc) : "-",
			i < call_count ? name_of(calls[call_count - 1 - i].address) : "-");
}

static void compare(const struct user_regs_struct *regs)
{
	size_t left = call_count;

	stops++;
	for (size_t i = 0; i < area.count; i++)
		if (popped.address || area.is_in_register || area.frames[i].is_in_libgcc) {
			skipped++;
			return;
		}
	compared += left != 0;
	for (size_t i = 1; i < area.count && left; i++) {
		if (area.frames[i].flags & WALK_GUESSED) {
			guessed++;
			return;
		}
		if (area.frames[i].pc != calls[left - 1].address) {
			contradiction(regs, "another return address", i);
			return;
		}
		left--;
		matched++;
	}
	if (left && area.end == WALK_COMPLETE)
		contradiction(regs, "the walk ends too early", area.count);
	else if (left)
		early++;
}

/* ---- the shadow stack ---- */

static void follow(const struct user_regs_struct *was, const struct user_regs_struct *is)
{
	bool is_next = is->rip > was->rip && is->rip <= was->rip + INSTRUCTION_BYTES;
	uint64_t word;

	if (!is_next)
		popped.address = 0;
	if (is->rsp - was->rsp + JUMP_BYTES > 2 * JUMP_BYTES)
		call_count = 0;
	if (is_next && call_count && calls[call_count - 1].slot == was->rsp && is->rsp == was->rsp + 8)
		popped = calls[call_count - 1];
	while (call_count && calls[call_count - 1].slot < is->rsp)
		call_count--;
	if (popped.address && popped.slot == is->rsp && call_count < CALLS_MAX) {
		calls[call_count++] = popped;
		popped.address = 0;
		return;
	}
	if (is->rsp == was->rsp - 8 && call_count < CALLS_MAX && copy(is->rsp, &word, sizeof word, false) &&
	    word > was->rip && word <= was->rip + INSTRUCTION_BYTES)
		calls[call_count++] = (struct call){is->rsp, word};
}

/* False: it has ended. */
static bool burst(unsigned long wanted)
{
	struct user_regs_struct was, is;
	unsigned long next = 1;
	int sig = 0;

	call_count = 0;
	popped.address = 0;
	ptrace(PTRACE_GETREGS, pid, 0, &was);
	for (unsigned int i = 0; i < BURST_STEPS && stops < wanted; i++, was = is) {
		ptrace(PTRACE_SINGLESTEP, pid, 0, sig);
		if (!wait_stop(&sig))
			return false;
		steps++;
		ptrace(PTRACE_GETREGS, pid, 0, &is);
		if (sig != SIGTRAP) {
			call_count = 0;
			continue;
		}
		sig = 0;
		follow(&was, &is);
		if (--next)
			continue;
		next = 1 + (unsigned long)random() % GAP_STEPS;
		if (!walk_there(&is))
			return false;
		compare(&is);
	}
	return true;
}

int main(int argc, char **argv)
{
	unsigned long wanted;

	if (argc < 5) {
		fprintf(stderr, "usage: stepper LIBRARY STOPS SEED COMMAND [ARG...]\n");
		return 2;
	}
	wanted = strtoul(argv[2], NULL, 10);
	srandom((unsigned int)strtoul(argv[3], NULL, 10));
	for (int run = 0; run < RUNS_MAX && stops < wanted; run++) {
		if (!start_program(argv + 4, argv[1]))
			break;
		while (stops < wanted && run_freely() && burst(wanted))
			;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	printf("| %s | %lu | %lu | %lu | %lu | %lu | %lu | %lu | %lu |\n", argv[4], steps, stops, compared, matched,
	       guessed, early, skipped, failures);
	return failures || stops < wanted;
}

/*
 * test_step.c - the analysis of a program against where control really goes in it, instruction by instruction.
 *
 * Steps through a program (ptrace_step.h). Whatever is executed in functions that are understood must fit: bytes that would be
 * replaced are entered through their first only; calls are sites; functions are entered at their starts, left by sites and
 * returns; returns lead behind calls. test_step STEPS FILE [ARG...]; 0 steps: until it ends.
 */
#include "agent/regions.h"
#include "support/ptrace_step.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct stepper {
	const struct image *image;
	const struct regions *regions;
	uint64_t bias;
	uint64_t last;    /* where the last instruction was, as the file has it; 0: outside the image */
	struct insn insn; /* that one */
	size_t steps, inside, calls, tails, failures;
};

static void fail(struct stepper *s, uint64_t address, const char *what)
{
	if (s->failures++ < 20)
		fprintf(stderr, "%#lx -> %#lx: %s\n", s->last, address, what);
}

/* Control came from one function of the image to another, or to the start of the same. */
static void check_transfer(struct stepper *s, uint64_t address, uint8_t from, uint8_t to)
{
	switch (s->insn.kind) {
	case INSN_CALL_DIRECT:
	case INSN_CALL_INDIRECT:
		s->calls++;
		if ((from & REGION_UNDERSTOOD) && !(from & REGION_CALL))
			fail(s, address, "a call that is no site");
		if ((to & REGION_UNDERSTOOD) && !(to & REGION_START))
			fail(s, address, "a call of what is no start");
		break;
	case INSN_RETURN:
		if ((to & REGION_UNDERSTOOD) && !(to & REGION_RETURN))
			fail(s, address, "a return to where no call is before");
		break;
	case INSN_JUMP_DIRECT:
	case INSN_JUMP_CONDITIONAL:
	case INSN_JUMP_INDIRECT:
		s->tails++;
		if ((from & REGION_UNDERSTOOD) && !(from & REGION_TAIL))
			fail(s, address, "a jump to another function that is no site");
		if ((to & REGION_UNDERSTOOD) && !(to & REGION_START))
			fail(s, address, "a jump into another function");
		break;
	default:
		if (from & REGION_UNDERSTOOD)
			fail(s, address, "runs into another function");
		break;
	}
}

static void check_step(struct stepper *s, uint64_t address)
{
	const struct scan_range *text = &s->image->text;
	uint64_t behind = s->last + s->insn.len_bytes;
	uint8_t from = s->last ? *regions_at(s->regions, s->image, s->last) : 0;
	uint8_t to = *regions_at(s->regions, s->image, address);
	bool is_call = s->last && (s->insn.kind == INSN_CALL_DIRECT || s->insn.kind == INSN_CALL_INDIRECT);

	s->inside++;
	if (address == s->last)
		return; /* rep */
	if ((to & REGION_INSIDE) && (!s->last || address != behind))
		fail(s, address, "control comes into a region");
	if (!s->last) {
		/* From another image: a call, a return, a landing pad or longjmp. */
		return;
	}
	if (address < text->low || address >= text->high)
		return;
	if (is_call ||
	    regions_function_at(s->regions, s->image, s->last) != regions_function_at(s->regions, s->image, address))
		check_transfer(s, address, from, to);
	else if (s->insn.kind == INSN_JUMP_INDIRECT && (from & REGION_TAIL) && !(from & REGION_STAY) &&
		 !(to & REGION_START))
		fail(s, address, "a tail jump that stays");
}

/* Control is at address, as the process has it. */
static void see(struct stepper *s, uint64_t address)
{
	const struct scan_range *text = &s->image->text;

	address -= s->bias;
	s->steps++;
	if (address < text->low || address >= text->high) {
		bool leaves = s->last && (s->insn.kind == INSN_JUMP_DIRECT || s->insn.kind == INSN_JUMP_INDIRECT);
		uint8_t from = s->last ? *regions_at(s->regions, s->image, s->last) : 0;

		if (leaves && (from & REGION_UNDERSTOOD) && !(from & REGION_TAIL))
			fail(s, address, "a jump to another image that is no site");
		s->last = 0;
		return;
	}
	check_step(s, address);
	s->last = address;
	if (!insn_decode(text->bytes + (address - text->low), (size_t)(text->high - address), address, &s->insn))
		fail(s, address, "executes what is no instruction");
}

/* What is added to the file's addresses in the process: from the mapping of the file's first page. */
static bool read_bias(pid_t pid, const char *file, const struct image *image, uint64_t *bias)
{
	char path[64], line[512], real[PATH_MAX];
	bool is_found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = realpath(file, real) ? fopen(path, "r") : NULL;
	while (maps && !is_found && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		if (strlen(line) < strlen(real) || strcmp(line + strlen(line) - strlen(real), real) != 0)
			continue;
		*bias = strtoull(line, NULL, 16) - image->low;
		is_found = true;
	}
	if (maps)
		fclose(maps);
	return is_found;
}

/* Lets the process run to the program's entry, behind the dynamic linker. */
static bool run_to_entry(pid_t pid, uint64_t address)
{
	struct user_regs_struct regs;
	int status;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, (void *)address, NULL);
	if (errno || ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)((word & ~0xffL) | 0xcc)) == -1 ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL) == -1 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP || ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)word) == -1 ||
	    ptrace(PTRACE_GETREGS, pid, NULL, &regs) == -1)
		return false;
	regs.rip = address;
	return ptrace(PTRACE_SETREGS, pid, NULL, &regs) == 0;
}

static pid_t start(char **argv)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	personality(ADDR_NO_RANDOMIZE);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
		_exit(77);
	if (freopen("/dev/null", "w", stdout) == NULL)
		_exit(126);
	execv(argv[0], argv);
	_exit(127);
}

static int step_all(struct stepper *s, pid_t pid, size_t max_steps)
{
	struct user_regs_struct regs;
	int status = 0, sent = 0;

	ptrace_step_begin(pid);
	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		return 1;
	while (s->steps < max_steps || !max_steps) {
		if (!ptrace_step(sent, &regs, &status))
			return 1;
		if (!WIFSTOPPED(status))
			return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
		sent = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		see(s, regs.rip);
	}
	ptrace(PTRACE_KILL, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	return 0;
}

int main(int argc, char **argv)
{
	struct image image;
	struct regions regions;
	struct stepper s = {.image = &image, .regions = &regions};
	int status, failed;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: test_step STEPS FILE [ARG...]\n");
		return 2;
	}
	if (!image_load(argv[2], &image) || !regions_find(&image, false, &regions))
		return 1;
	regions_print(argv[2], &regions.counts);
	pid = start(argv + 2);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	if (!WIFSTOPPED(status)) {
		fprintf(stderr, "no ptrace here\n");
		return 77;
	}
	if (!read_bias(pid, argv[2], &image, &s.bias) || !run_to_entry(pid, image.entry + s.bias)) {
		fprintf(stderr, "%s does not get to its entry\n", argv[2]);
		return 1;
	}
	see(&s, image.entry + s.bias);
	failed = step_all(&s, pid, strtoul(argv[1], NULL, 0));
	printf("%zu steps, %zu of them in the file, %zu calls, %zu tail jumps in it\n", s.steps, s.inside, s.calls,
	       s.tails);
	if (failed)
		fprintf(stderr, "%s ended with status %#x\n", argv[2], status);
	if (!s.inside)
		fprintf(stderr, "nothing was executed in the file\n");
	regions_free(&regions);
	image_unload(&image);
	return failed || s.failures || !s.inside;
}

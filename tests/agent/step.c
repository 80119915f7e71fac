/*
 * step.c - the handler of SIGTRAP that unwinds after each instruction, and what it compares.
 *
 * A step is a breakpoint at the next instruction where that is known (next_instruction.h), and the trap flag elsewhere. While the handler runs
 * there is no breakpoint: it calls what is stepped through. Its own way back, the restorer, is stepped by the trap flag.
 */
#include "agent/step.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "agent/images.h"
#include "base/instruction.h"
#include "native/unwind/unwind.h"
#include "support/next_instruction.h"

enum {
	FRAMES_MAX = 256,
	CALLS_MAX = 4096,
	ALTERNATE_BYTES = 1 << 20,
	FAILURES_MAX = 10,
	BREAKPOINTS_MAX = 16, /* that were not come to: what is in front of one faulted */
	RESTORER_BYTES = 9,   /* mov $15, %rax; syscall */
	TRAP_FLAG = 0x100,
	PAGE_BYTES = 4096,
};

struct frame {
	uint64_t pc, cfa, rbx, rbp, r12, r13, r14, r15;
	uint64_t slot;
	bool is_signal;
};

struct walk {
	struct frame frames[FRAMES_MAX];
	unsigned int count;
	enum unwind_result result;
};

struct breakpoint {
	uint8_t *address;
	uint8_t kept;
};

static struct image images[IMAGES_MAX];
static bool is_writable[IMAGES_MAX]; /* [image]: breakpoints can be set in its text */
static unsigned int image_count;
static struct unwind_cache cache;
static struct unwind_stack main_stack, alternate_stack;
static struct walk plain, cached, libgcc;

static uint64_t base, last_pc, calls[CALLS_MAX];
static unsigned int call_count, failures;
static struct breakpoint breakpoints[BREAKPOINTS_MAX];
static unsigned int breakpoint_count;
static unsigned long every = 1; /* of the steps outside the program's own code are compared, one in so many */
static unsigned long steps, compared, frame_count, unknown, signal_frames, shadow_slots, not_described;

/* With CFI, unlike an asm statement in a function that has no frame pointer. */
__asm__(".globl step_trap_off\n"
	".type step_trap_off, @function\n"
	"step_trap_off:\n"
	".cfi_startproc\n"
	"	pushfq\n"
	".cfi_adjust_cfa_offset 8\n"
	"	andl $~0x100, (%rsp)\n"
	"	popfq\n"
	".cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size step_trap_off, . - step_trap_off\n");

__attribute__((format(printf, 2, 3))) static void failed(uint64_t pc, const char *format, ...)
{
	const struct image *image = images_find(images, image_count, pc);
	char text[512];
	int len = snprintf(text, sizeof text, "step %lu at %s+0x%lx: ", steps, image ? image->path : "?",
			   (pc - (image ? image->base : 0)));
	va_list args;

	va_start(args, format);
	len += vsnprintf(text + len, sizeof text - (size_t)len - 1, format, args);
	va_end(args);
	text[len++] = '\n';
	if (write(2, text, (size_t)len) != len || ++failures == FAILURES_MAX)
		_exit(1);
}

static struct unwind_stack stack_of(uint64_t sp)
{
	return sp >= alternate_stack.low && sp < alternate_stack.high ? alternate_stack : main_stack;
}

static void walk(struct walk *w, struct unwind_regs regs, struct unwind_cache *with)
{
	struct unwind_frame f;

	for (w->count = 0; w->count < FRAMES_MAX; w->count++) {
		uint64_t address = regs.pc - (regs.is_return_address ? 1 : 0);
		struct unwind_stack stack = stack_of(regs.r[CFI_RSP]);
		const struct image *image = images_find(images, image_count, address);

		w->result = unwind_step(image ? &image->table : NULL, &stack, with, &regs, &f);
		if (w->result != UNWIND_OK)
			return;
		w->frames[w->count] = (struct frame){regs.pc,         f.cfa,           regs.r[CFI_RBX], regs.r[CFI_RBP],
						     regs.r[CFI_R12], regs.r[CFI_R13], regs.r[CFI_R14], regs.r[CFI_R15],
						     f.return_slot,   f.is_signal};
	}
}

/* From the interrupted frame outwards: what this handler and its signal frame are made of is left out. */
static bool is_inside;
static _Unwind_Reason_Code take_frame(struct _Unwind_Context *c, void *data)
{
	struct walk *w = data;
	int is_before = 0;
	uint64_t pc = _Unwind_GetIPInfo(c, &is_before);

	if (!is_inside) {
		is_inside = is_before;
		return _URC_NO_REASON;
	}
	if (!pc || w->count == FRAMES_MAX)
		return _URC_END_OF_STACK;
	w->frames[w->count++] = (struct frame){pc,
					       _Unwind_GetCFA(c),
					       _Unwind_GetGR(c, CFI_RBX),
					       _Unwind_GetGR(c, CFI_RBP),
					       _Unwind_GetGR(c, CFI_R12),
					       _Unwind_GetGR(c, CFI_R13),
					       _Unwind_GetGR(c, CFI_R14),
					       _Unwind_GetGR(c, CFI_R15),
					       0,
					       is_before};
	return _URC_NO_REASON;
}

static void compare(const char *what, uint64_t pc, const struct walk *got, const struct walk *want, bool has_slots)
{
	if (got->count != want->count)
		failed(pc, "%s: %u frames, want %u", what, got->count, want->count);
	for (unsigned int i = 0; i < got->count && i < want->count; i++) {
		struct frame g = got->frames[i], w = want->frames[i];

		if (!has_slots)
			w.slot = g.slot;
		if (memcmp(&g, &w, offsetof(struct frame, is_signal)) || g.is_signal != w.is_signal) {
			failed(pc,
			       "%s: frame %u: pc %lx/%lx cfa %lx/%lx rbx %lx/%lx rbp %lx/%lx r12 %lx/%lx "
			       "slot %lx/%lx",
			       what, i, g.pc, w.pc, g.cfa, w.cfa, g.rbx, w.rbx, g.rbp, w.rbp, g.r12, w.r12, g.slot,
			       w.slot);
			break;
		}
	}
}

static bool is_call(const uint8_t *code)
{
	while (*code == 0xf2 || *code == 0x3e || *code == 0x2e || *code == 0x66 || *code == 0x67 ||
	       (*code & 0xf0) == 0x40)
		code++;
	return *code == 0xe8 || (*code == 0xff && (code[1] >> 3 & 7) == 2);
}

static bool is_alternate(uint64_t address)
{
	return address >= alternate_stack.low && address < alternate_stack.high;
}

/* A slot below the stack pointer is dead, and so is one of the alternate stack once that was left. */
static void follow_calls(uint64_t sp)
{
	if (last_pc && is_call((const uint8_t *)last_pc) && call_count < CALLS_MAX)
		calls[call_count++] = sp;
	while (call_count) {
		uint64_t slot = calls[call_count - 1];

		if (is_alternate(slot) ? is_alternate(sp) && slot >= sp : is_alternate(sp) || slot >= sp)
			break;
		call_count--;
	}
}

static bool is_in_libgcc(uint64_t pc)
{
	const struct image *image = images_find(images, image_count, pc);

	for (unsigned int i = 0; i <= plain.count; i++) {
		if (image && strstr(image->path, "libgcc_s"))
			return true;
		if (i < plain.count)
			image = images_find(images, image_count, plain.frames[i].pc);
	}
	return false;
}

static void compare_with_calls(uint64_t pc)
{
	unsigned int left = call_count, i;

	/*
	 * In __longjmp the caller is where it jumps to. libgcc writes a landing pad's registers over those that its own frames saved,
	 * and jumps there a little later.
	 */
	if ((plain.count && !plain.frames[0].slot) || is_in_libgcc(pc))
		return;
	for (i = 0; i < plain.count; i++) {
		uint64_t slot = plain.frames[i].slot;

		if (plain.frames[i].is_signal)
			continue;
		if (!is_alternate(slot) && slot >= base - 8)
			break;
		shadow_slots++;
		if (!left || calls[left - 1] != slot) {
			failed(pc, "frame %u: return address at %lx, the call left it at %lx", i, slot,
			       left ? calls[left - 1] : 0);
			return;
		}
		left--;
	}
	if (left && (plain.result != UNWIND_UNKNOWN || i < plain.count))
		failed(pc, "%u calls are missing in the chain of %u", left, plain.count);
}

/*
 * false at ends of functions that gcc describes wrongly, where libgcc goes astray or crashes: lea -8(%r10),%rsp; ret after rbp was
 * restored, and mov %rcx,%rsp; pop %rcx; jmp *%rcx.
 */
static bool is_described(const uint8_t *pc)
{
	static const uint8_t realigned[] = {0x49, 0x8d, 0x62, 0xf8, 0xc3};
	static const uint8_t landing[] = {0x48, 0x89, 0xcc, 0x59, 0xff, 0xe1};

	return memcmp(pc, realigned, 5) && memcmp(pc - 4, realigned, 5) && memcmp(pc, landing, 6) &&
	       memcmp(pc - 3, landing, 6) && memcmp(pc - 4, landing, 6);
}

static bool is_elsewhere(uint64_t pc)
{
	return images_find(images, image_count, pc) != &images[0];
}

/* ---- breakpoints ---- */

/* The code is what it was. That at which the program is was come to: it goes, and the program is in front of its instruction. */
static void lift_breakpoints(greg_t *pc)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < breakpoint_count; i++)
		*breakpoints[i].address = breakpoints[i].kept;
	for (unsigned int i = 0; i < breakpoint_count; i++)
		if ((uintptr_t)breakpoints[i].address == (uintptr_t)*pc - 1)
			*pc -= 1;
	for (unsigned int i = 0; i < breakpoint_count; i++)
		if ((uintptr_t)breakpoints[i].address != (uintptr_t)*pc)
			breakpoints[left++] = breakpoints[i];
	breakpoint_count = left;
}

static bool read_memory(uint64_t address, void *to, size_t len_bytes)
{
	memcpy(to, (const void *)address, len_bytes);
	return true;
}

/* Where a breakpoint may be that the program comes to next; false: only the trap flag stops it there. */
static bool find_breakpoint(const struct unwind_regs *regs, greg_t flags, uintptr_t restorer, uint64_t *ret)
{
	const struct image *here = images_find(images, image_count, regs->pc), *there;
	struct next_state state = {.pc = regs->pc, .flags = (uint64_t)flags};

	if (!here || breakpoint_count == BREAKPOINTS_MAX)
		return false;
	memcpy(state.r, regs->r, sizeof state.r);
	if (!next_instruction(&state, (const uint8_t *)regs->pc, here->text.high - regs->pc, read_memory, ret))
		return false;
	there = images_find(images, image_count, *ret);
	return there && is_writable[there - images] && *ret != regs->pc && *ret - restorer >= RESTORER_BYTES;
}

/* All that is done to the program's code is done last. */
static void go_on(const struct unwind_regs *regs, greg_t *flags, uintptr_t restorer)
{
	uint64_t next;

	*flags &= ~(greg_t)TRAP_FLAG;
	if (regs->pc == (uintptr_t)step_trap_off) {
		breakpoint_count = 0;
		return;
	}
	if (find_breakpoint(regs, *flags, restorer, &next))
		breakpoints[breakpoint_count++] = (struct breakpoint){(uint8_t *)next, *(const uint8_t *)next};
	else
		*flags |= TRAP_FLAG;
	for (unsigned int i = 0; i < breakpoint_count; i++)
		*breakpoints[i].address = NEXT_BREAKPOINT;
}

/* ---- a step ---- */

static void see(struct unwind_regs regs)
{
	follow_calls(regs.r[CFI_RSP]);
	last_pc = regs.pc;
	steps++;
	if (is_elsewhere(regs.pc) && steps % every)
		return;
	compared++;
	walk(&plain, regs, NULL);
	walk(&cached, regs, &cache);
	compare("cached", regs.pc, &cached, &plain, true);
	walk(&cached, regs, &cache);
	compare("cached again", regs.pc, &cached, &plain, true);
	/* libgcc follows what it half wrote over without looking, and crashes. */
	if (is_described((const uint8_t *)regs.pc) && (plain.result == UNWIND_END || !is_in_libgcc(regs.pc))) {
		is_inside = false;
		libgcc.count = 0;
		_Unwind_Backtrace(take_frame, &libgcc);
		compare("libgcc", regs.pc, &plain, &libgcc, false);
	} else {
		not_described++;
	}
	compare_with_calls(regs.pc);
	frame_count += plain.count;
	if (plain.result == UNWIND_UNKNOWN && is_in_libgcc(regs.pc))
		unknown++;
	else if (plain.result != UNWIND_END)
		failed(regs.pc, "the chain of %u frames ends with result %d", plain.count, (int)plain.result);
	for (unsigned int i = 0; i < plain.count; i++)
		signal_frames += plain.frames[i].is_signal;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	greg_t *gregs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct unwind_regs regs;

	(void)number;
	(void)info;
	lift_breakpoints(&gregs[REG_RIP]);
	unwind_regs_of_signal(context, &regs);
	see(regs);
	go_on(&regs, &gregs[REG_EFL], (uintptr_t)__builtin_return_address(0));
}

static void make_writable(unsigned int index)
{
	const uintptr_t low = images[index].text.low & ~(uintptr_t)(PAGE_BYTES - 1);

	/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
	is_writable[index] = !mprotect((void *)low, images[index].text.high - low, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static void read_main_stack(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long low, high;

	while (f && fgets(line, sizeof line, f))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &low, &high) == 2)
			main_stack.high = high;
	if (f)
		fclose(f);
	main_stack.low = main_stack.high - (1 << 20);
}

void step_prepare(void)
{
	const char *text = getenv("STEP_EVERY");
	stack_t stack = {.ss_size = ALTERNATE_BYTES};
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (text)
		every = strtoul(text, NULL, 10);
	image_count = images_read(images);
	for (unsigned int i = 0; i < image_count; i++)
		make_writable(i);
	read_main_stack();
	stack.ss_sp = mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) || sigaction(SIGTRAP, &action, NULL))
		abort();
	alternate_stack.low = (uintptr_t)stack.ss_sp;
	alternate_stack.high = alternate_stack.low + ALTERNATE_BYTES;
	cache.generation = 7;
}

void step_set_base(const void *cfa)
{
	base = (uintptr_t)cfa;
	call_count = 0;
	last_pc = 0;
}

void step_nest(const void *return_slot)
{
	calls[call_count++] = (uintptr_t)return_slot;
	last_pc = 0;
}

int step_finish(const char *program)
{
	printf("%s: %lu of %lu steps, %lu frames, %lu compared with calls, %lu signal frames, %lu unknown in libgcc, %lu without libgcc, %u "
	       "failures\n",
	       program, compared, steps, frame_count, shadow_slots, signal_frames, unknown, not_described, failures);
	return failures || unknown > compared / 100 || compared < 1000 || shadow_slots < 1000 ||
	       not_described > compared / 100;
}

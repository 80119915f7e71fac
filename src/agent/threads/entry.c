/* entry.c - what entry_point.inc needs: how large the vector registers are, and the agent's own stack. */
#include "agent/threads/entry.h"

#include <cpuid.h>
#include <string.h>

#include "agent/threads/entry_offsets.h"
#include "agent/threads/thread.h"

_Static_assert(offsetof(struct agent_thread, agent_stack) == AGENT_STACK_OFFSET, "entry_point.inc reads it");
_Static_assert(offsetof(struct agent_thread, has_late_mask) == AGENT_LATE_OFFSET, "entry_point.inc reads it");

/* x87, SSE, AVX and AVX-512. Constant after start. */
extern uint32_t agent_xsave_mask __attribute__((visibility("hidden")));
extern uint64_t agent_xsave_bytes __attribute__((visibility("hidden")));
uint32_t agent_xsave_mask = 0x3;
uint64_t agent_xsave_bytes = 576;

enum {
	WANTED = 0xe7,
	XSAVE_LEAF = 0xd,
};

void agent_entry_init(void)
{
	uint32_t low, high, a, b, c, d;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	agent_xsave_mask = low & WANTED;
	/* Of each part its size and place in the standard form. */
	for (uint32_t part = 2; part < 8; part++) {
		if (!(agent_xsave_mask >> part & 1))
			continue;
		__cpuid_count(XSAVE_LEAF, part, a, b, c, d);
		if (a + b > agent_xsave_bytes)
			agent_xsave_bytes = a + b;
	}
	agent_xsave_bytes = (agent_xsave_bytes + 63) & ~UINT64_C(63);
}

void agent_saved_regs(const struct agent_saved *saved, uint64_t pc, uint64_t sp, struct unwind_regs *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->pc = pc;
	ret->r[CFI_RAX] = saved->rax;
	ret->r[CFI_RDX] = saved->rdx;
	ret->r[CFI_RCX] = saved->rcx;
	ret->r[CFI_RBX] = saved->rbx;
	ret->r[CFI_RSI] = saved->rsi;
	ret->r[CFI_RDI] = saved->rdi;
	ret->r[CFI_RBP] = saved->rbp;
	ret->r[CFI_RSP] = sp;
	ret->r[CFI_R8] = saved->r8;
	ret->r[CFI_R9] = saved->r9;
	ret->r[CFI_R10] = saved->r10;
	ret->r[CFI_R11] = saved->r11;
	ret->r[CFI_R12] = saved->r12;
	ret->r[CFI_R13] = saved->r13;
	ret->r[CFI_R14] = saved->r14;
	ret->r[CFI_R15] = saved->r15;
	ret->known = UNWIND_ALL_KNOWN;
}

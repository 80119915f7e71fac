/*
 * repair.c - x86-64. What HotSpot's code looks like at its ends, and where the return address is while %rip is at a line:
 *
 *      stub                                   method
 *      push %rbp        (%rsp)                mov  %eax, -N(%rsp)      (%rsp)     or   sub $n, %rsp        (%rsp)
 *      mov  %rsp, %rbp  8(%rsp)               push %rbp                (%rsp)          mov %rbp, n-8(%rsp)  n(%rsp)
 *      ...              8(%rbp)               sub  $n, %rsp           8(%rsp)
 *      leave            8(%rbp)               ...
 *      ret              (%rsp)                add  $n, %rsp
 *                                             pop  %rbp               8(%rsp)
 *                                             cmp  N(%r15), %rsp       (%rsp)
 *                                             ja   ...                 (%rsp)
 *                                             ret                      (%rsp)
 *
 * The bytes of a method prove where its return address is. Those of a stub do not, which may use %rbp: it is believed if it is behind a call of
 * a stub. Behind the push of a method may be mov %rsp, %rbp.
 */
#include "jvm/c/walk/repair.h"

#include <string.h>

enum {
	STUB_HEAD_BYTES = 8,
	PROLOGUE_BYTES = 256, /* of a method, with the check of its receiver before */
	FRAME_BYTES = 2048,   /* of a stub, at most */
	FAR_CALL_BYTES = 13,
};

struct place {
	const uint8_t *code; /* at the program counter */
	uintptr_t pc, sp, fp;
	struct jvm_code_range range;
};

/* Where the caller goes on. */
struct caller {
	uintptr_t slot; /* of the return address */
	uintptr_t fp;
	const char *rule;
};

/* NOLINTBEGIN(performance-no-int-to-ptr) */
static uintptr_t word_at(uintptr_t address)
{
	uintptr_t ret;

	memcpy(&ret, (const void *)address, sizeof ret);
	return ret;
}

static const uint8_t *bytes_at(uintptr_t address)
{
	return (const uint8_t *)address;
}
/* NOLINTEND(performance-no-int-to-ptr) */

static bool is_bytes(const uint8_t *code, const char *bytes, size_t len)
{
	return memcmp(code, bytes, len) == 0;
}

#define IS_BYTES(code, bytes) is_bytes((code), (bytes), sizeof(bytes) - 1)

/* mov %rsp, %rbp */
static bool is_frame_pointer(const uint8_t *code)
{
	return IS_BYTES(code, "\x48\x8b\xec") || IS_BYTES(code, "\x48\x89\xe5");
}

/* The target of the call in front of a return address: call d32, or mov $d64, %r10; call *%r10. 0: there is none of these. */
static uintptr_t called_from(uintptr_t address)
{
	struct jvm_code_range range;
	const uint8_t *code;
	int32_t distance;

	if (!jvm_code_ranges_find(address - 1, &range) || address - range.start < FAR_CALL_BYTES)
		return 0;
	code = bytes_at(address);
	if (IS_BYTES(code - FAR_CALL_BYTES, "\x49\xba") && IS_BYTES(code - 3, "\x41\xff\xd2"))
		return word_at(address - FAR_CALL_BYTES + 2);
	if (code[-5] != 0xe8)
		return 0;
	memcpy(&distance, code - 4, sizeof distance);
	return address + (uintptr_t)(intptr_t)distance;
}

/* ---- stubs ---- */

/* How far into the stub its push is; STUB_HEAD_BYTES: it has none. Some move an argument before. */
static uintptr_t find_push(const uint8_t *start)
{
	for (uintptr_t at = 0; at < STUB_HEAD_BYTES; at++)
		if (start[at] == 0x55 && is_frame_pointer(start + at + 1))
			return at;
	return STUB_HEAD_BYTES;
}

/* A call that is being linked goes by a stub of its own, in a buffer. */
static bool is_stub_start(uintptr_t address)
{
	struct jvm_code_range range;

	return jvm_code_ranges_find(address, &range) && !range.method &&
	       (range.start == address || strcmp(range.name, "[InlineCacheBuffer]") == 0);
}

static bool find_stub_caller(const struct place *p, struct caller *ret)
{
	uintptr_t into = p->pc - p->range.start, push = find_push(bytes_at(p->range.start));

	*ret = (struct caller){p->sp, p->fp, p->range.name};
	if (push < STUB_HEAD_BYTES && into > push && *p->code != 0xc3) {
		if (into == push + 1) {
			*ret = (struct caller){p->sp + 8, word_at(p->sp), p->range.name};
		} else if (p->fp >= p->sp && p->fp - p->sp < FRAME_BYTES && p->fp % 8 == 0) {
			*ret = (struct caller){p->fp + 8, word_at(p->fp), p->range.name};
		} else {
			return false;
		}
	}
	return is_stub_start(called_from(word_at(ret->slot)));
}

/* ---- methods ---- */

/* sub $n, %rsp: its length; 0: it is another instruction. */
static size_t read_sub(const uint8_t *code, uint32_t *n)
{
	if (IS_BYTES(code, "\x48\x83\xec")) {
		*n = code[3];
		return 4;
	}
	if (!IS_BYTES(code, "\x48\x81\xec"))
		return 0;
	memcpy(n, code + 3, sizeof *n);
	return 7;
}

/* Where the frame is made: at the push, or at a sub without one. 0: not found. */
static uintptr_t find_prologue(const struct jvm_code_range *range, bool *has_push)
{
	uintptr_t end = range->end - range->start > PROLOGUE_BYTES ? range->start + PROLOGUE_BYTES : range->end - 16;
	uint32_t n;

	for (uintptr_t at = range->start; at + 16 <= end; at++) {
		const uint8_t *code = bytes_at(at);
		size_t len = read_sub(code + (is_frame_pointer(code + 1) ? 4 : 1), &n);

		*has_push = code[0] == 0x55 && len;
		if (*has_push)
			return at;
		len = read_sub(code, &n);
		/* mov %rbp, n-8(%rsp) */
		if (len && (IS_BYTES(code + len, "\x48\x89\x6c\x24") || IS_BYTES(code + len, "\x48\x89\xac\x24")))
			return at;
	}
	return 0;
}

static bool is_in_prologue(const struct place *p, struct caller *ret)
{
	bool has_push = false;
	uintptr_t at = find_prologue(&p->range, &has_push);
	uint32_t n = 0;

	if (!at)
		return false;
	*ret = (struct caller){p->sp, p->fp, "[prologue]"};
	if (p->pc <= at)
		return true;
	if (has_push && (p->pc == at + 1 || (p->pc == at + 4 && is_frame_pointer(bytes_at(at + 1))))) {
		*ret = (struct caller){p->sp + 8, word_at(p->sp), "[prologue]"};
		return true;
	}
	if (has_push || p->pc != at + read_sub(bytes_at(at), &n))
		return false;
	ret->slot = p->sp + n;
	return true;
}

/* The check for a safepoint in front of a ret, or what is left of it. */
static bool is_before_ret(const uint8_t *code)
{
	if (IS_BYTES(code, "\x49\x3b\xa7"))
		code += 7;
	if (IS_BYTES(code, "\x0f\x87"))
		code += 6;
	return *code == 0xc3;
}

static bool is_in_epilogue(const struct place *p, struct caller *ret)
{
	const uint8_t *c = p->code;

	if (p->pc + 16 > p->range.end && *c != 0xc3)
		return false;
	if (is_before_ret(c)) {
		*ret = (struct caller){p->sp, p->fp, "[epilogue]"};
		return true;
	}
	if (*c != 0x5d || !is_before_ret(c + 1) || p->pc - p->range.start < 7 ||
	    !(IS_BYTES(c - 4, "\x48\x83\xc4") || IS_BYTES(c - 7, "\x48\x81\xc4")))
		return false;
	*ret = (struct caller){p->sp + 8, word_at(p->sp), "[epilogue]"};
	return true;
}

static bool find_method_caller(const struct place *p, struct caller *ret)
{
	struct jvm_code_range range;

	return (is_in_prologue(p, ret) || is_in_epilogue(p, ret)) &&
	       jvm_code_ranges_find(word_at(ret->slot) - 1, &range);
}

bool repair_context(ucontext_t *context, struct repair *ret)
{
	greg_t *regs = context->uc_mcontext.gregs;
	struct place p = {
		.pc = (uintptr_t)regs[REG_RIP], .sp = (uintptr_t)regs[REG_RSP], .fp = (uintptr_t)regs[REG_RBP]};
	struct caller caller;

	p.code = bytes_at(p.pc);
	if (p.sp % 8 || !jvm_code_ranges_find(p.pc, &p.range) ||
	    !(p.range.method ? find_method_caller(&p, &caller) : find_stub_caller(&p, &caller)))
		return false;
	ret->method = p.range.method;
	memcpy(ret->name, caller.rule, strnlen(caller.rule, sizeof ret->name - 1) + 1);
	regs[REG_RIP] = (greg_t)word_at(caller.slot);
	regs[REG_RSP] = (greg_t)caller.slot + 8;
	regs[REG_RBP] = (greg_t)caller.fp;
	return true;
}

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
 *
 *      interpreter's entry                             adapter to compiled code      adapter to the interpreter
 *      push %rax                                       mov (%rsp), %rax    (%rsp)    ...                 (%rsp)
 *      push %rbp        (%rsp)   %r13 is the caller's  mov %rsp, %r11      (%rsp)    mov %rsp, %r13      (%rsp)
 *      mov  %rsp, %rbp  8(%rsp)  stack pointer         ...                 (%r11)
 *      push %r13        8(%rbp)                        and $-16, %rsp      (%r11)
 *      ...              8(%rbp)  it is at -8(%rbp)     push %rax           (%r11)
 *                                                      ...                 (%rsp)
 *                                                      jmp *%r11           (%rsp)
 *
 * HotSpot knows no frame in these.
 */
#include "jvm/c/walk/repair.h"

#include <string.h>

enum {
	STUB_HEAD_BYTES = 8,
	PROLOGUE_BYTES = 256, /* of a method, with the check of its receiver before */
	FRAME_BYTES = 2048,   /* of a stub, at most */
	FAR_CALL_BYTES = 13,
	ENTRY_HEAD_BYTES = 7, /* of the interpreter: up to the push of the caller's stack pointer */
	ENTRY_BYTES = 128,    /* in which its frame is made */
	CALLER_FRAME_BYTES = 1 << 16,
};

struct place {
	const uint8_t *code; /* at the program counter */
	uintptr_t pc, sp, fp, r11, r13;
	struct jvm_code_range range;
};

/* Where the caller goes on. */
struct caller {
	uintptr_t slot; /* of the return address */
	uintptr_t fp;
	const char *rule;
	uintptr_t sp; /* 0: behind that slot */
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

	*ret = (struct caller){p->sp, p->fp, p->range.name, 0};
	if (push < STUB_HEAD_BYTES && into > push && *p->code != 0xc3) {
		if (into == push + 1) {
			*ret = (struct caller){p->sp + 8, word_at(p->sp), p->range.name, 0};
		} else if (p->fp >= p->sp && p->fp - p->sp < FRAME_BYTES && p->fp % 8 == 0) {
			*ret = (struct caller){p->fp + 8, word_at(p->fp), p->range.name, 0};
		} else {
			return false;
		}
	}
	return is_stub_start(called_from(word_at(ret->slot)));
}

/* ---- the interpreter ---- */

static bool is_entry_head(const uint8_t *code)
{
	return IS_BYTES(code, "\x50\x55") && is_frame_pointer(code + 2) && IS_BYTES(code + 5, "\x41\x55");
}

/* In the four instructions of the head, behind the first of which the return address is on the stack. */
static bool find_head_caller(const struct place *p, struct caller *ret)
{
	if (is_entry_head(p->code - 1))
		*ret = (struct caller){p->sp, p->fp, p->range.name, p->r13};
	else if (is_entry_head(p->code - 2))
		*ret = (struct caller){p->sp + 8, word_at(p->sp), p->range.name, p->r13};
	else if (is_entry_head(p->code - 5))
		*ret = (struct caller){p->fp + 8, word_at(p->fp), p->range.name, p->r13};
	else
		return false;
	return true;
}

/* Behind the head, while the frame is being made. */
static bool find_body_caller(const struct place *p, struct caller *ret)
{
	uintptr_t into = ENTRY_HEAD_BYTES;

	while (into < ENTRY_BYTES && !is_entry_head(p->code - into))
		into++;
	if (into == ENTRY_BYTES || p->fp < p->sp || p->fp - p->sp > ENTRY_BYTES || p->fp % 8)
		return false;
	*ret = (struct caller){p->fp + 8, word_at(p->fp), p->range.name, word_at(p->fp - 8)};
	return true;
}

static bool find_entry_caller(const struct place *p, struct caller *ret)
{
	struct jvm_code_range range;

	if (p->pc - p->range.start < ENTRY_BYTES || (!find_head_caller(p, ret) && !find_body_caller(p, ret)))
		return false;
	return ret->sp % 8 == 0 && ret->sp > ret->slot && ret->sp - ret->slot < CALLER_FRAME_BYTES &&
	       jvm_code_ranges_find(word_at(ret->slot) - 1, &range);
}

/* ---- adapters ---- */

/* What comes first from `at` on; `end`: it does not come. */
static uintptr_t find_bytes(uintptr_t at, uintptr_t end, const char *bytes, size_t len)
{
	while (at < end && (end - at < len || !is_bytes(bytes_at(at), bytes, len)))
		at++;
	return at;
}

/* From the interpreter, whose frame needs no stack pointer. The return address is at (%rsp), or (%r11) while the stack is aligned. */
static bool find_inward_caller(const struct place *p, struct caller *ret)
{
	uintptr_t start = p->range.start, saved = start + (IS_BYTES(bytes_at(start), "\x48\x8b\x04\x24") ? 4 : 0);
	uintptr_t aligns = find_bytes(start, p->range.end, "\x48\x83\xe4\xf0\x50", 5);
	struct jvm_code_range range;

	if (!IS_BYTES(bytes_at(saved), "\x4c\x8b\xdc") || aligns == p->range.end)
		return false;
	*ret = (struct caller){p->pc > saved && p->pc <= aligns + 4 ? p->r11 : p->sp, p->fp, p->range.name, 0};
	return ret->slot >= p->sp && ret->slot - p->sp < CALLER_FRAME_BYTES && ret->slot % 8 == 0 &&
	       jvm_code_ranges_find(word_at(ret->slot) - 1, &range) && !range.method;
}

/* To the interpreter, up to where the stack pointer is put aside. */
static bool find_outward_caller(const struct place *p, uintptr_t start, struct caller *ret)
{
	struct jvm_code_range range;

	*ret = (struct caller){p->sp, p->fp, p->range.name, 0};
	return find_bytes(start, p->pc, "\x4c\x8b\xec", 3) == p->pc &&
	       find_bytes(start, p->pc, "\x49\x89\xe5", 3) == p->pc &&
	       jvm_code_ranges_find(word_at(ret->slot) - 1, &range) && range.method;
}

/* One leads from the interpreter to compiled code, and ends with jmp *%r11; behind it another one leads back. */
static bool find_adapter_caller(const struct place *p, struct caller *ret)
{
	uintptr_t jump = find_bytes(p->range.start, p->range.end, "\x41\xff\xe3", 3);

	return p->pc <= jump ? find_inward_caller(p, ret) : find_outward_caller(p, jump + 3, ret);
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
	*ret = (struct caller){p->sp, p->fp, "[prologue]", 0};
	if (p->pc <= at)
		return true;
	if (has_push && (p->pc == at + 1 || (p->pc == at + 4 && is_frame_pointer(bytes_at(at + 1))))) {
		*ret = (struct caller){p->sp + 8, word_at(p->sp), "[prologue]", 0};
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
	else if (IS_BYTES(code, "\x49\x3b\x67"))
		code += 4;
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
		*ret = (struct caller){p->sp, p->fp, "[epilogue]", 0};
		return true;
	}
	if (*c != 0x5d || !is_before_ret(c + 1) || p->pc - p->range.start < 7 ||
	    !(IS_BYTES(c - 4, "\x48\x83\xc4") || IS_BYTES(c - 7, "\x48\x81\xc4")))
		return false;
	*ret = (struct caller){p->sp + 8, word_at(p->sp), "[epilogue]", 0};
	return true;
}

static bool find_method_caller(const struct place *p, struct caller *ret)
{
	struct jvm_code_range range;

	return (is_in_prologue(p, ret) || is_in_epilogue(p, ret)) &&
	       jvm_code_ranges_find(word_at(ret->slot) - 1, &range);
}

bool repair_is_interpreter(const struct jvm_code_range *range)
{
	return !range->method && strcmp(range->name, "[Interpreter]") == 0;
}

static bool find_made_caller(const struct place *p, struct caller *ret)
{
	if (p->range.method)
		return find_method_caller(p, ret);
	if (repair_is_interpreter(&p->range))
		return find_entry_caller(p, ret);
	return find_stub_caller(p, ret) || find_adapter_caller(p, ret);
}

bool repair_context(ucontext_t *context, struct repair *ret)
{
	greg_t *regs = context->uc_mcontext.gregs;
	struct place p = {.pc = (uintptr_t)regs[REG_RIP],
			  .sp = (uintptr_t)regs[REG_RSP],
			  .fp = (uintptr_t)regs[REG_RBP],
			  .r11 = (uintptr_t)regs[REG_R11],
			  .r13 = (uintptr_t)regs[REG_R13]};
	struct caller caller;

	p.code = bytes_at(p.pc);
	if (p.sp % 8 || !jvm_code_ranges_find(p.pc, &p.range) || !find_made_caller(&p, &caller))
		return false;
	ret->method = p.range.method;
	memcpy(ret->name, caller.rule, strnlen(caller.rule, sizeof ret->name - 1) + 1);
	regs[REG_RIP] = (greg_t)word_at(caller.slot);
	regs[REG_RSP] = (greg_t)(caller.sp ? caller.sp : caller.slot + 8);
	regs[REG_RBP] = (greg_t)caller.fp;
	return true;
}

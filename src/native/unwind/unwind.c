/*
 * unwind.c - one step of unwinding: applies a row of call frame information to registers and stack; keeps simple rows in a cache.
 *
 * A cached row is that of ordinary compiled code: the CFA is rsp or rbp and a constant, the return address is at CFA - 8, callee-saved
 * registers are at most 255 words below the CFA. Other rows (PLT stubs, realigned stacks, signal frames) are interpreted each time.
 *
 * The cache belongs to one thread, so that its only races are with that thread's own handlers, which run to their end in between:
 * a count of writes that is odd during one and is read before and after a lookup is enough. A handler that leaves by longjmp in
 * the middle of a write leaves the count odd: nothing is cached from then on, and nothing is wrong.
 */
#include "native/unwind/unwind.h"

#include "native/unwind/epilogue.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum {
	WORD_BYTES = 8,
	/* A Fibonacci hash of the address. */
	HASH_SHIFT = 64 - 10,
};
_Static_assert(UNWIND_CACHE_ENTRIES == 1 << (64 - HASH_SHIFT), "the hash has as many values as the cache has entries");
_Static_assert(sizeof(struct unwind_cache_entry) == 24, "an entry is three words");

/* In the order of unwind_cache_entry.saved. */
static const uint8_t callee_saved[UNWIND_CACHE_SAVED] = {CFI_RBX, CFI_RBP, CFI_R12, CFI_R13, CFI_R14, CFI_R15};
enum {
	CALLEE_SAVED_KNOWN = 1 << CFI_RBX | 1 << CFI_RBP | 1 << CFI_R12 | 1 << CFI_R13 | 1 << CFI_R14 | 1 << CFI_R15,
};

static uint64_t lookup_address(const struct unwind_regs *regs)
{
	return regs->pc - (regs->is_return_address ? 1 : 0);
}

static size_t cache_slot(uint64_t address)
{
	return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> HASH_SHIFT);
}

/* Copies the entry out whole. */
static bool cache_find(const struct unwind_cache *cache, uint64_t address, struct unwind_cache_entry *ret)
{
	const struct unwind_cache_entry *e = &cache->entries[cache_slot(address)];
	uint32_t writes = __atomic_load_n(&cache->writes, __ATOMIC_RELAXED);

	if (writes & 1)
		return false;
	atomic_signal_fence(memory_order_seq_cst);
	*ret = *e;
	atomic_signal_fence(memory_order_seq_cst);
	return ret->address == address && ret->generation == cache->generation &&
	       __atomic_load_n(&cache->writes, __ATOMIC_RELAXED) == writes;
}

static void cache_keep(struct unwind_cache *cache, const struct unwind_cache_entry *entry)
{
	if (__atomic_load_n(&cache->writes, __ATOMIC_RELAXED) & 1)
		return;
	/* A handler that comes in before this leaves the count even. */
	__atomic_fetch_add(&cache->writes, 1, __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst);
	cache->entries[cache_slot(entry->address)] = *entry;
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_fetch_add(&cache->writes, 1, __ATOMIC_RELAXED);
}

/* false: the row is not that simple. */
static bool compact(const struct cfi_row *row, struct unwind_cache_entry *ret)
{
	memset(ret, 0, sizeof *ret);
	if (row->rule[CFI_RETURN_ADDRESS] == CFI_UNDEFINED)
		return true;
	if (row->cfa_kind != CFI_CFA_REGISTER || (row->cfa_register != CFI_RSP && row->cfa_register != CFI_RBP) ||
	    row->rule[CFI_RETURN_ADDRESS] != CFI_OFFSET || row->value[CFI_RETURN_ADDRESS] != -WORD_BYTES)
		return false;
	ret->is_from_rbp = row->cfa_register == CFI_RBP;
	ret->cfa_offset = row->cfa_value;
	ret->deepest = 1;
	for (unsigned int i = 0; i < UNWIND_CACHE_SAVED; i++) {
		int32_t value = row->value[callee_saved[i]];

		if (row->rule[callee_saved[i]] == CFI_UNSPECIFIED || row->rule[callee_saved[i]] == CFI_SAME)
			continue;
		if (row->rule[callee_saved[i]] != CFI_OFFSET || value >= 0 || value < -UINT8_MAX * WORD_BYTES ||
		    value % WORD_BYTES)
			return false;
		ret->saved[i] = (uint8_t)(-value / WORD_BYTES);
		if (ret->saved[i] > ret->deepest)
			ret->deepest = ret->saved[i];
	}
	for (unsigned int i = 0; i < CFI_RETURN_ADDRESS; i++)
		if (!(CALLEE_SAVED_KNOWN >> i & 1) && row->rule[i] != CFI_UNSPECIFIED && row->rule[i] != CFI_UNDEFINED)
			return false;
	return true;
}

/* The word so many words below the CFA, which the caller has compared with the stack. */
__attribute__((no_sanitize("address"))) static inline uint64_t word_below(uint64_t cfa, unsigned int words)
{
	typedef uint64_t __attribute__((aligned(1), may_alias)) stack_word;

	return *(const stack_word *)(uintptr_t)(cfa - words * WORD_BYTES);
}

static enum unwind_result apply_entry(const struct unwind_cache_entry *e, const struct unwind_stack *stack,
				      struct unwind_regs *regs, struct unwind_frame *ret_frame)
{
	unsigned int base = e->is_from_rbp ? CFI_RBP : CFI_RSP;
	uint64_t cfa = regs->r[base] + (uint64_t)(int64_t)e->cfa_offset, pc;

	if (!e->deepest)
		return UNWIND_END;
	if (!(regs->known >> base & 1) || cfa > stack->high || cfa < stack->low ||
	    cfa - stack->low < (uint64_t)e->deepest * WORD_BYTES || cfa <= regs->r[CFI_RSP])
		return UNWIND_UNKNOWN;
	pc = word_below(cfa, 1);
	if (!pc)
		return UNWIND_END;
	regs->known &= CALLEE_SAVED_KNOWN;
	for (unsigned int i = 0; i < UNWIND_CACHE_SAVED; i++) {
		if (!e->saved[i])
			continue;
		regs->r[callee_saved[i]] = word_below(cfa, e->saved[i]);
		regs->known |= UINT32_C(1) << callee_saved[i];
	}
	regs->r[CFI_RSP] = cfa;
	regs->known |= 1 << CFI_RSP;
	regs->pc = pc;
	regs->is_return_address = true;
	*ret_frame = (struct unwind_frame){cfa, cfa - WORD_BYTES, false};
	return UNWIND_OK;
}

/* A frame, its row, and what is around them. */
struct application {
	const struct eh_table *t;
	const struct unwind_stack *stack;
	const struct cfi_row *row;
	struct cfi_context context;
	uint64_t cfa;
};

static bool find_cfa(struct application *a)
{
	const struct cfi_row *row = a->row;

	if (row->cfa_kind == CFI_CFA_EXPRESSION)
		return cfi_evaluate(a->t, row->cfa_value, &a->context, NULL, &a->cfa);
	if (!(a->context.known >> row->cfa_register & 1))
		return false;
	a->cfa = a->context.registers[row->cfa_register] + (uint64_t)(int64_t)row->cfa_value;
	return true;
}

/* A register of the caller: its value, whether it is known, and where it was saved (0: nowhere). false: the step fails. */
static bool find_register(const struct application *a, unsigned int reg, uint64_t *ret, bool *ret_is_known,
			  uint64_t *ret_slot)
{
	uint64_t at = a->cfa + (uint64_t)(int64_t)a->row->value[reg];
	uint32_t other;

	*ret_is_known = true;
	*ret_slot = 0;
	switch ((enum cfi_rule)a->row->rule[reg]) {
	case CFI_UNSPECIFIED:
		*ret = reg == CFI_RSP ? a->cfa : a->context.registers[reg];
		*ret_is_known = reg == CFI_RSP || (CALLEE_SAVED_KNOWN & a->context.known) >> reg & 1;
		return true;
	case CFI_SAME:
		*ret = a->context.registers[reg];
		*ret_is_known = a->context.known >> reg & 1;
		return true;
	case CFI_UNDEFINED:
		*ret_is_known = false;
		return true;
	case CFI_REGISTER:
		other = (uint32_t)a->row->value[reg];
		if (other >= CFI_REGISTER_COUNT)
			return false;
		*ret = a->context.registers[other];
		*ret_is_known = a->context.known >> other & 1;
		return true;
	case CFI_VALUE_OFFSET:
		*ret = at;
		return true;
	case CFI_VALUE_EXPRESSION:
		return cfi_evaluate(a->t, a->row->value[reg], &a->context, &a->cfa, ret);
	case CFI_EXPRESSION:
		if (!cfi_evaluate(a->t, a->row->value[reg], &a->context, &a->cfa, &at))
			return false;
		break;
	case CFI_OFFSET:
		break;
	}
	*ret_slot = at;
	return cfi_load(a->stack->low, a->stack->high, at, ret);
}

static enum unwind_result apply_row(const struct eh_table *t, const struct cfi_row *row, bool is_signal,
				    const struct unwind_stack *stack, struct unwind_regs *regs,
				    struct unwind_frame *ret_frame)
{
	uint64_t old[CFI_REGISTER_COUNT];
	struct application a = {
		t, stack, row, {old, regs->known | UINT32_C(1) << CFI_RETURN_ADDRESS, stack->low, stack->high}, 0,
	};
	struct unwind_regs caller = {.is_return_address = !is_signal};
	uint64_t slot;
	bool is_known;

	if (row->rule[CFI_RETURN_ADDRESS] == CFI_UNDEFINED)
		return UNWIND_END;
	memcpy(old, regs->r, sizeof regs->r);
	old[CFI_RETURN_ADDRESS] = regs->pc;
	if (row->rule[CFI_RETURN_ADDRESS] == CFI_UNSPECIFIED || !find_cfa(&a))
		return UNWIND_UNKNOWN;
	for (unsigned int i = 0; i < CFI_RETURN_ADDRESS; i++) {
		if (!find_register(&a, i, &caller.r[i], &is_known, &slot))
			return UNWIND_UNKNOWN;
		caller.known |= (uint32_t)is_known << i;
	}
	if (!find_register(&a, CFI_RETURN_ADDRESS, &caller.pc, &is_known, &slot) || !is_known)
		return UNWIND_UNKNOWN;
	if (!caller.pc)
		return UNWIND_END;
	/* Stacks grow downwards: a caller that is not above is damage. A return address in a register takes no room (__longjmp). */
	if (!(caller.known >> CFI_RSP & 1) ||
	    (!is_signal && caller.r[CFI_RSP] < regs->r[CFI_RSP] + (slot ? WORD_BYTES : 0)))
		return UNWIND_UNKNOWN;
	*regs = caller;
	*ret_frame = (struct unwind_frame){a.cfa, slot, is_signal};
	return UNWIND_OK;
}

/* Where a handler returns to: mov $15,%rax (or %eax); syscall. */
static bool is_signal_return(const struct eh_table *t, const struct unwind_regs *regs)
{
	static const uint8_t long_form[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t short_form[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
	const uint8_t *code = (const uint8_t *)(uintptr_t)regs->pc;
	const struct eh_text *text = eh_text_of(&t->image, regs->pc);

	if (!text)
		return false;
	if (text->high - regs->pc >= sizeof long_form && !memcmp(code, long_form, sizeof long_form))
		return true;
	return text->high - regs->pc >= sizeof short_form && !memcmp(code, short_form, sizeof short_form);
}

/* The kernel's frame: rsp is at its ucontext once the handler has returned. */
static enum unwind_result step_from_signal(const struct unwind_stack *stack, struct unwind_regs *regs,
					   struct unwind_frame *ret_frame)
{
	/* In the order of gregs, from REG_R8 to REG_RSP and REG_RIP. */
	static const uint8_t order[] = {CFI_R8,  CFI_R9,  CFI_R10, CFI_R11, CFI_R12, CFI_R13, CFI_R14, CFI_R15,
					CFI_RDI, CFI_RSI, CFI_RBP, CFI_RBX, CFI_RDX, CFI_RAX, CFI_RCX, CFI_RSP};
	uint64_t at = regs->r[CFI_RSP] + offsetof(ucontext_t, uc_mcontext.gregs);
	struct unwind_regs caller = {.known = UNWIND_ALL_KNOWN};

	if (!(regs->known >> CFI_RSP & 1))
		return UNWIND_UNKNOWN;
	for (unsigned int i = 0; i < sizeof order; i++, at += WORD_BYTES)
		if (!cfi_load(stack->low, stack->high, at, &caller.r[order[i]]))
			return UNWIND_UNKNOWN;
	if (!cfi_load(stack->low, stack->high, at, &caller.pc))
		return UNWIND_UNKNOWN;
	if (!caller.pc)
		return UNWIND_END;
	*regs = caller;
	*ret_frame = (struct unwind_frame){caller.r[CFI_RSP], at, true};
	return UNWIND_OK;
}

/* An exception is about to land: where it does is the caller, and pc is looked up as it is. */
static enum unwind_result step_to_landing_pad(enum epilogue end, const struct unwind_stack *stack,
					      struct unwind_regs *regs, struct unwind_frame *ret_frame)
{
	bool is_in_rcx = end == EPILOGUE_LANDING_RCX;
	uint64_t pc = regs->r[CFI_RCX], sp = is_in_rcx ? pc : regs->r[CFI_RSP], slot = sp;

	if (!(regs->known >> CFI_RSP & 1) || (end != EPILOGUE_LANDING_RSP && !(regs->known >> CFI_RCX & 1)))
		return UNWIND_UNKNOWN;
	if (end == EPILOGUE_LANDING_REACHED)
		slot = 0;
	else if (!cfi_load(stack->low, stack->high, sp, &pc))
		return UNWIND_UNKNOWN;
	else
		sp += WORD_BYTES;
	if (!pc)
		return UNWIND_END;
	regs->pc = pc;
	regs->r[CFI_RSP] = sp;
	regs->known &= CALLEE_SAVED_KNOWN | 1 << CFI_RSP;
	regs->is_return_address = false;
	*ret_frame = (struct unwind_frame){sp, slot, false};
	return UNWIND_OK;
}

enum unwind_result unwind_step(const struct eh_table *t, const struct unwind_stack *stack, struct unwind_cache *cache,
			       struct unwind_regs *regs, struct unwind_frame *ret_frame)
{
	uint64_t address = lookup_address(regs);
	enum epilogue end = EPILOGUE_NONE;
	struct unwind_cache_entry e;
	struct eh_function f;
	struct cfi_row row;

	if (cache && cache_find(cache, address, &e))
		return apply_entry(&e, stack, regs, ret_frame);
	if (!t)
		return UNWIND_UNKNOWN;
	if (!eh_find(t, address, &f))
		return is_signal_return(t, regs) ? step_from_signal(stack, regs, ret_frame) : UNWIND_UNKNOWN;
	if (!regs->is_return_address)
		end = epilogue_at(&f, address);
	if (end >= EPILOGUE_LANDING_RCX)
		return step_to_landing_pad(end, stack, regs, ret_frame);
	if (!cfi_row_at(t, &f, address, &row))
		return UNWIND_UNKNOWN;
	if (end == EPILOGUE_REALIGNED)
		epilogue_correct(t, &row);
	if (cache && !f.is_signal_frame && compact(&row, &e)) {
		e.address = address;
		e.generation = cache->generation;
		cache_keep(cache, &e);
	}
	return apply_row(t, &row, f.is_signal_frame, stack, regs, ret_frame);
}

bool unwind_ordinary_row(const struct eh_table *t, uint64_t address, struct unwind_cache_entry *ret)
{
	struct eh_function f;
	struct cfi_row row;

	return eh_find(t, address, &f) && !f.is_signal_frame && cfi_row_at(t, &f, address, &row) && compact(&row, ret);
}

enum unwind_result unwind_step_by_row(const struct cfi_row *row, const struct unwind_stack *stack,
				      struct unwind_regs *regs, struct unwind_frame *ret_frame)
{
	return apply_row(NULL, row, false, stack, regs, ret_frame);
}

void unwind_regs_of_signal(const ucontext_t *context, struct unwind_regs *ret)
{
	/* By DWARF number. */
	static const uint8_t at[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
				     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	const greg_t *g = context->uc_mcontext.gregs;

	*ret = (struct unwind_regs){.known = UNWIND_ALL_KNOWN, .pc = (uint64_t)g[REG_RIP]};
	for (size_t i = 0; i < sizeof at; i++)
		ret->r[i] = (uint64_t)g[at[i]];
}

_Static_assert(REG_R8 == 0 && REG_RDI == 8 && REG_RSP == 15 && REG_RIP == 16,
	       "the order of a signal frame's registers");

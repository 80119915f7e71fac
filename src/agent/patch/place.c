/*
 * place.c - reads a stub from its first instruction on to the one that a thread is at: how much it has pushed by then, or which of the
 * program's instructions that is.
 */
#include "agent/patch/place.h"

#include <string.h>

#include "agent/code/code.h"
#include "agent/threads/entry.h"
#include "agent/scan/insn.h"
#include "agent/patch/patch.h"
#include "agent/program/program.h"

enum {
	MAX_BRANCHES = 32,
	WORD = 8,
	PUSH_NUMBER = 0x68,
};

/* A branch of the stub and what was pushed there: the same is at its target. */
struct branch {
	uint64_t target;
	int32_t depth;
};

#define IS(code, bytes) (memcmp(code, bytes, sizeof(bytes) - 1) == 0)

/* Of the instructions that emit.c writes. */
static int32_t pushed_by(const uint8_t *c)
{
	if (c[0] == 0x50 || c[0] == 0x51 || c[0] == PUSH_NUMBER || IS(c, "\x41\x53") || IS(c, "\xff\x35") ||
	    IS(c, "\x64\xff") || IS(c, "\x41\xff\x73") || IS(c, "\x48\x8d\x64\x24\xf8"))
		return WORD;
	if (c[0] == 0x58 || c[0] == 0x59 || IS(c, "\x41\x5b") || IS(c, "\x64\x8f") || IS(c, "\x41\x8f") ||
	    IS(c, "\x48\x8d\x64\x24\x08"))
		return -WORD;
	return 0;
}

static const uint8_t *code_at(uint64_t address)
{
	return (const uint8_t *)address; /* NOLINT(performance-no-int-to-ptr) */
}

/* What was pushed on the way from `from` to pc. Branches go forwards, or back to where as much is pushed. */
static int32_t depth_at(uint64_t from, uint64_t pc)
{
	struct branch branches[MAX_BRANCHES];
	uint32_t count = 0;
	int32_t depth = 0;
	struct insn insn;

	while (from < pc && insn_decode_flow(code_at(from), INSN_MAX_BYTES, from, &insn)) {
		const uint8_t *c = code_at(from);

		if ((insn.kind == INSN_JUMP_CONDITIONAL || insn.kind == INSN_JUMP_DIRECT) && count < MAX_BRANCHES)
			branches[count++] = (struct branch){insn.target, depth};
		depth += pushed_by(c);
		from += insn.len_bytes;
		for (uint32_t i = 0; i < count; i++)
			if (branches[i].target == from)
				depth = branches[i].depth;
	}
	return depth;
}

/* The program's instructions of those bytes, of `address`, are at `to` in the stub: the one that pc is at, or the end of them. */
static uint64_t moved_from(const uint8_t *bytes, uint32_t len, uint64_t address, uint64_t to, uint64_t pc)
{
	uint32_t at = 0;

	while (at < len) {
		uint8_t moved[INSN_RELOCATED_MAX];
		struct insn insn;

		if (!insn_decode(bytes + at, len - at, address + at, &insn))
			break;
		to += insn_relocate(bytes + at, &insn, to, moved);
		if (pc < to)
			break;
		at += insn.len_bytes;
	}
	return address + at;
}

static const struct agent_site *site_of_stub(const struct code_stub *stub)
{
	bool is_call = stub->kind == CODE_STUB_BEFORE || stub->kind == CODE_STUB_TAIL;

	return agent_site(is_call ? agent_call(stub->number)->site : stub->number);
}

/* In front of a site that is entered by a call there is a return address already. */
static uintptr_t returns(const struct agent_site *site)
{
	return agent_site_is_call(site) && !site->is_at_trampoline ? WORD : 0;
}

static struct place in_front(const struct code_stub *stub, uintptr_t pc, uintptr_t sp)
{
	const struct agent_site *site = site_of_stub(stub);
	const uint8_t *prefix = agent_program.bytes + site->original;
	uintptr_t work = stub->start + (stub->kind == CODE_STUB_DISPATCH ? stub->done : 0);

	if (pc < work)
		return (struct place){moved_from(prefix, site->prefix_bytes, site->address - site->prefix_bytes,
						 stub->start + stub->first, pc),
				      sp + returns(site)};
	return (struct place){site->address, sp + (uintptr_t)depth_at(work, pc) + returns(site)};
}

static struct place behind(const struct code_stub *stub, uintptr_t pc, uintptr_t sp)
{
	const struct agent_site *site = site_of_stub(stub);
	uintptr_t back = site->address + site->len_bytes, moved = stub->start + stub->first;
	const uint8_t *suffix = agent_program.bytes + site->original + site->prefix_bytes + site->len_bytes;

	if (pc < moved)
		return (struct place){back, sp + (uintptr_t)depth_at(stub->start, pc)};
	if (site->needs_trampoline && !site->is_over_suffix)
		return (struct place){back, sp};
	return (struct place){moved_from(suffix, site->suffix_bytes, back, moved, pc), sp};
}

static struct place at_entry(const struct code_stub *stub, uintptr_t pc, uintptr_t sp)
{
	const struct agent_function *f = agent_function(stub->number);
	const uint8_t *entry = agent_program.bytes + f->entry_original;
	uintptr_t moved = stub->start + stub->done;

	if (pc < moved)
		return (struct place){f->entry_address, sp + (uintptr_t)depth_at(stub->start + stub->first, pc)};
	return (struct place){moved_from(entry, f->entry_bytes, f->entry_address, moved, pc), sp};
}

/* The stub begins with the address that it is for and the bytes that stood there; none stood there: it was called from that address. */
static struct place in_foreign(const struct code_stub *stub, uintptr_t pc, uintptr_t sp)
{
	uintptr_t back, moved = stub->start + stub->done;

	memcpy(&back, code_at(stub->start), sizeof back);
	if (stub->first == sizeof back)
		return (struct place){back, sp + WORD + (uintptr_t)depth_at(stub->start + stub->first, pc)};
	if (pc < moved)
		return (struct place){back, sp + (uintptr_t)depth_at(stub->start + stub->first, pc)};
	return (struct place){moved_from(code_at(stub->start) + sizeof back, stub->first - (uint32_t)sizeof back, back,
					 moved, pc),
			      sp};
}

static uint64_t pushed(uintptr_t sp, uint32_t word)
{
	uint64_t value;

	memcpy(&value, code_at(sp + word * sizeof value), sizeof value);
	return value;
}

uint32_t place_unknown_site(const struct code_stub *stub, uintptr_t pc, uintptr_t sp)
{
	return agent_site_in_front_of(pushed(sp, pc > stub->start));
}

static struct place in_unknown(const struct code_stub *stub, uintptr_t pc, uintptr_t sp)
{
	const struct agent_site *site = agent_site(place_unknown_site(stub, pc, sp));

	return (struct place){site->address, sp + WORD + (pc > stub->start ? WORD : 0)};
}

/* At one of the jumps out of the area: what the stub has pushed on its way there is on top. */
static bool at_jump(const struct emit_places *p, uintptr_t pc, uintptr_t sp, struct place *ret)
{
	if (pc == p->discover) {
		bool is_said = (uint32_t)pushed(sp, 0) != CODE_NO_NUMBER;
		uint32_t number =
			is_said ? (uint32_t)pushed(sp, 0) & ~PATCH_TAIL : agent_site_in_front_of(pushed(sp, 1));
		const struct agent_site *site = agent_site(number);

		*ret = (struct place){site->address, sp + WORD + (agent_site_is_call(site) ? WORD : 0)};
		return true;
	}
	if (pc == p->entered) {
		*ret = (struct place){agent_function(pushed(sp, 0))->entry_address, sp + WORD};
		return true;
	}
	/* Called. */
	return (pc == p->grow || pc == p->returned) && place_find(pushed(sp, 0), sp + WORD, ret);
}

bool place_is_stub(uintptr_t pc)
{
	return code_places_at(pc);
}

bool place_find(uintptr_t pc, uintptr_t sp, struct place *ret)
{
	const struct emit_places *places = code_places_at(pc);
	struct code_stub stub;

	if (!places)
		return false;
	if (!code_find_stub(pc, &stub))
		return at_jump(places, pc, sp, ret);
	switch (stub.kind) {
	case CODE_STUB_BEFORE:
	case CODE_STUB_TAIL:
	case CODE_STUB_DISPATCH:
		*ret = in_front(&stub, pc, sp);
		return true;
	case CODE_STUB_UNKNOWN:
		*ret = in_unknown(&stub, pc, sp);
		return true;
	case CODE_STUB_AFTER:
		*ret = behind(&stub, pc, sp);
		return true;
	case CODE_STUB_ENTRY:
		*ret = at_entry(&stub, pc, sp);
		return true;
	case CODE_STUB_FOREIGN:
		*ret = in_foreign(&stub, pc, sp);
		return true;
	default:
		return false;
	}
}

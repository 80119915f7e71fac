/* entry_jump.c - decodes what is at the entry, copies it, and writes the jump. */
#include "native/entry_jump.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/instruction.h"
#include "native/maps.h"
#include "recorder/sys.h"

enum {
	PAGE_BYTES = 4096,
	STUB_BYTES = 64,
	REACH_BYTES = 0x70000000, /* of a jump's 2 GB */
	BRANCH_BYTES = 6,         /* jcc with 32 bits for its target */
	FAR_JUMP_BYTES = 14,
};

/* Near one text; stubs go one behind the other. */
static struct page {
	uintptr_t at;
	uint32_t used_bytes;
} pages[8];

/* A stub under way. */
struct stub {
	uint8_t bytes[STUB_BYTES];
	uint32_t len;
	uintptr_t at; /* where it will be */
	bool is_full;
};

static const uint8_t *code_at(uintptr_t address)
{
	return (const uint8_t *)address; /* NOLINT(performance-no-int-to-ptr) */
}

/* ---- bytes ---- */

static void add(struct stub *s, const void *bytes, size_t len)
{
	if (len > sizeof s->bytes - s->len) {
		s->is_full = true;
		return;
	}
	memcpy(s->bytes + s->len, bytes, len);
	s->len += (uint32_t)len;
}

/* The distance that the last 4 bytes of something that ends `behind` bytes from here have to that address. */
static void add_distance(struct stub *s, uint64_t target, uint32_t behind)
{
	int64_t distance = (int64_t)(target - (s->at + s->len + sizeof(int32_t) + behind));
	int32_t short_distance = (int32_t)distance;

	if (distance != short_distance)
		s->is_full = true;
	add(s, &short_distance, sizeof short_distance);
}

static void add_jump(struct stub *s, uint64_t target)
{
	static const uint8_t code = 0xe9;

	add(s, &code, sizeof code);
	add_distance(s, target, 0);
}

/* To this library, which may be anywhere: jmp *0(%rip), and the address. */
static void add_far_jump(struct stub *s, uint64_t target)
{
	static const uint8_t code[] = {0xff, 0x25, 0, 0, 0, 0};

	add(s, code, sizeof code);
	add(s, &target, sizeof target);
}

/* Conditional, of the usual kind. */
static bool add_branch(struct stub *s, const uint8_t *bytes, uint64_t target)
{
	uint8_t code[2] = {0x0f, 0};

	if (bytes[0] >= 0x70 && bytes[0] < 0x80)
		code[1] = bytes[0] + 0x10;
	else if (bytes[0] == 0x0f && bytes[1] >= 0x80 && bytes[1] < 0x90)
		code[1] = bytes[1];
	else
		return false;
	add(s, code, sizeof code);
	add_distance(s, target, 0);
	return true;
}

/*
 * Aims the operand anew, whose place in the instruction no table tells: it is where another displacement makes the instruction the same but
 * for that.
 */
static bool add_aimed(struct stub *s, const uint8_t *bytes, const struct instruction *i, uintptr_t address)
{
	uint64_t target = address + i->len_bytes + (uint64_t)(int64_t)i->displacement;
	uint8_t changed[INSTRUCTION_BYTES_MAX];
	struct instruction other;
	uint32_t found = 0, count = 0;

	for (uint32_t off = 2; off + sizeof(int32_t) <= i->len_bytes; off++) {
		int32_t displacement = i->displacement ^ 0x01010101;

		if (memcmp(bytes + off, &i->displacement, sizeof displacement) != 0)
			continue;
		memcpy(changed, bytes, i->len_bytes);
		memcpy(changed + off, &displacement, sizeof displacement);
		if (instruction_decode(changed, i->len_bytes, address, &other) && other.len_bytes == i->len_bytes &&
		    other.base == INSTRUCTION_RIP && other.displacement == displacement) {
			found = off;
			count++;
		}
	}
	if (count != 1)
		return false;
	add(s, bytes, found);
	add_distance(s, target, i->len_bytes - found - (uint32_t)sizeof(int32_t));
	add(s, bytes + found + sizeof(int32_t), i->len_bytes - found - sizeof(int32_t));
	return true;
}

/* What does there what the instruction does where it is. *is_last: nothing behind it is reached from it. */
static bool add_moved(struct stub *s, const uint8_t *bytes, const struct instruction *i, uintptr_t address,
		      bool *is_last)
{
	static const uint8_t short_addresses = 0x67;

	*is_last = i->kind == INSTRUCTION_JUMP;
	switch (i->kind) {
	case INSTRUCTION_BRANCH:
		return i->is_direct && add_branch(s, bytes, i->target);
	case INSTRUCTION_JUMP:
		if (i->is_direct)
			add_jump(s, i->target);
		return i->is_direct;
	case INSTRUCTION_CALL:
	case INSTRUCTION_RETURN:
	case INSTRUCTION_TRAP:
		return false;
	case INSTRUCTION_OTHER:
	case INSTRUCTION_DIVIDE:
		break;
	}
	if (bytes[0] == short_addresses)
		return false;
	if (i->is_memory && i->base == INSTRUCTION_RIP)
		return add_aimed(s, bytes, i, address);
	add(s, bytes, i->len_bytes);
	return true;
}

/* ---- the function ---- */

/* Does it branch into [low, high)? True, too, where its code cannot be read. */
static bool has_branch_to(const struct eh_function *f, uintptr_t low, uintptr_t high)
{
	struct instruction i;

	for (uintptr_t at = f->start; at < f->end; at += i.len_bytes) {
		if (!instruction_decode(code_at(at), f->end - at, at, &i))
			return true;
		if (i.is_direct && i.kind != INSTRUCTION_CALL && i.target >= low && i.target < high)
			return true;
	}
	return false;
}

/* The instructions of the first bytes, and the jump behind them. False: there are too few, or some that cannot be moved. */
static bool move_entry(struct stub *s, const struct eh_function *f, struct entry_jump *ret)
{
	uintptr_t at = f->start;
	bool is_last = false;
	struct instruction i;

	while (at - f->start < ENTRY_JUMP_BYTES && !is_last) {
		if (at >= f->end || !instruction_decode(code_at(at), f->end - at, at, &i) ||
		    !add_moved(s, code_at(at), &i, at, &is_last))
			return false;
		at += i.len_bytes;
	}
	ret->len_bytes = (uint8_t)(at - f->start);
	if (!is_last)
		add_jump(s, at);
	return ret->len_bytes >= ENTRY_JUMP_BYTES && !s->is_full && !has_branch_to(f, f->start + 1, at);
}

/* ---- memory ---- */

static bool is_near(uintptr_t a, uintptr_t b)
{
	return (a < b ? b - a : a - b) < REACH_BYTES;
}

/* With room for a stub, within reach of the text; NULL: none is to be had. */
static struct page *page_near(const struct eh_text *text)
{
	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
		struct page *p = &pages[i];
		uintptr_t gap = 0;
		long rc;

		if (p->at && is_near(p->at, text->low) && is_near(p->at, text->high) &&
		    p->used_bytes + STUB_BYTES <= PAGE_BYTES)
			return p;
		if (p->at)
			continue;
		gap = maps_find_gap(text->low, text->high, PAGE_BYTES, REACH_BYTES);
		rc = gap ? wmrt_sys6(SYS_mmap, (long)gap, PAGE_BYTES, PROT_READ | PROT_EXEC,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
			 : -1;
		if (rc != (long)gap)
			return NULL;
		*p = (struct page){gap, 0};
		return p;
	}
	return NULL;
}

static bool write_code(uintptr_t at, const void *bytes, size_t len)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC, 0, 0, 0), rc;

	if (fd < 0)
		return false;
	rc = wmrt_sys6(SYS_pwrite64, fd, (long)bytes, (long)len, (long)at, 0, 0);
	wmrt_sys3(SYS_close, fd, 0, 0);
	return rc == (long)len;
}

/* ---- jumps ---- */

bool entry_jump_make(struct entry_jump *ret, const struct eh_table *table, uintptr_t at, uintptr_t to)
{
	const struct eh_text *text = eh_text_of(&table->image, at);
	struct stub s = {.len = 0};
	struct eh_function f;
	struct page *page;

	if (!text || !eh_find(table, at, &f) || f.start != at)
		return false;
	page = page_near(text);
	if (!page)
		return false;
	s.at = page->at + page->used_bytes;
	*ret = (struct entry_jump){.at = at, .enter = s.at};
	add_far_jump(&s, to);
	ret->behind = s.at + s.len;
	if (!move_entry(&s, &f, ret) || !write_code(s.at, s.bytes, s.len))
		return false;
	ret->end = s.at + s.len;
	page->used_bytes += STUB_BYTES;
	memcpy(ret->original, code_at(at), ret->len_bytes);
	return true;
}

bool entry_jump_put(struct entry_jump *jump)
{
	struct stub s = {.at = jump->at};

	add_jump(&s, jump->enter);
	jump->is_put = !s.is_full && write_code(jump->at, s.bytes, s.len);
	return jump->is_put;
}

bool entry_jump_take(struct entry_jump *jump)
{
	if (jump->is_put && write_code(jump->at, jump->original, ENTRY_JUMP_BYTES))
		jump->is_put = false;
	return !jump->is_put;
}

uintptr_t entry_jump_place(const struct entry_jump *jump, uintptr_t pc)
{
	uintptr_t from = jump->behind, at = jump->at;
	struct instruction i, was;

	if (pc < jump->enter || pc >= jump->end)
		return 0;
	/* The original bytes tell how long each was: a branch may be longer here. */
	while (from < pc && at < jump->at + jump->len_bytes) {
		size_t off = at - jump->at;

		if (!instruction_decode(jump->original + off, jump->len_bytes - off, at, &was) ||
		    !instruction_decode(code_at(from), jump->end - from, from, &i))
			return at;
		from += i.len_bytes;
		at += was.len_bytes;
	}
	return at;
}

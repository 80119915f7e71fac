/*
 * emit.c - writes stubs. The encodings are spelled out: %fs-relative operands are [disp32] with SIB 25, and every stub uses %r11
 * alone, which it saves.
 */
#include "agent/code/emit.h"

#include <string.h>

#include "waymark/abi.h"

void emit_init(struct emit *e, uint8_t *bytes, /* NOLINT(readability-non-const-parameter): emit_bytes writes there */
	       uint32_t capacity, uint64_t address)
{
	*e = (struct emit){.bytes = bytes, .capacity = capacity, .address = address};
}

void emit_bytes(struct emit *e, const void *bytes, size_t len)
{
	if (len > e->capacity - e->len) {
		e->is_full = true;
		return;
	}
	memcpy(e->bytes + e->len, bytes, len);
	e->len += (uint32_t)len;
}

bool emit_ok(const struct emit *e)
{
	return !e->is_full && !e->is_far;
}

static void emit_u8(struct emit *e, uint8_t byte)
{
	emit_bytes(e, &byte, 1);
}

static void emit_u32(struct emit *e, uint32_t value)
{
	emit_bytes(e, &value, sizeof value);
}

static void emit_u64(struct emit *e, uint64_t value)
{
	emit_bytes(e, &value, sizeof value);
}

#define EMIT(e, ...) emit_bytes(e, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* The last 4 bytes of an instruction whose end is `trailing` bytes behind them: the distance to target. */
static void emit_distance(struct emit *e, uint64_t target, uint32_t trailing)
{
	int64_t distance = (int64_t)(target - (emit_here(e) + 4 + trailing));

	if (distance < INT32_MIN || distance > INT32_MAX)
		e->is_far = true;
	emit_u32(e, (uint32_t)distance);
}

static bool is_near(uint64_t from, uint64_t target)
{
	int64_t distance = (int64_t)(target - from);

	return distance >= INT32_MIN && distance <= INT32_MAX;
}

void emit_jump(struct emit *e, uint64_t target)
{
	if (is_near(emit_here(e) + EMIT_JUMP_BYTES, target)) {
		emit_u8(e, 0xe9);
		emit_distance(e, target, 0);
	} else {
		EMIT(e, 0xff, 0x25, 0, 0, 0, 0); /* jmp *(%rip), to the word behind it */
		emit_u64(e, target);
	}
}

void emit_call(struct emit *e, uint64_t target)
{
	emit_u8(e, 0xe8);
	emit_distance(e, target, 0);
}

void emit_nops(struct emit *e, uint32_t len)
{
	static const uint8_t nops[9][9] = {
		{0x90},
		{0x66, 0x90},
		{0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0x00},
		{0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
		{0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};

	while (len) {
		uint32_t n = len < 9 ? len : 9;

		emit_bytes(e, nops[n - 1], n);
		len -= n;
	}
}

/* op: 0 is add, 5 is sub. */
static uint32_t emit_change(struct emit *e, const struct emit_places *p, uint64_t addend, uint8_t op)
{
	uint8_t modrm = (uint8_t)(0x04 | op << 3);

	if (addend <= INT8_MAX) { /* addq/subq $imm8, %fs:id */
		EMIT(e, 0x64, 0x48, 0x83, modrm, 0x25);
		emit_u32(e, (uint32_t)p->id);
		emit_u8(e, (uint8_t)addend);
	} else if (addend <= INT32_MAX) { /* addq/subq $imm32, %fs:id */
		EMIT(e, 0x64, 0x48, 0x81, modrm, 0x25);
		emit_u32(e, (uint32_t)p->id);
		emit_u32(e, (uint32_t)addend);
	} else {
		EMIT(e, 0x41, 0x53, 0x49, 0xbb); /* push %r11; movabs $imm64, %r11 */
		emit_u64(e, addend);
		EMIT(e, 0x64, 0x4c, op ? 0x29 : 0x01, 0x1c, 0x25); /* add/sub %r11, %fs:id */
		emit_u32(e, (uint32_t)p->id);
		EMIT(e, 0x41, 0x5b); /* pop %r11 */
		return e->len - 2;
	}
	return e->len;
}

uint32_t emit_add(struct emit *e, const struct emit_places *p, uint64_t addend)
{
	return emit_change(e, p, addend, 0);
}

uint32_t emit_sub(struct emit *e, const struct emit_places *p, uint64_t addend)
{
	return emit_change(e, p, addend, 5);
}

static void emit_load_top(struct emit *e, const struct emit_places *p)
{
	EMIT(e, 0x64, 0x4c, 0x8b, 0x1c, 0x25); /* mov %fs:top, %r11 */
	emit_u32(e, (uint32_t)p->top);
}

static void emit_store_top(struct emit *e, const struct emit_places *p)
{
	EMIT(e, 0x64, 0x4c, 0x89, 0x1c, 0x25); /* mov %r11, %fs:top */
	emit_u32(e, (uint32_t)p->top);
}

void emit_foreign(struct emit *e, const struct emit_places *p)
{
	EMIT(e, 0xff, 0x35); /* push foreign(%rip) */
	emit_distance(e, p->foreign, 0);
	EMIT(e, 0x64, 0x8f, 0x04, 0x25); /* pop %fs:id */
	emit_u32(e, (uint32_t)p->id);
}

static void emit_start_id(struct emit *e, const struct emit_places *p, const struct emit_start *start)
{
	if (start->is_foreign) {
		emit_foreign(e, p);
	} else if (start->restart <= INT32_MAX) {
		EMIT(e, 0x64, 0x48, 0xc7, 0x04, 0x25); /* movq $imm32, %fs:id */
		emit_u32(e, (uint32_t)p->id);
		emit_u32(e, (uint32_t)start->restart);
	} else {
		EMIT(e, 0x49, 0xbb); /* movabs $imm64, %r11 */
		emit_u64(e, start->restart);
		EMIT(e, 0x64, 0x4c, 0x89, 0x1c, 0x25); /* mov %r11, %fs:id */
		emit_u32(e, (uint32_t)p->id);
	}
}

/* The distance of a short jump that ends at `from`, to here. */
static void emit_land(struct emit *e, uint32_t from)
{
	if (!e->is_full)
		e->bytes[from - 1] = (uint8_t)(e->len - from);
}

static void emit_push_id(struct emit *e, const struct emit_places *p)
{
	EMIT(e, 0x64, 0xff, 0x34, 0x25); /* push %fs:id */
	emit_u32(e, (uint32_t)p->id);
}

/* push %r11; mov %fs:top, %r11, which is not NULL then */
static void emit_begin_push(struct emit *e, const struct emit_places *p)
{
	uint32_t load;

	EMIT(e, 0x41, 0x53); /* push %r11 */
	load = e->len;
	emit_load_top(e, p);
	EMIT(e, 0x4d, 0x85, 0xdb); /* test %r11, %r11 */
	EMIT(e, 0x75, 0x07);       /* jne over the next two */
	emit_call(e, p->grow);
	EMIT(e, 0xeb, (uint8_t)(load - (e->len + 2))); /* jmp load */
}

static void emit_entry_words(struct emit *e, const struct emit_places *p, uint32_t site)
{
	emit_push_id(e, p);
	EMIT(e, 0x41, 0x8f, 0x03);       /* pop (%r11) */
	EMIT(e, 0x49, 0x89, 0x63, 0x08); /* mov %rsp, 8(%r11) */
	EMIT(e, 0x41, 0xc7, 0x43, 0x10); /* movl $site, 16(%r11) */
	emit_u32(e, site);
	EMIT(e, 0x49, 0xc7, 0x43, 0x14, 0, 0, 0, 0); /* movq $0, 20(%r11) */
}

static void emit_count(struct emit *e, uint64_t counter)
{
	if (!counter)
		return;
	EMIT(e, 0xff, 0x05); /* incl counter(%rip) */
	emit_distance(e, counter, 0);
}

/* (%r11) += addend */
static void emit_add_to_entry(struct emit *e, uint64_t addend)
{
	if (!addend)
		return;
	if (addend <= INT32_MAX) {
		EMIT(e, 0x49, 0x81, 0x03); /* addq $imm32, (%r11) */
		emit_u32(e, (uint32_t)addend);
	} else {
		EMIT(e, 0x50, 0x48, 0xb8); /* push %rax; movabs $imm64, %rax */
		emit_u64(e, addend);
		EMIT(e, 0x49, 0x01, 0x03, 0x58); /* add %rax, (%r11); pop %rax */
	}
}

void emit_push(struct emit *e, const struct emit_places *p, uint32_t site, uint64_t addend,
	       const struct emit_start *start, uint64_t counter, uint32_t *ret_pushed, uint32_t *ret_done)
{
	emit_begin_push(e, p);
	emit_entry_words(e, p, site);
	emit_add_to_entry(e, addend);
	emit_count(e, counter);
	EMIT(e, 0x4d, 0x8d, 0x5b, 0x20); /* lea 32(%r11), %r11 */
	emit_store_top(e, p);
	*ret_pushed = e->len;
	emit_start_id(e, p, start);
	*ret_done = e->len;
	EMIT(e, 0x41, 0x5b); /* pop %r11 */
}

enum {
	ENTRY_BYTES = 32,
	OLDEST_BYTES =
		(EMIT_TAILS_KEPT + 1) * ENTRY_BYTES, /* from there to top: as many entries as a frame has at most */
	OLDEST_KEY = 8 - OLDEST_BYTES,
};

/*
 * Keys fall from the oldest entry to the newest, so where that of the newest and of the EMIT_TAILS_KEPT before it are this frame's, they
 * all are. That one may lie in front of the segment's base, whose frame_slot is none.
 */
void emit_push_tail(struct emit *e, const struct emit_places *p, uint32_t site, const struct emit_start *start,
		    uint64_t counter, uint32_t *ret_pushed, uint32_t *ret_done)
{
	uint32_t is_foreign, is_first, is_low, is_room, replaced;

	EMIT(e, 0x64, 0xf6, 0x04, 0x25); /* testb $0xc0, %fs:id+7: is it above AGENT_MAX_ID? */
	emit_u32(e, (uint32_t)(p->id + 7));
	EMIT(e, 0xc0, 0x0f, 0x85, 0, 0, 0, 0); /* jne end */
	is_foreign = e->len;
	emit_begin_push(e, p);
	EMIT(e, 0x49, 0x39, 0x63, 0xe8); /* cmp %rsp, -24(%r11) */
	EMIT(e, 0x75, 0);                /* jne plain */
	is_first = e->len;
	EMIT(e, 0x4d, 0x8d, 0x9b); /* lea -OLDEST_BYTES(%r11), %r11 */
	emit_u32(e, (uint32_t)-OLDEST_BYTES);
	EMIT(e, 0x64, 0x4c, 0x39, 0x1c, 0x25); /* cmp %r11, %fs:base */
	emit_u32(e, (uint32_t)p->base);
	EMIT(e, 0x4d, 0x8d, 0x9b); /* lea OLDEST_BYTES(%r11), %r11 */
	emit_u32(e, OLDEST_BYTES);
	EMIT(e, 0x77, 0); /* ja plain */
	is_low = e->len;
	EMIT(e, 0x49, 0x39, 0xa3); /* cmp %rsp, OLDEST_KEY(%r11) */
	emit_u32(e, (uint32_t)OLDEST_KEY);
	EMIT(e, 0x75, 0); /* jne plain */
	is_room = e->len;
	emit_push_id(e, p);
	EMIT(e, 0x41, 0x8f, 0x43, 0xe0); /* pop -32(%r11) */
	EMIT(e, 0x41, 0xc7, 0x43, 0xf0); /* movl $site, -16(%r11) */
	emit_u32(e, site | WM1_SITE_ELIDED);
	EMIT(e, 0x49, 0xc7, 0x43, 0xf4, 0, 0, 0, 0); /* movq $0, -12(%r11) */
	EMIT(e, 0xeb, 0);                            /* jmp pushed */
	replaced = e->len;
	emit_land(e, is_first);
	emit_land(e, is_low);
	emit_land(e, is_room);
	emit_entry_words(e, p, site);
	EMIT(e, 0x4d, 0x8d, 0x5b, 0x20); /* lea 32(%r11), %r11 */
	emit_store_top(e, p);
	emit_land(e, replaced);
	*ret_pushed = e->len;
	emit_count(e, counter);
	emit_start_id(e, p, start);
	*ret_done = e->len;
	EMIT(e, 0x41, 0x5b); /* pop %r11 */
	if (!e->is_full)
		memcpy(e->bytes + is_foreign - 4, &(uint32_t){e->len - is_foreign}, 4);
}

/* id is that of the entry below %r11, which goes there. */
static void emit_take_off(struct emit *e, const struct emit_places *p)
{
	EMIT(e, 0x41, 0xff, 0x73, 0xe0); /* push -32(%r11) */
	EMIT(e, 0x64, 0x8f, 0x04, 0x25); /* pop %fs:id */
	emit_u32(e, (uint32_t)p->id);
	EMIT(e, 0x4d, 0x8d, 0x5b, 0xe0); /* lea -32(%r11), %r11 */
}

/* The distance of a short jump that ends here, to `target`. */
static void emit_back(struct emit *e, uint32_t target)
{
	if (!e->is_full)
		e->bytes[e->len - 1] = (uint8_t)(target - e->len);
}

void emit_push_address(struct emit *e, uint64_t address)
{
	emit_u8(e, 0x68); /* push $address, the lower half */
	emit_u32(e, (uint32_t)address);
	EMIT(e, 0xc7, 0x44, 0x24, 0x04); /* movl $upper half, 4(%rsp) */
	emit_u32(e, (uint32_t)(address >> 32));
}

static void emit_to_returned(struct emit *e, const struct emit_places *p, uint64_t back)
{
	emit_push_address(e, back);
	emit_call(e, p->returned);
	EMIT(e, 0x41, 0x5b); /* pop %r11 */
}

void emit_pop(struct emit *e, const struct emit_places *p, uint64_t back, uint32_t *ret_done)
{
	uint32_t is_ours, out, again;

	EMIT(e, 0x50, 0x41, 0x53); /* push %rax; push %r11 */
	emit_load_top(e, p);
	EMIT(e, 0x49, 0x39, 0x63, 0xe8); /* cmp %rsp, -24(%r11) */
	EMIT(e, 0x74, 0);                /* je */
	is_ours = e->len;
	emit_to_returned(e, p, back);
	EMIT(e, 0xeb, 0); /* jmp */
	out = e->len;
	emit_land(e, is_ours);
	again = e->len;
	emit_take_off(e, p);
	EMIT(e, 0x49, 0x39, 0x63, 0xe8); /* cmp %rsp, -24(%r11) */
	EMIT(e, 0x74, 0);                /* je */
	emit_back(e, again);
	emit_store_top(e, p);
	*ret_done = e->len;
	emit_land(e, out);
	EMIT(e, 0x41, 0x5b, 0x58); /* pop %r11; pop %rax */
}

/* Compares the frame_slot of the entry below %r11 with the stack pointer, flags kept: frame_slot - sp by complement and lea, for jrcxz. */
static void emit_compare_key(struct emit *e)
{
	EMIT(e, 0x49, 0x8b, 0x4b, 0xe8);       /* mov -24(%r11), %rcx */
	EMIT(e, 0x48, 0xf7, 0xd1);             /* not %rcx */
	EMIT(e, 0x48, 0x8d, 0x4c, 0x0c, 0x01); /* lea 1(%rsp,%rcx), %rcx */
}

/* id -= addend, flags kept, by %rcx and %r11. */
static void emit_sub_by_registers(struct emit *e, const struct emit_places *p, uint64_t addend)
{
	EMIT(e, 0x64, 0x48, 0x8b, 0x0c, 0x25); /* mov %fs:id, %rcx */
	emit_u32(e, (uint32_t)p->id);
	if (addend <= INT32_MAX) {
		EMIT(e, 0x48, 0x8d, 0x89); /* lea -addend(%rcx), %rcx */
		emit_u32(e, (uint32_t)-addend);
	} else {
		EMIT(e, 0x49, 0xbb); /* movabs $-addend, %r11 */
		emit_u64(e, -addend);
		EMIT(e, 0x4a, 0x8d, 0x0c, 0x19); /* lea (%rcx,%r11), %rcx */
	}
	EMIT(e, 0x64, 0x48, 0x89, 0x0c, 0x25); /* mov %rcx, %fs:id */
	emit_u32(e, (uint32_t)p->id);
}

/* Where there is no entry, the usual case, one register and a jump do. */
static void emit_pop_if_any(struct emit *e, const struct emit_places *p)
{
	uint32_t none, again;

	EMIT(e, 0x41, 0x53); /* push %r11 */
	emit_load_top(e, p);
	EMIT(e, 0x4d, 0x8b, 0x5b, 0xe8); /* mov -24(%r11), %r11 */
	EMIT(e, 0x4d, 0x8d, 0x5b, 0x08); /* lea 8(%r11), %r11 */
	EMIT(e, 0x49, 0x39, 0xe3);       /* cmp %rsp, %r11 */
	EMIT(e, 0x75, 0);                /* jne none */
	none = e->len;
	EMIT(e, 0x50); /* push %rax: the stack pointer is the frame_slot */
	emit_load_top(e, p);
	again = e->len;
	emit_take_off(e, p);
	EMIT(e, 0x49, 0x39, 0x63, 0xe8); /* cmp %rsp, -24(%r11) */
	EMIT(e, 0x74, 0);                /* je again */
	emit_back(e, again);
	emit_store_top(e, p);
	EMIT(e, 0x58); /* pop %rax */
	emit_land(e, none);
	EMIT(e, 0x41, 0x5b); /* pop %r11 */
}

void emit_undo(struct emit *e, const struct emit_places *p, bool pops, uint64_t addend, uint32_t *ret_done)
{
	*ret_done = e->len;
	if (pops) {
		emit_pop_if_any(e, p);
		*ret_done = e->len - 2; /* the last pop */
	}
	if (addend)
		*ret_done = emit_sub(e, p, addend);
}

void emit_undo_kept(struct emit *e, const struct emit_places *p, bool pops, uint64_t addend, uint32_t *ret_done)
{
	uint32_t other, again;

	*ret_done = e->len;
	if (!pops && !addend)
		return;
	EMIT(e, 0x51, 0x41, 0x53); /* push %rcx; push %r11 */
	if (pops) {
		emit_load_top(e, p);
		emit_compare_key(e);
		EMIT(e, 0xe3, 0x02, 0xeb, 0); /* jrcxz over the jmp; jmp */
		other = e->len;
		again = e->len;
		emit_take_off(e, p);
		emit_compare_key(e);
		EMIT(e, 0xe3, 0); /* jrcxz */
		emit_back(e, again);
		emit_store_top(e, p);
		emit_land(e, other);
	}
	*ret_done = e->len;
	if (addend) {
		emit_sub_by_registers(e, p, addend);
		*ret_done = e->len;
	}
	EMIT(e, 0x41, 0x5b, 0x59); /* pop %r11; pop %rcx */
}

void emit_if_target(struct emit *e, uint64_t literal, uint64_t to)
{
	EMIT(e, 0x4c, 0x3b, 0x1d); /* cmp literal(%rip), %r11 */
	emit_distance(e, literal, 0);
	EMIT(e, 0x0f, 0x84); /* je to */
	emit_distance(e, to, 0);
}

void emit_entry(struct emit *e, const struct emit_places *p, uint32_t number, uint64_t restart, uint64_t literals,
		uint32_t count, uint32_t left)
{
	const struct emit_start start = {.restart = restart};
	uint32_t high, low, known[EMIT_MAX_CALLERS];

	EMIT(e, 0x64, 0x81, 0x3c, 0x25); /* cmpl $0x80000000, %fs:id+4 */
	emit_u32(e, (uint32_t)(p->id + 4));
	emit_u32(e, 0x80000000u);
	EMIT(e, 0x75, 0); /* jne */
	high = e->len;
	EMIT(e, 0x64, 0x83, 0x3c, 0x25); /* cmpl $0, %fs:id */
	emit_u32(e, (uint32_t)p->id);
	EMIT(e, 0, 0x75, 0); /* jne */
	low = e->len;
	EMIT(e, 0x41, 0x53);                   /* push %r11 */
	EMIT(e, 0x4c, 0x8b, 0x5c, 0x24, 0x08); /* mov 8(%rsp), %r11 */
	for (uint32_t i = 0; i < count; i++) {
		EMIT(e, 0x4c, 0x3b, 0x1d); /* cmp literal(%rip), %r11 */
		emit_distance(e, literals + i * sizeof(uint64_t), 0);
		EMIT(e, 0x74, 0); /* je */
		known[i] = e->len;
	}
	EMIT(e, 0x41, 0x5b); /* pop %r11 */
	emit_thunk(e, number, p->entered);
	for (uint32_t i = 0; i < count; i++)
		if (!(left >> i & 1))
			emit_land(e, known[i]);
	emit_start_id(e, p, &start);
	for (uint32_t i = 0; i < count; i++)
		if (left >> i & 1)
			emit_land(e, known[i]);
	EMIT(e, 0x41, 0x5b); /* pop %r11 */
	emit_land(e, high);
	emit_land(e, low);
}

void emit_thunk(struct emit *e, uint32_t number, uint64_t to)
{
	emit_u8(e, 0x68); /* push $number */
	emit_u32(e, number);
	emit_jump(e, to);
}

/*
 * test_emit.c - the code of stubs: bytes, and what they do when they run.
 *
 * Bytes are compared with those in the comments' disassembly (objdump). Then each stub is run at an address of its own, with id and
 * top in this thread's memory, for every addend at a boundary of the encodings: the id, the context stack, all general registers, the
 * flags and the stack pointer behind it are as emit.h says.
 */
#include "agent/code/emit.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "check.h"
#include "waymark/abi.h"

enum {
	CODE_BYTES = 8192,
	FLAGS = 0x8d5, /* CF PF AF ZF SF OF */
};

static const uint64_t BACK = 0x7fff87654321;

struct entry {
	uint64_t id, frame_slot;
	uint32_t site, prefix, run, below;
};

static _Thread_local struct {
	uint64_t id;
	struct entry *top, *base;
} thread;
static struct entry entries[32];
static uint8_t *code; /* within reach of itself: stubs, then places */
static struct emit_places places;
static struct emit e;

/* What the program's registers are before and after, in this order; the flags last. */
struct registers {
	uint64_t rax, rcx, rdx, rbx, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15, flags;
};

/* Of run_code, which is not C. */
extern struct registers before, after;
extern uint64_t sp_before, sp_after;
struct registers before, after;
uint64_t sp_before, sp_after;
/* Loads `before`, calls code, stores `after`. */
void run_code(void *at);
extern const char run_return[]; /* where that call returns to */
__asm__(".text\n"
	"run_code:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	sub $8, %rsp\n"
	"	mov %rdi, run_at(%rip)\n"
	"	mov %rsp, sp_before(%rip)\n"
	"	pushq before+120(%rip)\n"
	"	popfq\n"
	"	mov before(%rip), %rax\n	mov before+8(%rip), %rcx\n	mov before+16(%rip), %rdx\n"
	"	mov before+24(%rip), %rbx\n	mov before+32(%rip), %rbp\n	mov before+40(%rip), %rsi\n"
	"	mov before+48(%rip), %rdi\n	mov before+56(%rip), %r8\n	mov before+64(%rip), %r9\n"
	"	mov before+72(%rip), %r10\n	mov before+80(%rip), %r11\n	mov before+88(%rip), %r12\n"
	"	mov before+96(%rip), %r13\n	mov before+104(%rip), %r14\n	mov before+112(%rip), %r15\n"
	"	call *run_at(%rip)\n"
	"run_return:\n"
	"	mov %rax, after(%rip)\n	mov %rcx, after+8(%rip)\n	mov %rdx, after+16(%rip)\n"
	"	mov %rbx, after+24(%rip)\n	mov %rbp, after+32(%rip)\n	mov %rsi, after+40(%rip)\n"
	"	mov %rdi, after+48(%rip)\n	mov %r8, after+56(%rip)\n	mov %r9, after+64(%rip)\n"
	"	mov %r10, after+72(%rip)\n	mov %r11, after+80(%rip)\n	mov %r12, after+88(%rip)\n"
	"	mov %r13, after+96(%rip)\n	mov %r14, after+104(%rip)\n	mov %r15, after+112(%rip)\n"
	"	pushfq\n"
	"	popq after+120(%rip)\n"
	"	mov %rsp, sp_after(%rip)\n"
	"	add $8, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n"
	"	cld\n	ret\n"
	".local run_at\n.comm run_at, 8, 8\n");

static void fill_registers(uint64_t flags)
{
	uint64_t *r = &before.rax;

	for (unsigned int i = 0; i < 15; i++)
		r[i] = 0x1111111111111111 * (i + 1);
	before.flags = 0x202 | flags;
}

/* A stub that ends in what is emitted here runs as if it were called; flags: those that it must keep. */
static void run_stub(const char *name, uint64_t flags, uint64_t kept)
{
	const uint64_t *b = &before.rax, *a = &after.rax;

	if (!CHECK(emit_ok(&e)))
		return;
	fill_registers(flags);
	run_code(code);
	for (unsigned int i = 0; i < 15; i++)
		if (!CHECK_U64(a[i], b[i]))
			fprintf(stderr, "    %s: register %u\n", name, i);
	if (!CHECK_U64(after.flags & kept, before.flags & kept) || !CHECK_U64(sp_after, sp_before))
		fprintf(stderr, "    %s\n", name);
}

static void begin(void)
{
	emit_init(&e, code, 1024, (uintptr_t)code);
}

static void end(void)
{
	emit_bytes(&e, "\xc3", 1);
}

static void is_code(const char *name, const char *want, size_t len)
{
	if (CHECK_U64(e.len, len) && CHECK(memcmp(e.bytes, want, len) == 0))
		return;
	fprintf(stderr, "    %s:", name);
	for (uint32_t i = 0; i < e.len; i++)
		fprintf(stderr, " %02x", e.bytes[i]);
	fprintf(stderr, "\n");
}
#define IS_CODE(name, bytes) is_code(name, bytes, sizeof(bytes) - 1)

static const struct emit_places fixed = {.id = -0x40,
					 .top = -0x38,
					 .foreign = 0x2000,
					 .grow = 0x2010,
					 .discover = 0x2020,
					 .returned = 0x2030,
					 .entered = 0x2040};

static void at_fixed(uint8_t *bytes)
{
	emit_init(&e, bytes, EMIT_MAX_BYTES, 0x1000);
}

static void test_bytes(void)
{
	uint8_t bytes[EMIT_MAX_BYTES];

	at_fixed(bytes);
	emit_jump(&e, 0x1100); /* jmp 1100 */
	IS_CODE("jump", "\xe9\xfb\x00\x00\x00");
	at_fixed(bytes);
	emit_jump(&e, 0x200001000); /* jmp *0(%rip); .quad 0x200001000 */
	IS_CODE("far jump", "\xff\x25\x00\x00\x00\x00\x00\x10\x00\x00\x02\x00\x00\x00");
	at_fixed(bytes);
	emit_call(&e, 0xf00); /* call f00 */
	IS_CODE("call", "\xe8\xfb\xfe\xff\xff");
	at_fixed(bytes);
	emit_add(&e, &fixed, 127); /* addq $0x7f,%fs:0xffffffffffffffc0 */
	IS_CODE("add 127", "\x64\x48\x83\x04\x25\xc0\xff\xff\xff\x7f");
	at_fixed(bytes);
	emit_sub(&e, &fixed, 128); /* subq $0x80,%fs:0xffffffffffffffc0 */
	IS_CODE("sub 128", "\x64\x48\x81\x2c\x25\xc0\xff\xff\xff\x80\x00\x00\x00");
	at_fixed(bytes);
	emit_add(&e, &fixed, UINT64_C(1) << 31); /* push %r11; movabs $0x80000000,%r11; add %r11,%fs:...; pop %r11 */
	IS_CODE("add 2^31",
		"\x41\x53\x49\xbb\x00\x00\x00\x80\x00\x00\x00\x00\x64\x4c\x01\x1c\x25\xc0\xff\xff\xff\x41\x5b");
	at_fixed(bytes);
	emit_foreign(&e, &fixed); /* push 0xffa(%rip) # 2000; pop %fs:... */
	IS_CODE("foreign", "\xff\x35\xfa\x0f\x00\x00\x64\x8f\x04\x25\xc0\xff\xff\xff");
	at_fixed(bytes);
	emit_thunk(&e, 7, fixed.discover); /* push $7; jmp 2020 */
	IS_CODE("thunk", "\x68\x07\x00\x00\x00\xe9\x16\x10\x00\x00");
	at_fixed(bytes);
	emit_if_target(&e, 0x3000, 0x1100); /* cmp 0x1ff9(%rip),%r11 # 3000; je 1100 */
	IS_CODE("if target", "\x4c\x3b\x1d\xf9\x1f\x00\x00\x0f\x84\xf3\x00\x00\x00");
}

static void test_limits(void)
{
	uint8_t bytes[64];

	emit_init(&e, bytes, 4, 0x1000);
	emit_jump(&e, 0x1100);
	CHECK(e.is_full && !emit_ok(&e));
	emit_init(&e, bytes, sizeof bytes, 0x1000);
	emit_call(&e, 0x1005 + (UINT64_C(1) << 31) - 1);
	CHECK(emit_ok(&e));
	emit_init(&e, bytes, sizeof bytes, 0x1000);
	emit_call(&e, 0x1005 + (UINT64_C(1) << 31));
	CHECK(e.is_far && !emit_ok(&e));
	for (uint32_t len = 0; len < 40; len++) {
		begin();
		emit_nops(&e, len);
		CHECK_U64(e.len, len);
		end();
		run_stub("nops", FLAGS, FLAGS);
	}
}

static const uint64_t addends[] = {
	0, 1, 127, 128, (UINT64_C(1) << 31) - 1, UINT64_C(1) << 31, UINT64_C(1) << 40, (UINT64_C(1) << 63) - 1};
enum {
	ADDENDS = sizeof addends / sizeof *addends,
};

/* With and without an entry of this frame, which has the id from before the addend was added, and sum. */
static void test_undo(uint64_t addend)
{
	const uint64_t sum = 0x123456789 + addend;
	uint32_t done;

	for (int i = 0; i < 4; i++) {
		int is_there = i / 2;
		bool is_kept = i % 2;

		entries[0].frame_slot = UINT64_MAX;
		entries[1] = (struct entry){.id = sum, .frame_slot = sp_before - 24};
		thread.top = entries + 1 + is_there;
		thread.id = is_there ? 5 : sum;
		begin();
		if (is_kept)
			emit_undo_kept(&e, &places, true, addend, &done);
		else
			emit_undo(&e, &places, true, addend, &done);
		CHECK(done <= e.len);
		end();
		run_stub("undo", FLAGS, is_kept ? FLAGS : 0);
		CHECK_U64(thread.id, 0x123456789);
		CHECK(thread.top == entries + 1);
	}
	thread.id = sum;
	thread.top = entries + 2;
	begin();
	emit_undo_kept(&e, &places, false, addend, &done);
	CHECK(addend ? done < e.len : done == e.len);
	end();
	run_stub("undo of an addend", FLAGS, FLAGS);
	CHECK_U64(thread.id, 0x123456789);
	CHECK(thread.top == entries + 2);
}

static void test_addends(void)
{
	for (int i = 0; i < ADDENDS; i++) {
		thread.id = 0x123456789;
		begin();
		emit_add(&e, &places, addends[i]);
		end();
		run_stub("add", 0, 0);
		CHECK_U64(thread.id, 0x123456789 + addends[i]);
		begin();
		emit_sub(&e, &places, addends[i]);
		end();
		run_stub("sub", FLAGS, 0);
		CHECK_U64(thread.id, 0x123456789);
		test_undo(addends[i]);
	}
	begin();
	emit_foreign(&e, &places);
	end();
	run_stub("foreign", FLAGS, FLAGS);
	CHECK_U64(thread.id, UINT64_C(1) << 63);
}

/* An entry is pushed as a call would: its frame_slot is 8 less than the slot of the return address. */
static void test_push_and_pop(bool is_maybe, uint64_t restart, bool is_foreign, uint32_t tails, uint64_t addend)
{
	struct emit_start start = {.is_foreign = is_foreign, .restart = restart};
	uint32_t *counter = (uint32_t *)(code + CODE_BYTES + 64), pushed, done;
	uint64_t slot;

	memset(entries, 0, sizeof entries);
	entries[0].frame_slot = UINT64_MAX;
	thread.top = entries + 1;
	thread.id = 77;
	*counter = 0;
	begin();
	emit_push(&e, &places, 1234, addend, &start, (uintptr_t)counter, &pushed, &done);
	CHECK(pushed < done && done < e.len);
	end();
	run_stub("push", 0, 0);
	slot = sp_before - 8;
	CHECK(thread.top == entries + 2);
	CHECK_U64(entries[1].id, 77 + addend);
	CHECK_U64(entries[1].frame_slot, slot - 8);
	CHECK_U64(entries[1].site, 1234);
	CHECK(entries[1].prefix == 0 && entries[1].run == 0 && entries[1].below == 0);
	CHECK_U64(thread.id, is_foreign ? UINT64_C(1) << 63 : restart);
	CHECK_U64(*counter, 1);
	/* What tail calls of the callee have left. */
	for (uint32_t i = 0; i < tails; i++)
		*thread.top++ = (struct entry){.id = 500 + i, .frame_slot = slot - 8, .site = i};
	/* Behind the call, where the stack pointer is above the slot: here 16 further down than run_code's call made it. */
	for (struct entry *entry = entries + 1; entry < thread.top; entry++)
		entry->frame_slot -= 8;
	begin();
	if (is_maybe)
		emit_undo_kept(&e, &places, true, addend, &done);
	else
		emit_pop(&e, &places, BACK, &done);
	CHECK(done < e.len);
	end();
	run_stub("pop", FLAGS, is_maybe ? FLAGS : 0);
	CHECK_U64(thread.id, 77);
	CHECK(thread.top == entries + 1);
}

/* Entries in front of the base are of another segment: this frame's frame_slot means nothing there. */
static void test_push_tail(uint32_t outer, uint32_t own)
{
	struct emit_start start = {.restart = 5};
	uint32_t *counter = (uint32_t *)(code + CODE_BYTES + 64), pushed, done;
	struct entry *top = entries + outer + 1 + own, *entry;
	bool is_replaced = own > EMIT_TAILS_KEPT;
	uint64_t frame_slot;

	begin();
	end();
	run_stub("nothing", FLAGS, FLAGS);
	frame_slot = sp_before - 16;
	for (struct entry *at = entries; at < top; at++)
		*at = (struct entry){.id = 500, .frame_slot = frame_slot, .site = 1, .prefix = 2, .run = 3, .below = 4};
	entries[outer].frame_slot = UINT64_MAX;
	thread.base = entries + outer;
	thread.top = top;
	thread.id = 77;
	*counter = 0;
	begin();
	emit_push_tail(&e, &places, 1234, &start, (uintptr_t)counter, &pushed, &done);
	CHECK(EMIT_REPLACE_FIRST < EMIT_REPLACE_DONE && EMIT_REPLACE_DONE < pushed && pushed < done && done < e.len);
	/* pop -32(%r11) ends there; jmp to what comes behind the push. */
	CHECK(memcmp(code + EMIT_REPLACE_FIRST - 4, "\x41\x8f\x43\xe0", 4) == 0);
	CHECK_U64(code[EMIT_REPLACE_DONE - 2], 0xeb);
	CHECK_U64(EMIT_REPLACE_DONE + (uint32_t)code[EMIT_REPLACE_DONE - 1], pushed);
	end();
	run_stub("push tail", 0, 0);
	CHECK_U64(sp_before - 16, frame_slot);
	CHECK(thread.top == top + !is_replaced);
	entry = thread.top - 1;
	CHECK_U64(entry->id, 77);
	CHECK_U64(entry->frame_slot, frame_slot);
	CHECK_U64(entry->site, is_replaced ? 1234 | WM1_SITE_ELIDED : 1234);
	CHECK(entry->prefix == 0 && entry->run == 0);
	CHECK_U64(thread.id, 5);
	CHECK_U64(*counter, 1);
	for (struct entry *at = entries; at < entry; at++)
		CHECK(at->id == 500 && at->prefix == 2 && at->run == 3);
}

/* No entry has the frame_slot: undo goes on, pop asks `returned`, with the address behind the call on the stack. */
static void test_pop_without(void)
{
	uint32_t done;

	thread.top = entries + 1;
	thread.id = 99;
	begin();
	emit_undo_kept(&e, &places, true, 0, &done);
	end();
	run_stub("pop maybe", FLAGS, FLAGS);
	CHECK(thread.id == 99 && thread.top == entries + 1);
	begin();
	emit_pop(&e, &places, BACK, &done);
	end();
	run_stub("pop returned", 0, 0);
	CHECK_U64(*(uint64_t *)(code + CODE_BYTES + 72), BACK);
	CHECK(thread.id == 99 && thread.top == entries + 1);
}

/* A tail call of what foreign code has entered in a way that is not known leaves nothing. */
static void test_push_kept(void)
{
	const uint64_t foreign = UINT64_C(1) << 63, max_id = (UINT64_C(1) << 62) - 1; /* of thread.h */
	const uint64_t ids[] = {foreign, foreign + 12, foreign - 12, max_id};
	struct emit_start start = {.restart = 5};
	uint32_t pushed, done;

	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		bool is_kept = ids[i] > max_id;

		thread.top = entries + 1;
		thread.id = ids[i];
		begin();
		emit_push_tail(&e, &places, 1, &start, 0, &pushed, &done);
		end();
		run_stub("push kept", 0, 0);
		CHECK_U64(thread.id, is_kept ? ids[i] : 5);
		CHECK(thread.top == entries + (is_kept ? 1 : 2));
	}
}

/* `grow` gives the thread its stack, and the push begins again. */
static void test_grow(void)
{
	struct emit_start start = {.restart = 5};
	uint32_t pushed, done;

	thread.top = NULL;
	thread.id = 3;
	begin();
	emit_push(&e, &places, 1, 0, &start, 0, &pushed, &done);
	end();
	run_stub("grow", 0, 0);
	CHECK(thread.top == entries + 2);
	CHECK(entries[1].id == 3 && thread.id == 5);
}

static void test_entry(void)
{
	uint64_t *literals = (uint64_t *)(code + CODE_BYTES + 128);
	enum {
		UNKNOWN,
		KNOWN,
		LEFT
	};

	for (int caller = UNKNOWN; caller <= LEFT; caller++) {
		for (uint32_t count = 0; count <= EMIT_MAX_CALLERS; count++) {
			uint32_t left = caller == LEFT && count ? 1U << (count - 1) : 0;
			bool is_known = caller != UNKNOWN && count;

			begin();
			emit_entry(&e, &places, 321, UINT64_C(1) << 40, (uintptr_t)literals, count, left);
			end();
			/* Not foreign: nothing happens. */
			thread.id = 17;
			run_stub("entry", 0, 0);
			CHECK_U64(thread.id, 17);
			for (uint32_t i = 0; i < EMIT_MAX_CALLERS; i++)
				literals[i] = 1;
			if (is_known)
				literals[count - 1] = (uintptr_t)run_return;
			thread.id = UINT64_C(1) << 63;
			memset(code + CODE_BYTES + 72, 0, 8);
			run_stub("entry from foreign", 0, 0);
			CHECK_U64(thread.id, is_known && !left ? UINT64_C(1) << 40 : UINT64_C(1) << 63);
			CHECK_U64(*(uint64_t *)(code + CODE_BYTES + 72), is_known ? 0 : 321);
			/* One more than that of foreign code is not it. */
			thread.id = (UINT64_C(1) << 63) + 1;
			run_stub("entry from a sum", 0, 0);
			CHECK_U64(thread.id, (UINT64_C(1) << 63) + 1);
		}
	}
}

static bool make_places(void)
{
	static const uint64_t foreign = UINT64_C(1) << 63;
	char *self = __builtin_thread_pointer();
	uint8_t *at;

	code = mmap(NULL, CODE_BYTES + 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return false;
	at = code + 4096;
	memcpy(at, &foreign, 8);
	places = (struct emit_places){.id = (int32_t)((char *)&thread.id - self),
				      .base = (int32_t)((char *)&thread.base - self),
				      .top = (int32_t)((char *)&thread.top - self)};
	places.foreign = (uintptr_t)at;
	/* grow: push %rax; movabs $entries+1,%rax; mov %rax,%fs:top; pop %rax; ret */
	emit_init(&e, at + 16, 64, (uintptr_t)at + 16);
	places.grow = emit_here(&e);
	emit_bytes(&e, "\x50\x48\xb8", 3);
	emit_bytes(&e, &(uint64_t){(uintptr_t)(entries + 1)}, 8);
	emit_bytes(&e, "\x64\x48\x89\x04\x25", 5);
	emit_bytes(&e, &places.top, 4);
	emit_bytes(&e, "\x58\xc3", 2);
	/* returned: called, the address above: that to memory */
	places.returned = emit_here(&e);
	emit_bytes(&e, "\x50", 1);                 /* push %rax */
	emit_bytes(&e, "\x48\x8b\x44\x24\x10", 5); /* mov 16(%rsp),%rax */
	emit_bytes(&e, "\x48\xa3", 2);             /* movabs %rax,address */
	emit_bytes(&e, &(uint64_t){(uintptr_t)(code + CODE_BYTES + 72)}, 8);
	emit_bytes(&e, "\x58\xc3", 2); /* pop %rax; ret */
	/* entered: jumped to, the number on top: popq number(%rip); ret, as if the function had returned */
	places.entered = emit_here(&e);
	emit_bytes(&e, "\x8f\x05", 2);
	emit_bytes(&e, &(int32_t){(int32_t)((uintptr_t)(code + CODE_BYTES + 72) - (emit_here(&e) + 4))}, 4);
	end();
	return emit_ok(&e);
}

int main(void)
{
	if (!make_places()) {
		fprintf(stderr, "no memory that is writable and executable\n");
		return 77;
	}
	test_bytes();
	test_limits();
	test_addends();
	for (int i = 1; i < ADDENDS; i++)
		test_push_and_pop(true, 1, false, 0, addends[i]);
	for (int is_maybe = 0; is_maybe < 2; is_maybe++)
		for (int i = 0; i <= ADDENDS; i++)
			for (uint32_t tails = 0; tails < 4; tails++)
				test_push_and_pop(is_maybe, i < ADDENDS ? addends[i] : 0, i == ADDENDS, tails, 0);
	for (uint32_t outer = 0; outer < 16; outer++)
		for (uint32_t own = 0; own < 12; own++)
			test_push_tail(outer, own);
	test_pop_without();
	test_push_kept();
	test_grow();
	test_entry();
	return check_status();
}

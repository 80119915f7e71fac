/*
 * test_unwind.c - what unwind_step refuses and keeps, on frames that are written by hand: bounds of the stack, unknown registers, the
 * ends of chains, the cache and its generations, signal frames that are known by their code. (step.c compares real frames.)
 */
#include <stdlib.h>

#include "agent/images.h"
#include "native/unwind/unwind.h"
#include "check.h"

/* Has CFI of its own; nothing runs it. frame_at: CFA = rbp + 16, rbp at CFA - 16, rbx at CFA - 24. */
__asm__(".text\n"
	"frame:\n"
	".cfi_startproc\n"
	"	push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"	mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"	push %rbx\n"
	".cfi_offset %rbx, -24\n"
	"frame_at:\n"
	"	nop\n"
	"	ret\n"
	".cfi_endproc\n"
	"outermost:\n"
	".cfi_startproc\n"
	".cfi_undefined %rip\n"
	"outermost_at:\n"
	"	hlt\n"
	".cfi_endproc\n"
	/* rbx is in r10, r12 is CFA - 40, the CFA is what is at rsp + 16. */
	"unusual:\n"
	".cfi_startproc\n"
	".cfi_escape 0x0f, 3, 0x77, 16, 0x06\n"
	".cfi_offset %rip, -8\n"
	".cfi_register %rbx, %r10\n"
	".cfi_escape 0x14, 12, 5\n"
	"unusual_at:\n"
	"	hlt\n"
	".cfi_endproc\n"
	"no_cfi_at:\n"
	"	hlt\n"
	".p2align 4\n"
	"restorer:\n"
	"	mov $15, %rax\n"
	"	syscall\n");
extern const uint8_t frame_at[], outermost_at[], unusual_at[], no_cfi_at[], restorer[];

static struct image images[IMAGES_MAX];
static uint64_t words[64];
static struct unwind_cache cache;

static struct unwind_stack stack_of_words(size_t low, size_t high)
{
	return (struct unwind_stack){(uintptr_t)&words[low], (uintptr_t)&words[high]};
}

/* Its rbp is &words[10], so that the CFA is &words[12]. */
static struct unwind_regs regs_at(const uint8_t *pc)
{
	struct unwind_regs regs = {.pc = (uintptr_t)pc, .known = UNWIND_ALL_KNOWN};

	for (unsigned int i = 0; i < CFI_RETURN_ADDRESS; i++)
		regs.r[i] = 1000 + i;
	regs.r[CFI_RSP] = (uintptr_t)&words[9];
	regs.r[CFI_RBP] = (uintptr_t)&words[10];
	words[9] = 7;
	words[10] = 8;
	words[11] = 0x1234;
	return regs;
}

static enum unwind_result step(struct unwind_regs *regs, size_t low, size_t high, struct unwind_cache *with,
			       struct unwind_frame *frame)
{
	struct unwind_stack stack = stack_of_words(low, high);

	return unwind_step(&images[0].table, &stack, with, regs, frame);
}

static void check_frame(struct unwind_cache *with)
{
	struct unwind_regs regs = regs_at(frame_at);
	struct unwind_frame frame;

	CHECK(step(&regs, 0, 64, with, &frame) == UNWIND_OK);
	CHECK_U64(regs.pc, 0x1234);
	CHECK_U64(regs.r[CFI_RSP], (uintptr_t)&words[12]);
	CHECK_U64(regs.r[CFI_RBX], 7);
	CHECK_U64(regs.r[CFI_RBP], 8);
	CHECK_U64(regs.r[CFI_R13], 1000 + CFI_R13);
	CHECK_U64(regs.known, 1 << CFI_RBX | 1 << CFI_RBP | 1 << CFI_RSP | 1 << CFI_R12 | 1 << CFI_R13 | 1 << CFI_R14 |
				      1 << CFI_R15);
	CHECK(regs.is_return_address && !frame.is_signal);
	CHECK_U64(frame.cfa, (uintptr_t)&words[12]);
	CHECK_U64(frame.return_slot, (uintptr_t)&words[11]);
}

/* The registers are what they were. */
static void check_refused(struct unwind_regs regs, size_t low, size_t high, struct unwind_cache *with,
			  enum unwind_result want)
{
	struct unwind_regs before = regs;
	struct unwind_frame frame;

	CHECK(step(&regs, low, high, with, &frame) == want);
	CHECK(!memcmp(&regs, &before, sizeof regs));
}

static void check_limits(struct unwind_cache *with)
{
	struct unwind_regs regs = regs_at(frame_at);

	check_refused(regs, 0, 11, with, UNWIND_UNKNOWN);
	check_refused(regs, 10, 64, with, UNWIND_UNKNOWN);
	check_refused(regs, 0, 0, with, UNWIND_UNKNOWN);
	words[11] = 0;
	check_refused(regs, 0, 64, with, UNWIND_END);
	words[11] = 1;
	regs.known &= ~(UINT32_C(1) << CFI_RBP);
	check_refused(regs, 0, 64, with, UNWIND_UNKNOWN);
	regs = regs_at(frame_at);
	regs.r[CFI_RBP] = (uintptr_t)&words[6]; /* the caller would be below */
	words[7] = 1;
	check_refused(regs, 0, 64, with, UNWIND_UNKNOWN);
	regs.r[CFI_RBP] = UINT64_MAX - 12; /* the sum wraps */
	check_refused(regs, 0, 64, with, UNWIND_UNKNOWN);
	check_refused(regs_at(outermost_at), 0, 64, with, UNWIND_END);
	check_refused(regs_at(no_cfi_at), 0, 64, with, UNWIND_UNKNOWN);
	check_refused(regs_at((const uint8_t *)16), 0, 64, with, UNWIND_UNKNOWN);
}

static void test_unusual(void)
{
	struct unwind_regs regs = regs_at(unusual_at);
	struct unwind_frame frame;

	words[11] = (uintptr_t)&words[20];
	words[19] = 0x5678;
	CHECK(step(&regs, 0, 64, &cache, &frame) == UNWIND_OK);
	CHECK_U64(regs.pc, 0x5678);
	CHECK_U64(regs.r[CFI_RBX], 1000 + CFI_R10);
	CHECK_U64(regs.r[CFI_R12], (uintptr_t)&words[15]);
	regs = regs_at(unusual_at);
	words[11] = (uintptr_t)&words[20];
	regs.known &= ~(UINT32_C(1) << CFI_R10);
	CHECK(step(&regs, 0, 64, &cache, &frame) == UNWIND_OK);
	CHECK(!(regs.known >> CFI_RBX & 1));
	words[11] = (uintptr_t)&words[64];
	check_refused(regs_at(unusual_at), 0, 63, &cache, UNWIND_UNKNOWN);
}

static void test_cache(void)
{
	struct unwind_stack stack = stack_of_words(0, 64);
	struct unwind_regs regs = regs_at(frame_at);
	struct unwind_frame frame;

	memset(&cache, 0, sizeof cache);
	cache.generation = 1;
	CHECK(unwind_step(NULL, &stack, &cache, &regs, &frame) == UNWIND_UNKNOWN);
	check_frame(&cache); /* is kept */
	CHECK(unwind_step(NULL, &stack, &cache, &regs, &frame) == UNWIND_OK);
	regs = regs_at(frame_at);
	cache.generation = 2;
	CHECK(unwind_step(NULL, &stack, &cache, &regs, &frame) == UNWIND_UNKNOWN);
	cache.writes++; /* what a handler meets in the middle of a write */
	check_frame(&cache);
	CHECK(unwind_step(NULL, &stack, &cache, &regs, &frame) == UNWIND_UNKNOWN);
	cache.writes++;
	CHECK(unwind_step(NULL, &stack, &cache, &regs, &frame) == UNWIND_UNKNOWN);
	check_frame(&cache);
	check_frame(&cache);
	CHECK(unwind_step(NULL, &stack, &cache, &regs, &frame) == UNWIND_OK);
	/* A return address is looked up one lower, so that it is another entry. */
	regs = regs_at(frame_at + 1);
	regs.is_return_address = true;
	CHECK(unwind_step(NULL, &stack, &cache, &regs, &frame) == UNWIND_OK);
}

/* As in musl: no CFI covers the restorer. */
static void test_restorer(void)
{
	struct unwind_regs regs = regs_at(restorer);
	struct unwind_frame frame;
	uint64_t *context = &words[20]; /* a whole ucontext_t is larger than what is read of it */
	uint64_t *gregs = context + offsetof(ucontext_t, uc_mcontext.gregs) / sizeof *context;
	uint64_t saved[64];

	_Static_assert(20 * 8 + offsetof(ucontext_t, uc_mcontext.gregs) + 17 * 8 < sizeof words, "it fits");
	memcpy(saved, words, sizeof saved);
	for (int i = 0; i <= REG_RIP; i++)
		gregs[i] = (uint64_t)(100 + i);
	regs.r[CFI_RSP] = (uintptr_t)context;
	regs.is_return_address = true;
	CHECK(step(&regs, 0, 64, &cache, &frame) == UNWIND_OK);
	CHECK(frame.is_signal && !regs.is_return_address);
	CHECK_U64(regs.pc, 100 + REG_RIP);
	CHECK_U64(regs.r[CFI_RSP], 100 + REG_RSP);
	CHECK_U64(regs.r[CFI_RAX], 100 + REG_RAX);
	CHECK_U64(regs.r[CFI_R11], 100 + REG_R11);
	CHECK_U64(regs.known, UNWIND_ALL_KNOWN);
	CHECK_U64(frame.return_slot, (uintptr_t)&gregs[REG_RIP]);
	regs = regs_at(restorer);
	regs.r[CFI_RSP] = (uintptr_t)context;
	check_refused(regs, 0, 30, &cache, UNWIND_UNKNOWN);
	memcpy(words, saved, sizeof saved);
}

int main(void)
{
	struct unwind_regs regs;
	struct unwind_frame frame;
	struct unwind_stack stack = stack_of_words(0, 64);

	images_read(images);
	check_frame(NULL);
	check_limits(NULL);
	check_frame(&cache);
	check_frame(&cache);
	check_limits(&cache);
	test_unusual();
	test_cache();
	test_restorer();
	regs = regs_at(frame_at);
	CHECK(unwind_step(NULL, &stack, NULL, &regs, &frame) == UNWIND_UNKNOWN);
	return check_status();
}

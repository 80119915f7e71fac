/*
 * fuzz_eh_frame.c - eh_frame.h, cfi.h and unwind.h on an image and a stack that are damaged. The input is the image, .eh_frame_hdr
 * at its start: tables, and code, which is anywhere in it. Nothing outside the image or the stack may be read; the stack lies between
 * pages that cannot be.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "native/unwind/unwind.h"
#include "fuzz/fuzz.h"

enum {
	PAGE_BYTES = 4096,
	FUNCTIONS_MAX = 64,
	STEPS_MAX = 16,
};

static struct eh_table table;
static struct eh_text text;
static uint8_t *stack;

static bool check_pad(void *data, uintptr_t address)
{
	(void)data;
	if (!eh_text_of(&table.image, address))
		abort();
	return true;
}

/* Words of the stack lead into the image and back into the stack. */
static void fill_stack(void)
{
	uint64_t words[PAGE_BYTES / 8];

	for (size_t i = 0; i < PAGE_BYTES / 8; i++)
		words[i] = i % 2 ? (uintptr_t)table.image.low + i % (text.high - text.low) : (uintptr_t)stack + i * 8;
	memcpy(stack, words, sizeof words);
}

static void walk(uintptr_t pc, struct unwind_cache *cache)
{
	struct unwind_stack bounds = {(uintptr_t)stack, (uintptr_t)stack + PAGE_BYTES};
	struct unwind_regs regs = {.pc = pc, .known = UNWIND_ALL_KNOWN};
	struct unwind_frame frame;

	for (unsigned int i = 0; i < CFI_RETURN_ADDRESS; i++)
		regs.r[i] = (uintptr_t)stack + i * 64;
	for (int i = 0; i < STEPS_MAX && unwind_step(&table, &bounds, cache, &regs, &frame) == UNWIND_OK; i++)
		if (regs.pc == 0)
			abort();
}

static void look_at(const struct eh_function *f)
{
	static struct unwind_cache cache;
	uint64_t size = f->end - f->start;
	struct cfi_row row;

	if (f->start > f->end || f->start < text.low || f->end > text.high)
		abort();
	eh_entry_cfa_offset(&table, f);
	eh_landing_pads(&table, f, check_pad, NULL);
	for (uintptr_t at = f->start; at < f->end; at += 1 + size / 16) {
		cfi_row_at(&table, f, at, &row);
		walk(at, NULL);
		walk(at, &cache);
	}
	cache.generation++;
}

static void make_stack(void)
{
	uint8_t *pages = mmap(NULL, 3 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE))
		abort();
	stack = pages + PAGE_BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eh_image image = {data, size, data, data + size, &text, 1};
	struct eh_function f;

	text = (struct eh_text){(uintptr_t)data, (uintptr_t)data + size};
	if (!stack)
		make_stack();
	eh_table_init(&table, &image);
	if (!size)
		return 0;
	fill_stack();
	for (size_t i = 0; i < table.count && i < FUNCTIONS_MAX; i++)
		if (eh_function_at(&table, i, &f))
			look_at(&f);
	for (uintptr_t at = 0; at < size; at += 1 + size / 64)
		if (eh_find(&table, text.low + at, &f) && (f.start > text.low + at || f.end <= text.low + at))
			abort();
	walk(text.low, NULL);
	walk(text.high - 1, NULL);
	return 0;
}

/* leaf_calls.c - steps by call frame information until the return address is one in code that the virtual machine has made. */
#include "jvm/c/walk/leaf_calls.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>

#include "jvm/c/walk/code_ranges.h"
#include "native/image_header.h"
#include "native/maps.h"
#include "native/unwind/unwind.h"

enum {
	MAX_TEXTS = 8,
	MAX_STEPS = 32,
	RED_ZONE_BYTES = 128,
};

/* Of the virtual machine's library; written by init. */
static struct eh_table table;
static struct eh_text texts[MAX_TEXTS];
/* Of the running thread, which looks for it at its first leaf. */
static _Thread_local struct unwind_stack stack __attribute__((tls_model("initial-exec")));

static const uint8_t *at(uintptr_t address)
{
	return (const uint8_t *)address; /* NOLINT(performance-no-int-to-ptr) */
}

void jvm_leaf_calls_init(const void *address)
{
	struct dl_find_object found;
	const Elf64_Ehdr *ehdr =
		_dl_find_object((void *)(uintptr_t)address, &found) == 0 ? image_header_of(&found) : NULL;
	uintptr_t bias = ehdr ? found.dlfo_link_map->l_addr : 0, low_most = UINTPTR_MAX, high_most = 0;
	struct eh_image image = {.texts = texts};
	const Elf64_Phdr *p = ehdr ? image_program_headers(ehdr) : NULL;

	for (int i = 0; ehdr && i < ehdr->e_phnum; i++) {
		uintptr_t low = bias + p[i].p_vaddr, high = low + p[i].p_memsz;

		if (p[i].p_type == PT_GNU_EH_FRAME) {
			image.hdr = at(low);
			image.hdr_bytes = p[i].p_memsz;
		}
		if (p[i].p_type != PT_LOAD)
			continue;
		low_most = low < low_most ? low : low_most;
		high_most = high > high_most ? high : high_most;
		if (p[i].p_flags & PF_X && p[i].p_flags & PF_R && image.text_count < MAX_TEXTS)
			texts[image.text_count++] = (struct eh_text){low, high};
	}
	image.low = at(low_most);
	image.high = at(high_most);
	if (!ehdr || !eh_table_init(&table, &image))
		table = (struct eh_table){0};
}

static bool find_stack(uintptr_t sp, struct unwind_stack *ret)
{
	struct maps_range range;

	if (sp < stack.low || sp >= stack.high) {
		if (!maps_find(sp, &range) || !range.is_readable)
			return false;
		stack = (struct unwind_stack){range.low, range.high};
	}
	*ret = stack;
	if (ret->low > sp - RED_ZONE_BYTES)
		ret->low = sp - RED_ZONE_BYTES;
	return true;
}

static bool is_in_library(uintptr_t address)
{
	return eh_text_of(&table.image, address) != NULL;
}

bool jvm_leaf_calls_leave(ucontext_t *context)
{
	struct jvm_code_range range;
	struct unwind_stack readable;
	struct unwind_regs regs;
	struct unwind_frame frame;

	unwind_regs_of_signal(context, &regs);
	if (!table.count || !is_in_library(regs.pc) || !find_stack(regs.r[CFI_RSP], &readable))
		return false;
	for (int i = 0; i < MAX_STEPS && is_in_library(regs.pc); i++)
		if (unwind_step(&table, &readable, NULL, &regs, &frame) != UNWIND_OK || frame.is_signal)
			return false;
	/* In a method the stack may have more on it than its frame: where it has called from is not known by its address. */
	if (!jvm_code_ranges_find(regs.pc - 1, &range) || range.method || !(regs.known & 1 << CFI_RBP))
		return false;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)regs.pc;
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)regs.r[CFI_RSP];
	context->uc_mcontext.gregs[REG_RBP] = (greg_t)regs.r[CFI_RBP];
	return true;
}

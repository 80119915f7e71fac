/*
 * epilogue.c - compares the code around pc with what gcc writes at the ends that epilogue.h lists.
 *
 * gcc emits no CFI for the instructions of these ends: a rule "saved at rbp - 16" stays when rbp is the caller's again.
 */
#include "native/unwind/epilogue.h"

#include <stddef.h>
#include <string.h>

#include "native/unwind/eh_read.h"

enum {
	DW_OP_breg6 = 0x76, /* rbp + number */
};

/* An end, and how many of its bytes are before pc. */
struct pattern {
	uint8_t bytes[6];
	uint8_t len_bytes;
	uint8_t before_pc;
	uint8_t epilogue;
};

static const struct pattern patterns[] = {
	{{0x49, 0x8d, 0x62, 0xf8, 0xc3}, 5, 0, EPILOGUE_REALIGNED},
	{{0x49, 0x8d, 0x62, 0xf8, 0xc3}, 5, 4, EPILOGUE_REALIGNED},
	{{0x48, 0x89, 0xcc, 0x59, 0xff, 0xe1}, 6, 0, EPILOGUE_LANDING_RCX},
	{{0x48, 0x89, 0xcc, 0x59, 0xff, 0xe1}, 6, 3, EPILOGUE_LANDING_RSP},
	{{0x48, 0x89, 0xcc, 0x59, 0xff, 0xe1}, 6, 4, EPILOGUE_LANDING_REACHED},
};

enum epilogue epilogue_at(const struct eh_function *f, uintptr_t pc)
{
	for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
		const struct pattern *p = &patterns[i];

		if (pc < f->start || pc >= f->end || pc - f->start < p->before_pc ||
		    f->end - pc < (uintptr_t)(p->len_bytes - p->before_pc))
			continue;
		if (!memcmp((const uint8_t *)(pc - p->before_pc), p->bytes, p->len_bytes))
			return (enum epilogue)p->epilogue;
	}
	return EPILOGUE_NONE;
}

/* "rbp + number" and nothing else. */
static bool is_through_rbp(const struct eh_table *t, int32_t expression)
{
	struct eh_reader r = {t->image.low + expression, t->image.high, false};
	uint64_t len_bytes = eh_uleb(&r);
	const uint8_t *start = eh_take(&r, len_bytes);

	if (!start)
		return false;
	r = (struct eh_reader){start, start + len_bytes, false};
	if (eh_u8(&r) != DW_OP_breg6)
		return false;
	eh_sleb(&r);
	return !r.has_failed && !eh_left(&r);
}

void epilogue_correct(const struct eh_table *t, struct cfi_row *row)
{
	for (unsigned int i = 0; i < CFI_RETURN_ADDRESS; i++)
		if (row->rule[i] == CFI_EXPRESSION && is_through_rbp(t, row->value[i]))
			row->rule[i] = CFI_SAME;
}

/* trampolines.c - hands out trampolines. */
#include "agent/code/trampolines.h"

#include <string.h>

#include "agent/code/code.h"

extern const char agent_trampolines[] __attribute__((visibility("hidden")));

static const uint8_t call_r11[] = {0x41, 0xff, 0xd3};

/* Under the agent's lock. */
static uint32_t used;
static uint32_t sites[AGENT_TRAMPOLINES];

static void put_branch(uint8_t *at, uint8_t modrm, int32_t from, int32_t word)
{
	int32_t distance = word - (from + 6);

	at[0] = 0xff;
	at[1] = modrm;
	memcpy(at + 2, &distance, sizeof distance);
}

uintptr_t trampoline_add(uint32_t site, uintptr_t callee, uintptr_t after, uintptr_t return_address)
{
	const uint64_t mark = AGENT_TRAMPOLINE_MARK;
	uint8_t bytes[AGENT_TRAMPOLINE_BYTES];
	uintptr_t trampoline = trampoline_next();

	if (!trampoline)
		return 0;
	memset(bytes, 0x90, sizeof bytes);
	if (callee)
		put_branch(bytes, 0x15, 0, AGENT_TRAMPOLINE_CALLEE);
	else
		memcpy(bytes + AGENT_TRAMPOLINE_BACK - sizeof call_r11, call_r11, sizeof call_r11);
	put_branch(bytes + AGENT_TRAMPOLINE_BACK, 0x25, AGENT_TRAMPOLINE_BACK, AGENT_TRAMPOLINE_AFTER);
	memcpy(bytes + AGENT_TRAMPOLINE_AT_MARK, &mark, sizeof mark);
	memcpy(bytes + AGENT_TRAMPOLINE_CALLEE, &callee, sizeof callee);
	memcpy(bytes + AGENT_TRAMPOLINE_AFTER, &after, sizeof after);
	memcpy(bytes + AGENT_TRAMPOLINE_RETURN, &return_address, sizeof return_address);
	if (!code_write(trampoline, bytes, sizeof bytes))
		return 0;
	sites[used++] = site;
	return trampoline;
}

uintptr_t trampoline_next(void)
{
	return used == AGENT_TRAMPOLINES ? 0 : (uintptr_t)agent_trampolines + (uintptr_t)used * AGENT_TRAMPOLINE_BYTES;
}

uint32_t trampoline_left(void)
{
	return AGENT_TRAMPOLINES - used;
}

uintptr_t trampoline_after(uintptr_t trampoline)
{
	uintptr_t after;

	memcpy(&after, (const void *)(trampoline + AGENT_TRAMPOLINE_AFTER),
	       sizeof after); /* NOLINT(performance-no-int-to-ptr) */
	return after;
}

bool trampoline_aim(uintptr_t trampoline, uintptr_t callee, uintptr_t after)
{
	uintptr_t words[2] = {callee, after};

	return code_change(trampoline + AGENT_TRAMPOLINE_CALLEE, words, sizeof words);
}

bool trampoline_find(uintptr_t pc, uint32_t *ret_site)
{
	uintptr_t off = pc - (uintptr_t)agent_trampolines;

	if (off >= (uintptr_t)used * AGENT_TRAMPOLINE_BYTES)
		return false;
	*ret_site = sites[off / AGENT_TRAMPOLINE_BYTES];
	return true;
}

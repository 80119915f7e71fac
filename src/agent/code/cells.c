/* cells.c - hands out cells. */
#include "agent/code/cells.h"

#include <string.h>

#include "agent/code/code.h"

extern const char agent_cells[] __attribute__((visibility("hidden")));

static const uint8_t call_r11[] = {0x41, 0xff, 0xd3};

/* Under the agent's lock. */
static uint32_t used;
static uint32_t sites[AGENT_CELLS];

static void put_branch(uint8_t *at, uint8_t modrm, int32_t from, int32_t word)
{
	int32_t distance = word - (from + 6);

	at[0] = 0xff;
	at[1] = modrm;
	memcpy(at + 2, &distance, sizeof distance);
}

uintptr_t cells_add(uint32_t site, uintptr_t callee, uintptr_t after, uintptr_t return_address)
{
	const uint64_t mark = AGENT_CELL_MARK;
	uint8_t bytes[AGENT_CELL_BYTES];
	uintptr_t cell = cells_next();

	if (!cell)
		return 0;
	memset(bytes, 0x90, sizeof bytes);
	if (callee)
		put_branch(bytes, 0x15, 0, AGENT_CELL_CALLEE);
	else
		memcpy(bytes + AGENT_CELL_BACK - sizeof call_r11, call_r11, sizeof call_r11);
	put_branch(bytes + AGENT_CELL_BACK, 0x25, AGENT_CELL_BACK, AGENT_CELL_AFTER);
	memcpy(bytes + AGENT_CELL_AT_MARK, &mark, sizeof mark);
	memcpy(bytes + AGENT_CELL_CALLEE, &callee, sizeof callee);
	memcpy(bytes + AGENT_CELL_AFTER, &after, sizeof after);
	memcpy(bytes + AGENT_CELL_RETURN, &return_address, sizeof return_address);
	if (!code_write(cell, bytes, sizeof bytes))
		return 0;
	sites[used++] = site;
	return cell;
}

uintptr_t cells_next(void)
{
	return used == AGENT_CELLS ? 0 : (uintptr_t)agent_cells + (uintptr_t)used * AGENT_CELL_BYTES;
}

uint32_t cells_left(void)
{
	return AGENT_CELLS - used;
}

uintptr_t cells_after(uintptr_t cell)
{
	uintptr_t after;

	memcpy(&after, (const void *)(cell + AGENT_CELL_AFTER), sizeof after); /* NOLINT(performance-no-int-to-ptr) */
	return after;
}

bool cells_aim(uintptr_t cell, uintptr_t callee, uintptr_t after)
{
	uintptr_t words[2] = {callee, after};

	return code_change(cell + AGENT_CELL_CALLEE, words, sizeof words);
}

bool cells_find(uintptr_t pc, uint32_t *ret_site)
{
	uintptr_t off = pc - (uintptr_t)agent_cells;

	if (off >= (uintptr_t)used * AGENT_CELL_BYTES)
		return false;
	*ret_site = sites[off / AGENT_CELL_BYTES];
	return true;
}

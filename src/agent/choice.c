/* choice.c - tables without collisions: a multiplier is looked for under which no two targets meet. */
#include "agent/choice.h"

#include <string.h>

#include "agent/memory.h"

/* All that were made. Under the agent's lock. */
static struct choice_table *tables;
static size_t table_count, table_capacity;

static uint32_t table_place(const struct choice_table *t, uint64_t target)
{
	return ((uint32_t)target * t->multiplier) >> (32 - t->bits);
}

/* A multiplier under which no two targets meet. */
static bool fill_table(struct choice_table *t, const struct choice *choices, uint32_t count)
{
	uint32_t seed = 0x9e3779b1;

	for (int try = 0; try < 64; try++) {
		uint32_t i;

		t->multiplier = seed | 1;
		memset(t->slots, 0, sizeof(uint64_t) * 2 << t->bits);
		for (i = 0; i < count; i++) {
			uint64_t *slot = &t->slots[(size_t)2 * table_place(t, choices[i].target)];

			if (slot[0])
				break;
			slot[0] = choices[i].target;
			slot[1] = choices[i].to;
		}
		if (i == count)
			return true;
		seed = seed * 1664525 + 1013904223;
	}
	return false;
}

static bool keep(const struct choice_table *t)
{
	if (!agent_reserve((void **)&tables, &table_capacity, table_count + 1, sizeof *tables))
		return false;
	tables[table_count++] = *t;
	return true;
}

bool choice_table_make(struct choice_table *t, const struct choice *choices, uint32_t count)
{
	for (t->bits = 4; t->bits < 20; t->bits++) {
		if ((uint32_t)1 << t->bits < 2 * count)
			continue;
		t->slots = agent_alloc(sizeof(uint64_t) * 2 << t->bits);
		if (!t->slots)
			return false;
		if (fill_table(t, choices, count))
			return keep(t);
		agent_free(t->slots);
	}
	return false;
}

/*
 * The target is in %r11, %rax and %rcx are kept:
 *      push %rax; push %rcx; place = hash(%r11); cmp %r11, table[place]; jne other
 *      mov table[place] + 8, %r11; pop %rcx; pop %rax; jmp *%r11
 *  other: pop %rcx; pop %rax
 */
void choice_emit(struct emit *e, const struct choice_table *t)
{
	static const uint8_t before[] = {0x50, 0x51, 0x41, 0x69, 0xc3}; /* push, push, imul $, %r11d, %eax */
	const uint8_t shift[] = {0xc1, 0xe8, (uint8_t)(32 - t->bits),   /* shr $, %eax */
				 0xc1, 0xe0, 0x04,
				 0x48, 0xb9};                           /* shl $4, %eax; movabs $, %rcx */
	static const uint8_t compare[] = {0x4c, 0x3b, 0x1c, 0x01,       /* cmp (%rcx,%rax), %r11 */
					  0x75, 0x0a,                   /* jne other */
					  0x4c, 0x8b, 0x5c, 0x01, 0x08, /* mov 8(%rcx,%rax), %r11 */
					  0x59, 0x58, 0x41, 0xff, 0xe3, /* pop, pop, jmp *%r11 */
					  0x59, 0x58};                  /* other: pop, pop */
	uint64_t at = (uintptr_t)t->slots;

	emit_bytes(e, before, sizeof before);
	emit_bytes(e, &t->multiplier, sizeof t->multiplier);
	emit_bytes(e, shift, sizeof shift);
	emit_bytes(e, &at, sizeof at);
	emit_bytes(e, compare, sizeof compare);
}

/* Nothing is at a slot's own address. */
void choice_forget(bool (*is_gone)(uintptr_t target))
{
	for (size_t i = 0; i < table_count; i++) {
		for (size_t place = 0; place < (size_t)1 << tables[i].bits; place++) {
			uint64_t *slot = &tables[i].slots[2 * place];

			if (*slot && *slot != (uintptr_t)slot && is_gone(*slot))
				__atomic_store_n(slot, (uintptr_t)slot, __ATOMIC_RELEASE);
		}
	}
}

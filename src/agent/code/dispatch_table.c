/* dispatch_table.c - tables of targets, one or, as they grow, one after the other for each site that needs one. */
#include "agent/code/dispatch_table.h"

#include "agent/os/memory.h"
#include "agent/os/address_map.h"

enum {
	LEAST_BITS = 5,
	MOST_BITS = 20,
	SLOT_BITS = 4, /* of its bytes */
};
static const uint32_t MULTIPLIER = 0x9e3779b1;

/* All that were made. Under the agent's lock. */
static struct dispatch_table *tables;
static size_t table_count, table_capacity;
static struct address_map table_by_site; /* the present one; the key is 1 more than the site's number */

/* The target's, or the free one where it would be. */
static uint64_t *slot_of(const struct dispatch_table *t, uint64_t target)
{
	uint32_t place = ((uint32_t)target * MULTIPLIER) >> (32 - t->bits);
	uint32_t mask = ((uint32_t)1 << t->bits) - 1;
	uint64_t *slot = &t->slots[(size_t)2 * place];

	while (*slot && *slot != target) {
		place = (place + 1) & mask;
		slot = &t->slots[(size_t)2 * place];
	}
	return slot;
}

/* Who reads it meanwhile finds the target with where to go, or not at all. */
static void put(struct dispatch_table *t, const struct dispatch_case *c)
{
	uint64_t *slot = slot_of(t, c->target);

	__atomic_store_n(&slot[1], c->to, __ATOMIC_RELEASE);
	t->count += !*slot;
	__atomic_store_n(&slot[0], c->target, __ATOMIC_RELEASE);
}

static bool has_room(const struct dispatch_table *t, uint32_t count)
{
	return (uint64_t)2 * count <= (uint64_t)1 << t->bits;
}

static struct dispatch_table *present(uint32_t site)
{
	uint32_t number;

	return address_map_find(&table_by_site, (uint64_t)site + 1, &number) ? &tables[number] : NULL;
}

/* Twice as large as it need be. */
static struct dispatch_table *add_table(uint32_t site, uint32_t count)
{
	struct dispatch_table t = {.bits = LEAST_BITS};

	while (t.bits < MOST_BITS && !has_room(&t, 2 * count))
		t.bits++;
	if (!has_room(&t, count) || !agent_reserve((void **)&tables, &table_capacity, table_count + 1, sizeof *tables))
		return NULL;
	t.slots = agent_alloc((size_t)1 << (t.bits + SLOT_BITS));
	if (!t.slots || !address_map_set(&table_by_site, (uint64_t)site + 1, (uint32_t)table_count)) {
		agent_free(t.slots);
		return NULL;
	}
	tables[table_count] = t;
	return &tables[table_count++];
}

/* The slots of what is forgotten stay in use. */
static uint32_t count_with(const struct dispatch_table *t, const struct dispatch_case *cases, uint32_t count)
{
	uint32_t sum = t->count;

	for (uint32_t i = 0; i < count; i++)
		sum += !*slot_of(t, cases[i].target);
	return sum;
}

const struct dispatch_table *dispatch_table_for(uint32_t site, const struct dispatch_case *cases, uint32_t count)
{
	const struct dispatch_table *t = present(site);

	return t && has_room(t, count_with(t, cases, count)) ? t : add_table(site, count);
}

void dispatch_table_put(uint32_t site, const struct dispatch_case *cases, uint32_t count)
{
	struct dispatch_table *t = present(site);

	for (uint32_t i = 0; i < count; i++)
		put(t, &cases[i]);
}

/*
 * The target is in %r11, %rax and %rcx are kept:
 *          push %rax; push %rcx; place = hash(%r11)
 *   again: cmp %r11, table[place]; je found; cmp $0, table[place]; je other; place = the next; jmp again
 *   found: mov table[place] + 8, %r11; pop %rcx; pop %rax; jmp *%r11
 *   other: pop %rcx; pop %rax
 */
void dispatch_table_emit(struct emit *e, const struct dispatch_table *t)
{
	static const uint8_t before[] = {0x50, 0x51, 0x41, 0x69, 0xc3}; /* push, push, imul $, %r11d, %eax */
	const uint8_t shift[] = {0xc1, 0xe8, (uint8_t)(32 - t->bits),   /* shr $, %eax */
				 0xc1, 0xe0, SLOT_BITS,
				 0x48, 0xb9};                                     /* shl $4, %eax; movabs $, %rcx */
	static const uint8_t compare[] = {0x4c, 0x3b, 0x1c,           0x01,       /* again: cmp (%rcx,%rax), %r11 */
					  0x74, 0x11,                             /* je found */
					  0x48, 0x83, 0x3c,           0x01, 0x00, /* cmpq $0, (%rcx,%rax) */
					  0x74, 0x14,                             /* je other */
					  0x83, 0xc0, 1 << SLOT_BITS,             /* add $16, %eax */
					  0x25};                                  /* and $, %eax */
	static const uint8_t found[] = {0xeb, 0xe9,                               /* jmp again */
					0x4c, 0x8b, 0x5c, 0x01, 0x08,             /* found: mov 8(%rcx,%rax), %r11 */
					0x59, 0x58, 0x41, 0xff, 0xe3,             /* pop, pop, jmp *%r11 */
					0x59, 0x58};                              /* other: pop, pop */
	uint32_t mask = (((uint32_t)1 << t->bits) - 1) << SLOT_BITS;
	uint64_t at = (uintptr_t)t->slots;

	emit_bytes(e, before, sizeof before);
	emit_bytes(e, &MULTIPLIER, sizeof MULTIPLIER);
	emit_bytes(e, shift, sizeof shift);
	emit_bytes(e, &at, sizeof at);
	emit_bytes(e, compare, sizeof compare);
	emit_bytes(e, &mask, sizeof mask);
	emit_bytes(e, found, sizeof found);
}

void dispatch_table_visit(uint64_t slots, void (*visit)(uintptr_t to))
{
	size_t i = 0;

	while (i < table_count && (uintptr_t)tables[i].slots != slots)
		i++;
	for (size_t place = 0; i < table_count && place < (size_t)1 << tables[i].bits; place++)
		if (tables[i].slots[2 * place])
			visit(tables[i].slots[2 * place + 1]);
}

/* Nothing is at a slot's own address. */
void dispatch_table_forget(bool (*is_gone)(uintptr_t target))
{
	for (size_t i = 0; i < table_count; i++) {
		for (size_t place = 0; place < (size_t)1 << tables[i].bits; place++) {
			uint64_t *slot = &tables[i].slots[2 * place];

			if (*slot && *slot != (uintptr_t)slot && is_gone(*slot))
				__atomic_store_n(slot, (uintptr_t)slot, __ATOMIC_RELEASE);
		}
	}
}

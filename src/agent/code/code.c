/* code.c - areas of stubs, and writing of code through /proc/self/mem. */
#include "agent/code/code.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/os/state.h"
#include "agent/os/held_file.h"
#include "native/maps.h"
#include "agent/os/memory.h"
#include "agent/threads/stop.h"
#include "agent/threads/thread.h"
#include "base/sort.h"
#include "recorder/sys.h"

enum {
	STUB_ALIGN = 16,
	STUB_HEADER_BYTES = 8,
	CALL_BYTES_MOST = EMIT_MAX_BYTES + 256, /* of the stubs in front of a call, behind it, and what chooses it */
	MOVES_MAX = 40,                         /* times that threads inside of what is to be written go on */
	SWEEP_SHARE = 5,                        /* of all stubs: so many were added */
	PENDING_BYTES = 16384,
	SPAN_BYTES = 4096,
	GAP_BYTES =
		1024, /* between patches that are written together: less than a page, so that all between is mapped */
};
/* Reserved, not used, until stubs are written. */
static const size_t STUBS_BYTES = (size_t)192 << 20;
static const size_t COUNTERS_BYTES = (size_t)8 << 20;
static const size_t REACH = ((size_t)1 << 31) - (1 << 20);

/* Under the agent's lock; read by anyone. */
static struct code_area *areas;
static size_t added_bytes; /* of stubs, since the last sweep */
static struct held_file memory = {.fd = -1};

/* Stubs that are not written yet, one behind the other. */
static struct {
	uintptr_t at;
	uint32_t len;
	uint8_t bytes[PENDING_BYTES];
} pending;

/* The offsets are the same in each area's copy of the jumps to them. Written once, at start. */
static const struct code_entries *entries;

void code_close(void)
{
	held_file_close(&memory);
}

bool code_reopen(void)
{
	return held_file_open(&memory, "/proc/self/mem", O_RDWR);
}

bool code_init(const struct code_entries *leads_to)
{
	entries = leads_to;
	return code_reopen();
}

bool code_has_address_space(void)
{
	size_t size = 4 * (STUBS_BYTES + COUNTERS_BYTES);
	long at = wmrt_sys6(SYS_mmap, 0, (long)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at < 0 && at > -4096)
		return false;
	wmrt_sys3(SYS_munmap, at, (long)size, 0);
	return true;
}

static bool is_open(void)
{
	struct stat st;

	return held_file_stat(&memory, &st) || code_reopen();
}

static bool write_memory(uintptr_t at, const void *bytes, size_t len)
{
	return wmrt_sys6(SYS_pwrite64, memory.fd, (long)bytes, (long)len, (long)at, 0, 0) == (long)len;
}

static bool write_pending(void)
{
	if (pending.len && !write_memory(pending.at, pending.bytes, pending.len))
		return false;
	pending.len = 0;
	return true;
}

bool code_write(uintptr_t at, const void *bytes, size_t len)
{
	return is_open() && write_pending() && write_memory(at, bytes, len);
}

bool code_write_stubs(void)
{
	return !pending.len || (is_open() && write_pending());
}

/* A thread that was stopped inside of one goes on a little. False: not all can be written. */
static bool stop_outside(const struct code_patch *patches, size_t count)
{
	/* What was interrupted on its way here goes on after a detach. */
	if (!agent_is_on || !stop_others())
		return false;
	for (unsigned int times = 0; times < MOVES_MAX; times++) {
		enum stop_held held = STOP_FREE;

		for (size_t i = 0; i < count && held != STOP_HELD_STAYS; i++) {
			enum stop_held this = stop_is_held(patches[i].at, patches[i].len);

			held = this > held ? this : held;
		}
		if (held == STOP_FREE)
			return true;
		if (held == STOP_HELD_STAYS || !stop_again(times))
			return false;
	}
	return false;
}

static uintptr_t end_of(const struct code_patch *patch)
{
	return patch->at + patch->len;
}

/* Writes the first patches with what is between them. How many. */
static size_t write_span(struct code_patch *patches, size_t count)
{
	uintptr_t start = patches[0].at, end = end_of(&patches[0]);
	static uint8_t bytes[SPAN_BYTES];
	bool is_written;
	size_t n = 1;

	while (n < count && patches[n].at < end + GAP_BYTES && end_of(&patches[n]) - start <= SPAN_BYTES) {
		end = end_of(&patches[n]) > end ? end_of(&patches[n]) : end;
		n++;
	}
	memcpy(bytes, (const void *)start, end - start); /* NOLINT(performance-no-int-to-ptr) */
	for (size_t i = 0; i < n; i++)
		memcpy(bytes + (patches[i].at - start), patches[i].bytes, patches[i].len);
	is_written = write_pending() && write_memory(start, bytes, end - start);
	for (size_t i = 0; i < n; i++)
		patches[i].is_written = is_written;
	return n;
}

static void write_all(struct code_patch *patches, size_t count)
{
	if (!is_open())
		return;
	for (size_t i = 0; i < count;)
		i += write_span(&patches[i], count - i);
}

static inline int compare_patches(const struct code_patch *a, const struct code_patch *b)
{
	return a->at < b->at ? -1 : a->at > b->at;
}
SORT_DECLARE(patch, struct code_patch, compare_patches);

void code_change_all(struct code_patch *patches, size_t count)
{
	static struct code_patch scratch[CODE_PATCHES_MAX];

	for (size_t i = 0; i < count; i++)
		patches[i].is_written = false;
	patch_sort(patches, count, scratch);
	if (stop_outside(patches, count)) {
		write_all(patches, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (stop_outside(&patches[i], 1))
			write_all(&patches[i], 1);
	}
}

bool code_change(uintptr_t at, const void *bytes, size_t len)
{
	struct code_patch patch = {.at = at, .len = (uint8_t)len};

	if (len > sizeof patch.bytes)
		return false;
	memcpy(patch.bytes, bytes, len);
	if (stop_outside(&patch, 1))
		write_all(&patch, 1);
	return patch.is_written;
}

/* jmp *(%rip) with the address behind it: 16 bytes, so that code out of reach is within reach. */
static uint64_t add_far_jump(uintptr_t *at, const void *target)
{
	uint8_t bytes[16] = {0xff, 0x25, 2, 0, 0, 0, 0x0f, 0x0b};
	uint64_t here = *at;

	memcpy(bytes + 8, &target, sizeof target);
	if (!code_write(here, bytes, sizeof bytes))
		return 0;
	*at += sizeof bytes;
	return here;
}

static bool add_places(struct code_area *area)
{
	uintptr_t at = area->low;
	const uint64_t foreign = AGENT_FOREIGN_ID;
	struct emit_places *p = &area->places;

	p->id = AGENT_THREAD_OFFSET(id);
	p->top = AGENT_THREAD_OFFSET(top);
	p->base = AGENT_THREAD_OFFSET(base);
	p->grow = add_far_jump(&at, entries->grow);
	p->discover = add_far_jump(&at, entries->discover);
	p->returned = add_far_jump(&at, entries->returned);
	p->entered = add_far_jump(&at, entries->entered);
	p->foreign = at;
	if (!p->entered || !code_write(at, &foreign, sizeof foreign))
		return false;
	area->first = area->used = at + STUB_ALIGN;
	area->place = (struct code_place){area->first, area->high};
	return true;
}

/* The stub for calls that are not known. */
static bool add_unknown(struct code_area *area)
{
	struct code_stub stub = {.start = code_next(area, &area->place, EMIT_MAX_BYTES), .kind = CODE_STUB_UNKNOWN};
	uint8_t bytes[STUB_ALIGN];
	struct emit e;

	emit_init(&e, bytes, sizeof bytes, stub.start);
	emit_thunk(&e, CODE_NO_NUMBER, area->places.discover);
	area->places.unknown = stub.start;
	stub.len = e.len;
	code_pass(&area->place, e.len);
	return emit_ok(&e) && code_add_stub(area, &stub, e.bytes);
}

static struct code_area *area_new(uintptr_t low, uintptr_t high)
{
	size_t size = STUBS_BYTES + COUNTERS_BYTES;
	uintptr_t at = maps_find_gap(low, high, size, REACH);
	struct code_area *area = at ? agent_alloc(sizeof *area) : NULL;
	long got;

	if (!area)
		return NULL;
	got = wmrt_sys6(SYS_mmap, (long)at, (long)size, PROT_READ | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (got != (long)at)
		return NULL;
	wmrt_sys3(SYS_mprotect, (long)(at + STUBS_BYTES), (long)COUNTERS_BYTES, PROT_READ | PROT_WRITE);
	area->low = at;
	area->high = area->counters = at + STUBS_BYTES;
	area->counter_capacity = (uint32_t)(COUNTERS_BYTES / sizeof(uint32_t));
	area->starts = wmrt_map_memory(STUBS_BYTES / STUB_ALIGN / 8);
	if (!area->starts || !add_places(area) || !add_unknown(area))
		return NULL;
	area->next = areas;
	__atomic_store_n(&areas, area, __ATOMIC_RELEASE);
	return area;
}

struct code_area *code_area_for(uintptr_t low, uintptr_t high)
{
	for (struct code_area *area = areas; area; area = area->next) {
		uintptr_t area_high = area->high + COUNTERS_BYTES;

		if ((area_high <= low ? high - area->low : area_high - low) <= REACH)
			return area;
	}
	return area_new(low, high);
}

static bool has_start(const struct code_area *area, uintptr_t at)
{
	size_t bit = (at - area->low) / STUB_ALIGN;

	return area->starts[bit / 8] >> bit % 8 & 1;
}

static size_t units_at(uintptr_t at)
{
	return ((const uint8_t *)at)[STUB_HEADER_BYTES - 1]; /* NOLINT(performance-no-int-to-ptr) */
}

/* Stubs go where there is none now, behind the present place for them. */
static void take_run(const struct code_area *area, struct code_place *place)
{
	uintptr_t at = place->limit, end;

	while (at < area->used && has_start(area, at))
		at += units_at(at) * STUB_ALIGN;
	for (end = at; end < area->used && !has_start(area, end);)
		end += STUB_ALIGN;
	place->at = at;
	place->limit = end < area->used ? end : area->high;
}

uintptr_t code_next(const struct code_area *area, struct code_place *place, uint32_t most_bytes)
{
	while (place->limit - place->at <= most_bytes + STUB_HEADER_BYTES) {
		if (place->limit == area->high)
			return 0;
		take_run(area, place);
	}
	return place->at + STUB_HEADER_BYTES;
}

static uint32_t units_of(uint32_t len)
{
	return (STUB_HEADER_BYTES + len + STUB_ALIGN - 1) / STUB_ALIGN;
}

void code_pass(struct code_place *place, uint32_t len)
{
	place->at += (uintptr_t)units_of(len) * STUB_ALIGN;
}

bool code_has_stub(const struct code_area *area, uintptr_t start)
{
	return start >= area->first + STUB_HEADER_BYTES && start < area->used &&
	       start % STUB_ALIGN == STUB_HEADER_BYTES && has_start(area, start - STUB_HEADER_BYTES);
}

/* Where the byte is that is at that address, or will be. */
static const uint8_t *bytes_at(uintptr_t at)
{
	return at - pending.at < pending.len ? pending.bytes + (at - pending.at)
					     : (const uint8_t *)at; /* NOLINT(performance-no-int-to-ptr) */
}

static void put_header(uint8_t header[STUB_HEADER_BYTES], const struct code_stub *stub, uint32_t units)
{
	memcpy(header, &stub->number, sizeof stub->number);
	header[4] = stub->kind;
	header[5] = stub->first;
	header[6] = stub->done;
	header[7] = (uint8_t)units;
}

bool code_is_stub(const struct code_stub *stub, const struct emit *e)
{
	const uint8_t *there = bytes_at(stub->start - STUB_HEADER_BYTES);
	uint8_t header[STUB_HEADER_BYTES];

	put_header(header, stub, units_of(e->len));
	return emit_ok(e) && memcmp(there, header, sizeof header) == 0 &&
	       memcmp(there + sizeof header, e->bytes, e->len) == 0;
}

/* Stubs that compare with addresses: of targets of calls, of places that hooks are entered from. Under the agent's lock. */
static struct {
	struct comparer {
		uintptr_t header;
		uint32_t number;
		uint8_t kind;
	} *items;
	size_t count, capacity;
} comparers;

static bool note_comparer(const struct code_stub *stub, uintptr_t header)
{
	if (stub->kind != CODE_STUB_DISPATCH && stub->kind != CODE_STUB_ENTRY)
		return true;
	if (!agent_reserve((void **)&comparers.items, &comparers.capacity, comparers.count + 1,
			   sizeof *comparers.items))
		return false;
	comparers.items[comparers.count++] = (struct comparer){header, stub->number, stub->kind};
	return true;
}

bool code_add_stub(struct code_area *area, const struct code_stub *stub, const uint8_t *code)
{
	uintptr_t at = stub->start - STUB_HEADER_BYTES;
	uint32_t units = units_of(stub->len);
	size_t bit = (at - area->low) / STUB_ALIGN;
	uint8_t *bytes;

	if (units > UINT8_MAX || !note_comparer(stub, at))
		return false;
	if ((pending.at + pending.len != at || pending.len + units * STUB_ALIGN > PENDING_BYTES) && !code_write_stubs())
		return false;
	if (!pending.len)
		pending.at = at;
	bytes = pending.bytes + pending.len;
	memset(bytes, 0, (size_t)units * STUB_ALIGN);
	put_header(bytes, stub, units);
	memcpy(bytes + STUB_HEADER_BYTES, code, stub->len);
	pending.len += units * STUB_ALIGN;
	area->starts[bit / 8] |= (uint8_t)(1u << bit % 8);
	added_bytes += (size_t)units * STUB_ALIGN;
	at += (uintptr_t)units * STUB_ALIGN;
	if (at > area->used)
		__atomic_store_n(&area->used, at, __ATOMIC_RELEASE);
	return true;
}

size_t code_stub_bytes(void)
{
	size_t sum = 0;

	for (const struct code_area *area = areas; area; area = area->next)
		sum += area->used - area->low;
	return sum;
}

bool code_has_room(size_t calls)
{
	for (const struct code_area *area = areas; area; area = area->next)
		if ((area->high - area->used) / CALL_BYTES_MOST < calls)
			return false;
	return true;
}

static const struct code_area *area_at(uintptr_t pc)
{
	const struct code_area *area = __atomic_load_n(&areas, __ATOMIC_ACQUIRE);

	while (area && (pc < area->low || pc >= __atomic_load_n(&area->used, __ATOMIC_ACQUIRE)))
		area = area->next;
	return area;
}

const struct emit_places *code_places_at(uintptr_t pc)
{
	const struct code_area *area = area_at(pc);

	return area ? &area->places : NULL;
}

bool code_find_stub(uintptr_t pc, struct code_stub *ret)
{
	const struct code_area *area = area_at(pc);
	const uint8_t *header;
	size_t bit;

	if (!area)
		return false;
	bit = (pc - area->low) / STUB_ALIGN;
	while (!(area->starts[bit / 8] >> bit % 8 & 1))
		if (bit-- == 0)
			return false;
	header = (const uint8_t *)area->low + bit * STUB_ALIGN; /* NOLINT(performance-no-int-to-ptr) */
	ret->start = (uintptr_t)header + STUB_HEADER_BYTES;
	memcpy(&ret->number, header, sizeof ret->number);
	ret->kind = header[4];
	ret->first = header[5];
	ret->done = header[6];
	ret->len = (uint32_t)header[7] * STUB_ALIGN - STUB_HEADER_BYTES;
	return pc < ret->start + ret->len;
}

bool code_is_to_be_swept(void)
{
	return added_bytes >= code_stub_bytes() / SWEEP_SHARE;
}

bool code_is_entry(uintptr_t at)
{
	bool is_behind_data;
	struct code_stub stub;

	if (!code_find_stub(at, &stub))
		return false;
	is_behind_data =
		stub.kind == CODE_STUB_DISPATCH || stub.kind == CODE_STUB_ENTRY || stub.kind == CODE_STUB_FOREIGN;
	return at == stub.start + (is_behind_data ? stub.first : 0);
}

static void end_marks(void)
{
	for (struct code_area *area = areas; area; area = area->next) {
		agent_free(area->marks);
		area->marks = NULL;
	}
}

static size_t mark_bytes(const struct code_area *area)
{
	return (area->used - area->low) / STUB_ALIGN / 8 + 1;
}

bool code_mark_begin(void)
{
	bool ok = code_write_stubs();
	struct code_stub stub;

	for (struct code_area *area = areas; area && ok; area = area->next) {
		area->marks = agent_alloc(mark_bytes(area));
		ok = area->marks != NULL;
	}
	if (!ok)
		end_marks();
	for (struct code_area *area = areas; area && ok; area = area->next)
		code_mark(area->places.unknown, &stub);
	return ok;
}

bool code_mark(uintptr_t at, struct code_stub *ret)
{
	struct code_area *area = areas;
	size_t bit;

	while (area && (at < area->first || at >= area->used))
		area = area->next;
	if (!area || !code_find_stub(at, ret))
		return false;
	bit = (ret->start - STUB_HEADER_BYTES - area->low) / STUB_ALIGN;
	if (area->marks[bit / 8] >> bit % 8 & 1)
		return false;
	area->marks[bit / 8] |= (uint8_t)(1u << bit % 8);
	return true;
}

void code_sweep(bool is_all_marked)
{
	for (struct code_area *area = areas; area && is_all_marked; area = area->next) {
		memcpy(area->starts, area->marks, mark_bytes(area));
		area->place = (struct code_place){area->first, area->first};
	}
	if (is_all_marked)
		added_bytes = 0;
	end_marks();
}

uintptr_t code_counter(const struct code_area *area, uint32_t number)
{
	return number < area->counter_capacity ? area->counters + sizeof(uint32_t) * number : 0;
}

/*
 * A word that is compared with what a call leads to, or returns to: nothing is at its own address. Data, so no thread needs to stop. False: it
 * is forgotten.
 */
static bool keep_word(uintptr_t at, bool (*is_gone)(uintptr_t address))
{
	uintptr_t address = *(const uintptr_t *)at; /* NOLINT(performance-no-int-to-ptr) */

	return address != at && (!is_gone(address) || !code_write(at, &at, sizeof at));
}

/* False: it compares with nothing any more. */
static bool keep_words(const uint8_t *header, bool (*is_gone)(uintptr_t address))
{
	uintptr_t start = (uintptr_t)header + STUB_HEADER_BYTES;
	bool ret = false;

	for (uintptr_t at = start; at + sizeof(uintptr_t) <= start + header[5]; at += sizeof(uintptr_t))
		ret |= keep_word(at, is_gone);
	return ret;
}

/* It is the stub that was noted, and not another one in its place. */
static bool is_there(const struct comparer *c)
{
	const struct code_area *area = areas;
	const uint8_t *header = (const uint8_t *)c->header; /* NOLINT(performance-no-int-to-ptr) */
	uint32_t number;
	size_t bit;

	while (area && (c->header < area->first || c->header >= area->used))
		area = area->next;
	if (!area)
		return false;
	bit = (c->header - area->low) / STUB_ALIGN;
	memcpy(&number, header, sizeof number);
	return (area->starts[bit / 8] >> bit % 8 & 1) && header[4] == c->kind && number == c->number;
}

size_t code_forget(bool (*is_gone)(uintptr_t address), bool (*is_owner_gone)(uint8_t kind, uint32_t number))
{
	size_t kept = 0, looked = comparers.count;

	/* They are read where they will run. */
	if (!is_open() || !write_pending())
		return 0;
	for (size_t i = 0; i < comparers.count; i++) {
		const struct comparer *c = &comparers.items[i];

		if (is_there(c) && !is_owner_gone(c->kind, c->number) &&
		    keep_words((const uint8_t *)c->header, is_gone)) /* NOLINT(performance-no-int-to-ptr) */
			comparers.items[kept++] = *c;
	}
	comparers.count = kept;
	return looked;
}

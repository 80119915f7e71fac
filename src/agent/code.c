/* code.c - areas of stubs, and writing of code through /proc/self/mem. */
#include "agent/code.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "agent/maps.h"
#include "agent/memory.h"
#include "agent/program.h"
#include "agent/stop.h"
#include "agent/thread.h"
#include "recorder/sys.h"

enum {
	STUB_ALIGN = 16,
	STUB_HEADER_BYTES = 8,
	LITERAL_BYTES = 4096,
	CALL_BYTES_MOST = EMIT_MAX_BYTES + 256, /* of the stubs in front of a call, behind it, and what chooses it */
	MOVES_MAX = 40, /* times that threads inside of what is to be written go on */
};
/* Reserved, not used, until stubs are written. */
static const size_t STUBS_BYTES = (size_t)192 << 20;
static const size_t COUNTERS_BYTES = (size_t)8 << 20;
static const size_t REACH = ((size_t)1 << 31) - (1 << 20);

/* Under the agent's lock; read by anyone. */
static struct code_area *areas;
static struct {
	int fd;
	dev_t dev;
	ino_t ino;
} memory = {.fd = -1};

/* The code that stubs lead to, in start.S; the offsets are the same in each area's copy of the jumps to them. */
extern const char agent_grow[], agent_discover_entry[], agent_returned_entry[], agent_entered_entry[];

/* The program may have closed the descriptor, or given its number to a file of its own. */
static bool is_ours(void)
{
	struct stat st = {0};

	return memory.fd >= 0 && wmrt_sys3(SYS_fstat, memory.fd, (long)&st, 0) == 0 && st.st_dev == memory.dev &&
	       st.st_ino == memory.ino;
}

void code_close(void)
{
	if (is_ours())
		wmrt_sys3(SYS_close, memory.fd, 0, 0);
	memory.fd = -1;
}

/* Out of the way of the program's numbers, where there is room. */
bool code_reopen(void)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC, 0, 0, 0);
	struct stat st = {0};

	code_close();
	if (fd < 0)
		return false;
	memory.fd = wmrt_raise_fd((int)fd);
	if (wmrt_sys3(SYS_fstat, memory.fd, (long)&st, 0) != 0)
		return false;
	memory.dev = st.st_dev;
	memory.ino = st.st_ino;
	return true;
}

bool code_init(void)
{
	return code_reopen();
}

static bool has_memory(void)
{
	return is_ours() || code_reopen();
}

bool code_write(uintptr_t at, const void *bytes, size_t len)
{
	return has_memory() && wmrt_sys6(SYS_pwrite64, memory.fd, (long)bytes, (long)len, (long)at, 0, 0) == (long)len;
}

bool code_read(uintptr_t at, void *bytes, size_t len)
{
	return has_memory() && wmrt_sys6(SYS_pread64, memory.fd, (long)bytes, (long)len, (long)at, 0, 0) == (long)len;
}

/* A thread that was stopped inside of the bytes goes on a little. */
bool code_change(uintptr_t at, const void *bytes, size_t len)
{
	/* What was interrupted on its way here goes on after a detach. */
	if (!agent_is_on || !stop_others())
		return false;
	for (unsigned int times = 0; times < MOVES_MAX; times++) {
		enum stop_held held = stop_is_held(at, len);

		if (held == STOP_FREE)
			return code_write(at, bytes, len);
		if (held == STOP_HELD_STAYS || !stop_again(times))
			return false;
	}
	return false;
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
	p->grow = add_far_jump(&at, agent_grow);
	p->discover = add_far_jump(&at, agent_discover_entry);
	p->returned = add_far_jump(&at, agent_returned_entry);
	p->entered = add_far_jump(&at, agent_entered_entry);
	p->foreign = at;
	if (!p->entered || !code_write(at, &foreign, sizeof foreign))
		return false;
	area->used = at + STUB_ALIGN;
	return true;
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
	if (!area->starts || !add_places(area))
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

uintptr_t code_next(const struct code_area *area)
{
	return area->high - area->used > EMIT_MAX_BYTES + STUB_HEADER_BYTES ? area->used + STUB_HEADER_BYTES : 0;
}

bool code_add_stub(struct code_area *area, const struct code_stub *stub, const struct emit *e)
{
	uint8_t bytes[EMIT_MAX_BYTES + STUB_HEADER_BYTES];
	uint32_t units = (STUB_HEADER_BYTES + e->len + STUB_ALIGN - 1) / STUB_ALIGN;
	size_t bit = (area->used - area->low) / STUB_ALIGN;

	if (!emit_ok(e) || units > UINT8_MAX)
		return false;
	memcpy(bytes, &stub->number, sizeof stub->number);
	bytes[4] = stub->kind;
	bytes[5] = stub->first;
	bytes[6] = stub->done;
	bytes[7] = (uint8_t)units;
	memcpy(bytes + STUB_HEADER_BYTES, e->bytes, e->len);
	if (!code_write(area->used, bytes, STUB_HEADER_BYTES + e->len))
		return false;
	area->starts[bit / 8] |= (uint8_t)(1u << bit % 8);
	__atomic_store_n(&area->used, area->used + (size_t)units * STUB_ALIGN, __ATOMIC_RELEASE);
	return true;
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
	return true;
}

uintptr_t code_add_counter(struct code_area *area)
{
	if (area->counter_count == area->counter_capacity)
		return 0;
	return area->counters + sizeof(uint32_t) * area->counter_count++;
}

/* A word that is compared with what a call leads to, or returns to: nothing is at its own address. Data, so no thread needs to stop. */
static void forget_word(uintptr_t at, bool (*is_gone)(uintptr_t address))
{
	uintptr_t address = *(const uintptr_t *)at; /* NOLINT(performance-no-int-to-ptr) */

	if (address != at && is_gone(address))
		code_write(at, &at, sizeof at);
}

static void forget_in_stub(const uint8_t *header, bool (*is_gone)(uintptr_t address))
{
	uintptr_t start = (uintptr_t)header + STUB_HEADER_BYTES;

	if (header[4] != CODE_STUB_CHOOSE && header[4] != CODE_STUB_ENTRY)
		return;
	for (uintptr_t at = start; at + sizeof(uintptr_t) <= start + header[5]; at += sizeof(uintptr_t))
		forget_word(at, is_gone);
}

void code_forget(bool (*is_gone)(uintptr_t address))
{
	for (const struct code_area *area = areas; area; area = area->next)
		for (size_t bit = 0; bit < (area->used - area->low) / STUB_ALIGN; bit++)
			if (area->starts[bit / 8] >> bit % 8 & 1)
				forget_in_stub((const uint8_t *)area->low + bit * STUB_ALIGN, is_gone); /* NOLINT */
}

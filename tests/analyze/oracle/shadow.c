/* shadow.c - test only: what a program that shadow_pass.cpp changed calls to record its dependences (shadow.h). */
#include "shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The changed code calls it by name, wherever it is. */
#pragma GCC visibility push(default)

enum {
	ARGUMENTS_MAX = 64,
	DEPTH_MAX = 256, /* calls of libraries within each other */
	PAGE = 4096,
	TABLE = 1 << 17, /* pages of a table, tables of the whole */
	VARIADIC_MAX = 127,
};

/* ---- nodes ---- */

static struct shadow_header *header;
static struct shadow_node *nodes;
static uint8_t *blocks, *stack;
static uint32_t limit;
static pthread_t first_thread;

static void *map_memory(size_t len_bytes)
{
	void *memory =
		mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static void stop_recording(void)
{
	header = NULL;
}

void shadow_begin(void *memory, size_t len_bytes)
{
	header = memory;
	*header = (struct shadow_header){.magic = SHADOW_MAGIC, .count = 1};
	nodes = (struct shadow_node *)((char *)memory + SHADOW_NODES_AT);
	blocks = (uint8_t *)memory + len_bytes - SHADOW_BLOCKS;
	stack = blocks - SHADOW_STACK;
	limit = (uint32_t)((len_bytes - SHADOW_NODES_AT - SHADOW_STACK - SHADOW_BLOCKS) / sizeof *nodes);
	first_thread = pthread_self();
	pthread_atfork(NULL, NULL, stop_recording);
}

__attribute__((constructor(101))) static void begin(void)
{
	const char *path = getenv("SHADOW_OUT"), *text = getenv("SHADOW_LIMIT");
	int file = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	size_t len_bytes;
	void *memory;

	len_bytes = SHADOW_BYTES((size_t)(text ? (uint32_t)strtoul(text, NULL, 10) : 4000000));
	if (file < 0 || ftruncate(file, (off_t)len_bytes))
		return;
	memory = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (memory == MAP_FAILED)
		return;
	shadow_begin(memory, len_bytes);
	unsetenv("SHADOW_OUT");
}

uint32_t shadow_new(uint32_t instruction, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t number;

	if (!header)
		return 0;
	number = __atomic_fetch_add(&header->count, 1, __ATOMIC_RELAXED);
	if (number >= limit) {
		header->count = limit;
		header->is_full = 1;
		_exit(0);
	}
	nodes[number] = (struct shadow_node){instruction, {a, b, c}};
	return number;
}

uint32_t shadow_join(uint32_t a, uint32_t b)
{
	if (!a || a == b)
		return b;
	return b ? shadow_new(0, a, b, 0) : a;
}

uint32_t shadow_node(uint32_t instruction, uint32_t control, uint32_t first, uint32_t second)
{
	return shadow_new(instruction, control, first, second);
}

/* ---- memory ---- */

static uint32_t **tables[TABLE * 2];

static uint32_t *page_of(uint64_t at)
{
	uint64_t page = at / PAGE % ((uint64_t)TABLE * TABLE * 2);
	uint32_t ***table = &tables[page / TABLE];

	if (!*table)
		*table = map_memory(TABLE * sizeof **table);
	if (!(*table)[page % TABLE])
		(*table)[page % TABLE] = map_memory(PAGE * sizeof(uint32_t));
	return (*table)[page % TABLE];
}

void shadow_write(uint64_t at, uint64_t len_bytes, uint32_t label)
{
	for (uint64_t end = at + len_bytes; at < end;) {
		uint32_t *page = page_of(at);

		do
			page[at % PAGE] = label;
		while (++at < end && at % PAGE);
	}
}

uint32_t shadow_read(uint64_t at, uint64_t len_bytes)
{
	uint32_t all = 0, last = 0, before = 0;

	for (uint64_t end = at + len_bytes; at < end; at++) {
		uint32_t label = page_of(at)[at % PAGE];

		if (label == last || label == before)
			continue;
		all = shadow_join(all, label);
		before = last;
		last = label;
	}
	return all;
}

uint32_t *shadow_take(uint64_t from, uint64_t len_bytes)
{
	uint32_t *labels = map_memory((len_bytes + 1) * sizeof *labels);

	labels[0] = (uint32_t)len_bytes;
	for (uint64_t i = 0; i < len_bytes; i++)
		labels[i + 1] = page_of(from + i)[(from + i) % PAGE];
	return labels;
}

void shadow_give(uint32_t instruction, uint32_t made, uint64_t to, uint64_t len_bytes, const uint32_t *labels)
{
	uint32_t label = 0;

	for (uint64_t i = 0; i < len_bytes; i++) {
		uint32_t from = i < labels[0] ? labels[i + 1] : 0;

		if (!i || from != labels[i])
			label = shadow_new(instruction, made, from, 0);
		page_of(to + i)[(to + i) % PAGE] = label;
	}
	munmap((void *)labels, (labels[0] + 1) * sizeof *labels);
}

uint32_t shadow_load(uint32_t instruction, uint32_t control, uint32_t pointer, const void *at, uint64_t len_bytes)
{
	return shadow_new(instruction, control, pointer, shadow_read((uintptr_t)at, len_bytes));
}

uint32_t shadow_store(uint32_t instruction, uint32_t control, uint32_t pointer, uint32_t value, const void *at,
		      uint64_t len_bytes)
{
	uint32_t label = shadow_new(instruction, control, pointer, value);

	shadow_write((uintptr_t)at, len_bytes, label);
	return label;
}

void shadow_copy(uint32_t instruction, uint32_t made, const void *to, const void *from, uint64_t len_bytes)
{
	shadow_give(instruction, made, (uintptr_t)to, len_bytes, shadow_take((uintptr_t)from, len_bytes));
}

void shadow_fill(uint32_t made, const void *at, uint64_t len_bytes)
{
	shadow_write((uintptr_t)at, len_bytes, made);
}

void shadow_clear(const void *at, uint64_t len_bytes)
{
	shadow_write((uintptr_t)at, len_bytes, 0);
}

/* ---- calls ---- */

struct library_call {
	uint32_t label;     /* of all that is called back */
	uint32_t came_back; /* before a handler began that interrupted the call */
	uint32_t returned;  /* by what was called back */
	struct shadow_call call;
};

static __thread struct {
	const void *callee; /* that is about to begin; NULL: a library's function */
	uint32_t call, count;
	uint32_t labels[ARGUMENTS_MAX], kinds[ARGUMENTS_MAX];
	uint64_t words[ARGUMENTS_MAX];
	const void *returned_by;
	uint32_t returned;
	bool is_from_library;
	uint32_t depth;
	struct library_call library[DEPTH_MAX];
	uint32_t came_back, landed, control_of, control;
} t;

/* A site of the pass: what the function is called, behind a place for ours. */
struct site {
	const struct shadow_function *function;
	char name[];
};

static const struct shadow_function *function_of(struct site *site, const void *target)
{
	static const struct shadow_function unknown = {.effects = ""};

	if (!site)
		return shadow_find_address(target);
	if (!site->function) {
		site->function = shadow_find(site->name);
		if (!site->function)
			site->function = &unknown;
	}
	return site->function;
}

static uint32_t join_all(uint32_t made, uint32_t count, const uint32_t *labels)
{
	for (uint32_t i = 0; i < count; i++)
		made = shadow_join(made, labels[i]);
	return made;
}

/* Returns how deep in libraries the call is. */
uint32_t shadow_before_call(struct site *site, const void *target, uint32_t number, uint32_t made, uint32_t count,
			    const uint64_t *words, const uint32_t *labels, const uint32_t *kinds)
{
	const struct shadow_function *function = function_of(site, target);
	uint32_t depth = t.depth;

	t.callee = NULL;
	t.returned_by = NULL;
	if (function) {
		struct library_call *l = &t.library[depth % DEPTH_MAX];

		l->call = (struct shadow_call){.number = number,
					       .made = made,
					       .count = count,
					       .words = words,
					       .labels = labels,
					       .all = join_all(made, count, labels)};
		l->returned = 0;
		shadow_before(function, &l->call);
		l->label = l->call.is_interrupted ? l->call.interrupted_by : l->call.all;
		t.depth++;
		return depth;
	}
	t.callee = target;
	t.call = made;
	t.count = count < ARGUMENTS_MAX ? count : ARGUMENTS_MAX;
	memcpy(t.labels, labels, t.count * sizeof *labels);
	memcpy(t.kinds, kinds, t.count * sizeof *kinds);
	memcpy(t.words, words, t.count * sizeof *words);
	return depth;
}

uint32_t shadow_after_call(struct site *site, const void *target, uint32_t number, uint32_t made, uint32_t count,
			   const uint64_t *words, const uint32_t *labels, uint32_t depth, uint64_t result)
{
	const struct shadow_function *function = function_of(site, target);
	uint32_t returned = t.returned_by == target ? t.returned : 0;
	struct library_call *l;

	(void)words;
	t.depth = depth;
	if (!function)
		return shadow_new(number, made, t.returned_by == target ? returned : join_all(0, count, labels), 0);
	l = &t.library[depth % DEPTH_MAX];
	/* setjmp returns once more, from within another call, because of a jump alone. */
	if (l->call.number != number)
		l->call = (struct shadow_call){.errno_before = errno};
	l->call.result = result;
	l->call.all = shadow_join(l->call.all, l->returned);
	return shadow_after(function, &l->call);
}

void shadow_run(void (*handler)(void), uint32_t label)
{
	struct library_call *l = &t.library[t.depth % DEPTH_MAX];

	l->label = shadow_join(t.depth ? t.library[(t.depth - 1) % DEPTH_MAX].label : 0, label);
	l->returned = 0;
	t.callee = NULL;
	t.depth++;
	handler();
	t.depth--;
}

uint32_t shadow_returned(void)
{
	return t.library[t.depth % DEPTH_MAX].returned;
}

uint32_t shadow_enter(const void *function, uint32_t count)
{
	t.is_from_library = t.callee != function;
	t.callee = NULL;
	if (!t.is_from_library)
		return t.call;
	t.call = t.depth ? t.library[(t.depth - 1) % DEPTH_MAX].label : 0;
	/* A signal comes when it comes. */
	if (t.depth && t.library[(t.depth - 1) % DEPTH_MAX].call.is_interrupted) {
		t.library[(t.depth - 1) % DEPTH_MAX].came_back = t.came_back;
		t.came_back = 0;
	}
	t.count = count < ARGUMENTS_MAX ? count : ARGUMENTS_MAX;
	for (uint32_t i = 0; i < t.count; i++) {
		t.labels[i] = t.call;
		t.kinds[i] = 0;
	}
	return t.call;
}

uint32_t shadow_is_from_library(void)
{
	return t.is_from_library && t.depth;
}

uint32_t shadow_argument(uint32_t number)
{
	return number < t.count ? t.labels[number] : 0;
}

/* The callee has a copy. */
void shadow_copied_argument(uint32_t number, const void *to, uint64_t len_bytes)
{
	uint32_t *labels;

	if (number >= t.count || t.is_from_library)
		return;
	labels = shadow_take(t.words[number], len_bytes);
	for (uint64_t i = 0; i < len_bytes; i++)
		shadow_write((uintptr_t)to + i, 1, labels[i + 1]);
	munmap(labels, (len_bytes + 1) * sizeof *labels);
}

void shadow_return(const void *function, uint32_t made, uint32_t control, uint32_t is_from_library, uint32_t may_end)
{
	t.returned_by = function;
	t.returned = made;
	if (is_from_library && t.depth) {
		struct library_call *l = &t.library[(t.depth - 1) % DEPTH_MAX];

		l->returned = shadow_join(l->returned, made);
		if (l->call.is_interrupted)
			t.came_back = shadow_join(t.came_back, l->came_back);
	}
	if (may_end)
		t.came_back = shadow_join(t.came_back, control);
}

/* ---- that calls came back ---- */

void shadow_land(uint32_t label)
{
	t.landed = shadow_join(t.landed, label);
}

uint32_t shadow_control(uint32_t control)
{
	if (!t.came_back && !t.landed)
		return control;
	if (t.control_of != control || t.control < t.came_back || t.control < t.landed) {
		t.control = shadow_join(control, t.landed);
		if (t.came_back)
			t.control = shadow_new((uint32_t)SHADOW_CAME_BACK, t.control, t.came_back, 0);
		t.control_of = control;
	}
	return t.control;
}

uint32_t shadow_block(uint32_t number, uint32_t control, struct shadow_frame *frame)
{
	if (header && number < SHADOW_BLOCKS)
		blocks[number] = 1;
	if (frame)
		frame->ran[number - frame->first_block] = 1;
	return shadow_control(control);
}

/* ---- the stack ---- */

/* NULL: of another thread, or there is no room. */
struct shadow_frame *shadow_push(uint32_t first_block, uint32_t block_count)
{
	uint32_t at, end;
	struct shadow_frame *frame;

	if (!header || !pthread_equal(pthread_self(), first_thread))
		return NULL;
	at = header->stack_bytes;
	end = at + (uint32_t)(sizeof *frame + block_count + 7) / 8 * 8;
	if (end > SHADOW_STACK) {
		header->is_stack_lost = 1;
		return NULL;
	}
	frame = (struct shadow_frame *)(stack + at);
	memset(frame, 0, end - at);
	*frame = (struct shadow_frame){.first_block = first_block, .block_count = block_count, .end = end};
	header->stack_bytes = end;
	return frame;
}

/* The call begins, or has come back: then activations that were left otherwise are gone, too. */
void shadow_call_at(struct shadow_frame *frame, uint32_t number)
{
	if (!frame || !header)
		return;
	header->stack_bytes = frame->end;
	frame->call = number;
}

void shadow_pop(struct shadow_frame *frame)
{
	if (frame && header)
		header->stack_bytes = (uint32_t)((uint8_t *)frame - stack);
}

/* ---- variable arguments ---- */

/* where: their number, then kind and label of each. */
void shadow_keep_variadic(uint32_t first, uint32_t *where)
{
	uint32_t count = 0;

	for (uint32_t i = first; i < t.count && count < VARIADIC_MAX; i++, count++) {
		where[1 + 2 * count] = t.kinds[i];
		where[2 + 2 * count] = t.labels[i];
		if (t.kinds[i] > 1 && t.words[i])
			where[2 + 2 * count] = shadow_join(t.labels[i], shadow_read(t.words[i], t.kinds[i]));
	}
	where[0] = count;
}

uint64_t shadow_list_next(struct shadow_list *list, uint32_t kind)
{
	uint64_t at;

	if (kind == 0 && list->integers < 48) {
		at = list->saved + list->integers;
		list->integers += 8;
	} else if (kind == 1 && list->floats < 176) {
		at = list->saved + list->floats;
		list->floats += 16;
	} else {
		if (kind == 16)
			list->overflow = (list->overflow + 15) / 16 * 16;
		at = list->overflow;
		list->overflow += kind < 2 ? 8 : (kind + 7) / 8 * 8;
	}
	return at;
}

void shadow_va_start(uint32_t made, const struct shadow_list *list, const uint32_t *where)
{
	struct shadow_list at = *list;

	shadow_write((uintptr_t)list, sizeof *list, made);
	for (uint32_t i = 0; i < where[0]; i++) {
		uint32_t kind = where[1 + 2 * i], label = where[2 + 2 * i];
		bool is_saved_float = kind == 1 && at.floats < 176;
		uint32_t len_bytes = is_saved_float ? 16 : kind < 2 ? 8 : (kind + 7) / 8 * 8;

		shadow_write(shadow_list_next(&at, kind), len_bytes, label);
	}
}

/* Code outside has been given these pointers. */
void shadow_keep(const void *first, ...)
{
	(void)first;
}

/*
 * crash_values.c - asks snapshot/debug/values.h for what a frame and its line name, and joins threads by the locks that they hold and
 * wait for.
 *
 * The address of a fault is explained only by what contains it: a variable on the line of the innermost frame with a source that lies
 * there, or a pointer to less than a page in front of it.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/crash/crash_values.h"

enum {
	PAGE_BYTES = 4096,
	NAMING_FRAMES = 8,    /* that are searched for the name of a lock */
	CONDITION_BYTES = 48, /* of pthread_cond_t */
};

const char *crash_wait_text(enum snapshot_wait_kind kind)
{
	static const char *const texts[SNAPSHOT_WAIT_KINDS] = {
		[SNAPSHOT_WAIT_MUTEX] = "the mutex",
		[SNAPSHOT_WAIT_CONDITION] = "the condition variable",
		[SNAPSHOT_WAIT_RWLOCK] = "the read-write lock",
		[SNAPSHOT_WAIT_SEMAPHORE] = "the semaphore",
		[SNAPSHOT_WAIT_BARRIER] = "the barrier",
		[SNAPSHOT_WAIT_JOIN] = "the end of a thread",
		[SNAPSHOT_WAIT_FUTEX] = "the futex",
	};

	return texts[kind];
}

/* ---- frames ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* text[off, end) is assigned to, counted up or down, or its address is taken. */
static bool is_changed_at(const char *text, size_t off, size_t end)
{
	static const char *const behind[] = {"++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};

	while (off && (text[off - 1] == ' ' || text[off - 1] == '\t'))
		off--;
	if (off > 1 && (strncmp(text + off - 2, "++", 2) == 0 || strncmp(text + off - 2, "--", 2) == 0))
		return true;
	end += strspn(text + end, " \t");
	/* Behind a pointer is another address. */
	if (off && text[off - 1] == '&' && (off == 1 || text[off - 2] != '&') && strncmp(text + end, "->", 2) != 0 &&
	    text[end] != '[')
		return true;
	for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
		if (strncmp(text + end, behind[i], strlen(behind[i])) == 0)
			return true;
	return text[end] == '=' && text[end + 1] != '=';
}

static bool may_change(void *data, const char *file, uint32_t line, const char *name)
{
	CLEANUP(arena_deinit) struct arena arena = {0};
	const struct crash_values *v = data;
	const struct source_file *source;
	const char *text = NULL;
	struct error *err;

	arena_init(&arena);
	err = sources_try(v->sources, file, &source);
	if (!err)
		err = source_line(source, line, &arena, &text);
	if (err || !text) {
		error_destroy(err);
		return true;
	}
	for (const char *at = text; (at = strstr(at, name)) != NULL; at++) {
		size_t off = (size_t)(at - text), end = off + strlen(name);

		if ((off && is_word(text[off - 1])) || is_word(text[end]))
			continue;
		if (is_changed_at(text, off, end))
			return true;
	}
	return false;
}

static struct snapshot_place place_of(const struct crash_values *v, const struct crash_thread *thread,
				      const struct crash_frame *frame)
{
	struct snapshot_place place = {
		.frame = frame->machine,
		.thread_pointer = thread->machine->thread_pointer,
		.line = frame->line,
		.assignments = &v->assignments,
	};

	if (frame->machine + 1 < thread->machine->frames + thread->machine->frame_count)
		place.caller = frame->machine + 1;
	for (const struct crash_frame *f = frame; f > thread->frames && f[-1].machine == frame->machine; f--)
		place.level++;
	return place;
}

static struct error *find_line_values(const struct crash_values *v, const struct snapshot_place *place,
				      const struct crash_frame *frame, struct arena *arena,
				      struct snapshot_value_vec *ret)
{
	const struct source_file *source;
	const char *text = NULL;
	struct error *err;

	if (!frame->file || !frame->line)
		return NULL;
	err = sources_try(v->sources, frame->file, &source);
	if (!err)
		err = source_line(source, frame->line, arena, &text);
	if (err || !text)
		return err;
	return snapshot_line_values(v->c->stopped, place, text, arena, ret);
}

/* The innermost frame with a source, and what was inlined into the same machine frame. */
static bool is_of_fault(const struct crash_values *v, const struct crash_thread *thread,
			const struct crash_frame *frame)
{
	const struct snapshot *s = v->c->stopped;

	if (!s->has_fault_address || !thread->machine->is_first)
		return false;
	for (uint32_t i = 0; i < thread->frame_count; i++)
		if (thread->frames[i].file && thread->frames[i].line)
			return thread->frames[i].machine == frame->machine;
	return false;
}

static bool contains(const struct snapshot_value *value, uint64_t address)
{
	return value->has_address && value->len_bytes && address >= value->address &&
	       address - value->address < value->len_bytes;
}

/* The smallest of those that the address is in. */
static const struct snapshot_value *find_container(const struct snapshot_value_vec *values, uint64_t address)
{
	const struct snapshot_value *found = NULL;

	for (size_t i = 0; i < values->count; i++)
		if (contains(&values->items[i], address) && (!found || values->items[i].len_bytes <= found->len_bytes))
			found = &values->items[i];
	return found;
}

/* The pointer that the address is behind, at the smallest distance. */
static void find_pointer(const struct snapshot_value_vec *values, uint64_t address, const struct snapshot_value **found)
{
	for (size_t i = 0; i < values->count; i++) {
		const struct snapshot_value *value = &values->items[i];

		if (!value->is_pointer || !value->is_known || value->number > address ||
		    address - value->number >= PAGE_BYTES)
			continue;
		if (!*found || value->number > (*found)->number)
			*found = value;
	}
}

static struct error *explain_fault(uint64_t address, struct arena *arena, struct crash_frame_values *ret)
{
	const struct snapshot_value *value = find_container(&ret->values, address), *pointer = NULL;

	find_pointer(&ret->values, address, &pointer);
	find_pointer(&ret->arguments, address, &pointer);
	if (value)
		ret->fault = arena_printf(arena, "0x%" PRIx64 " is in %s", address, value->name);
	else if (pointer && pointer->number == address)
		ret->fault = arena_printf(arena, "0x%" PRIx64 " is what %s points to", address, pointer->name);
	else if (pointer)
		ret->fault = arena_printf(arena, "0x%" PRIx64 " is 0x%" PRIx64 " behind what %s points to", address,
					  address - pointer->number, pointer->name);
	else
		return NULL;
	return ret->fault ? NULL : &error_no_memory;
}

/* Arguments are shown already. */
static void drop_arguments(struct crash_frame_values *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->values.count; i++) {
		bool is_argument = false;

		for (size_t a = 0; a < f->arguments.count && !is_argument; a++)
			is_argument = strcmp(f->values.items[i].name, f->arguments.items[a].name) == 0;
		if (!is_argument)
			f->values.items[kept++] = f->values.items[i];
	}
	f->values.count = kept;
}

struct error *crash_values_of(const struct crash_values *v, const struct crash_thread *thread,
			      const struct crash_frame *frame, struct arena *arena, struct crash_frame_values *ret)
{
	struct snapshot_place place = place_of(v, thread, frame);
	struct error *err;

	*ret = (struct crash_frame_values){0};
	if (frame->machine->is_trampoline)
		return NULL;
	err = snapshot_arguments(v->c->stopped, &place, arena, &ret->arguments);
	if (!err)
		err = find_line_values(v, &place, frame, arena, &ret->values);
	if (!err && is_of_fault(v, thread, frame))
		err = explain_fault(v->c->stopped->fault_address, arena, ret);
	if (err)
		crash_frame_values_deinit(ret);
	else
		drop_arguments(ret);
	return err;
}

void crash_frame_values_deinit(struct crash_frame_values *f)
{
	snapshot_value_vec_deinit(&f->arguments);
	snapshot_value_vec_deinit(&f->values);
}

/* ---- threads ---- */

/* A variable on the line of a frame that has the lock in it, or an argument that points to it. */
static struct error *name_in_frame(struct crash_values *v, const struct crash_thread *thread,
				   const struct crash_frame *frame, const struct snapshot_wait *wait, const char **ret)
{
	uint64_t slack = wait->kind == SNAPSHOT_WAIT_CONDITION ? CONDITION_BYTES : 1;
	const struct snapshot_value *found, *pointer = NULL;
	struct crash_frame_values values;
	struct error *err = crash_values_of(v, thread, frame, &v->arena, &values);

	if (err)
		return err;
	found = find_container(&values.values, wait->address);
	find_pointer(&values.values, wait->address, &pointer);
	find_pointer(&values.arguments, wait->address, &pointer);
	if (found)
		*ret = arena_printf(&v->arena, "%s in %s", found->name, frame->name ? frame->name : "?");
	else if (pointer && wait->address - pointer->number < slack)
		*ret = arena_printf(&v->arena, "*%s in %s", pointer->name, frame->name ? frame->name : "?");
	crash_frame_values_deinit(&values);
	return NULL;
}

static struct error *name_wait(struct crash_values *v, const struct crash_thread *thread, struct crash_wait *w)
{
	struct error *err;

	if (w->wait.kind == SNAPSHOT_WAIT_NONE || w->wait.kind == SNAPSHOT_WAIT_JOIN)
		return NULL;
	err = snapshot_variable_at(v->c->stopped, w->wait.address, &v->arena, &w->name);
	for (uint32_t i = 0, looked = 0; !err && !w->name && i < thread->frame_count && looked < NAMING_FRAMES; i++) {
		const struct crash_frame *frame = &thread->frames[i];

		if (!frame->file || (frame->machine->module == thread->frames[0].machine->module &&
				     frame->machine->module != v->c->stopped->main_module))
			continue; /* the C library's */
		looked++;
		err = name_in_frame(v, thread, frame, &w->wait, &w->name);
	}
	return err;
}

static struct error *find_wait(struct crash_values *v, uint32_t thread)
{
	const struct crash *c = v->c;
	struct crash_wait *w = &v->waits[thread];
	struct error *err = snapshot_wait_of(c->stopped, c->threads[thread].machine, &w->wait);

	w->owner_thread = UINT32_MAX;
	for (uint32_t i = 0; !err && w->wait.owner && i < c->thread_count; i++)
		if (c->threads[i].machine->tid == w->wait.owner)
			w->owner_thread = i;
	for (uint32_t i = 0; !err && i < thread; i++) { /* pools of threads wait for one thing */
		if (v->waits[i].wait.address == w->wait.address && v->waits[i].name) {
			w->name = v->waits[i].name;
			return NULL;
		}
	}
	return err ? err : name_wait(v, &c->threads[thread], w);
}

static bool is_deadlocked(const struct crash_values *v, uint32_t thread)
{
	uint32_t at = thread;

	for (uint32_t steps = 0; steps <= v->c->thread_count; steps++) {
		const struct crash_wait *w = &v->waits[at];

		if (w->wait.kind != SNAPSHOT_WAIT_MUTEX && w->wait.kind != SNAPSHOT_WAIT_RWLOCK &&
		    w->wait.kind != SNAPSHOT_WAIT_JOIN)
			return false;
		if (w->owner_thread == UINT32_MAX)
			return false;
		at = w->owner_thread;
		if (at == thread)
			return true;
	}
	return false;
}

struct error *crash_values_create(const struct crash *c, struct sources *sources, struct crash_values *ret)
{
	struct crash_values v = {.c = c, .sources = sources, .assignments.may_change = may_change};
	struct error *err = NULL;

	arena_init(&v.arena);
	v.assignments.data = &v;
	v.waits = arena_calloc(&v.arena, (size_t)c->thread_count + 1, sizeof *v.waits);
	v.exceptions = arena_calloc(&v.arena, (size_t)c->thread_count + 1, sizeof *v.exceptions);
	if (!v.waits || !v.exceptions)
		err = &error_no_memory;
	for (uint32_t i = 0; i < c->thread_count && !err; i++) {
		err = find_wait(&v, i);
		if (!err)
			err = snapshot_exception_of(c->stopped, c->threads[i].machine, &v.arena, &v.exceptions[i]);
	}
	for (uint32_t i = 0; i < c->thread_count && !err; i++)
		v.waits[i].is_deadlocked = is_deadlocked(&v, i);
	if (err)
		arena_deinit(&v.arena);
	else
		*ret = v;
	if (!err)
		ret->assignments.data = ret;
	return err;
}

void crash_values_deinit(struct crash_values *v)
{
	arena_deinit(&v->arena);
	*v = (struct crash_values){0};
}

bool crash_values_alike(const struct crash_values *v, uint32_t thread, uint32_t other)
{
	const struct snapshot_wait *a = &v->waits[thread].wait, *b = &v->waits[other].wait;
	const struct snapshot_exception *x = &v->exceptions[thread], *y = &v->exceptions[other];

	return a->kind == b->kind && a->address == b->address && a->owner == b->owner && text_equal(x->type, y->type) &&
	       text_equal(x->what, y->what) && x->is_fatal == y->is_fatal;
}

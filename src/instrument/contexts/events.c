/*
 * events.c - which captures a program has contexts for (--wm-events).
 *
 * Without a word about it: all. Allocations are what makes nearly every function lead to a capture, since any foreign code may
 * allocate. Where they are left out, other code matters only if it calls the program back: in a function that may be entered so and
 * leads to a capture. If there is none the program is closed: its calls of other code and through pointers have no sites.
 *
 * What the program has no contexts for must not get a wrong one: the image says so (WM1_IMAGE_OWN_EVENTS), and captures at other than
 * its own sites are [not kept]. Libraries have all events: what calls them is not known.
 */
#include <stdlib.h>
#include <string.h>

#include "instrument/contexts/program.h"

static bool has_word(const char *list, const char *word, size_t len_bytes)
{
	while (*list) {
		const size_t len = strcspn(list, ",");
		if (len == len_bytes && !memcmp(list, word, len))
			return true;
		list += len + (list[len] == ',');
	}
	return false;
}

static bool says(const struct program *p, const char *word)
{
	return has_word(p->events, word, strlen(word));
}

void events_read(struct program *p)
{
	p->events = p->is_shared ? NULL : getenv("WAYMARK_EVENTS");
	p->own_events = p->events && !says(p, "malloc");
}

/* The name of an event, where it is a constant. */
static const char *name_of_event(LLVMValueRef call, size_t *ret_len)
{
	LLVMValueRef text = LLVMGetOperand(call, 0);
	LLVMValueRef value =
		LLVMIsAGlobalVariable(text) && LLVMIsGlobalConstant(text) ? LLVMGetInitializer(text) : NULL;
	if (!value || !LLVMIsAConstantDataSequential(value) || !LLVMIsConstantString(value))
		return NULL;
	const char *name = LLVMGetAsString(value, ret_len);
	*ret_len = strnlen(name, *ret_len);
	return name;
}

bool events_has(const struct program *p, LLVMValueRef call)
{
	enum {
		EVENT_ARGUMENTS = 2,
		RESIDUAL_ARGUMENTS = 4, /* wm1_path_residual: a path outside a plan */
	};
	const unsigned count = LLVMGetNumArgOperands(call);
	if (!p->events || says(p, "token") || count == RESIDUAL_ARGUMENTS)
		return true;
	size_t len_bytes = 0;
	const char *name = count == EVENT_ARGUMENTS ? name_of_event(call, &len_bytes) : NULL;
	return name && len_bytes && has_word(p->events, name, len_bytes);
}

/* By other code. That calls main only where a program hands out its address. */
static bool may_be_entered(const struct function *f)
{
	return f->is_root && (f->is_address_taken || strcmp(f->name, "main") != 0);
}

/* Marks what leads to a capture by calls that are known; returns whether other code may enter some of it. */
static bool reach_captures(const struct program *p, bool *leads, uint32_t *first, uint32_t *next, uint32_t *work)
{
	size_t count = 0;
	for (uint32_t i = 0; i < p->sites.count; i++) {
		const struct site *site = &p->sites.items[i];
		if (site->kind == META_SITE_CALL) {
			next[i] = first[site->callee];
			first[site->callee] = i + 1;
		} else if (site->kind == META_SITE_CAPTURE && !leads[site->caller]) {
			leads[site->caller] = true;
			work[count++] = site->caller;
		}
	}
	while (count) {
		const uint32_t f = work[--count];
		if (may_be_entered(&p->functions.items[f]))
			return true;
		for (uint32_t i = first[f]; i; i = next[i - 1]) {
			const uint32_t caller = p->sites.items[i - 1].caller;
			if (leads[caller])
				continue;
			leads[caller] = true;
			work[count++] = caller;
		}
	}
	return false;
}

struct error *events_close(struct program *p, bool *ret_changed)
{
	bool *leads = arena_calloc(&p->arena, p->functions.count + 1, sizeof *leads);
	uint32_t *first = arena_calloc(&p->arena, p->functions.count + 1, sizeof *first);
	uint32_t *next = arena_calloc(&p->arena, p->sites.count + 1, sizeof *next);
	uint32_t *work = arena_calloc(&p->arena, p->functions.count + 1, sizeof *work);
	*ret_changed = false;
	if (!leads || !first || !next || !work)
		return &error_no_memory;
	if (p->own_events && !reach_captures(p, leads, first, next, work))
		*ret_changed = p->is_closed = true;
	return NULL;
}

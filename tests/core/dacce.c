/*
 * dacce.c - the encoding and decoding of the DACCE paper, word for word: Figures 2(b), 3(b) and 5(e), Algorithm 1.
 */
#include "dacce.h"

#include <stdio.h>
#include <string.h>

/* PCCE's numbering, which the paper takes over: numCC of a function is the sum of its callers', En of a call that of those before. */
static uint64_t number(struct dacce *d, char function)
{
	uint64_t sum = 0;

	if (d->contexts[(unsigned char)function])
		return d->contexts[(unsigned char)function];
	for (uint32_t i = 0; i < d->call_count; i++) {
		struct dacce_call *call = &d->calls[i];

		if (call->callee != function || !call->is_encoded)
			continue;
		call->addend = sum;
		sum += number(d, call->caller);
	}
	d->contexts[(unsigned char)function] = sum ? sum : 1;
	return d->contexts[(unsigned char)function];
}

void dacce_encode(struct dacce *d, const char *calls)
{
	*d = (struct dacce){0};
	while (*calls) {
		struct dacce_call call = {.caller = calls[0], .callee = calls[1], .is_encoded = true};

		calls += 2;
		if (*calls == '?' || *calls == '!') {
			call.is_encoded = false;
			call.is_back = *calls++ == '!';
		}
		calls += *calls == ' ';
		d->calls[d->call_count++] = call;
	}
	for (uint32_t i = 0; i < d->call_count; i++) {
		uint64_t caller = number(d, d->calls[i].caller), callee = number(d, d->calls[i].callee);

		d->max_id = caller - 1 > d->max_id ? caller - 1 : d->max_id;
		d->max_id = callee - 1 > d->max_id ? callee - 1 : d->max_id;
	}
}

/* getEdge of the paper; -1: NULL. */
static int find_call(const struct dacce *d, char site, char callee)
{
	for (uint32_t i = 0; i < d->call_count; i++)
		if (d->calls[i].caller == site && d->calls[i].callee == callee)
			return (int)i;
	return -1;
}

static void make_call(const struct dacce *d, const struct dacce_call *call, struct dacce_context *c)
{
	uint32_t top = c->entry_count - 1;

	c->function = call->callee;
	if (call->is_encoded) {
		c->id += call->addend;
		return;
	}
	if (d->counts_runs && call->is_back && c->entry_count && c->entries[top].id == c->id &&
	    c->entries[top].site == call->caller && c->entries[top].target == call->callee) {
		c->entries[top].count++;
	} else {
		c->entries[c->entry_count].id = c->id;
		c->entries[c->entry_count].site = call->caller;
		c->entries[c->entry_count].target = call->callee;
		c->entries[c->entry_count++].count = 0;
	}
	c->id = d->max_id + 1;
}

void dacce_walk(const struct dacce *d, const char *path, struct dacce_context *ret)
{
	*ret = (struct dacce_context){.function = path[0]};
	for (; path[1]; path++)
		make_call(d, &d->calls[find_call(d, path[0], path[1])], ret);
}

void dacce_print(const struct dacce_context *c, char text[DACCE_TEXT])
{
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < c->entry_count; i++) {
		at += (size_t)snprintf(text + at, DACCE_TEXT - at, "<%llu,%c,%c", (unsigned long long)c->entries[i].id,
				       c->entries[i].site, c->entries[i].target);
		if (c->entries[i].count)
			at += (size_t)snprintf(text + at, DACCE_TEXT - at, ",%u", c->entries[i].count);
		at += (size_t)snprintf(text + at, DACCE_TEXT - at, ">");
	}
}

/* ---- Algorithm 1 ---- */

struct decoding {
	const struct dacce *d;
	struct dacce_context left;
	bool is_on_stack;
	size_t len;
	char *reversed;
};

static void adjust_id(struct decoding *x)
{
	if (x->left.id > x->d->max_id) {
		x->left.id -= x->d->max_id + 1;
		x->is_on_stack = true;
	}
}

static void go_to_caller(struct decoding *x, char caller)
{
	x->left.function = caller;
	x->reversed[x->len++] = caller;
}

/* Lines 9-25: the current function is where a piece starts that the top entry leads to. */
static void take_entries(struct decoding *x)
{
	while (x->left.id == 0 && x->is_on_stack && x->left.entry_count && x->len < DACCE_TEXT - 2) {
		uint32_t top = x->left.entry_count - 1;

		if (x->left.entries[top].target != x->left.function)
			return;
		x->is_on_stack = false;
		x->left.id = x->left.entries[top].id;
		go_to_caller(x, x->left.entries[top].site);
		/* A counted entry stands for as many equal pieces. */
		if (x->left.entries[top].count)
			x->left.entries[top].count--;
		else
			x->left.entry_count--;
		adjust_id(x);
	}
}

/* Lines 26-33; false when no call fits. */
static bool take_call(struct decoding *x)
{
	for (uint32_t i = 0; i < x->d->call_count; i++) {
		const struct dacce_call *call = &x->d->calls[i];

		if (!call->is_encoded || call->callee != x->left.function || x->left.id < call->addend ||
		    x->left.id >= call->addend + x->d->contexts[(unsigned char)call->caller])
			continue;
		x->left.id -= call->addend;
		go_to_caller(x, call->caller);
		return true;
	}
	return false;
}

void dacce_decode(const struct dacce *d, const struct dacce_context *c, char text[DACCE_TEXT])
{
	char reversed[DACCE_TEXT];
	struct decoding x = {.d = d, .left = *c, .reversed = reversed};

	text[0] = '\0';
	go_to_caller(&x, c->function);
	adjust_id(&x);
	do {
		take_entries(&x);
		if (x.len >= DACCE_TEXT - 2)
			return;
	} while (take_call(&x));
	if (x.left.entry_count || x.left.id)
		return;
	for (size_t i = 0; i < x.len; i++)
		text[i] = reversed[x.len - 1 - i];
	text[x.len] = '\0';
}

/*
 * shadow_library.c - test only: what functions of the C library read and wrote in a call that was made. Written from the manual pages and not
 * from src/analyze/library.c, whose oracle it is; lengths are those of the call, not bounds.
 *
 * Effects, with arguments from 0 and R for the result: rA reads a string, wA writes one, fA reads and writes a stream; and with a length behind
 * them: rAnB as many bytes as argument B, rAmB a string of no more, rAcN N bytes (hexadecimal digit, 0 for 16), rAR as many as the result. What
 * is written has the label of all that was read, the arguments and the call. p formats from argument A on are in the handlers.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "shadow.h"

static uint64_t word(const struct shadow_call *call, uint32_t argument)
{
	return argument < call->count ? call->words[argument] : 0;
}

static uint64_t string_bytes(uint64_t at)
{
	return at ? strlen((const char *)at) + 1 : 0;
}

static uint64_t bounded_bytes(uint64_t at, uint64_t bound)
{
	uint64_t len_bytes = at ? strnlen((const char *)at, bound) + 1 : 0;

	return len_bytes < bound ? len_bytes : bound;
}

static uint32_t as_result(struct shadow_call *call)
{
	return shadow_new(call->number, call->made, call->all, 0);
}

static void read_more(struct shadow_call *call, uint64_t at, uint64_t len_bytes)
{
	if (at)
		call->all = shadow_join(call->all, shadow_read(at, len_bytes));
}

/* ---- effects as text ---- */

static uint64_t length_of(const struct shadow_call *call, const char *effect, uint64_t at)
{
	uint32_t other = (uint32_t)(effect[2] && effect[3] ? effect[3] - '0' : 0);

	switch (effect[0] == 'f' ? 'f' : effect[2]) {
	case 'n':
		return word(call, other);
	case 'm':
		return bounded_bytes(at, word(call, other));
	case 'c':
		return other ? other : 16;
	case 'R':
		return (int64_t)call->result > 0 ? call->result : 0;
	case 'f':
		return 8;
	default:
		return string_bytes(at);
	}
}

static void each_effect(struct shadow_call *call, const char *effects, bool is_behind, uint32_t label)
{
	for (const char *e = effects; *e; e += strcspn(e, " "), e += *e == ' ') {
		char text[5] = "";
		uint64_t at;

		memcpy(text, e, strcspn(e, " ") < 4 ? strcspn(e, " ") : 4);
		at = text[1] == 'R' ? (is_behind ? call->result : 0) : word(call, (uint32_t)(text[1] - '0'));
		if (!at)
			continue;
		if (text[0] != 'w' && !is_behind)
			read_more(call, at, length_of(call, text, at));
		if (text[0] != 'r' && is_behind)
			shadow_write(at, length_of(call, text, at), label);
	}
}

void shadow_before(const struct shadow_function *f, struct shadow_call *call)
{
	int before = errno;

	each_effect(call, f->effects, false, 0);
	if (f->before)
		f->before(call);
	errno = call->errno_before = before;
}

uint32_t shadow_after(const struct shadow_function *f, struct shadow_call *call)
{
	uint32_t label = 0;
	int behind = errno;

	if (f->after)
		label = f->after(call);
	if (!label)
		label = as_result(call);
	each_effect(call, f->effects, true, label);
	if (behind != call->errno_before)
		shadow_write((uintptr_t)&errno, sizeof errno, label);
	errno = behind;
	return label;
}

/* ---- copies ---- */

static void take(struct shadow_call *call, uint64_t from, uint64_t len_bytes)
{
	call->kept[0] = len_bytes;
	call->copied = shadow_take(from, len_bytes);
}

static uint32_t give_to(struct shadow_call *call, uint64_t to)
{
	uint32_t label = as_result(call);

	if (to)
		shadow_give(call->number, label, to, call->kept[0], call->copied);
	return label;
}

static uint32_t give(struct shadow_call *call)
{
	return give_to(call, word(call, 0));
}

static uint32_t give_result(struct shadow_call *call)
{
	return give_to(call, call->result);
}

static void take_bytes(struct shadow_call *call)
{
	take(call, word(call, 1), word(call, 2));
}

/* How long it is decides what else there is. */
static void take_string(struct shadow_call *call)
{
	take(call, word(call, 1), string_bytes(word(call, 1)));
}

static void take_own(struct shadow_call *call)
{
	take(call, word(call, 0), string_bytes(word(call, 0)));
}

static void take_own_bounded(struct shadow_call *call)
{
	take(call, word(call, 0), bounded_bytes(word(call, 0), word(call, 1)));
}

static void take_bounded(struct shadow_call *call)
{
	take(call, word(call, 1), bounded_bytes(word(call, 1), word(call, 2)));
}

/* Up to its end: where that is depends on what is there. */
static void take_behind(struct shadow_call *call)
{
	call->kept[1] = strlen((const char *)word(call, 0));
	read_more(call, word(call, 0), call->kept[1] + 1);
	if (call->count > 2)
		take(call, word(call, 1), bounded_bytes(word(call, 1), word(call, 2)));
	else
		take_string(call);
}

static uint32_t give_behind(struct shadow_call *call)
{
	return give_to(call, word(call, 0) + call->kept[1]);
}

/* ---- memory ---- */

static uint32_t allocate(struct shadow_call *call)
{
	if (call->result)
		shadow_write(call->result, malloc_usable_size((void *)call->result), 0);
	return 0;
}

static uint32_t allocate_zeros(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	if (call->result)
		shadow_write(call->result, word(call, 0) * word(call, 1), label);
	return label;
}

static void reallocate(struct shadow_call *call)
{
	take(call, word(call, 0), word(call, 0) ? malloc_usable_size((void *)word(call, 0)) : 0);
}

static uint32_t reallocated(struct shadow_call *call)
{
	uint64_t len_bytes = call->result ? malloc_usable_size((void *)call->result) : 0;

	if (call->result)
		shadow_write(call->result, len_bytes, 0);
	if (call->kept[0] > len_bytes)
		call->kept[0] = len_bytes;
	return give_result(call);
}

static void release(struct shadow_call *call)
{
	if (word(call, 0))
		shadow_write(word(call, 0), malloc_usable_size((void *)word(call, 0)), 0);
}

/* ---- what is called back ---- */

static void read_array(struct shadow_call *call)
{
	read_more(call, word(call, 0), word(call, 1) * word(call, 2));
}

static uint32_t write_array(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	shadow_write(word(call, 0), word(call, 1) * word(call, 2), label);
	return label;
}

static void read_searched(struct shadow_call *call)
{
	/* What the callback reads, it reads itself; the library reads no contents. */
	(void)call;
}

/* ---- formats ---- */

/* Of a format: those of the call from `next` on, or of a list, whose shadows shadow_va_start has written. */
struct arguments {
	uint32_t next;
	bool is_listed;
	struct shadow_list list;
};

static uint64_t next_argument(struct shadow_call *call, struct arguments *a, uint32_t kind)
{
	uint64_t at, value;

	if (!a->is_listed)
		return word(call, a->next++);
	at = shadow_list_next(&a->list, kind);
	read_more(call, at, kind < 2 ? sizeof value : kind);
	memcpy(&value, (const void *)(uintptr_t)at, sizeof value);
	return value;
}

/* Strings are read. */
static void read_arguments(struct shadow_call *call, uint32_t format, struct arguments *a)
{
	if (!word(call, format))
		return;
	read_more(call, word(call, format), string_bytes(word(call, format)));
	for (const char *at = (const char *)word(call, format); (at = strchr(at, '%')); at++) {
		uint64_t bound = UINT64_MAX, value;
		bool is_long = false;

		for (at++; *at && strchr("-+ #0123456789.*'hlLqjzt", *at); at++) {
			is_long |= *at == 'L';
			if (*at == '*') {
				bound = next_argument(call, a, 0);
			} else if (*at == '.' && isdigit((unsigned char)at[1])) {
				bound = strtoul(at + 1, NULL, 10);
			}
		}
		if (!*at)
			break;
		if (*at == '%')
			continue;
		value = next_argument(call, a, !strchr("aAeEfFgG", *at) ? 0 : is_long ? sizeof(long double) : 1);
		if (*at == 's' && value)
			read_more(call, value, bound < INT32_MAX ? bounded_bytes(value, bound) : string_bytes(value));
	}
}

static void read_format(struct shadow_call *call, uint32_t format)
{
	read_arguments(call, format, &(struct arguments){.next = format + 1});
}

/* The list is behind the format. */
static void read_list(struct shadow_call *call, uint32_t format)
{
	struct arguments a = {.is_listed = true};

	read_more(call, word(call, format + 1), sizeof a.list);
	memcpy(&a.list, (const void *)(uintptr_t)word(call, format + 1), sizeof a.list);
	read_arguments(call, format, &a);
}

static void list1(struct shadow_call *call)
{
	read_list(call, 1);
}

static void list2(struct shadow_call *call)
{
	read_list(call, 2);
}

#define FORMAT(n)                                       \
	static void format##n(struct shadow_call *call) \
	{                                               \
		read_format(call, n);                   \
	}
FORMAT(0)
FORMAT(1)
FORMAT(2)

static uint32_t write_bounded(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	if (word(call, 0) && word(call, 1))
		shadow_write(word(call, 0), bounded_bytes(word(call, 0), word(call, 1)), label);
	return label;
}

static uint32_t scanned(struct shadow_call *call)
{
	uint32_t label = as_result(call), next = 2;

	for (const char *at = (const char *)word(call, 1); (at = strchr(at, '%')); at++) {
		uint32_t longs = 0, shorts = 0;
		bool is_skipped = false;

		for (at++; *at && strchr("*0123456789hlzjt", *at); at++) {
			longs += *at == 'l' || *at == 'z' || *at == 'j';
			shorts += *at == 'h';
			is_skipped |= *at == '*';
		}
		if (!*at)
			break;
		if (*at == '%' || is_skipped)
			continue;
		if (next - 2 >= (uint32_t)call->result && *at != 'n')
			break;
		if (*at == 's' || *at == '[')
			shadow_write(word(call, next), string_bytes(word(call, next)), label);
		else if (*at == 'c')
			shadow_write(word(call, next), 1, label);
		else
			shadow_write(word(call, next), longs ? 8 : shorts ? 4 >> shorts : 4, label);
		if (*at == '[')
			at = strchr(at + 2, ']') ? strchr(at + 2, ']') : at;
		next++;
	}
	return label;
}

static uint32_t printed_new(struct shadow_call *call)
{
	uint32_t label = as_result(call);
	char *made = (int)call->result >= 0 ? *(char **)word(call, 0) : NULL;

	shadow_write(word(call, 0), 8, label);
	if (made)
		shadow_write((uintptr_t)made, strlen(made) + 1, label);
	return label;
}

/* ---- lines and streams ---- */

static void get_line(struct shadow_call *call)
{
	read_more(call, word(call, 0), 8);
	read_more(call, word(call, 1), 8);
	read_more(call, word(call, call->count - 1), 8);
}

static uint32_t got_line(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	shadow_write(word(call, 0), 8, label);
	shadow_write(word(call, 1), 8, label);
	shadow_write(word(call, call->count - 1), 8, label);
	if ((int64_t)call->result > 0)
		shadow_write((uintptr_t)*(char **)word(call, 0), call->result + 1, label);
	return label;
}

static void write_array_to(struct shadow_call *call)
{
	read_more(call, word(call, 0), word(call, 1) * word(call, 2));
	read_more(call, word(call, 3), 8);
}

static uint32_t read_array_from(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	shadow_write(word(call, 0), word(call, 1) * (call->result < word(call, 2) ? call->result : word(call, 2)),
		     label);
	shadow_write(word(call, 3), 8, label);
	return label;
}

static void use_stream(struct shadow_call *call)
{
	read_more(call, word(call, 3), 8);
}

static uint32_t stream_changed(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	shadow_write(word(call, 3), 8, label);
	return label;
}

static uint32_t stated(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	if (!(int)call->result)
		shadow_write(word(call, call->count - 1), sizeof(struct stat), label);
	return label;
}

/* ---- tokens ---- */

static void read_tokens(struct shadow_call *call)
{
	if (word(call, 0))
		read_more(call, word(call, 0), string_bytes(word(call, 0)));
	if (call->count > 2 && word(call, 2)) {
		read_more(call, word(call, 2), 8);
		if (!word(call, 0) && *(char **)word(call, 2))
			read_more(call, (uintptr_t)*(char **)word(call, 2),
				  string_bytes((uintptr_t)*(char **)word(call, 2)));
	}
}

/* The byte behind the token is cut off. */
static uint32_t cut_token(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	if (call->result)
		shadow_write(call->result + strlen((char *)call->result), 1, label);
	if (call->count > 2 && word(call, 2))
		shadow_write(word(call, 2), 8, label);
	return label;
}

/* strtok's own, from one call to the next: where it goes on. */
static __thread struct {
	uint32_t label;
	const char *at;
} tokens;

static void read_own_tokens(struct shadow_call *call)
{
	read_tokens(call);
	if (word(call, 0))
		return;
	call->all = shadow_join(call->all, tokens.label);
	read_more(call, (uintptr_t)tokens.at, string_bytes((uintptr_t)tokens.at));
}

static uint32_t cut_own_token(struct shadow_call *call)
{
	uint32_t label = cut_token(call);
	const char *text = word(call, 0) ? (const char *)word(call, 0) : tokens.at;

	tokens.label = label;
	if (call->result)
		tokens.at = (const char *)call->result + strlen((const char *)call->result) + 1;
	else if (text)
		tokens.at = text + strlen(text);
	/* The last token ends where the text does. */
	if (call->result && call->kept[1] == (uintptr_t)(tokens.at - 1))
		tokens.at--;
	return label;
}

static void find_end(struct shadow_call *call)
{
	const char *text = word(call, 0) ? (const char *)word(call, 0) : tokens.at;

	read_own_tokens(call);
	call->kept[1] = text ? (uintptr_t)text + strlen(text) : 0;
}

static void read_separated(struct shadow_call *call)
{
	read_more(call, word(call, 0), 8);
	if (*(char **)word(call, 0))
		read_more(call, (uintptr_t)*(char **)word(call, 0), string_bytes((uintptr_t)*(char **)word(call, 0)));
}

static uint32_t cut_separated(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	if (call->result)
		shadow_write(call->result + strlen((char *)call->result), 1, label);
	shadow_write(word(call, 0), 8, label);
	return label;
}

/* ---- what the library keeps ---- */

static uint32_t random_label, environment_label;

static void read_random(struct shadow_call *call)
{
	call->all = shadow_join(call->all, random_label);
}

static uint32_t set_random(struct shadow_call *call)
{
	random_label = as_result(call);
	return random_label;
}

static uint32_t broken_down(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	if (call->result)
		shadow_write(call->result, sizeof(struct tm), label);
	return label;
}

static void read_environment(struct shadow_call *call)
{
	call->all = shadow_join(call->all, environment_label);
}

static uint32_t set_environment(struct shadow_call *call)
{
	const char *value = getenv((const char *)word(call, 0));

	environment_label = as_result(call);
	if (value)
		shadow_write((uintptr_t)value, strlen(value) + 1, environment_label);
	return environment_label;
}

/* ---- handlers ---- */

/* Who set the handler of each signal. */
static uint32_t handler_labels[NSIG];

static uint32_t *handler_label(struct shadow_call *call)
{
	return &handler_labels[word(call, 0) < NSIG ? word(call, 0) : 0];
}

/* Who set the mask last, and who raised signals that may have waited since. */
static uint32_t mask_label, pending_label;

/* What raise runs, and what signal returns, somebody has set. */
static void read_handler(struct shadow_call *call)
{
	call->all = shadow_join(call->all, *handler_label(call));
}

static void read_handler_and_mask(struct shadow_call *call)
{
	read_handler(call);
	call->all = shadow_join(call->all, mask_label);
	/* Whether it waits is known before it comes back. */
	pending_label = shadow_join(pending_label, as_result(call));
}

/* Handlers that run in it do so because they were set, raised and unblocked. */
static void read_mask(struct shadow_call *call)
{
	sigset_t waiting;

	read_more(call, word(call, 1), sizeof waiting);
	call->all = shadow_join(call->all, mask_label);
	if (sigpending(&waiting) != 0)
		return;
	for (int number = 1; number < NSIG; number++)
		if (sigismember(&waiting, number) == 1)
			call->all = shadow_join(shadow_join(call->all, handler_labels[number]), pending_label);
}

static uint32_t set_mask(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	if (word(call, 2))
		shadow_write(word(call, 2), sizeof(sigset_t), label);
	mask_label = label;
	return label;
}

static uint32_t read_waiting(struct shadow_call *call)
{
	uint32_t label;

	call->all = shadow_join(call->all, pending_label);
	label = as_result(call);
	shadow_write(word(call, 0), sizeof(sigset_t), label);
	return label;
}

static uint32_t set_handler(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	*handler_label(call) = label;
	return label;
}

static void read_action(struct shadow_call *call)
{
	read_handler(call);
	read_more(call, word(call, 1), sizeof(struct sigaction));
}

static uint32_t set_action(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	if (word(call, 2))
		shadow_write(word(call, 2), sizeof(struct sigaction), label);
	if (word(call, 1))
		*handler_label(call) = label;
	return label;
}

/* A pipe that nobody reads: SIGPIPE comes when the kernel says so. */
static void interrupt(struct shadow_call *call)
{
	call->is_interrupted = true;
	call->interrupted_by = handler_labels[SIGPIPE];
}

/* Of the end; the latest runs first. */
static struct {
	void (*handler)(void);
	uint32_t label;
} at_end[32];
static uint32_t at_end_count;

static uint32_t set_end(struct shadow_call *call)
{
	uint32_t label = as_result(call);

	if (at_end_count < sizeof at_end / sizeof *at_end)
		at_end[at_end_count++] = (typeof(*at_end)){(void (*)(void))(uintptr_t)word(call, 0), label};
	return label;
}

int shadow_atexit(void (*handler)(void))
{
	(void)handler;
	return 0;
}

void shadow_exit(int status)
{
	while (at_end_count) {
		at_end_count--;
		shadow_run(at_end[at_end_count].handler, at_end[at_end_count].label);
	}
	_exit(status);
}

/* ---- jumps ---- */

/* The latest longjmp: whoever lands depends on it. */
static __thread uint32_t jump;

static void leap(struct shadow_call *call)
{
	jump = as_result(call);
}

static uint32_t landed(struct shadow_call *call)
{
	uint32_t label;

	if (!(int)call->result)
		return 0;
	label = shadow_new(call->number, call->made, jump, 0);
	shadow_land(label);
	return label;
}

#define F(name, effects, before, after) {#name, (void (*)(void))name, effects, before, after}
#define N(name, effects, before, after) {#name, NULL, effects, before, after} /* of which no address is taken */

static const struct shadow_function functions[] = {
	N(__isoc23_sscanf, "r0 r1", NULL, scanned),
	N(__isoc23_strtol, "r0 w1c8", NULL, NULL),
	N(__isoc23_strtoll, "r0 w1c8", NULL, NULL),
	N(__isoc23_strtoul, "r0 w1c8", NULL, NULL),
	N(__isoc23_strtoull, "r0 w1c8", NULL, NULL),
	N(__isoc99_sscanf, "r0 r1", NULL, scanned),
	N(__longjmp_chk, "", leap, NULL),
	N(__sigsetjmp, "", NULL, landed),
	N(_longjmp, "", leap, NULL),
	N(_setjmp, "", NULL, landed),
	F(asprintf, "", format1, printed_new),
	N(atexit, "", NULL, set_end),
	F(atof, "r0", NULL, NULL),
	F(atoi, "r0", NULL, NULL),
	F(atol, "r0", NULL, NULL),
	F(bsearch, "", read_searched, NULL),
	F(calloc, "", NULL, allocate_zeros),
	F(fgetc, "f0", NULL, NULL),
	F(fgets, "f2 wR", NULL, NULL),
	F(fopen, "r0 r1", NULL, NULL),
	F(fprintf, "f0", format1, NULL),
	F(fputc, "f1", NULL, NULL),
	F(fputs, "r0 f1", NULL, NULL),
	F(fread, "", use_stream, read_array_from),
	F(free, "", release, NULL),
	F(fstat, "", NULL, stated),
	F(fwrite, "", write_array_to, stream_changed),
	F(getc, "f0", NULL, NULL),
	F(getdelim, "", get_line, got_line),
	F(getenv, "r0", read_environment, NULL),
	F(getline, "", get_line, got_line),
	F(gmtime, "r0c8", NULL, broken_down),
	F(longjmp, "", leap, NULL),
	F(lstat, "r0", NULL, stated),
	F(malloc, "", NULL, allocate),
	F(memchr, "r0n2", NULL, NULL),
	F(memcmp, "r0n2 r1n2", NULL, NULL),
	F(memcpy, "", take_bytes, give),
	F(memmove, "", take_bytes, give),
	F(mempcpy, "", take_bytes, give),
	F(memrchr, "r0n2", NULL, NULL),
	F(memset, "w0n2", NULL, NULL),
	F(open, "r0", NULL, NULL),
	F(printf, "", format0, NULL),
	F(putc, "f1", NULL, NULL),
	F(puts, "r0", NULL, NULL),
	F(qsort, "", read_array, write_array),
	F(raise, "", read_handler_and_mask, NULL),
	F(rand, "", read_random, set_random),
	F(rawmemchr, "r0", NULL, NULL),
	F(read, "w1R", NULL, NULL),
	F(realloc, "", reallocate, reallocated),
	F(reallocarray, "", reallocate, reallocated),
	F(setenv, "r0 r1", read_environment, set_environment),
	F(sigaction, "", read_action, set_action),
	N(sigaddset, "r0c0 w0c0", NULL, NULL),
	N(sigemptyset, "w0c0", NULL, NULL),
	N(sigismember, "r0c0", NULL, NULL),
	N(siglongjmp, "", leap, NULL),
	F(signal, "", read_handler, set_handler),
	N(sigpending, "", NULL, read_waiting),
	N(sigprocmask, "", read_mask, set_mask),
	F(snprintf, "", format2, write_bounded),
	F(sprintf, "w0", format1, NULL),
	F(srand, "", NULL, set_random),
	F(sscanf, "r0 r1", NULL, scanned),
	F(stat, "r0", NULL, stated),
	F(stpcpy, "", take_string, give),
	F(strcasecmp, "r0 r1", NULL, NULL),
	F(strcat, "", take_behind, give_behind),
	F(strchr, "r0", NULL, NULL),
	F(strchrnul, "r0", NULL, NULL),
	F(strcmp, "r0 r1", NULL, NULL),
	F(strcoll, "r0 r1", NULL, NULL),
	F(strcpy, "", take_string, give),
	F(strcspn, "r0 r1", NULL, NULL),
	F(strdup, "", take_own, give_result),
	F(strlen, "r0", NULL, NULL),
	F(strncasecmp, "r0m2 r1m2", NULL, NULL),
	F(strncat, "", take_behind, give_behind),
	F(strncmp, "r0m2 r1m2", NULL, NULL),
	F(strncpy, "", take_bounded, give),
	F(strndup, "", take_own_bounded, give_result),
	F(strnlen, "r0m1", NULL, NULL),
	F(strpbrk, "r0 r1", NULL, NULL),
	F(strrchr, "r0", NULL, NULL),
	F(strsep, "r1", read_separated, cut_separated),
	F(strspn, "r0 r1", NULL, NULL),
	F(strstr, "r0 r1", NULL, NULL),
	F(strtod, "r0 w1c8", NULL, NULL),
	F(strtok, "r1", find_end, cut_own_token),
	F(strtok_r, "r1", read_tokens, cut_token),
	F(strtol, "r0 w1c8", NULL, NULL),
	F(strtoul, "r0 w1c8", NULL, NULL),
	F(time, "w0c8", NULL, NULL),
	F(ungetc, "f1", NULL, NULL),
	F(vfprintf, "f0", list1, NULL),
	F(vsnprintf, "", list2, write_bounded),
	F(vsprintf, "w0", list1, NULL),
	F(write, "r1n2", interrupt, NULL),
};

const struct shadow_function *shadow_find(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	return NULL;
}

const struct shadow_function *shadow_find_address(const void *address)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (functions[i].address && (const void *)functions[i].address == address)
			return &functions[i];
	return NULL;
}

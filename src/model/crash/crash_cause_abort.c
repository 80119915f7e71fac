/*
 * crash_cause_abort.c - why a program ended itself: an exception that nothing caught, what glibc noted in __abort_msg (assert, its
 * checks of the heap, of the stack and of buffers), or else who called abort.
 *
 *      __abort_msg (libc.so, private) --> size, text: "p: p.c:10: f: Assertion `x > 0' failed.\n", "free(): invalid pointer\n"
 */
#include <signal.h>
#include <string.h>

#include "model/crash/crash_cause_build.h"
#include "snapshot/image/elf.h"

enum {
	INNER_FRAMES = 32, /* that are looked at for the C library's functions */
	MESSAGE_MAX = 512,
};

/* The frame of a function, by its name or glibc's inner one; UINT32_MAX: none. */
static uint32_t find_frame(const struct cause *q, const char *name)
{
	for (uint32_t i = 0; i < q->t->frame_count && i < INNER_FRAMES; i++) {
		const char *function = q->t->frames[i].function;

		if (!function)
			continue;
		if (strcmp(function, name) == 0 ||
		    (strncmp(function, "__GI_", 5) == 0 && strcmp(function + 5, name) == 0))
			return i;
	}
	return UINT32_MAX;
}

static const char *name_at(struct cause *q, uint32_t frame)
{
	return cause_name(q, frame < q->t->frame_count ? &q->t->frames[frame] : NULL);
}

/* ---- exceptions ---- */

/* The function calls std::terminate for an exception that met no handler. */
static bool is_by_unwinder(const char *function)
{
	static const char *const names[] = {"__cxa_throw", "__cxa_rethrow", "__clang_call_terminate",
					    "__gxx_personality_v0",
					    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE"};

	for (size_t i = 0; function && i < sizeof names / sizeof *names; i++)
		if (strcmp(function, names[i]) == 0)
			return true;
	return false;
}

static bool say_terminate(struct cause *q)
{
	uint32_t at = find_frame(q, "_ZSt9terminatev"), handler = find_frame(q, "__clang_call_terminate");
	const struct snapshot_exception *e = q->v ? &q->v->exceptions[0] : NULL;

	if (find_frame(q, "__cxa_pure_virtual") != UINT32_MAX) {
		cause_say(q, "call of a virtual function that is pure");
		return true;
	}
	if (at == UINT32_MAX && handler == UINT32_MAX)
		return false;
	if (handler == UINT32_MAX &&
	    !is_by_unwinder(at + 1 < q->t->frame_count ? q->t->frames[at + 1].function : NULL)) {
		cause_say(q, "std::terminate was called");
		return true;
	}
	if (!e || !e->type)
		cause_say(q, "exception that nothing caught");
	else
		cause_say(q, "exception %s %s%s%s%s", e->type,
			  handler != UINT32_MAX ? "that left a function which lets none pass" : "that nothing caught",
			  !e->what     ? ""
			  : e->is_what ? ": what() is \""
				       : ": ",
			  e->what ? e->what : "", e->what && e->is_what ? "\"" : "");
	return true;
}

/* ---- the C library's message ---- */

static bool is_library(const struct snapshot *s, uint32_t module)
{
	const char *name = strrchr(s->modules[module].path, '/');

	return module == s->main_module || (name && strncmp(name, "/libc", 5) == 0);
}

/* Without the end of its line. false: there is none. */
static bool read_message(const struct snapshot *s, char ret[MESSAGE_MAX])
{
	uint64_t symbol, message = 0;
	size_t len = 0;

	for (uint32_t i = 0; i < s->module_count && !message; i++)
		if (is_library(s, i) && snapshot_symbol_find(&s->modules[i], "__abort_msg", &symbol) &&
		    !snapshot_read(s, symbol, &message, sizeof message))
			message = 0;
	if (!message)
		return false;
	while (len < MESSAGE_MAX - 1 && snapshot_read(s, message + sizeof(uint32_t) + len, &ret[len], 1) && ret[len] &&
	       ret[len] != '\n')
		len++;
	ret[len] = '\0';
	return len;
}

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* The allocator's function that the program called: the outermost one of its frames. */
static const char *find_allocator(const struct cause *q)
{
	static const char *const names[] = {"free",        "malloc",      "realloc",       "calloc",
					    "cfree",       "memalign",    "aligned_alloc", "posix_memalign",
					    "malloc_trim", "reallocarray"};
	const char *found = NULL;
	uint32_t at = 0;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		static const char prefix[] = "__libc_";
		char inner[32];
		uint32_t frame = find_frame(q, names[i]);

		if (frame == UINT32_MAX) {
			memcpy(inner, prefix, sizeof prefix);
			strcat(inner, names[i]);
			frame = find_frame(q, inner);
		}
		if (frame == UINT32_MAX || (found && frame < at))
			continue;
		found = names[i];
		at = frame;
	}
	return found;
}

/* glibc/malloc/malloc.c, malloc_printerr: what it says is wrong with the block that it was given, and what with the heap itself. */
static bool say_heap(struct cause *q, const char *message)
{
	static const char *const heap[] = {"free(): ",
					   "malloc(): ",
					   "malloc_consolidate(): ",
					   "realloc(): ",
					   "corrupted ",
					   "munmap_chunk(): ",
					   "mremap_chunk(): ",
					   "double free or corruption",
					   "chunk_main_arena",
					   "sysmalloc",
					   "malloc: ",
					   "break adjusted",
					   "invalid fastbin"};
	const char *allocator = find_allocator(q);
	bool is_heap = false;

	for (size_t i = 0; i < sizeof heap / sizeof *heap; i++)
		is_heap |= begins_with(message, heap[i]);
	if (!is_heap)
		return false;
	if (strstr(message, "double free detected"))
		cause_say(q, "double free found by %s", allocator ? allocator : "malloc");
	else if (strstr(message, "double free or corruption"))
		cause_say(q, "double free, or heap corruption, found by %s: which, and who did it, is not known",
			  allocator ? allocator : "malloc");
	else if (strstr(message, "invalid pointer"))
		cause_say(q, "%s was given a pointer that malloc did not make, or the heap is corrupted",
			  allocator ? allocator : "free");
	else
		cause_say(q, "heap corruption found by %s: who wrote is not known", allocator ? allocator : "malloc");
	if (q->text)
		cause_say(q, "%s (\"%s\")", q->text, message);
	return true;
}

static void say_message(struct cause *q, const char *message)
{
	static const char assertion[] = "Assertion `", end[] = "' failed.";
	const char *start = strstr(message, assertion);

	if (start) {
		size_t len;

		start += sizeof assertion - 1;
		len = strlen(start);
		if (len >= sizeof end - 1 && strcmp(start + len - (sizeof end - 1), end) == 0)
			len -= sizeof end - 1;
		cause_say(q, "assertion failed: %.*s", (int)len, start);
	} else if (!say_heap(q, message)) {
		cause_say(q, "abort: %s", message);
	}
}

/* ---- checks of the compiler ---- */

static bool say_check(struct cause *q)
{
	uint32_t at = find_frame(q, "__stack_chk_fail"), fortified = find_frame(q, "__chk_fail");

	if (at != UINT32_MAX) {
		cause_say(q, "stack smashing: the frame of %s was overwritten behind a buffer", name_at(q, at + 1));
		return true;
	}
	if (fortified == UINT32_MAX)
		return false;
	cause_say(q, "buffer overflow found by %s, which %s called", name_at(q, fortified + 1),
		  name_at(q, fortified + 2));
	return true;
}

void cause_of_abort(struct cause *q)
{
	static const char *const enders[] = {"abort", "__assert_fail", "raise", "gsignal", "__pthread_kill_internal"};
	char message[MESSAGE_MAX];
	uint32_t at = UINT32_MAX;

	if (say_terminate(q) || say_check(q))
		return;
	if (q->v && read_message(q->s, message)) {
		say_message(q, message);
		return;
	}
	for (size_t i = 0; i < sizeof enders / sizeof *enders && at == UINT32_MAX; i++)
		at = find_frame(q, enders[i]);
	if (at != UINT32_MAX && find_frame(q, "__assert_fail") != UINT32_MAX)
		cause_say(q, "assertion failed in %s", name_at(q, find_frame(q, "__assert_fail") + 1));
	else if (at != UINT32_MAX && at + 1 < q->t->frame_count)
		cause_say(q, "%s was called by %s", find_frame(q, "abort") == at ? "abort()" : "raise(SIGABRT)",
			  name_at(q, at + 1));
}

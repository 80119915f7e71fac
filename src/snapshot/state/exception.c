/*
 * exception.c - the C++ exception that a thread has caught last and not done with, as libstdc++ keeps it (Itanium C++ ABI:
 * Exception Handling, 2.2); std::terminate has caught what nobody else does.
 *
 *      TLS of libstdc++                     __cxa_exception, 112 bytes                thrown object
 *      __cxa_eh_globals: caught ---------->  0 type_info ... 80 class "GNUCC++\0"  |  vtable, ...
 *                        (count)
 *
 * Where the globals are: their symbol; without it libstdc++.so's thread-local segment has them, and two pointers that are
 * exported, and nothing else. Which of the thread's blocks is libstdc++'s only the loader knows: all are tried, and one must
 * lead to an exception by its class.
 *
 * what() is virtual: its place in the object's vtable says whose it is. Those of std::runtime_error and std::logic_error return
 * the text behind the vtable pointer, which derived classes inherit; of others only the type is known.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/demangle.h"
#include "snapshot/image/elf.h"
#include "snapshot/state/waits.h"

enum {
	HEADER_BYTES = 112,
	HEADER_TYPE_OFF = 0,
	HEADER_CLASS_OFF = 80,
	GLOBALS_BYTES = 16,
	TYPE_NAME_OFF = 8,
	WHAT_SLOT = 2,     /* behind both destructors */
	MODULES_MAX = 256, /* of thread-local storage */
	DTV_ENTRY_BYTES = 16,
	TEXT_MAX = 256,
	NAME_MAX_BYTES = 1024,
	TERMINATE_FRAMES_MAX = 16,
};

static const uint64_t exception_class = UINT64_C(0x474e5543432b2b00); /* "GNUCC++\0" */
static const char globals_symbol[] = "_ZZN12_GLOBAL__N_110get_globalEvE6global";

static bool read_word(const struct snapshot *s, uint64_t address, uint64_t *ret)
{
	return snapshot_read(s, address, ret, sizeof *ret);
}

/* A text of the process; the arena's. false: it is not there, or has no end within max. is_cut: NULL, or longer ones are cut. */
static bool read_text(const struct snapshot *s, uint64_t address, size_t max, struct arena *arena, bool can_cut,
		      const char **ret)
{
	char text[NAME_MAX_BYTES];
	size_t len = 0;

	while (len < max && len < sizeof text && snapshot_read(s, address + len, &text[len], 1) && text[len])
		len++;
	if (len == max || len == sizeof text) {
		if (!can_cut)
			return false;
		*ret = arena_printf(arena, "%.*s...", (int)(len - 3), text);
		return *ret;
	}
	if (!snapshot_read(s, address + len, &text[len], 1))
		return false;
	*ret = arena_strndup(arena, text, len);
	return *ret;
}

/* ---- where the globals are ---- */

struct globals {
	bool is_found; /* the symbol */
	uint64_t off;
	bool is_library;
	uint64_t taken, first_taken; /* bytes of the exported symbols, and the first of them */
};

static bool visit(void *data, const struct snapshot_tls_symbol *symbol)
{
	struct globals *globals = data;

	globals->is_found = symbol->name && strcmp(symbol->name, globals_symbol) == 0;
	globals->off = globals->is_found ? symbol->off : 0;
	if (globals->is_found || !symbol->is_dynamic)
		return !globals->is_found;
	globals->is_library |= symbol->name && strcmp(symbol->name, "_ZSt11__once_call") == 0;
	globals->taken += symbol->len_bytes;
	if (symbol->off < globals->first_taken)
		globals->first_taken = symbol->off;
	return true;
}

/* The offset in the module's storage: of the symbol, or of the only bytes that no symbol has. */
static bool find_globals(const struct snapshot_module *m, const struct snapshot_tls *tls, uint64_t *ret)
{
	struct globals globals = {.first_taken = UINT64_MAX};

	snapshot_tls_each(m, visit, &globals);
	*ret = globals.off;
	return globals.is_found || (globals.is_library && globals.first_taken == GLOBALS_BYTES &&
				    tls->len_bytes == globals.taken + GLOBALS_BYTES);
}

/* *ret: the header of the exception that the globals at the address have caught. */
static bool is_globals(const struct snapshot *s, uint64_t address, uint64_t *ret)
{
	uint64_t found;

	return read_word(s, address, ret) && *ret && *ret % 16 == 0 && read_word(s, *ret + HEADER_CLASS_OFF, &found) &&
	       (found & ~UINT64_C(1)) == exception_class;
}

/* The block that a library's data is in, of those that the thread has: glibc's dtv, whose -1st entry has their number. */
static bool search_blocks(const struct snapshot *s, const struct snapshot_thread *thread, uint64_t off, uint64_t *ret)
{
	uint64_t dtv, count, found;
	uint32_t matches = 0;

	if (!read_word(s, thread->thread_pointer + 8, &dtv) || !read_word(s, dtv - DTV_ENTRY_BYTES, &count))
		return false;
	for (uint64_t i = 1; i <= count && i < MODULES_MAX; i++) {
		uint64_t block;

		if (!read_word(s, dtv + i * DTV_ENTRY_BYTES, &block) || block == UINT64_MAX || !block)
			continue;
		if (is_globals(s, block + off, &found)) {
			*ret = found;
			matches++;
		}
	}
	return matches == 1;
}

static bool find_header(const struct snapshot *s, const struct snapshot_thread *thread, uint64_t *ret)
{
	for (uint32_t i = 0; i < s->module_count; i++) {
		const struct snapshot_module *m = &s->modules[i];
		struct snapshot_tls tls;
		uint64_t off;

		if (!snapshot_tls_of(m, &tls) || !find_globals(m, &tls, &off))
			continue;
		if (i == s->main_module ? is_globals(s, thread->thread_pointer - tls.end + off, ret)
					: search_blocks(s, thread, off, ret))
			return true;
	}
	return false;
}

/* ---- what it says ---- */

/* By whose what() it has. */
static void take_what(const struct snapshot *s, uint64_t object, struct arena *arena, struct snapshot_exception *ret)
{
	static const struct {
		const char *symbol;
		const char *text; /* NULL: behind the vtable pointer */
	} known[] = {
		{"_ZNKSt13runtime_error4whatEv", NULL},
		{"_ZNKSt11logic_error4whatEv", NULL},
		{"_ZNKSt9exception4whatEv", "std::exception"},
		{"_ZNKSt9bad_alloc4whatEv", "std::bad_alloc"},
		{"_ZNKSt20bad_array_new_length4whatEv", "std::bad_array_new_length"},
		{"_ZNKSt8bad_cast4whatEv", "std::bad_cast"},
		{"_ZNKSt10bad_typeid4whatEv", "std::bad_typeid"},
		{"_ZNKSt13bad_exception4whatEv", "std::bad_exception"},
	};
	uint64_t vtable, what, text, off;
	const char *name;

	if (!read_word(s, object, &vtable) || vtable % 8 || !read_word(s, vtable + (uint64_t)WHAT_SLOT * 8, &what))
		return;
	name = snapshot_symbol_at(s, what, &off);
	for (size_t i = 0; name && !off && i < sizeof known / sizeof known[0]; i++) {
		if (strcmp(name, known[i].symbol) != 0)
			continue;
		ret->is_what = true;
		if (known[i].text)
			ret->what = known[i].text;
		else if (read_word(s, object + 8, &text))
			read_text(s, text, TEXT_MAX, arena, true, &ret->what);
		return;
	}
}

/* Thrown numbers and texts; type: as type_info has it. false: another type. */
static bool take_plain(const struct snapshot *s, const char *type, uint64_t object, struct arena *arena,
		       struct snapshot_exception *ret)
{
	static const char integers[] = "cahstijlmxy"; /* char to unsigned long long */
	static const uint8_t bytes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8};
	const char *found = strlen(type) == 1 ? strchr(integers, *type) : NULL;
	uint64_t word = 0;

	if (strcmp(type, "PKc") == 0 || strcmp(type, "Pc") == 0) {
		if (read_word(s, object, &word))
			read_text(s, word, TEXT_MAX, arena, true, &ret->what);
		return true;
	}
	if (!found)
		return false;
	if (!snapshot_read(s, object, &word, bytes[found - integers]))
		return true;
	switch (*type) {
	case 'c':
	case 'a':
		ret->what = arena_printf(arena, "%d", (int8_t)word);
		break;
	case 's':
		ret->what = arena_printf(arena, "%d", (int16_t)word);
		break;
	case 'i':
		ret->what = arena_printf(arena, "%d", (int32_t)word);
		break;
	case 'l':
	case 'x':
		ret->what = arena_printf(arena, "%" PRId64, (int64_t)word);
		break;
	default:
		ret->what = arena_printf(arena, "%" PRIu64, word);
		break;
	}
	return true;
}

/* "St13runtime_error" -> "std::runtime_error": as the name of its type_info, without what that says of itself. */
static const char *type_name(const char *type, struct arena *arena)
{
	static const char head[] = "typeinfo name for ";
	const char *mangled = arena_printf(arena, "_ZTS%s", type);
	const char *name = mangled ? demangle(arena, mangled) : NULL;

	return name && strncmp(name, head, sizeof head - 1) == 0 ? name + sizeof head - 1 : NULL;
}

static struct error *find_terminate(struct snapshot *s, const struct snapshot_thread *thread, bool *ret)
{
	*ret = false;
	for (uint32_t i = 0; i < thread->frame_count && i < TERMINATE_FRAMES_MAX && !*ret; i++) {
		const struct debug_line *lines;
		uint32_t count;
		struct error *err = snapshot_lines(s, &thread->frames[i], &lines, &count);

		if (err)
			return err;
		for (uint32_t line = 0; line < count; line++)
			*ret |= lines[line].function && (strcmp(lines[line].function, "_ZSt9terminatev") == 0 ||
							 strcmp(lines[line].function, "__clang_call_terminate") == 0);
	}
	return NULL;
}

struct error *snapshot_exception_of(struct snapshot *s, const struct snapshot_thread *thread, struct arena *arena,
				    struct snapshot_exception *ret)
{
	uint64_t header, type, name, object, kind;
	const char *text;

	*ret = (struct snapshot_exception){0};
	if (!thread->thread_pointer || !find_header(s, thread, &header) ||
	    !read_word(s, header + HEADER_CLASS_OFF, &kind))
		return NULL;
	object = header + HEADER_BYTES;
	if (kind & 1) { /* thrown again by std::rethrow_exception: its header leads to the object */
		if (!read_word(s, header, &object))
			return NULL;
		header = object - HEADER_BYTES;
	}
	if (!read_word(s, header + HEADER_TYPE_OFF, &type) || !read_word(s, type + TYPE_NAME_OFF, &name) ||
	    !read_text(s, name, NAME_MAX_BYTES, arena, false, &text))
		return NULL;
	text += *text == '*';
	ret->type = type_name(text, arena);
	if (!ret->type)
		return NULL;
	if (!take_plain(s, text, object, arena, ret))
		take_what(s, object, arena, ret);
	return find_terminate(s, thread, &ret->is_fatal);
}

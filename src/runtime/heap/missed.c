/*
 * missed.c - says in one line what libwaymark-heap.so cannot stand in front of, in a program of `waymark cc` without the agent: a malloc
 * in the program itself; functions of an allocator's library that do not call malloc, where some image calls them; libraries that are
 * opened with RTLD_DEEPBIND, which look for malloc in their own scope first. The agent follows all of these (src/agent/clients). Nobody
 * follows what is opened in a namespace of its own, whose C library has another heap; the agent and the sampler say so themselves.
 *
 * dlopen and dlmopen are handed on by tail calls: the C library searches the paths of who calls.
 */
#include "runtime/heap/missed.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/dynamic.h"
#include "recorder/gnu_hash.h"
#include "recorder/text.h"
#include "waymark/runtime.h"

#define API __attribute__((visibility("default")))

/* As a program names them, and for people. */
static const struct {
	const char *symbol, *name;
	bool is_operator; /* libstdc++'s calls malloc, an allocator's does not */
} functions[] = {
	{"mallocx", "mallocx", false},
	{"rallocx", "rallocx", false},
	{"tc_malloc", "tc_malloc", false},
	{"tc_calloc", "tc_calloc", false},
	{"tc_realloc", "tc_realloc", false},
	{"tc_memalign", "tc_memalign", false},
	{"tc_posix_memalign", "tc_posix_memalign", false},
	{"_Znwm", "operator new", true},
	{"_Znam", "operator new[]", true},
	{"_ZnwmRKSt9nothrow_t", "operator new", true},
	{"_ZnamRKSt9nothrow_t", "operator new[]", true},
};

/* What standard error was before main: the program may close it and open another file. Written once, then released by is_missing. */
static struct stat error_file;
static _Atomic bool is_missing; /* something is recorded here, and not by the agent */
static _Atomic bool said_deep, said_apart;

/* instead: what the agent records; NULL: it does not, either. */
static void say(const char *what, const char *file, const char *instead)
{
	const char *slash = strrchr(file, '/');
	char line[512];
	struct wmrt_text text = {line, sizeof line, 0};
	struct stat now;

	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, (uint64_t)getpid(), 10, 1);
	wmrt_text_add(&text, ": allocations by ");
	wmrt_text_add(&text, what);
	wmrt_text_add(&text, " (");
	for (file = slash ? slash + 1 : file; *file; file++)
		wmrt_text_char(&text, *file > ' ' && *file < 0x7f ? *file : '?');
	wmrt_text_add(&text, ") are not recorded");
	if (instead) {
		wmrt_text_add(&text, "; `waymark run --heap --agent` records ");
		wmrt_text_add(&text, instead);
	}
	wmrt_text_char(&text, '\n');
	if (wmrt_text_fits(&text) && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == error_file.st_dev &&
	    now.st_ino == error_file.st_ino && write(STDERR_FILENO, line, text.len) < 0)
		return;
}

/* ---- images ---- */

static bool is_symbol(const struct dynamic *d, uint32_t number, const char *name, bool is_defined)
{
	return (d->symbols[number].st_shndx != SHN_UNDEF) == is_defined &&
	       strcmp(d->strings + d->symbols[number].st_name, name) == 0;
}

static bool has_symbol(const struct link_map *map, const char *name, bool is_defined)
{
	struct dynamic d = dynamic_read(map->l_ld, map->l_addr);
	uint32_t count;

	if (!d.symbols || !d.strings || (!d.hash && !d.gnu_hash))
		return false;
	if (is_defined && d.gnu_hash)
		return gnu_hash_defines(d.gnu_hash, d.symbols, d.strings, name);
	/* The former leaves out what is not defined, which comes first. */
	count = d.gnu_hash ? d.gnu_hash[1] : d.hash[1];
	for (uint32_t i = 1; i < count; i++)
		if (is_symbol(&d, i, name, is_defined))
			return true;
	return false;
}

/* Whose function the name leads to. Without dlsym, which allocates where it finds nothing. */
static const struct link_map *provider(const char *name)
{
	const struct link_map *map = _r_debug.r_map;

	while (map && !has_symbol(map, name, true))
		map = map->l_next;
	return map;
}

/* By the program, or a library that is not C++'s own, which uses the operators for itself. */
static bool is_used(const char *name)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		if (!strstr(map->l_name, "/libstdc++.so") && has_symbol(map, name, false))
			return true;
	return false;
}

static const char *file_of(const struct link_map *map)
{
	return *map->l_name ? map->l_name : program_invocation_name;
}

void missed_say(void)
{
	const struct link_map *map = provider("malloc");

	if (fstat(STDERR_FILENO, &error_file) != 0)
		error_file.st_ino = 0;
	atomic_store_explicit(&is_missing, true, memory_order_release);
	if (map && !has_symbol(map, "wm1_heap_attach", true)) {
		say("the program's own malloc", file_of(map), "calls that were not inlined");
		return;
	}
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		map = provider(functions[i].symbol);
		if (map && (!functions[i].is_operator || has_symbol(map, "malloc", true)) &&
		    is_used(functions[i].symbol)) {
			say(functions[i].name, file_of(map), "them");
			return;
		}
	}
}

/* ---- libraries that are opened ---- */

static void *(*_Atomic next_dlopen)(const char *, int);
static void *(*_Atomic next_dlmopen)(Lmid_t, const char *, int);

static void note_flags(const char *file, int flags)
{
	if (file && flags & RTLD_DEEPBIND && atomic_load_explicit(&is_missing, memory_order_acquire) &&
	    !atomic_exchange(&said_deep, true))
		say("libraries opened with RTLD_DEEPBIND", file, "them");
}

API void *dlopen(const char *file, int flags)
{
	void *(*next)(const char *, int) = atomic_load_explicit(&next_dlopen, memory_order_relaxed);

	if (!next) {
		next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
		atomic_store_explicit(&next_dlopen, next, memory_order_relaxed);
	}
	note_flags(file, flags);
	return next(file, flags);
}

API void *dlmopen(Lmid_t names, const char *file, int flags)
{
	void *(*next)(Lmid_t, const char *, int) = atomic_load_explicit(&next_dlmopen, memory_order_relaxed);

	if (!next) {
		next = (void *(*)(Lmid_t, const char *, int))dlsym(RTLD_NEXT, "dlmopen");
		atomic_store_explicit(&next_dlmopen, next, memory_order_relaxed);
	}
	if (names == LM_ID_BASE)
		note_flags(file, flags);
	else if (file && !wm1_heap_walked_early && atomic_load_explicit(&is_missing, memory_order_acquire) &&
		 !atomic_exchange(&said_apart, true))
		say("libraries in a namespace of their own", file, NULL);
	return next(names, file, flags);
}

/* demangle.c - libiberty's demangler for Itanium C++ and both Rust schemes, D too. */
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "object/demangle.h"

/* Bytes of name without ".llvm.<digits>" and ".<digits>" at its end. */
static size_t base_len(const char *name)
{
	size_t len = strlen(name);

	for (;;) {
		size_t end = len;

		while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
			end--;
		if (end == len || end < 2 || name[end - 1] != '.')
			return len;
		len = end - 1;
		if (len > 5 && memcmp(name + len - 5, ".llvm", 5) == 0)
			len -= 5;
	}
}

const char *demangle(struct arena *arena, const char *name)
{
	size_t len = base_len(name);
	const char *base = name;
	char *plain;

	if (name[len]) {
		base = arena_strndup(arena, name, len);
		if (!base)
			return NULL;
	}
	if (base[0] != '_')
		return base;
	plain = cplus_demangle(base, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
	if (!plain)
		return base;
	base = arena_strdup(arena, plain);
	free(plain);
	return base;
}

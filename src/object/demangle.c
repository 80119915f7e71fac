/* demangle.c - libiberty's demangler for Itanium C++ and both Rust schemes, D too. */
#include <stdbool.h>
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

/* ---- brief names ---- */

static const char anonymous[] = "(anonymous namespace)";
static const char inline_std[] = "__cxx11::"; /* nobody writes it */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Bytes of "operator<<", "operator()": the word and a sign that could be taken for a bracket; 0: there is none. Template
 * arguments of such operators stand behind a blank. */
static size_t operator_len(const char *name, const char *at)
{
	static const char word[] = "operator";
	static const char *const signs[] = {"()", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"};
	size_t len = sizeof word - 1;

	if (strncmp(at, word, len) != 0 || (at > name && is_word(at[-1])))
		return 0;
	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (strncmp(at + len, signs[i], strlen(signs[i])) == 0)
			return len + strlen(signs[i]);
	return 0;
}

/* Behind the bracket that closes the one at `at`; NULL: none does. */
static const char *bracket_end(const char *name, const char *at)
{
	size_t depth = 0;

	for (; *at; at++) {
		size_t len = operator_len(name, at);

		if (len) {
			at += len - 1;
			continue;
		}
		if (*at == '(' || *at == '<')
			depth++;
		else if (*at == ')' || (*at == '>' && at[-1] != '-'))
			depth--;
		if (!depth)
			return at + 1;
	}
	return NULL;
}

/* Behind the " const", " &" and so on of a parameter list, if the name ends there or goes on with "::". */
static const char *qualifiers_end(const char *at)
{
	static const char *const words[] = {" const", " volatile", " &&", " &", " noexcept"};
	const char *end = at;

	for (size_t i = 0; i < sizeof words / sizeof words[0];) {
		size_t len = strlen(words[i]);

		if (strncmp(end, words[i], len) == 0 && !is_word(end[len])) {
			end += len;
			i = 0;
		} else {
			i++;
		}
	}
	return *end == '\0' || strncmp(end, "::", 2) == 0 ? end : at;
}

/* Where the template arguments or parameters at `at` end, if that is what begins there; else NULL. */
static const char *skipped_end(const char *at, bool is_template)
{
	return is_template || *at == '(' ? bracket_end(at, at + (*at == ' ')) : NULL;
}

/* How much of the name is one thing that is copied as it is. is_first: nothing is copied yet. */
static size_t copied_len(const char *name, bool is_first)
{
	size_t len = operator_len(is_first ? name : name - 1, name);

	if (len)
		return len;
	return strncmp(name, anonymous, sizeof anonymous - 1) == 0 ? sizeof anonymous - 1 : 0;
}

const char *demangle_brief(struct arena *arena, const char *name)
{
	size_t at = 0;
	char *brief;

	/* The bracket of Rust's <T as Trait>::f belongs to the name. */
	if (name[0] == '<' || !strpbrk(name, "(<"))
		return name;
	brief = arena_alloc(arena, strlen(name) * 3 + 1); /* "<>" becomes "<...>" */
	if (!brief)
		return NULL;
	while (*name) {
		bool is_template = *name == '<' || (strncmp(name, " <", 2) == 0 && at);
		const char *end;
		size_t len;

		if (strncmp(name, inline_std, sizeof inline_std - 1) == 0) {
			name += sizeof inline_std - 1;
			continue;
		}
		len = copied_len(name, at == 0);
		end = len ? NULL : skipped_end(name, is_template);
		if (end && is_template) {
			memcpy(brief + at, "<...>", 5);
			at += 5;
		}
		if (end) {
			name = is_template ? end : qualifiers_end(end);
			continue;
		}
		len += len == 0;
		memcpy(brief + at, name, len);
		at += len;
		name += len;
	}
	brief[at] = '\0';
	return brief;
}

/* options.c - reads the agent's options. */
#include "jvm/c/base/options.h"

#include <stddef.h>
#include <string.h>

enum {
	ALLOC_BYTES = 512 << 10, /* as the virtual machine has it */
	CPU_HZ = 97,             /* a prime: not in step with what the program does */
	CPU_HZ_MAX = 100000,
};

/* A decimal number from `least` to INT32_MAX, all of the text. */
static bool parse_number(const char *text, size_t len, int32_t least, int32_t *ret)
{
	int64_t number = 0;

	if (!len || len > 10)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		number = number * 10 + (text[i] - '0');
	}
	*ret = (int32_t)number;
	return number >= least && number <= INT32_MAX;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* What stands behind "NAME=", if the word begins so and it has room. */
static bool parse_text(const char *word, size_t len, const char *name, char *text, size_t size)
{
	size_t name_len = strlen(name);

	if (len <= name_len + 1 || memcmp(word, name, name_len) != 0 || word[name_len] != '=' ||
	    len - name_len - 1 >= size)
		return false;
	memcpy(text, word + name_len + 1, len - name_len - 1);
	text[len - name_len - 1] = '\0';
	return true;
}

/* The word alone, or with a number behind a =: *number stays as it is without one. */
static bool is_word_with(const char *text, size_t len, const char *word, int32_t least, int32_t *number)
{
	size_t own = strlen(word);

	if (len < own || memcmp(text, word, own) != 0)
		return false;
	return len == own || (text[own] == '=' && parse_number(text + own + 1, len - own - 1, least, number));
}

static bool parse_word(const char *word, size_t len, struct jvm_options *ret)
{
	int32_t alloc_bytes = ALLOC_BYTES, cpu_hz = CPU_HZ;

	if (is_word(word, len, "encoder=lucce") || is_word(word, len, "encoder=fast")) {
		ret->is_lucce = word[8] == 'l';
		return true;
	}
	if (parse_text(word, len, "include", ret->include, sizeof ret->include) ||
	    parse_text(word, len, "exclude", ret->exclude, sizeof ret->exclude) ||
	    parse_text(word, len, "jdk", ret->jdk, sizeof ret->jdk) ||
	    parse_text(word, len, "profile", ret->profile, sizeof ret->profile) ||
	    parse_text(word, len, "cache", ret->cache, sizeof ret->cache))
		return true;
	if (is_word_with(word, len, "check", 1, &ret->check_every))
		return ret->is_checked = true;
	if (is_word(word, len, "contention"))
		return ret->has_contention = true;
	if (is_word(word, len, "exceptions"))
		return ret->has_exceptions = true;
	if (is_word_with(word, len, "cpu", 1, &cpu_hz)) {
		ret->cpu_hz = cpu_hz;
		return cpu_hz <= CPU_HZ_MAX;
	}
	if (!is_word_with(word, len, "alloc", 0, &alloc_bytes))
		return false;
	ret->has_alloc = true;
	ret->alloc_bytes = alloc_bytes;
	return true;
}

bool jvm_options_parse(const char *text, struct jvm_options *ret, const char **unknown)
{
	struct jvm_options options = *ret;

	while (text && *text) {
		size_t len = strcspn(text, ",");

		if (len && !parse_word(text, len, &options)) {
			*unknown = text;
			return false;
		}
		text += len + (text[len] == ',');
	}
	*ret = options;
	return true;
}

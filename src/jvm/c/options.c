/* options.c - reads the agent's options. */
#include "jvm/c/options.h"

#include <stddef.h>
#include <string.h>

/* A decimal number from 1 to INT32_MAX, all of the text. */
static bool parse_number(const char *text, size_t len, int32_t *ret)
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
	return number > 0 && number <= INT32_MAX;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* What stands behind "NAME=", if the word begins so and it has room. */
static bool parse_globs(const char *word, size_t len, const char *name, char globs[JVM_GLOBS_BYTES])
{
	size_t name_len = strlen(name);

	if (len <= name_len + 1 || memcmp(word, name, name_len) != 0 || word[name_len] != '=' ||
	    len - name_len - 1 >= JVM_GLOBS_BYTES)
		return false;
	memcpy(globs, word + name_len + 1, len - name_len - 1);
	globs[len - name_len - 1] = '\0';
	return true;
}

static bool parse_word(const char *word, size_t len, struct jvm_options *ret)
{
	if (is_word(word, len, "encoder=lucce") || is_word(word, len, "encoder=fast")) {
		ret->is_lucce = word[8] == 'l';
		return true;
	}
	if (parse_globs(word, len, "include", ret->include) || parse_globs(word, len, "exclude", ret->exclude) ||
	    parse_globs(word, len, "jdk", ret->jdk))
		return true;
	if (len < 5 || memcmp(word, "check", 5) != 0)
		return false;
	ret->is_checked = true;
	return len == 5 || (word[5] == '=' && parse_number(word + 6, len - 6, &ret->check_every));
}

bool jvm_options_parse(const char *text, struct jvm_options *ret, const char **unknown)
{
	struct jvm_options options = {0};

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

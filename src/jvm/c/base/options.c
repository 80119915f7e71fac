/* options.c - reads the agent's options. */
#include "jvm/c/base/options.h"

#include <stddef.h>
#include <string.h>

/* A decimal number from `least` to `most`, all of the text. */
static bool parse_number(const char *text, size_t len, int32_t least, int32_t most, int32_t *ret)
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
	return number >= least && number <= most;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* Copies the text behind "NAME=", if the word begins so and the text has room. */
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
static bool is_word_with(const char *text, size_t len, const char *word, int32_t least, int32_t most, int32_t *number)
{
	size_t own = strlen(word);

	if (len < own || memcmp(text, word, own) != 0)
		return false;
	return len == own || (text[own] == '=' && parse_number(text + own + 1, len - own - 1, least, most, number));
}

/* A word of the table. A client that takes no number has a `most` of 0. */
static bool parse_client(const char *word, size_t len, struct jvm_client_option *clients)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++) {
		const struct wm1_jvm_client_option *option = &wm1_jvm_client_options[i];
		int32_t number = option->preset;

		if (option->most ? is_word_with(word, len, option->name, option->least, option->most, &number)
				 : is_word(word, len, option->name)) {
			clients[i] = (struct jvm_client_option){.is_on = true, .number = number};
			return true;
		}
	}
	return false;
}

static bool parse_word(const char *word, size_t len, struct jvm_options *ret)
{
	if (is_word(word, len, "encoder=lucce") || is_word(word, len, "encoder=fast")) {
		ret->is_lucce = word[8] == 'l';
		return ret->is_encoded = true;
	}
	if (is_word(word, len, "encode"))
		return ret->is_encoded = true;
	if (parse_text(word, len, "include", ret->include, sizeof ret->include) ||
	    parse_text(word, len, "exclude", ret->exclude, sizeof ret->exclude) ||
	    parse_text(word, len, "jdk", ret->jdk, sizeof ret->jdk) ||
	    parse_text(word, len, "profile", ret->profile, sizeof ret->profile) ||
	    parse_text(word, len, "cache", ret->cache, sizeof ret->cache))
		return true;
	if (is_word_with(word, len, "check", 1, INT32_MAX, &ret->check_every))
		return ret->is_checked = true;
	return parse_client(word, len, ret->clients);
}

/* A client whose events are too many to walk at each of them. */
static bool is_frequent(const struct jvm_options *options)
{
	const struct jvm_client_option *alloc = &options->clients[WM1_JVM_alloc];

	return alloc->is_on && !alloc->number;
}

bool jvm_options_walk(const struct jvm_options *options)
{
	bool is_one_on = false;

	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++)
		is_one_on |= options->clients[i].is_on;
	return is_one_on && (options->is_live || !is_frequent(options)) && !options->is_encoded &&
	       !options->is_checked && !*options->include && !*options->exclude && !*options->jdk &&
	       !*options->profile && !*options->cache;
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

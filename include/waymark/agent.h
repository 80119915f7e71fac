/*
 * agent.h - the clients of the agent for native programs and its other options, in two tables: the agent (src/agent) reads the words of
 * WAYMARK_AGENT and of `waymark attach` by them, `waymark run` and `waymark attach` (src/cli/agent_options.c) their options and the help.
 *
 * The words of WAYMARK_AGENT have commas between them.
 */
#ifndef WAYMARK_AGENT_H
#define WAYMARK_AGENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 *      CLIENT(NAME, ARGUMENT, LEAST, MOST, PRESET, ASKS, RUN_ARGUMENT, RUN_HELP, ATTACH_HELP)
 *
 * NAME is the option --NAME of both commands, and a word. A client that takes a number, from LEAST to MOST, has ARGUMENT "=N": its word is
 * NAME=NUMBER, and --NAME alone is PRESET. The others have ARGUMENT "" and MOST 0. ASKS: only the agent does this, so its option asks for
 * the agent in a program that was built with waymark cc, too. RUN_ARGUMENT: of the option of `waymark run`, which may take more than the word:
 * what that asks for is not the agent's. The order is that of the words and of --help.
 */
#define WM1_AGENT_CLIENTS(CLIENT)                                                                             \
	CLIENT(sample, "=HZ", 1, 100000, 997 /* a prime: not in step with what the program does */, 1, "=HZ", \
	       "record the context of each thread HZ times a second of its CPU time (997)",                   \
	       "record the context HZ times a second of CPU time (997 by default); the default if no "        \
	       "other option selects what to record")                                                         \
	CLIENT(check, "", 0, 0, 0, 1, "",                                                                     \
	       "compare each sample with a stack walk; takes samples if --sample does not say how many",      \
	       "compare each sample with a stack walk")                                                       \
	CLIENT(heap, "", 0, 0, 0, 0, "=BYTES",                                                                \
	       "record every allocation, by a walk of the stack: count, bytes, live, peak, leaked; =BYTES: "  \
	       "one for about so many bytes; K, M, G are known",                                              \
	       "record every allocation from now on: count, bytes, live, peak")

/* SETTING(WORD, MEMBER): a word without a number, and the bool of struct agent_options (src/agent/os/options.h) that it sets. */
#define WM1_AGENT_SETTINGS(SETTING)  \
	SETTING(wall, is_wall)       \
	SETTING(verbose, is_verbose) \
	SETTING(epochs, is_restless)

#define WM1_AGENT_NUMBER(name, ...) WM1_AGENT_##name,
/* WM1_AGENT_sample and so on: indices of arrays by client. */
enum wm1_agent_client {
	WM1_AGENT_CLIENTS(WM1_AGENT_NUMBER) WM1_AGENT_CLIENT_COUNT
};

struct wm1_agent_client_option {
	const char *name;
	uint32_t least, most, preset;
	uint8_t asks;
};

#define WM1_AGENT_OPTION(name, argument, least, most, preset, asks, ...) {#name, least, most, preset, asks},
static const struct wm1_agent_client_option wm1_agent_client_options[WM1_AGENT_CLIENT_COUNT] = {
	WM1_AGENT_CLIENTS(WM1_AGENT_OPTION)};

#define WM1_AGENT_CLIENT_WORD(name, argument, ...) ", " #name argument
#define WM1_AGENT_SETTING_WORD(name, member) ", " #name
/* All words, as a message lists them. */
static inline const char *wm1_agent_options_known(void)
{
	return (WM1_AGENT_CLIENTS(WM1_AGENT_CLIENT_WORD) WM1_AGENT_SETTINGS(WM1_AGENT_SETTING_WORD)) + 2;
}

/* The word is the name, with a number behind a = if `most` is not 0. */
static inline int wm1_agent_is_word(const char *word, size_t len, const char *name, uint32_t most)
{
	size_t own = strlen(name);

	if (len < own || strncmp(word, name, own) != 0)
		return 0;
	if (!most)
		return len == own;
	return len > own + 1 && word[own] == '=' && strspn(word + own + 1, "0123456789") == len - own - 1;
}

#define WM1_AGENT_IS_SETTING(name, member) || wm1_agent_is_word(word, len, #name, 0)
static inline int wm1_agent_is_known(const char *word, size_t len)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (wm1_agent_is_word(word, len, wm1_agent_client_options[i].name, wm1_agent_client_options[i].most))
			return 1;
	return 0 WM1_AGENT_SETTINGS(WM1_AGENT_IS_SETTING);
}

/* The first word that is not known, with what follows it; NULL: all are. Empty words are passed over. */
static inline const char *wm1_agent_option_unknown(const char *text)
{
	for (size_t len; *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		if (len && !wm1_agent_is_known(text, len))
			return text;
	}
	return NULL;
}

#endif

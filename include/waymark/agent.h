/*
 * agent.h - the options of the agent, as WAYMARK_AGENT and `waymark attach` hand them over: words with commas between them.
 */
#ifndef WAYMARK_AGENT_H
#define WAYMARK_AGENT_H

#include <stddef.h>
#include <string.h>

/* How a message lists them. */
#define WM1_AGENT_OPTIONS "sample=HZ, check, heap, wall, verbose and epochs"

/* The first of them that is none, with what follows it; NULL: all are known. Empty words are passed over. */
static inline const char *wm1_agent_option_unknown(const char *text)
{
	static const char *const words[] = {"check", "heap", "wall", "verbose", "epochs"};

	for (size_t len; *text; text += len + (text[len] == ',')) {
		int is_known;

		len = strcspn(text, ",");
		is_known = len == 0 ||
			   (len > 7 && strncmp(text, "sample=", 7) == 0 && strspn(text + 7, "0123456789") == len - 7);
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			is_known |= strlen(words[i]) == len && strncmp(text, words[i], len) == 0;
		if (!is_known)
			return text;
	}
	return NULL;
}

#endif

/*
 * waymark.h - for the hazard and random programs under the agent: their check points ask it to compare the caller's context with its
 * stack, and what they write says which of the two columns is right. Without the agent all agree.
 */
#ifndef WAYMARK_H
#define WAYMARK_H

#include <stddef.h>

#define WM_TOKEN_MAX 48

/* 1: agrees; 0: differs; -1: not known. */
typedef struct {
	int result;
} wm_context;

#ifdef __cplusplus
extern "C" {
#endif
extern int wm1_agent_check(void) __attribute__((weak));
#ifdef __cplusplus
}
#endif

static inline __attribute__((always_inline)) wm_context wm_capture(void)
{
	wm_context context = {wm1_agent_check ? wm1_agent_check() : 1};

	return context;
}

static inline int wm_token(wm_context context, char *text, size_t size)
{
	const char *word = context.result == 1 ? "agrees" : context.result == 0 ? "DIFFERS" : "unknown";
	size_t len = __builtin_strlen(word);

	if (len >= size)
		len = size - 1;
	__builtin_memcpy(text, word, len);
	text[len] = '\0';
	return (int)len;
}

#endif

/*
 * probe.h - asks the agent, when the program runs under one, whether the context of the present point is that of the stack.
 *
 * Nothing is written to standard output, so that it can be compared with a run without the agent. At exit one line goes to the file
 * that PROBES names: how many points agreed, were unknown, and differed.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
int wm1_agent_check(void) __attribute__((weak));
#ifdef __cplusplus
}
#endif

/*
 * Does the program run under an agent? What spends time so that samples and encodings come amidst it, and for nothing else, need not do so in the
 * run without.
 */
static inline int probe_is_on(void)
{
	return wm1_agent_check != NULL;
}

enum {
	PROBE_UNKNOWN,
	PROBE_DIFFERS,
	PROBE_AGREES,
	PROBE_RESULTS
};

/* Of a library that its program loads: the program's, which is built with -rdynamic. */
#ifdef PROBE_IN_LIBRARY
extern volatile unsigned probe_counts[PROBE_RESULTS];
#else
volatile unsigned probe_counts[PROBE_RESULTS];
#endif

static __attribute__((noinline, unused)) void probe_failed(const char *file, int line, int result)
{
	fprintf(stderr, "%s:%d: %s\n", file, line,
		result ? "the context is not known" : "the context differs from the stack");
}

static inline __attribute__((always_inline)) void probe(const char *file, int line)
{
	int result = wm1_agent_check ? wm1_agent_check() : PROBE_AGREES - 1;

	probe_counts[result + 1]++;
	if (result < 1)
		probe_failed(file, line, result);
}

#define PROBE() probe(__FILE__, __LINE__)

#ifndef PROBE_IN_LIBRARY
static __attribute__((destructor)) void probe_report(void)
{
	const char *path = getenv("PROBES");
	FILE *out = path ? fopen(path, "w") : NULL;

	if (!out)
		return;
	fprintf(out, "agreed %u unknown %u differed %u\n", probe_counts[PROBE_AGREES], probe_counts[PROBE_UNKNOWN],
		probe_counts[PROBE_DIFFERS]);
	fclose(out);
}
#endif

#endif

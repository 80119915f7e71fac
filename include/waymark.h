/*
 * waymark.h - the public C API: exact calling contexts of any point of a program.
 *
 * Build with `waymark cc` / `waymark c++` and this header is found without a flag. With any other compiler it compiles, too:
 * the functions then work under `waymark run`, and from `waymark attach` to its --detach; else captures say "not instrumented" and
 * events are dropped.
 *
 * Every function here may be called from any thread and from a signal handler, where it needs 2 kB of the stack at most, keeps errno, never
 * allocates with malloc and never ends the process.
 *
 * Source of the method: PCCE (Sumner et al., Precise Calling Context Encoding, ICSE'10), sections 3 and 4.
 */
#ifndef WAYMARK_H
#define WAYMARK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A captured calling context. Compare two captures of one process with memcmp: equal bytes if and only if equal contexts
 * (the same chain of calls from the same kind of root, and the same capture point).
 */
typedef struct wm_context {
	uint64_t id;     /* sum of the addends on the encoded edges since the last push */
	uint32_t prefix; /* interned context stack below it; a number of this process */
	uint32_t site;   /* the capture point; 0: in foreign code called from the last pushed site */
	uint32_t epoch;  /* the encoding in force; WM_EPOCH_NONE: not instrumented */
	uint32_t zero;   /* always 0, so that memcmp compares whole */
} wm_context;

enum {
	WM_TOKEN_MAX = 96, /* a buffer of this size holds any token and its NUL */
};
#define WM_EPOCH_NONE UINT32_MAX

#define WM_INLINE static __inline__ __attribute__((__always_inline__, __unused__))

#ifdef __WAYMARK__

#define WM_NOTHROW __attribute__((__nothrow__, __leaf__))

/* Returns the exact calling context of this point; a few ns at any depth. It cannot fail: a context that could not be recorded decodes to
 * [lost], and is counted in the recording. */
wm_context wm_capture(void) WM_NOTHROW;

/*
 * Writes a short printable token for c to buf, which is the caller's: NUL-terminated, and cut to size bytes as snprintf does (size 0:
 * nothing is written). Returns the token's whole length without the NUL. `waymark decode` finds tokens in any text.
 */
int wm_token(wm_context c, char *buf, size_t size) WM_NOTHROW;

/*
 * Appends (context, time, thread, name, value) to the event log. name is NUL-terminated and copied the first time it is seen; the unit of
 * value is the caller's. An event without room is dropped and counted in the recording.
 */
void wm_event(const char *name, uint64_t value) WM_NOTHROW;

/* The runtime's own, for wm_task_begin and wm_task_end. */
void wm1_task_begin(const wm_context *enqueued, const wm_context *here) WM_NOTHROW;
void wm1_task_end(void) WM_NOTHROW;

/*
 * The function that calls this goes on with work that was enqueued in that context, on this thread or another one, until it calls wm_task_end.
 * Contexts between both continue the one of who enqueued it: main;serve;submit;[task];worker;parse, where `worker` is this function.
 *
 *      submit:  job->enqueued = wm_capture();  push(queue, job);
 *      worker:  job = pop(queue);  wm_task_begin(job->enqueued);  job->run(job);  wm_task_end();
 *
 * Both are called in one activation of a function, however it is left: a longjmp or an exception ends no task (C++: struct wm_task does). Tasks are nested: an
 * inner one alone is in contexts until it ends; up to 64, contexts in deeper ones are [lost] and counted. A few ns each. A thread that is created in a task stands on the
 * context of the task; coroutines are to be switched outside of tasks.
 */
WM_INLINE void wm_task_begin(wm_context enqueued)
{
	wm_context here = wm_capture();

	wm1_task_begin(&enqueued, &here);
}

/* The innermost task of this thread ends. Without one it does nothing. */
WM_INLINE void wm_task_end(void)
{
	wm1_task_end();
}

#else /* a file compiled without Waymark */

/*
 * The agent's function, NULL where there is no agent. Read from the global offset table, which the loader fills: a weak reference in
 * C would be 0 for good in a program that is not position-independent. Each time anew: an agent comes and leaves by `waymark attach`.
 */
#if defined(__x86_64__) && defined(__LP64__) && defined(__linux__)
#define WM_AGENT(function, name)                                                                                 \
	__asm__ volatile(".weak " name "\n\t{movq\t" name "@GOTPCREL(%%rip), %0|mov\t%0, qword ptr [rip + " name \
			 "@GOTPCREL]}"                                                                           \
			 : "=r"(function))
#else
#define WM_AGENT(function, name) ((function) = NULL)
#endif

WM_INLINE wm_context wm_capture(void)
{
	wm_context c = {0, 0, 0, WM_EPOCH_NONE, 0};
	wm_context (*agent)(void);

	WM_AGENT(agent, "wm1_agent_capture");
	return agent ? agent() : c;
}

WM_INLINE int wm_token(wm_context c, char *buf, size_t size)
{
	static const char text[] = "wm1:not-instrumented";
	int (*agent)(wm_context, char *, size_t);
	size_t i;

	WM_AGENT(agent, "wm1_agent_token");
	if (agent)
		return agent(c, buf, size);
	for (i = 0; size && i + 1 < size && text[i]; i++)
		buf[i] = text[i];
	if (size)
		buf[i] = '\0';
	return (int)(sizeof text - 1);
}

WM_INLINE void wm_event(const char *name, uint64_t value)
{
	void (*agent)(const char *, uint64_t);

	WM_AGENT(agent, "wm1_agent_event");
	if (agent)
		agent(name, value);
	/* So that it is no tail call, whose context would be that of the caller. */
	__asm__ volatile("");
}

WM_INLINE void wm_task_begin(wm_context enqueued)
{
	wm_context here = wm_capture();
	void (*agent)(const wm_context *, const wm_context *);

	WM_AGENT(agent, "wm1_agent_task_begin");
	if (agent)
		agent(&enqueued, &here);
}

WM_INLINE void wm_task_end(void)
{
	void (*agent)(void);

	WM_AGENT(agent, "wm1_agent_task_end");
	if (agent)
		agent();
	__asm__ volatile("");
}

#undef WM_AGENT

#endif

#undef WM_INLINE

#ifdef __cplusplus
}

/* wm_task_begin and wm_task_end by the scope of an object, however that is left. */
struct wm_task {
	__attribute__((__always_inline__)) explicit wm_task(wm_context enqueued)
	{
		wm_task_begin(enqueued);
	}
	__attribute__((__always_inline__)) ~wm_task()
	{
		wm_task_end();
	}

private:
	wm_task(const wm_task &);
	wm_task &operator=(const wm_task &);
};
#endif
#endif

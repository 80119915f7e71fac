/*
 * run_session.h - what `waymark run` shares with the processes that it starts (waymark/run.h): they say by it that they belong to this run,
 * and why they could record nothing.
 */
#ifndef WM_CLI_RUN_SESSION_H
#define WM_CLI_RUN_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "waymark/run.h"

struct run_session {
	uint64_t number;           /* not 0 */
	struct wm1_run_page *page; /* counted in by the processes */
};

/* Puts it into the environment of what is started from here on. */
struct error *run_session_begin(struct run_session *ret);
void run_session_end(struct run_session *s);

/*
 * The reason why a run has no recording, malloc'd; NULL without memory. The reason is what the processes have said, or
 * `otherwise`, which is true where they worked. dir: where recordings should be, as the user names it.
 */
char *run_session_why_nothing(const struct run_session *s, const char *dir, bool has_agent, const char *otherwise);
/* Says which processes and programs of a run that has recordings have none. Nothing: all recorded what they had. */
void run_session_say_missing(const struct run_session *s, const char *dir);
/* Says how many programs were started without the agent. */
void run_session_say_missed(const struct run_session *s);

#endif

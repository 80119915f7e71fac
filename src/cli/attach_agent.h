/*
 * attach_agent.h - brings the agent, or the sampler, into a process that runs, and takes it out (waymark/attach.h).
 */
#ifndef WM_CLI_ATTACH_AGENT_H
#define WM_CLI_ATTACH_AGENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct attach_options {
	bool is_sampler;     /* the sampler, which walks stacks; else the agent, which encodes calls */
	bool is_heap;        /* the allocator's code is written */
	const char *options; /* as WAYMARK_SAMPLE, or WAYMARK_AGENT, has them (run_preload.h) */
	const char *pattern; /* as WAYMARK_OUT has it, absolute */
	bool is_apart;       /* attach_is_apart: the pattern is of the process's own file system */
	uint64_t limit_bytes;
};

/* *ret: the process sees another file system, without the library. False, too, where that is not to be found out. */
struct error *attach_is_apart(pid_t pid, bool is_sampler, bool *ret);
/* Each refusal is one error, and the process goes on as it was. */
struct error *attach_agent(pid_t pid, const struct attach_options *options);
/* Whichever is there. ret: the path of the recording as the process sees it; empty: it recorded nothing. */
struct error *detach_agent(pid_t pid, char ret[PATH_MAX], bool *ret_is_sampler);

#endif

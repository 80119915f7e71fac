/*
 * run_preload.h - what `waymark run` brings into a program by LD_PRELOAD: the sampler, the heap client and the agent. Samples alone need
 * no agent: the sampler walks the stack, and WAYMARK_SAMPLE has its rates (wait_options.h). Programs that were built with waymark cc get the agent when
 * that is asked for, or what only it does.
 *
 * The agent reads its options from WAYMARK_AGENT: the words of waymark/agent.h, each at most once and in the order there, empty if there are
 * none.
 */
#ifndef WM_CLI_RUN_PRELOAD_H
#define WM_CLI_RUN_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cli/agent_options.h"
#include "cli/wait_options.h"

/* What the user asked for. */
struct run_clients {
	struct agent_choices agent;
	struct wait_choices waits;
	bool is_encode;        /* --encode */
	bool is_with_agent;    /* --agent */
	bool is_without_agent; /* --no-agent */
};

/* The libraries that are loaded into the program. */
struct run_libraries {
	bool has_agent;
	bool has_sampler;
	bool has_heap;
	bool walks_heap;  /* the sampler has the contexts of allocations */
	bool has_runtime; /* the program knows the contexts of allocations, and has nothing to record them with */
	const char *java; /* a library for virtual machines of Java (run_java.h); NULL: none */
};

/*
 * Can the program take what was asked for? A script is judged by its interpreter, the dynamic linker by the program that its arguments
 * name (`ld.so --library-path DIR PROG`). *ret: the agent and the heap client, if they come into it. ERROR_ARGUMENT says why not. What is
 * no program at all is for exec to refuse.
 */
struct error *run_preload_check(const struct run_clients *clients, const char *program, char **argv,
				struct run_libraries *ret);
/* Checks a launcher of Java: it takes the library for virtual machines. */
struct error *run_preload_check_java(const char *program);
/* Sets LD_PRELOAD, and for the agent WAYMARK_AGENT and LD_BIND_NOW; the libraries of the user stay behind ours. */
struct error *run_preload_set(const struct run_clients *clients, const struct run_libraries *libraries);

#endif

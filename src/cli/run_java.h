/*
 * run_java.h - what `waymark run` brings into the virtual machines of Java programs that the program is or starts: a library by LD_PRELOAD
 * (src/jvm/launch), which gives each of them the agent for Java programs.
 *
 * The library reads from WAYMARK_JAVA the file of the agent, =, and the agent's options.
 */
#ifndef WM_CLI_RUN_JAVA_H
#define WM_CLI_RUN_JAVA_H

#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/options.h"
#include "cli/run_preload.h"
#include "waymark/jvm.h"

/* An option of a client (waymark/jvm.h). */
struct run_java_client {
	bool is_on;
	const char *number; /* NULL: as the agent has it */
};

/* What only the agent for Java programs does. */
struct run_java_options {
	struct run_java_client clients[WM1_JVM_CLIENT_COUNT];
	const char *profile; /* the file; NULL: none */
	const char *cache;   /* the file; NULL: none */
};

/* The options' rows, those of clients and of files: their state is a struct run_java_options. */
extern const struct option_row run_java_options[];
extern const struct option_row run_java_file_options[];
/* The first option that only the agent for Java programs knows, without its dashes; NULL: none. */
const char *run_java_option(const struct run_java_options *options);
/* The agent's words for what was asked for, with commas behind them. --heap, --sample, --wall and --off-cpu are options for machine code, too. */
void run_java_print(const struct agent_choices *choices, const struct wait_choices *waits,
		    const struct run_java_options *options, struct buffer *text);

/* Files are malloc'd; NULL: virtual machines get no agent, because an option says so or it is not built. */
struct run_java {
	char *agent;
	char *library;    /* to be preloaded; there where the agent is */
	bool is_launcher; /* the program is a JDK's and gets the agent: it is a virtual machine and nothing else */
};

/* *ret: zero before. ERROR_ARGUMENT: an option asks for what only the agent does, which does not come. */
struct error *run_java_find(const struct run_clients *clients, const struct run_java_options *options,
			    const char *program, struct run_java *ret);
/* Only Java programs have what is asked for. */
bool run_java_is_all(const struct run_clients *clients, const struct run_java_options *options);
/* Sets WAYMARK_JAVA for the program. */
struct error *run_java_set(const struct run_clients *clients, const struct run_java_options *options,
			   const struct run_java *java);
void run_java_deinit(struct run_java *java);

#endif

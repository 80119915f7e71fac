/*
 * attach_java.h - brings the agent for Java programs into a virtual machine that runs, and ends its recording (waymark/jvm_attach.h).
 */
#ifndef WM_CLI_ATTACH_JAVA_H
#define WM_CLI_ATTACH_JAVA_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct attach_java_options {
	const char *words;   /* of clients, as the agent's options have them */
	const char *pattern; /* as WAYMARK_OUT has it, absolute */
	uint64_t limit_bytes;
};

/* Each refusal is one error, and the virtual machine goes on as it was. */
struct error *attach_java(pid_t pid, const struct attach_java_options *options);
/* ret: the path of the recording as the process sees it; empty: it recorded nothing. */
struct error *detach_java(pid_t pid, char ret[PATH_MAX]);

#endif

/*
 * run_java.h - what `waymark run` brings into a Java program: the agent for Java programs, as the first argument of `java`,
 * and what it needs of the virtual machine.
 *
 * An argument reaches this one virtual machine and is silent; the environment's JAVA_TOOL_OPTIONS would reach those that the program
 * starts as well, and the virtual machine prints it.
 */
#ifndef WM_CLI_RUN_JAVA_H
#define WM_CLI_RUN_JAVA_H

#include "base/error.h"
#include "cli/run_preload.h"

/*
 * *ret: the agent for Java programs, malloc'd, if the program is the `java` of a JDK and gets it; else NULL: also if --agent or --no-agent
 * says so, and where it is not built. ERROR_ARGUMENT: then an option asks for what only that one does.
 */
struct error *run_java_find_agent(const struct run_clients *clients, const char *program, char **ret);
/* *ret: argv, which has a word, with the agent behind that; it shares the other words and is freed by the second. */
struct error *run_java_arguments(const struct run_clients *clients, const char *agent, char **argv, char ***ret);
void run_java_free(char **arguments);

#endif

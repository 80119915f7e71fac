/*
 * run_java.h - what `waymark run` brings into a Java program: the agent for Java programs, as the first argument of `java`.
 *
 * An argument reaches this one virtual machine and is silent; the environment's JAVA_TOOL_OPTIONS would reach those that the program
 * starts as well, and the virtual machine prints it.
 */
#ifndef WM_CLI_RUN_JAVA_H
#define WM_CLI_RUN_JAVA_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/run_preload.h"

/*
 * Is the program the `java` of a JDK, and does it get the agent for Java programs? Not if an option asks for something that only the
 * agent for machine code does, nor where the other is not built.
 */
bool run_java_is_wanted(const struct run_clients *clients, const char *program);
/* *ret: argv, which has a word, with the agent behind that; it shares the other words and is freed by the second. */
struct error *run_java_arguments(const struct run_clients *clients, char **argv, char ***ret);
void run_java_free(char **arguments);

#endif

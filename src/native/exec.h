/*
 * exec.h - tells `waymark run` of programs that are started without the agent.
 */
#ifndef WM_NATIVE_EXEC_H
#define WM_NATIVE_EXEC_H

/* The client may define them: before this thread, or a child of vfork, executes a program, and when that has failed. */
void exec_begins(void) __attribute__((weak, visibility("hidden")));
void exec_failed(void) __attribute__((weak, visibility("hidden")));

/* Before main: what stands behind the functions that start programs. */
void exec_start(void) __attribute__((visibility("hidden")));

#endif

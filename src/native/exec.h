/*
 * exec.h - tells `waymark run` of programs that are started without the agent.
 */
#ifndef WM_NATIVE_EXEC_H
#define WM_NATIVE_EXEC_H

/* Before main: what stands behind the functions that start programs. */
void exec_start(void) __attribute__((visibility("hidden")));

#endif

/*
 * unseen_exec.h - programs that execute others by system calls of their own, which nothing that is in front of the C library's functions sees:
 * user-mode emulators, for their guests, and Go programs.
 */
#ifndef WM_NATIVE_UNSEEN_EXEC_H
#define WM_NATIVE_UNSEEN_EXEC_H

#include <stdbool.h>

/* Is this process one? Calls nothing. */
bool unseen_exec(void);

#endif

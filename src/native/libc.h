/* libc.h - what the functions that the agent and the sampler have in place of the C library's need. */
#ifndef WM_NATIVE_LIBC_H
#define WM_NATIVE_LIBC_H

/* Once, at start. Before it they work, more slowly. */
void libc_start(void);

#endif

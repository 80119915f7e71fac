/* libc.h - what the functions that the agent has in place of the C library's need. */
#ifndef WM_AGENT_LIBC_H
#define WM_AGENT_LIBC_H

/* Once, at start. Before it they work, more slowly. */
void libc_start(void);

#endif

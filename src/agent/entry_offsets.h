/* entry_offsets.h - what entry.S knows of struct agent_thread; asserted in entry.c. */
#ifndef WM_AGENT_ENTRY_OFFSETS_H
#define WM_AGENT_ENTRY_OFFSETS_H

#define AGENT_STACK_OFFSET 24
#define AGENT_LATE_OFFSET 72

#endif

/* entry_offsets.h - what entry.S, entry_point.inc and vfork.S know of struct agent_thread; asserted in entry.c and vfork.c. */
#ifndef WM_AGENT_ENTRY_OFFSETS_H
#define WM_AGENT_ENTRY_OFFSETS_H

#define AGENT_ID_OFFSET 0
#define AGENT_TOP_OFFSET 8
#define AGENT_BASE_OFFSET 16
#define AGENT_STACK_OFFSET 24
#define AGENT_ALTERNATE_OFFSET 76
#define AGENT_ROOT_OFFSET 80
#define AGENT_LANDING_OFFSET 96
#define AGENT_VFORKING_OFFSET 132
#define AGENT_LATE_OFFSET 72

#endif

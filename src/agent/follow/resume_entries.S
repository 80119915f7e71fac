/* resume_entries.S - where jumps over frames land in the agent (resume.c, cancel.c). */
#include "agent/threads/entry_point.inc"

	.text

	LANDING	agent_land, agent_landed
	/* The same for a cleanup of a cancellation (cancel.c). */
	LANDING	agent_land_cleanup, agent_resumed_cleanup

	.section .note.GNU-stack, "", @progbits

/* loader_entry.S - where the loader enters the agent (loader.c). */
#include "agent/threads/entry_point.inc"

	.text

	/* The loader has changed what is loaded: goes on where C says. */
	ENTRY_POINT agent_loader_entry, agent_loader

	.section .note.GNU-stack, "", @progbits

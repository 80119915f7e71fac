/* stub_entries.S - where stubs enter the agent (stub_calls.c). */
#include "agent/threads/entry_point.inc"

	.text

	/* A call that is not known: goes on where C says. */
	ENTRY_POINT agent_discover_entry, agent_discover, drops=1
	/* Foreign code entered a function that is hooked. */
	ENTRY_POINT agent_entered_entry, agent_entered
	/* Behind a call: called, with the address behind it on top and above that two registers. */
	ENTRY_POINT agent_returned_entry, agent_returned, return=8, above=16
	/* The thread has no context stack: called from a stub, which has pushed a register; it then looks again. */
	ENTRY_POINT agent_grow, agent_begin_thread, return=16

	.section .note.GNU-stack, "", @progbits

/* No return address says which site it is: its number does, with a mark. */
#include "pattern.inc"
	area
f:
	jmp	thunk
	callees

	.section .stubs, "ax", @progbits
	stub DISPATCH, SITE
thunk:
	push	$SITE - 0x80000000
	jmp	discover

/* Its bytes are in front of the stub, which enters the agent and not the function again: there is nothing in it. */
#include "pattern.inc"
	area
f:
	jmp	enter
	callees

	.section .stubs, "ax", @progbits
	stub FOREIGN, FUNCTION, first=enter-data, done=done-data
data:
	.quad	f
	endbr64
	ret
enter:
	.byte	0x68
	.long	0 /* push $0, of 5 bytes */
	jmp	b
done:

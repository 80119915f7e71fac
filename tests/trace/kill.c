/* kill.c - what code of record_pass.cpp's WMREC_KILLS uses: counts down from WMREC_KILL; at 0 an access or a division faults. */
#include <stdio.h>
#include <stdlib.h>

extern long wmrec_kill;
extern long wmrec_divisors[2];
extern char wmrec_target;
long wmrec_kill;
long wmrec_divisors[2] = {1, 0};
char wmrec_target;

static long begun;

__attribute__((constructor(101))) static void begin(void)
{
	const char *number = getenv("WMREC_KILL");
	begun = wmrec_kill = number ? atol(number) : 0;
}

/* How many places there were to stop at. */
__attribute__((destructor)) static void end(void)
{
	if (getenv("WMREC_COUNT"))
		fprintf(stderr, "passed %ld\n", begun - wmrec_kill);
}

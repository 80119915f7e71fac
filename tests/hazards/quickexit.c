/* quick_exit and at_quick_exit: neither destructors nor atexit handlers run. */
#include <stdlib.h>

#include "shadow.h"

NOINLINE static void helper(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

NOINLINE static void at_quick(void)
{
	ENTER();
	CHECK();
	helper();
	LEAVE();
}

__attribute__((destructor)) static void never(void)
{
	EXPECT(!"destructor after quick_exit");
}

NOINLINE static void leave(void)
{
	ENTER();
	helper();
	FOREIGN_VOID("quick_exit", quick_exit(5));
	LEAVE();
}

int main(void)
{
	ENTER();
	EXPECT(at_quick_exit(at_quick) == 0);
	leave();
	LEAVE();
	return 1;
}

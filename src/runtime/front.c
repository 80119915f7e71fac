/* front.c - a whole runtime hands over to none (whole.h). */
#include <stddef.h>

#include "runtime/whole.h"

const struct wm1_whole *wmrt_front(void)
{
	return NULL;
}

bool wmrt_is_whole(void)
{
	return true;
}

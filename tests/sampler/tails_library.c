/* tails_library.c - functions of tails.c that are in a shared library. */
#include "tails.h"

static NOT_INLINED void library_inner(int x)
{
	NOTE("library_inner");
	leaf(x * 5);
}

NOT_INLINED void library_entry(int x)
{
	NOTE("library_entry");
	library_inner(x - 1);
}

/* Has a frame, by which the recording knows of this library. */
NOT_INLINED void library_plain(int x)
{
	NOTE("library_plain");
	leaf(x);
	path[0] = '\0';
}

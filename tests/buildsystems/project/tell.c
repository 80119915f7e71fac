/* tell.c - the shared library. */
#include <stdio.h>
#include <waymark.h>

#include "shapes.h"

void tell(const char *name)
{
	char token[WM_TOKEN_MAX];

	wm_token(wm_capture(), token, sizeof token);
	printf("%s %s\n", name, token);
}

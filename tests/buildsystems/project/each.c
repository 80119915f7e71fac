/* each.c - the static library. */
#include "shapes.h"

void each(int count, void (*visit)(int i))
{
	for (int i = 0; i < count; i++)
		visit(i);
}

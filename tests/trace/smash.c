/*
 * The bug of polymorph 0.4.0 and ncompress 4.2.4: a long name is copied over a buffer on the stack, the return address and the
 * frames above. Whoever returns jumps nowhere: no frame but the first can be found, and this must be said.
 */
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int is_hidden(const char *name)
{
	return name[0] == '.';
}

__attribute__((noinline)) static int copy(volatile char *to, const char *from)
{
	int upper = 0;

	while (*from) {
		if (*from >= 'A' && *from <= 'Z')
			upper++;
		*to++ = *from++;
	}
	*to = '\0';
	return upper;
}

__attribute__((noinline)) static void convert(const char *name)
{
	char target[64];

	if (copy(target, name) && !is_hidden(target))
		puts("converted");
}

int main(int argc, char **argv)
{
	convert("Short");
	convert(argc > 1 ? argv[1] : "");
	return 0;
}

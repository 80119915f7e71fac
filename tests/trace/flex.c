/* Like flex's scanners: the buffer grows while pointers into the old one are kept; the old one is gone with its page. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char *buffer;
static size_t size;
static char *position, *token;
static int line_number = 1;

__attribute__((noinline)) static void grow(void)
{
	size_t larger = size ? size * 2 : 4096;
	char *fresh = mmap(NULL, larger, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffer) {
		memcpy(fresh, buffer, size);
		position = fresh + (position - buffer); /* and token? */
		munmap(buffer, size);
	} else {
		position = token = fresh;
	}
	buffer = fresh;
	size = larger;
}

static int next_char(unsigned i)
{
	static const char text[] = "int x = 17;\n/* a note */ y /= 3.5e7;\n";

	return text[i % (sizeof text - 1)];
}

__attribute__((noinline)) static int scan(unsigned *read)
{
	int state = 0;

	for (;;) {
		if (!buffer || position == buffer + size)
			grow();
		int c = *position++ = (char)next_char((*read)++);
		if (c == '\n')
			line_number++;
		switch (state) {
		case 0:
			if (c >= '0' && c <= '9')
				state = 1;
			else if (c >= 'a' && c <= 'z')
				state = 2;
			else
				return c;
			break;
		case 1:
			if ((c < '0' || c > '9') && c != '.' && c != 'e')
				return *token;
			break;
		case 2:
			if (c < 'a' || c > 'z')
				return *token == 'i' ? -1 : -2;
			break;
		}
	}
}

int main(void)
{
	unsigned read = 0;

	for (int i = 0; i < 4000; i++) {
		if (scan(&read) == -1)
			continue;
		if (i % 100 != 99)
			token = position - 1;
	}
	return line_number;
}

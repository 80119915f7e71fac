/* test_inner.c - the second entries of functions, by the bytes in front of them. */
#include "agent/scan/inner.h"

#include "check.h"

static const struct {
	const char *what;
	const char *bytes;
	size_t len_bytes;
	size_t inner;
} cases[] = {
#define CODE(text) text, sizeof(text) - 1
	{"program", CODE("\x64\x48\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\0\x0f\x1f\0\x55"), 16},
	{"program, endbr64", CODE("\xf3\x0f\x1e\xfa\x64\x48\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\0\x55"), 17},
	{"program, large id",
	 CODE("\x64\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\x80\x64\xc7\x04\x25\xd4\xff\xff\xff\1\0\0\0\x55"), 24},
	{"program, half of a large id", CODE("\x64\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\x80\x55\xc3\x90\x90\x90\x90"), 0},
	{"library", CODE("\x4c\x8b\x1d\x10\x20\0\0\x64\x49\xc7\x03\1\0\0\0\x90\x55"), 16},
	{"library, endbr64", CODE("\xf3\x0f\x1e\xfa\x4c\x8b\x1d\x10\x20\0\0\x64\x49\xc7\x03\1\0\0\0\x55"), 19},
	{"library, large id",
	 CODE("\x4c\x8b\x1d\x10\x20\0\0\x64\x41\xc7\x03\1\0\0\x80\x64\x41\xc7\x43\x04\1\0\0\0\x55"), 24},
	{"another load", CODE("\x4c\x8b\x1d\x10\x20\0\0\x41\xff\xd3\xc3\x90\x90\x90\x90\x90"), 0},
	{"a frame", CODE("\x55\x48\x89\xe5\x64\x48\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\0"), 0},
	{"cut", CODE("\x64\x48\xc7\x04\x25\xd0\xff\xff\xff\1\0\0"), 0},
	{"nothing", "", 0, 0},
};

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!CHECK(inner_entry((const uint8_t *)cases[i].bytes, cases[i].len_bytes) == cases[i].inner))
			printf("%s\n", cases[i].what);
	return check_status();
}

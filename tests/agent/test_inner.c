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
#define SLOW_CALL "\x74\x05\xe8\x10\x20\0\0"
#define PROGRAM "\x64\x48\x83\x3c\x25\xe8\xff\xff\xff\0" SLOW_CALL
#define LIBRARY "\x4c\x8b\x1d\x10\x20\0\0\x64\x49\x83\x7b\x18\0" SLOW_CALL
	{"program", CODE(PROGRAM "\x64\x48\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\0\x66\x90\x55"), 32},
	{"program, endbr64", CODE("\xf3\x0f\x1e\xfa" PROGRAM "\x64\x48\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\0\x55"), 34},
	{"program, large id",
	 CODE(PROGRAM "\x64\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\x80\x64\xc7\x04\x25\xd4\xff\xff\xff\1\0\0\0\x55"), 41},
	{"program, half of a large id",
	 CODE(PROGRAM "\x64\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\x80\x55\xc3\x90\x90\x90\x90"), 0},
	{"program, that looks for no call", CODE("\x64\x48\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\0\x0f\x1f\0\x55"), 0},
	{"library", CODE(LIBRARY "\x64\x49\xc7\x03\1\0\0\0\x0f\x1f\x40\0\x55"), 32},
	{"library, endbr64", CODE("\xf3\x0f\x1e\xfa" LIBRARY "\x64\x49\xc7\x03\1\0\0\0\x55"), 32},
	{"library, large id", CODE(LIBRARY "\x64\x41\xc7\x03\1\0\0\x80\x64\x41\xc7\x43\x04\1\0\0\0\x55"), 37},
	{"another load", CODE("\x4c\x8b\x1d\x10\x20\0\0\x41\xff\xd3\xc3\x90\x90\x90\x90\x90"), 0},
	{"a frame", CODE("\x55\x48\x89\xe5\x64\x48\xc7\x04\x25\xd0\xff\xff\xff\1\0\0\0"), 0},
	{"cut", CODE(PROGRAM "\x64\x48\xc7\x04\x25\xd0\xff\xff\xff\1\0\0"), 0},
	{"nothing", "", 0, 0},
};

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (!CHECK(inner_entry((const uint8_t *)cases[i].bytes, cases[i].len_bytes) == cases[i].inner))
			printf("%s\n", cases[i].what);
	return check_status();
}

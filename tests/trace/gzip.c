/*
 * The bug of gzip 1.2.4: a file name longer than its buffer is copied over the pointers behind it (CVE-2001-1228); the next use
 * of one of them faults.
 */
#include <stdio.h>
#include <string.h>

static struct {
	char ifname[256];
	char *suffix;
	int decompress;
} global = {.suffix = ".gz"};

__attribute__((noinline)) static int has_suffix(const char *name)
{
	size_t len = strlen(name);
	size_t suffix_len = 0;

	for (const char *p = global.suffix; *p; p++)
		suffix_len++;
	return len > suffix_len && !strcmp(name + len - suffix_len, global.suffix);
}

__attribute__((noinline)) static int get_istat(const char *name)
{
	volatile char *to = global.ifname;

	while ((*to++ = *name++))
		;
	if (has_suffix(global.ifname))
		return 1;
	return 0;
}

__attribute__((noinline)) static int treat_file(const char *name)
{
	if (!strcmp(name, "-"))
		return 0;
	switch (get_istat(name)) {
	case 1:
		return puts("already");
	default:
		return puts("compress");
	}
}

/* No constant: a function made for one has the name of the other in debug information. */
static const char *volatile first = "short";

int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		treat_file(i ? argv[i] : first);
	return 0;
}

/*
 * sanitizer.h - sanitizers whose runtime stands in front of the C library and keeps notes of all memory: nothing else can do so in the same
 * process. UBSan is none of them.
 */
#ifndef WM_BASE_SANITIZER_H
#define WM_BASE_SANITIZER_H

enum {
	SANITIZERS = 5,
};

struct sanitizer {
	const char *symbol; /* dynamic, of programs that have it: code calls it first */
	const char *name;
};

static const struct sanitizer sanitizers[SANITIZERS] = {
	{"__asan_init", "AddressSanitizer"}, {"__hwasan_init", "HWAddressSanitizer"},
	{"__msan_init", "MemorySanitizer"},  {"__tsan_init", "ThreadSanitizer"},
	{"__lsan_init", "LeakSanitizer"},
};

#endif

/*
 * unfit.h - programs that the agent and the heap client cannot work in: those of a sanitizer whose runtime interposes the C library and
 * keeps notes of all memory (UBSan does not), and OCaml's, whose garbage collector looks up each return address on the stack, of which the
 * agent has some of its own. The sampler can.
 */
#ifndef WM_BASE_UNFIT_H
#define WM_BASE_UNFIT_H

enum {
	UNFITS = 6,
};

struct unfit {
	const char *symbol; /* dynamic, of programs that are so */
	const char *what;   /* ends in a noun */
};

static const struct unfit unfits[UNFITS] = {
	{"__asan_init", "is built with a sanitizer, AddressSanitizer"},
	{"__hwasan_init", "is built with a sanitizer, HWAddressSanitizer"},
	{"__msan_init", "is built with a sanitizer, MemorySanitizer"},
	{"__tsan_init", "is built with a sanitizer, ThreadSanitizer"},
	{"__lsan_init", "is built with a sanitizer, LeakSanitizer"},
	{"caml_frametable", "is an OCaml program with a garbage collector that knows its own return addresses only"},
};

#endif

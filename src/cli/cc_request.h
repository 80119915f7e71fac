/*
 * cc_request.h - what a compiler's command line asks for, as far as `waymark cc` must know.
 */
#ifndef WM_CLI_CC_REQUEST_H
#define WM_CLI_CC_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cc_request {
	bool has_input;
	bool compiles; /* a source file of C or C++ is among the inputs */
	bool links;    /* no -c, -S, -E … */
	bool is_shared;
	bool is_static;
	bool is_relocatable; /* -r */
	bool is_plain;       /* nothing to instrument: other target, only a question */
	bool no_lto;
	bool uses_lto;
	bool emits_llvm;
	bool no_fat_objects;    /* -fno-fat-lto-objects */
	bool wants_fat_objects; /* -ffat-lto-objects */
	bool saves_temporaries; /* -save-temps */
	bool has_sanitizer_coverage;
	bool has_memory_profile;       /* -fmemory-profile */
	bool eliminates_virtual_calls; /* -fvirtual-function-elimination */
	uint32_t pass_sanitizers;      /* those whose code no fat object can hold, a bit each */
	bool has_debug_info;
	bool no_libc; /* -nostdlib and no -lc: there may be no thread-local storage */
	bool names_libc;
	bool has_dynamic_list; /* says by itself which symbols of a library others may replace */
	const char *symbolic;  /* functions that the linker binds in the library: "all", "non-weak"; NULL: none */
	const char *output;
	bool asks_linker;   /* -Wl,--version and the like: build systems ask it so what it is */
	const char *linker; /* a word that chooses one, -fuse-ld= or --ld-path=; NULL: none */
};

/* words: without @files (arguments.h). Strings of *ret are the words'. */
void cc_request_read(char *const *words, size_t count, struct cc_request *ret);

/* What an object holds whose code is instrumented at the link. */
enum cc_object {
	CC_OBJECT_FAT,     /* machine code, and bitcode beside it: for any linker */
	CC_OBJECT_BITCODE, /* bitcode alone, as clang -flto makes it */
	CC_OBJECT_THIN,    /* bitcode in an ordinary object, with symbols and without code (src/instrument/thin.cpp) */
};

/*
 * Machine code is made where a plain linker may meet the object: not where clang hands it to lld itself, not where the user's -flto says
 * that all tools can read bitcode, and not where LLVM cannot make it.
 */
enum cc_object cc_request_object(const struct cc_request *r, bool wants_thin);

/* A program comes out, with its runtime: no shared library, no ld -r, no start-up code of its own. */
bool cc_request_links_program(const struct cc_request *r);

/* The link gets Waymark's runtime: a program or library over a C library. */
bool cc_request_links_runtime(const struct cc_request *r);

#endif

/*
 * jvm.h - the clients of the agent for Java programs, in one table: the agent (src/jvm/c) reads the words of its options from it, and
 * `waymark run` (src/cli/run_java.c) its options and their help. And what the agent and the library that brings it tell each other.
 */
#ifndef WAYMARK_JVM_H
#define WAYMARK_JVM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * libwaymark-java.so's: faults that a virtual machine under -Xcheck:jni does not know, which it hands on there. The agent sets repair, which
 * returns true for those in the recording.
 */
struct wm1_java_faults {
	bool is_chained;
	bool (*repair)(uintptr_t address);
};

/*
 *      OWN(NAME, ARGUMENT, LEAST, MOST, PRESET, HELP)      has the option --NAME of `waymark run`
 *      SHARED(NAME, LEAST, MOST, PRESET)                   is switched on by an option that `waymark run` also has for machine code
 *
 * NAME is the word of the agent's option. It may be followed by = and a number from LEAST to MOST; without one the number is PRESET. MOST is
 * 0 and ARGUMENT NULL where the option takes no number. ARGUMENT and HELP are what --help shows.
 */
#define WM1_JVM_CLIENTS(OWN, SHARED)                                                                     \
	OWN(alloc, "=BYTES", 0, INT32_MAX, 512 << 10,                                                    \
	    "java: record allocations, about one for so many bytes (524288); 0: each")                   \
	OWN(live, "=BYTES", 1, INT32_MAX, 512 << 10,                                                     \
	    "java: record which of the objects sampled so are there at the end")                         \
	OWN(contention, NULL, 0, 0, 0, "java: record the waits for monitors and locks")                  \
	OWN(exceptions, NULL, 0, 0, 0, "java: record the exceptions that are thrown")                    \
	SHARED(cpu, 1, 100000, 97)   /* --sample; 97: a prime, not in step with what the program does */ \
	SHARED(wall, 1, 1000, 97)    /* --wall */                                                        \
	SHARED(off_cpu, 1, 1000, 97) /* --off-cpu */

#define WM1_JVM_OWN_NUMBER(name, argument, least, most, preset, help) WM1_JVM_##name,
#define WM1_JVM_SHARED_NUMBER(name, least, most, preset) WM1_JVM_##name,
/* WM1_JVM_alloc and so on: indices of arrays by client. */
enum wm1_jvm_client {
	WM1_JVM_CLIENTS(WM1_JVM_OWN_NUMBER, WM1_JVM_SHARED_NUMBER) WM1_JVM_CLIENT_COUNT
};

struct wm1_jvm_client_option {
	const char *name;
	int32_t least, most, preset;
};

#define WM1_JVM_OWN_OPTION(name, argument, least, most, preset, help) {#name, least, most, preset},
#define WM1_JVM_SHARED_OPTION(name, least, most, preset) {#name, least, most, preset},
static const struct wm1_jvm_client_option wm1_jvm_client_options[WM1_JVM_CLIENT_COUNT] = {
	WM1_JVM_CLIENTS(WM1_JVM_OWN_OPTION, WM1_JVM_SHARED_OPTION)};

#endif

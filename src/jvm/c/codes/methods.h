/*
 * methods.h - the instrumented classes, methods and sites of the process, by numbers from 0 on, and which of them are recorded.
 *
 * Only what a capture needs is recorded: a program has many more sites than its captures ever see. Nothing is removed; a class that
 * is loaded twice gets new numbers. Strings are copied. A number is JVM_NONE where there was no room, and may then be handed on.
 *
 * Any thread, but not a signal handler. Sites are read without a lock.
 */
#ifndef WM_JVM_METHODS_H
#define WM_JVM_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/contexts/sitecode.h"
#include "recorder/code.h"

enum {
	JVM_NONE = -1,
	JVM_EPOCH = 1, /* the only one: a recorded context has an entry for each call */
	/* Spaces of functions; those behind them are for calls that have no room elsewhere. */
	JVM_FUNCTION_SPACES = SITECODE_SPACES / 4 * 3,
};

/* Before anything else. False without memory. */
bool jvm_methods_init(void);

/* loader: as it is shown. name: with dots. file: the source file, NULL if not known. */
int32_t jvm_class_add(const char *loader, const char *name, const char *file);
/* space: from 1 to JVM_FUNCTION_SPACES. */
int32_t jvm_method_add(int32_t owner, const char *name, const char *descriptor, uint32_t line, uint32_t space);

struct jvm_site {
	int32_t method;
	enum wmk_site_kind kind;
	uint32_t position;  /* bytecode index */
	uint32_t line;      /* 0: not known */
	const char *callee; /* of WMK_SITE_FOREIGN; of WMK_SITE_INDIRECT the declared one, or NULL; else NULL */
	uint32_t space; /* in: that of the method which it calls, 0 if none is known. The site may get another one */
	/* Events happen there, in the method itself: where nothing is above it the method is innermost, and has called nothing. */
	bool is_place;
};
int32_t jvm_site_add(const struct jvm_site *site);
bool jvm_space_has_room(uint32_t space);
/* Names a space, once for each of its names, before it has sites: calls that a profile has keep their codes (profile.h). */
void jvm_space_add_name(uint32_t space, const char *name);
/* The site was in the word of a running thread. */
void jvm_site_count(int32_t site);
/* Counts a look at which calls of the method and those above it took so many bits. One thread. */
void jvm_method_count_bits(int32_t method, uint32_t bits);
/* The bits of room that the method is to be entered with (profile.h); 0: those of its longest code. */
uint32_t jvm_method_room(int32_t method);
/* Writes the profile with what was counted. False: nothing is to be written, or it cannot be. */
bool jvm_methods_write_profile(const char *path);
/* The word of a call is (P << *length) + the result (sitecode.h). site: one that was added. */
uint64_t jvm_site_code(int32_t site, uint32_t *length);
/*
 * Takes the last call off a word: *word becomes the payload of the caller, in the space of the caller's method, which is the word that
 * the caller was entered with unless it pushed that: the payload is a start then. JVM_NONE: no call has such a code.
 */
int32_t jvm_site_take(uint64_t *word);

/* JVM_NONE for JVM_NONE. */
int32_t jvm_site_method(int32_t site);
/* The number of the site in the recording, which has it from now on; 0: no such site, or no room. */
uint32_t jvm_site_record(int32_t site);
bool jvm_site_is_place(int32_t site);
/* The number of the site as the place of an event; 0 as above. */
uint32_t jvm_place_record(int32_t site);
/* class.methodDESCRIPTOR:line, cut to size as snprintf does. */
void jvm_site_describe(int32_t site, char *text, size_t size);

#endif

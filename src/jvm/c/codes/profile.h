/*
 * profile.h - which calls of an earlier run were hot, so that they get short codes (core/contexts/sitecode.h), and how many bits the calls
 * below a method take, so that it is pushed there and not below.
 *
 * The file is text. Behind a line that names the format there is a line for each call that was seen, with tabs between: heat, the name of
 * its space, class, method, descriptor, bytecode index. Lines of one space are together, the hottest first: their order is that of the
 * codes. Heat is how often the call was in the last word of a running thread; that of earlier runs counts half.
 *
 *      waymark-jvm-profile 1
 *      812     next()Ljava/lang/Object;        com.acme.Main   loop    ()V     17
 *
 * A line without a space is a method's: the number is the room that it needs, in bits, as nine of ten looks at threads had it or less.
 * A method that is entered with less room left pushes the word, though its own calls would fit: where a hot part of the program begins,
 * not in each of its innermost calls. Methods that need more than JVM_PROFILE_MOST_ROOM have no line, since a push would not help them.
 *
 *      24              com.acme.Main   loop    ()V     0
 *
 * A call that is not in the profile gets a code behind these. So whatever the file says contexts are exact, and a profile of another
 * program only does no good.
 */
#ifndef WM_JVM_PROFILE_H
#define WM_JVM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JVM_PROFILE_MOST_ROOM = 40, /* a word that was just pushed has it */
};

enum jvm_profile_result {
	JVM_PROFILE_OK,
	JVM_PROFILE_UNREADABLE, /* the file is there, but cannot be read, or there is no memory */
	JVM_PROFILE_DAMAGED,    /* it is no profile, or of another version; *line says where */
};

/* The parts of a line but its heat; strings are as in the file. */
struct jvm_profile_call {
	const char *space;
	const char *class_name;
	const char *method;
	const char *descriptor;
	uint32_t position;
};

/* Nothing is known before one is read. A file that is not there, or is empty, is a profile without calls. Before classes are loaded. */
enum jvm_profile_result jvm_profile_read(const char *path, uint32_t *line);
/*
 * Parses a text of `len` bytes with a NUL behind it, malloc'd, which it takes. What was known before is forgotten, and freed; also where the
 * text is refused.
 */
enum jvm_profile_result jvm_profile_parse(char *text, size_t len, uint32_t *line);
/* How many calls of the space are in the profile, which have the ranks from 0 on. */
uint32_t jvm_profile_calls(const char *space);
/* The room of a method, in bits; 0: the profile has none. */
uint32_t jvm_profile_room(const char *class_name, const char *method, const char *descriptor);
/* False: the call is not in the profile. */
bool jvm_profile_rank(const struct jvm_profile_call *call, uint32_t *rank);

/* A line by its number: a call, and how often it was seen in this run, or a method and its room. False: there is none of the number. */
typedef bool jvm_profile_get(size_t number, struct jvm_profile_call *call, uint32_t *heat);
/*
 * Writes the lines of this run, and those of the profile that was read, to the file, which it replaces as a whole. False: it cannot be
 * written, and the old one is there. Rooms are not known any more.
 */
bool jvm_profile_write(const char *path, size_t count, jvm_profile_get *get);

#endif

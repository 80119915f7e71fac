/*
 * own_steps.h - runs a program one instruction at a time in its own code. Other code runs at full speed: meanwhile the program's may not be
 * executed, so that whatever comes back (a return, a callback, a landing pad, longjmp, a signal handler) faults at its first instruction.
 *
 * One program for each process; what fails is said on standard error, and ends it with status 1.
 */
#ifndef WM_TESTS_OWN_STEPS_H
#define WM_TESTS_OWN_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

enum {
	OWN_IMAGES_MAX = 4,
};

/* In front of each instruction of its own code, and of the first one behind it. false: that is enough. */
typedef bool (*own_step)(const struct user_regs_struct *regs);

/* paths[0] is the program that argv begins with, the others are libraries that are loaded when it begins. */
void own_steps_run(char **argv, char *const *paths, unsigned count, own_step step);

/* How far the image is from where it was linked to; 0 before it is loaded. */
uint64_t own_steps_base(unsigned image);
bool own_steps_read(uint64_t address, void *ret, size_t len_bytes);

__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

#endif

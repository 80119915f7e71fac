/*
 * tunables.h - sections wm1_tunables and wm1_chosen by hand, as the instrumenter writes them (waymark/trace.h). A unit that
 * includes this has TUNABLE for each function and TUNABLES_CHOOSE once.
 */
#ifndef WM_TESTS_TUNABLES_H
#define WM_TESTS_TUNABLES_H

#include <stdio.h>
#include <waymark/trace.h>

/* schemes: their numbers, all ten bytes of them; plain and file may be "". */
#define TUNABLE(name, plain, file, count, schemes)            \
	__asm__(".pushsection wm1_chosen,\"aw\",@progbits\n"  \
		"chosen_" name ": .byte 0\n"                  \
		".popsection\n"                               \
		".pushsection .rodata.tunable_names,\"a\"\n"  \
		"name_" name ": .asciz \"" name "\"\n"        \
		"plain_" name ": .asciz \"" plain "\"\n"      \
		"file_" name ": .asciz \"" file "\"\n"        \
		".popsection\n"                               \
		".pushsection wm1_tunables,\"a\",@progbits\n" \
		".balign 4\n"                                 \
		".long name_" name " - .\n"                   \
		".long plain_" name " - .\n"                  \
		".long file_" name " - .\n"                   \
		".long chosen_" name " - .\n"                 \
		".byte " #count ", 0\n"                       \
		".byte " schemes "\n"                         \
		".popsection\n")

extern const struct wm1_tunable __start_wm1_tunables[], __stop_wm1_tunables[];
#pragma weak __start_wm1_tunables
#pragma weak __stop_wm1_tunables

__attribute__((constructor(101))) static void tunables_choose(void)
{
	wm1_trace_choose(__start_wm1_tunables, __stop_wm1_tunables);
}

/* "main 0": each function and the index of its scheme. */
static void tunables_print(void)
{
	for (const struct wm1_tunable *t = __start_wm1_tunables; t < __stop_wm1_tunables; t++)
		printf("%s %d\n", (const char *)&t->name + t->name, *((const unsigned char *)&t->chosen + t->chosen));
}

#endif

/*
 * section.h - puts the functions of all files that are compiled with -include of it into a section of their own, whose ends the linker
 * names: an agent knows the runtime's code in a program by them.
 */
#ifndef WM_RUNTIME_SECTION_H
#define WM_RUNTIME_SECTION_H

#pragma clang section text = "wm1_runtime_text"
/* For functions that are written in assembly. */
#define WMRT_TEXT "wm1_runtime_text,\"ax\",@progbits"

#endif

/*
 * jmp_buf.h - what glibc keeps in a jmp_buf on x86-64: rbx rbp r12 r13 r14 r15 rsp pc. Of these rbp, rsp and pc are mangled: xored with
 * the thread's pointer guard, then rotated (PTR_MANGLE).
 */
#ifndef WM_RECORDER_JMP_BUF_H
#define WM_RECORDER_JMP_BUF_H

#include <setjmp.h>
#include <stdint.h>

enum {
	JMP_BUF_RSP = 6,
	JMP_BUF_PC = 7,
	JMP_BUF_ROTATED = 17,
};

static inline uintptr_t jmp_buf_guard(void)
{
	uintptr_t guard;

	__asm__("movq %%fs:0x30, %0" : "=r"(guard));
	return guard;
}

static inline uintptr_t jmp_buf_mangle(uintptr_t pointer)
{
	pointer ^= jmp_buf_guard();
	return pointer << JMP_BUF_ROTATED | pointer >> (64 - JMP_BUF_ROTATED);
}

static inline uintptr_t jmp_buf_demangle(uintptr_t mangled)
{
	return (mangled >> JMP_BUF_ROTATED | mangled << (64 - JMP_BUF_ROTATED)) ^ jmp_buf_guard();
}

#endif

/*
 * jump.c - longjmp and its kin jump by a copy of the program's buffer whose pc is the agent's (land.h).
 *
 * The buffer is glibc's for x86-64: rbx rbp r12 r13 r14 r15 rsp pc, where rbp, rsp and pc are mangled: xored with the thread's pointer
 * guard at %fs:0x30, and rotated.
 */
#include "agent/jump.h"

#include <setjmp.h>
#include <stdint.h>

#include "agent/land.h"
#include "agent/program.h"
#include "agent/thread.h"
#include "recorder/interpose.h"

typedef void (*jump_fn)(struct __jmp_buf_tag *, int);

enum {
	JB_PC = 7,
	MANGLED_BY = 17,
	NEXT_LONGJMP = 0,
	NEXT_SIGLONGJMP,
	NEXT_UNDERSCORE,
	NEXT_CHK,
	NEXT_COUNT,
};

static const char *const names[NEXT_COUNT] = {"longjmp", "siglongjmp", "_longjmp", "__longjmp_chk"};
static _Atomic(void *) nexts[NEXT_COUNT];

static uintptr_t guard(void)
{
	uintptr_t value;

	__asm__("movq %%fs:0x30, %0" : "=r"(value));
	return value;
}

static uintptr_t mangle(uintptr_t pointer)
{
	pointer ^= guard();
	return pointer << MANGLED_BY | pointer >> (64 - MANGLED_BY);
}

static uintptr_t demangle(uintptr_t mangled)
{
	return (mangled >> MANGLED_BY | mangled << (64 - MANGLED_BY)) ^ guard();
}

static __attribute__((noreturn)) void jump(int which, void *own, struct __jmp_buf_tag *env, int val)
{
	jump_fn next = (jump_fn)wmrt_next(&nexts[which], names[which], own);
	struct __jmp_buf_tag copy = *env;

	if (agent_is_on && agent_thread.base)
		copy.__jmpbuf[JB_PC] = (long)mangle(land_at(demangle((uintptr_t)env->__jmpbuf[JB_PC]), 1));
	next(&copy, val);
	__builtin_unreachable();
}

static void own_longjmp(struct __jmp_buf_tag *env, int val)
{
	jump(NEXT_LONGJMP, (void *)own_longjmp, env, val);
}

static void own_siglongjmp(struct __jmp_buf_tag *env, int val)
{
	jump(NEXT_SIGLONGJMP, (void *)own_siglongjmp, env, val);
}

static void own_underscore(struct __jmp_buf_tag *env, int val)
{
	jump(NEXT_UNDERSCORE, (void *)own_underscore, env, val);
}

static void own_chk(struct __jmp_buf_tag *env, int val)
{
	jump(NEXT_CHK, (void *)own_chk, env, val);
}

WMRT_INTERPOSE(longjmp, own_longjmp);
WMRT_INTERPOSE(siglongjmp, own_siglongjmp);
WMRT_INTERPOSE(_longjmp, own_underscore);
WMRT_INTERPOSE(__longjmp_chk, own_chk);

void jump_start(void)
{
	static void *const owns[NEXT_COUNT] = {(void *)own_longjmp, (void *)own_siglongjmp, (void *)own_underscore,
					       (void *)own_chk};

	for (int i = 0; i < NEXT_COUNT; i++)
		wmrt_next(&nexts[i], names[i], owns[i]);
}

/*
 * jump.c - longjmp and its kin jump by a copy of the program's buffer whose pc is the agent's (land.h).
 */
#include "agent/jump.h"

#include <stdint.h>

#include "agent/land.h"
#include "agent/program.h"
#include "agent/thread.h"
#include "recorder/interpose.h"
#include "recorder/jmp_buf.h"

typedef void (*jump_fn)(struct __jmp_buf_tag *, int);

enum {
	NEXT_LONGJMP = 0,
	NEXT_SIGLONGJMP,
	NEXT_UNDERSCORE,
	NEXT_CHK,
	NEXT_COUNT,
};

static const char *const names[NEXT_COUNT] = {"longjmp", "siglongjmp", "_longjmp", "__longjmp_chk"};
static _Atomic(void *) nexts[NEXT_COUNT];

static __attribute__((noreturn)) void jump(int which, void *own, struct __jmp_buf_tag *env, int val)
{
	jump_fn next = (jump_fn)wmrt_next(&nexts[which], names[which], own);
	struct __jmp_buf_tag copy = *env;

	if (agent_is_on && agent_thread.base)
		copy.__jmpbuf[JMP_BUF_PC] =
			(long)jmp_buf_mangle(land_at(jmp_buf_demangle((uintptr_t)env->__jmpbuf[JMP_BUF_PC]), 1));
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

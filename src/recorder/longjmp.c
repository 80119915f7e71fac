/*
 * longjmp.c - longjmp and its kin, each with the next definition of its name.
 */
#include "recorder/longjmp.h"

#include "recorder/interpose.h"

enum {
	NEXT_LONGJMP = 0,
	NEXT_SIGLONGJMP,
	NEXT_UNDERSCORE,
	NEXT_CHK,
	NEXT_COUNT,
};

static const char *const names[NEXT_COUNT] = {"longjmp", "siglongjmp", "_longjmp", "__longjmp_chk"};
static _Atomic(void *) nexts[NEXT_COUNT];

static void own_longjmp(struct __jmp_buf_tag *env, int val);
static void own_siglongjmp(struct __jmp_buf_tag *env, int val);
static void own_underscore(struct __jmp_buf_tag *env, int val);
static void own_chk(struct __jmp_buf_tag *env, int val);

static const wmrt_longjmp_fn owns[NEXT_COUNT] = {own_longjmp, own_siglongjmp, own_underscore, own_chk};

static wmrt_longjmp_fn next_of(int which)
{
	return (wmrt_longjmp_fn)wmrt_next(&nexts[which], names[which], (void *)owns[which]);
}

static void own_longjmp(struct __jmp_buf_tag *env, int val)
{
	wmrt_longjmp(next_of(NEXT_LONGJMP), env, val);
}

static void own_siglongjmp(struct __jmp_buf_tag *env, int val)
{
	wmrt_longjmp(next_of(NEXT_SIGLONGJMP), env, val);
}

static void own_underscore(struct __jmp_buf_tag *env, int val)
{
	wmrt_longjmp(next_of(NEXT_UNDERSCORE), env, val);
}

static void own_chk(struct __jmp_buf_tag *env, int val)
{
	wmrt_longjmp(next_of(NEXT_CHK), env, val);
}

WMRT_INTERPOSE(longjmp, own_longjmp);
WMRT_INTERPOSE(siglongjmp, own_siglongjmp);
WMRT_INTERPOSE(_longjmp, own_underscore);
WMRT_INTERPOSE(__longjmp_chk, own_chk);

void wmrt_longjmp_start(void)
{
	for (int i = 0; i < NEXT_COUNT; i++)
		next_of(i);
}

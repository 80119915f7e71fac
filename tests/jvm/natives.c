/*
 * natives.c - native methods that use CPU time in known shares: f 2, g 3 and h 5 of 10. The library keeps a shadow stack: each change of it is written down with
 * the time before and behind it. print() prints them, a line each:
 *
 *      thread BEFORE BEHIND f;g
 */
#include <jni.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum {
	CHANGES_MAX = 1 << 20,
	UNIT = 20000,
};

struct change {
	uint64_t before_ns, behind_ns;
	const char *stack; /* from then on */
};

/* One thread calls. */
static struct change changes[CHANGES_MAX];
static size_t count;
static volatile uint64_t sink;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static NOINLINE void before(const char *stack)
{
	if (count < CHANGES_MAX)
		changes[count] = (struct change){now_ns(CLOCK_MONOTONIC), 0, stack};
}

static NOINLINE void behind(void)
{
	if (count < CHANGES_MAX)
		changes[count++].behind_ns = now_ns(CLOCK_MONOTONIC);
}

static inline __attribute__((always_inline)) void use(int units)
{
	uint64_t n = sink;

	for (int i = 0; i < units * UNIT; i++)
		n = n * 6364136223846793005u + 1442695040888963407u;
	sink = n;
}

static NOINLINE void h(void)
{
	behind();
	use(5);
	before("f;g");
}

static NOINLINE void g(void)
{
	behind();
	use(1);
	before("f;g;h");
	h();
	behind();
	use(2);
	before("f");
}

static NOINLINE void f(void)
{
	behind();
	use(1);
	before("f;g");
	g();
	behind();
	use(1);
	before("");
}

JNIEXPORT void JNICALL Java_Natives_f(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	before("f");
	f();
	behind();
}

JNIEXPORT void JNICALL Java_Natives_up(JNIEnv *env, jclass class)
{
	(*env)->CallStaticVoidMethod(env, class, (*env)->GetStaticMethodID(env, class, "back", "()V"));
}

JNIEXPORT jlong JNICALL Java_Natives_used(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	return (jlong)now_ns(CLOCK_THREAD_CPUTIME_ID);
}

JNIEXPORT void JNICALL Java_Natives_print(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	for (size_t i = 0; i < count; i++)
		printf("%ld %lu %lu %s\n", syscall(SYS_gettid), changes[i].before_ns, changes[i].behind_ns,
		       changes[i].stack);
	fflush(stdout);
}

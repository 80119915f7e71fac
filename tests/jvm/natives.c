/*
 * natives.c - native methods that use CPU time in known shares: f 2, g 3 and h 5 of 10, called from Java, or from Java that native functions c and d have called,
 * maybe several times. The library keeps a shadow stack: each change of it is written down with the time before and behind it. print() prints them, a line each:
 *
 *      thread BEFORE BEHIND 2:f;g             two calls of Java by d are outside
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
	LEVELS = 4,
};

struct change {
	uint64_t before_ns, behind_ns;
	const char *stack; /* from then on */
};

/* One thread calls. */
static struct change changes[CHANGES_MAX];
static size_t count;
static volatile uint64_t sink;
static int level; /* how many calls of Java by d are outside */
static const char *const in_f[LEVELS] = {"0:f", "1:f", "2:f", "3:f"};
static const char *const in_g[LEVELS] = {"0:f;g", "1:f;g", "2:f;g", "3:f;g"};
static const char *const in_h[LEVELS] = {"0:f;g;h", "1:f;g;h", "2:f;g;h", "3:f;g;h"};

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
	before(in_g[level]);
}

static NOINLINE void g(void)
{
	behind();
	use(1);
	before(in_h[level]);
	h();
	behind();
	use(2);
	before(in_f[level]);
}

static NOINLINE void f(void)
{
	behind();
	use(1);
	before(in_g[level]);
	g();
	behind();
	use(1);
	before("");
}

JNIEXPORT void JNICALL Java_Natives_f(JNIEnv *env, jclass class)
{
	(void)env, (void)class;
	before(in_f[level]);
	f();
	behind();
}

static NOINLINE void d(JNIEnv *env, jclass class, jint times)
{
	level++;
	(*env)->CallStaticVoidMethod(env, class, (*env)->GetStaticMethodID(env, class, "back", "(I)V"), times);
	level--;
}

static NOINLINE void c(JNIEnv *env, jclass class, jint times)
{
	d(env, class, times);
	sink++;
}

JNIEXPORT void JNICALL Java_Natives_up(JNIEnv *env, jclass class, jint times)
{
	c(env, class, times);
	sink++;
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

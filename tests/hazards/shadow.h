/*
 * shadow.h - the oracle of the hazard and random programs: an explicit shadow stack that each function keeps by itself.
 *
 * CHECK() captures the context of the place where it stands and writes one line, `TOKEN <tab> expected;folded;stack`, to
 * standard output. compare.c reads what `waymark decode --folded` makes of these lines; both columns must then be equal.
 *
 *	ENTER();              first statement of a function: pushes its name (__func__; ENTER_AS gives another spelling)
 *	LEAVE();              before each return: back to the depth at entry, whatever callees left behind
 *	SCOPE();              C++: ENTER whose LEAVE is a destructor, so that exceptions restore the depth too
 *	FOREIGN("qsort", call)   a call to foreign code that may call back: its bracket frame is on the stack meanwhile
 *	SIGNAL_ENTER()        a signal handler: what was interrupted, and [signal]
 *	CREATE(pthread_create(...))   an expression: the new thread's stack begins with a copy of this one
 *	THREAD_ROOT()         the thread's first statement: that copy, and [thread]; that alone if CREATE did not create it
 *	RESTORE();            after setjmp returned by a longjmp, in a catch block of C code, and the like
 *
 * A function that ends in a tail call has ENTER and no LEAVE: its entry goes when its caller leaves, which is how the
 * context must show it. A frame `...` in an expected stack stands for any frames (library internals of C++ threads).
 *
 * The state is weak and exported: a program and its libraries share the first definition, so link such programs with
 * -rdynamic. A library that would find its own first is compiled with SHADOW_EXTERN. Everything here may run in a signal handler.
 */
#ifndef SHADOW_H
#define SHADOW_H

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <waymark.h>

#ifndef SHADOW_MAX
#define SHADOW_MAX 1024 /* frames; every file of one program must agree */
#endif

struct shadow {
	/* Handlers change both at once: another one may come between. */
	union {
		struct {
			unsigned depth;
			unsigned base; /* index of the root in force: signal handlers have a copy of what they interrupted */
		};
		uint64_t depth_and_base;
	};
	unsigned thread; /* of a thread: frames up to [thread] */
	const char *name[SHADOW_MAX];
};

/* What is handed to a thread that is being created; one at a time. */
struct shadow_handoff {
	unsigned state; /* SHADOW_FREE and so on */
	struct shadow *creator;
	unsigned depth;
	const char *name[SHADOW_MAX];
};
enum {
	SHADOW_FREE,
	SHADOW_WRITTEN,
	SHADOW_OFFERED,
	SHADOW_TAKEN
};

#ifdef __cplusplus
extern "C" {
#endif
#ifdef SHADOW_EXTERN
extern __thread struct shadow shadow;
extern struct shadow_handoff shadow_handoff;
#else
__attribute__((weak, visibility("default"))) __thread struct shadow shadow;
__attribute__((weak, visibility("default"))) struct shadow_handoff shadow_handoff;
#endif
#ifdef __cplusplus
}
#endif

#ifdef FREE_INLINING /* the optimizer decides what is inlined: inlined frames must come back from the metadata */
#define NOINLINE
#else
#define NOINLINE __attribute__((noinline))
#endif

#define SHADOW_INLINE static inline __attribute__((always_inline, unused))

/* The name first, then the depth, and one free slot in handlers: a signal may come between the two. */
SHADOW_INLINE void shadow_push(const char *name)
{
	if (shadow.depth >= SHADOW_MAX)
		__builtin_trap();
	shadow.name[shadow.depth] = name;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	shadow.depth++;
}

#define ENTER_AS(text)                                                     \
	const unsigned shadow_mark __attribute__((unused)) = shadow.depth; \
	const unsigned shadow_root __attribute__((unused)) = shadow.base;  \
	shadow_push(text)
#define ENTER() ENTER_AS(__func__)
#define RESTORE() (shadow.base = shadow_root, shadow.depth = shadow_mark + 1)
#define LEAVE() (shadow.base = shadow_root, shadow.depth = shadow_mark)

/* Expression form, for calls that give a value; the bracket goes when the call returns. */
#define FOREIGN(text, call) FRAME("[" text "]", call)
#define FRAME(text, call)                                \
	(__extension__({                                 \
		unsigned shadow_before_ = shadow.depth;  \
		shadow_push(text);                       \
		__typeof__(call) shadow_value_ = (call); \
		shadow.depth = shadow_before_;           \
		shadow_value_;                           \
	}))
#define FOREIGN_VOID(text, call)                        \
	do {                                            \
		unsigned shadow_before_ = shadow.depth; \
		shadow_push("[" text "]");              \
		call;                                   \
		shadow.depth = shadow_before_;          \
	} while (0)

/* A copy of what was interrupted, behind the entry that it may be about to push; `...`: it may have called a function that has not pushed
 * its name yet, or has taken it off, and code of the library. */
static __attribute__((noinline, unused)) void shadow_interrupted(void)
{
	unsigned count = shadow.depth - shadow.base, base = shadow.depth + 1;

	if (base + count + 3 >= SHADOW_MAX)
		__builtin_trap();
	if (count && shadow.name[shadow.depth - 1][0] == '[' && shadow.name[shadow.depth - 1][1] != 's' &&
	    shadow.name[shadow.depth - 1][1] != 't')
		count--; /* in a foreign call: the agent names the library's functions there */
	memcpy(shadow.name + base, shadow.name + shadow.base, count * sizeof shadow.name[0]);
	shadow.name[base + count] = "...";
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&shadow.depth_and_base, (uint64_t)base << 32 | (base + count + 1), __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#define SIGNAL_ENTER()                                                     \
	const unsigned shadow_mark __attribute__((unused)) = shadow.depth; \
	const unsigned shadow_root __attribute__((unused)) = shadow.base;  \
	shadow_interrupted();                                              \
	shadow_push("[signal]");                                           \
	shadow_push(__func__)

static __attribute__((noinline, unused)) void shadow_offer(void)
{
	unsigned state = SHADOW_FREE;

	while (!__atomic_compare_exchange_n(&shadow_handoff.state, &state, SHADOW_WRITTEN, 0, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		state = SHADOW_FREE;
		sched_yield();
	}
	shadow_handoff.creator = &shadow;
	shadow_handoff.depth = shadow.depth - shadow.base;
	memcpy(shadow_handoff.name, shadow.name + shadow.base, shadow_handoff.depth * sizeof shadow.name[0]);
	__atomic_store_n(&shadow_handoff.state, SHADOW_OFFERED, __ATOMIC_RELEASE);
}

/* Waits for the new thread to have taken it. */
static __attribute__((noinline, unused)) void shadow_offered(int is_created)
{
	while (is_created && __atomic_load_n(&shadow_handoff.state, __ATOMIC_ACQUIRE) == SHADOW_OFFERED &&
	       shadow_handoff.creator == &shadow)
		sched_yield();
	if (!is_created)
		__atomic_store_n(&shadow_handoff.state, SHADOW_FREE, __ATOMIC_RELEASE);
}

static __attribute__((noinline, unused)) void shadow_take(void)
{
	if (__atomic_load_n(&shadow_handoff.state, __ATOMIC_ACQUIRE) == SHADOW_OFFERED) {
		memcpy(shadow.name, shadow_handoff.name, shadow_handoff.depth * sizeof shadow.name[0]);
		shadow.depth = shadow_handoff.depth;
		__atomic_store_n(&shadow_handoff.state, SHADOW_FREE, __ATOMIC_RELEASE);
	}
	shadow_push("[thread]");
	shadow.thread = shadow.depth;
}

#define CREATE(call)                            \
	(__extension__({                        \
		int create_value_;              \
		shadow_offer();                 \
		create_value_ = (call);         \
		shadow_offered(!create_value_); \
		create_value_;                  \
	}))

#define THREAD_ROOT()                  \
	do {                           \
		if (!shadow.depth)     \
			shadow_take(); \
	} while (0)

/* The C library's header may define it inline. */
#define BSEARCH "bsearch|[bsearch]"

/* One line, one write: lines of threads and of forked children do not mix (standard output is opened with O_APPEND). */
static __attribute__((noinline, unused)) void shadow_emit(wm_context context)
{
	char small[4096], *line = small;
	int saved = errno;
	size_t size = WM_TOKEN_MAX + 2, len;

	for (unsigned i = shadow.base; i < shadow.depth; i++)
		size += strlen(shadow.name[i]) + 1;
	if (size > sizeof small) {
		line = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (line == MAP_FAILED)
			__builtin_trap();
	}
	len = (size_t)wm_token(context, line, WM_TOKEN_MAX);
	line[len++] = '\t';
	for (unsigned i = shadow.base; i < shadow.depth; i++) {
		size_t n = strlen(shadow.name[i]);
		memcpy(line + len, shadow.name[i], n);
		len += n;
		line[len++] = ';';
	}
	line[len - 1] = '\n';
	for (size_t done = 0; done < len;) {
		ssize_t n = write(STDOUT_FILENO, line + done, len - done);
		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			__builtin_trap();
	}
	if (line != small)
		munmap(line, size);
	errno = saved;
}

#define CHECK()                                            \
	do {                                               \
		wm_context shadow_context_ = wm_capture(); \
		shadow_emit(shadow_context_);              \
	} while (0)

/* A plain assertion that works with NDEBUG and tells where. */
#define EXPECT(condition)                                                       \
	do {                                                                    \
		if (!(condition)) {                                             \
			static const char text_[] = "failed: " #condition "\n"; \
			(void)!write(STDERR_FILENO, text_, sizeof text_ - 1);   \
			_exit(99);                                              \
		}                                                               \
	} while (0)

#ifdef __cplusplus
struct shadow_scope {
	unsigned mark, root;
	__attribute__((always_inline)) explicit shadow_scope(const char *text) : mark(shadow.depth), root(shadow.base)
	{
		shadow_push(text);
	}
	__attribute__((always_inline)) ~shadow_scope()
	{
		shadow.base = root;
		shadow.depth = mark;
	}
	__attribute__((always_inline)) void restore() const
	{
		shadow.base = root;
		shadow.depth = mark + 1;
	}
};
#define SCOPE_AS(text) const shadow_scope shadow_scope_(text)
#define SCOPE() SCOPE_AS(__func__)
#define CATCH_RESTORE() shadow_scope_.restore()
#endif

#endif

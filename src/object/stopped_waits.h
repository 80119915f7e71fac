/*
 * stopped_waits.h - what threads of a stopped program wait for, and the exceptions that they handle. By the kernel's system call and
 * the data of glibc and libstdc++; what another library has is not known.
 */
#ifndef WM_OBJECT_STOPPED_WAITS_H
#define WM_OBJECT_STOPPED_WAITS_H

#include "object/stopped.h"

enum stopped_wait_kind {
	STOPPED_WAIT_NONE = 0,
	STOPPED_WAIT_MUTEX,
	STOPPED_WAIT_CONDITION,
	STOPPED_WAIT_RWLOCK,
	STOPPED_WAIT_SEMAPHORE,
	STOPPED_WAIT_BARRIER,
	STOPPED_WAIT_JOIN,  /* for the end of the thread `owner` */
	STOPPED_WAIT_FUTEX, /* something else */
	STOPPED_WAIT_KINDS,
};

struct stopped_wait {
	enum stopped_wait_kind kind;
	uint64_t address; /* of the futex; of a mutex that is its own */
	pid_t owner;      /* of a mutex: the thread that holds it; 0: not known */
	bool is_free;     /* of a mutex: nobody holds it any more */
};
struct error *stopped_wait_of(struct stopped *s, const struct stopped_thread *thread, struct stopped_wait *ret);

/* The exception that a thread handles, or that ended it: what std::terminate sees. */
struct stopped_exception {
	const char *type; /* "std::runtime_error"; NULL: there is none, or it is not known */
	const char *what; /* what() or the value, "..." where it is cut; NULL: not known */
	bool is_what;     /* it is that of what() */
	bool is_fatal;    /* std::terminate was called */
};
/* Texts are the arena's. */
struct error *stopped_exception_of(struct stopped *s, const struct stopped_thread *thread, struct arena *arena,
				   struct stopped_exception *ret);

#endif

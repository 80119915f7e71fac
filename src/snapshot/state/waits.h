/*
 * waits.h - what threads of a stopped program wait for, and the exceptions that they handle. By the kernel's system call and
 * the data of glibc and libstdc++; what another library has is not known.
 */
#ifndef WM_SNAPSHOT_SNAPSHOT_WAITS_H
#define WM_SNAPSHOT_SNAPSHOT_WAITS_H

#include "snapshot/snapshot.h"

enum snapshot_wait_kind {
	SNAPSHOT_WAIT_NONE = 0,
	SNAPSHOT_WAIT_MUTEX,
	SNAPSHOT_WAIT_CONDITION,
	SNAPSHOT_WAIT_RWLOCK,
	SNAPSHOT_WAIT_SEMAPHORE,
	SNAPSHOT_WAIT_BARRIER,
	SNAPSHOT_WAIT_JOIN,  /* for the end of the thread `owner` */
	SNAPSHOT_WAIT_FUTEX, /* something else */
	SNAPSHOT_WAIT_KINDS,
};

struct snapshot_wait {
	enum snapshot_wait_kind kind;
	uint64_t address; /* of the futex; of a mutex that is its own, of a read-write lock the lock's */
	pid_t owner; /* of a mutex, or a read-write lock that is held for writing: the thread that holds it; 0: not known */
	uint32_t readers; /* of a read-write lock: how many hold it */
	bool is_free;     /* of both: nobody holds it any more */
};
struct error *snapshot_wait_of(struct snapshot *s, const struct snapshot_thread *thread, struct snapshot_wait *ret);

/* The exception that a thread handles, or that ended it: what std::terminate sees. */
struct snapshot_exception {
	const char *type; /* "std::runtime_error"; NULL: there is none, or it is not known */
	const char *what; /* what() or the value, "..." where it is cut; NULL: not known */
	bool is_what;     /* it is that of what() */
	bool is_fatal;    /* std::terminate was called */
};
/* Texts are the arena's. */
struct error *snapshot_exception_of(struct snapshot *s, const struct snapshot_thread *thread, struct arena *arena,
				    struct snapshot_exception *ret);

#endif

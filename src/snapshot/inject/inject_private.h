/*
 * inject_private.h - shared by inject.c (ptrace), inject_process.c (/proc, memory), inject_stub.c (code), inject_call.c (calls),
 * inject_restart.c (system calls) and inject_images.c (elfutils).
 */
#ifndef WM_SNAPSHOT_INJECT_PRIVATE_H
#define WM_SNAPSHOT_INJECT_PRIVATE_H

#include <elfutils/libdwfl.h>
#include <signal.h>

#include "snapshot/inject/inject.h"

/* Places in registers[]. */
enum {
	INJECT_RBX = 5,
	INJECT_R11 = 6,
	INJECT_R10 = 7,
	INJECT_R9 = 8,
	INJECT_R8 = 9,
	INJECT_RAX = 10,
	INJECT_RCX = 11,
	INJECT_RDX = 12,
	INJECT_RSI = 13,
	INJECT_RDI = 14,
	INJECT_ORIG_RAX = 15,
	INJECT_RIP = 16,
	INJECT_CS = 17,
	INJECT_FLAGS = 18,
	INJECT_RSP = 19,
	INJECT_SS = 20,
	INJECT_FS_BASE = 21,
};

enum {
	INJECT_RED_ZONE_BYTES = 128,
	INJECT_PROC_PATH_MAX = 64,
	INJECT_PAGE_BYTES = 4096,
	INJECT_LENT_BYTES = 32 << 10, /* a frame with vector registers takes up to half of them */
};

/* In the page behind the stub. */
struct inject_gate {
	uint32_t state; /* enum inject_gate_state */
	uint32_t signal;
	uint64_t result;
	uint64_t errno_at; /* 0: not known */
	uint32_t saved_errno;
	uint32_t unused;
	uint64_t frame_sp; /* of thread 0, for rt_sigreturn */
};
_Static_assert(offsetof(struct inject_gate, signal) == 4 && offsetof(struct inject_gate, result) == 8 &&
		       offsetof(struct inject_gate, errno_at) == 16 &&
		       offsetof(struct inject_gate, saved_errno) == 24 && offsetof(struct inject_gate, frame_sp) == 32,
	       "the stub has these numbers");

enum inject_gate_state {
	GATE_IDLE,
	GATE_CALL,
	GATE_DONE,
};

/* The labels of the stub. */
extern const char inject_stub[], inject_stub_told[], inject_stub_park[], inject_stub_end[];

/* The code of a function that says what its thread is doing (inject_images.c). */
struct inject_code {
	uint64_t start, end;
	const char *why; /* NULL: nothing is in the way by itself */
	bool is_wait, is_join, is_clone;
};

struct inject_private {
	Dwfl *dwfl;
	Dwfl_Module *allocator;    /* a library whose malloc is the process's, not libc */
	struct inject_code *codes; /* by start */
	size_t code_count, code_capacity;
	bool are_images_old;
	int memory_fd;
	uint64_t since_ns; /* the first thread was asked to stop then; 0: all run */
	/* From the first inject_begin to inject_close: */
	uint64_t area;                         /* of calls: code, a page of data, a stack; 0: not mapped yet */
	uint64_t errno_at;                     /* of the first thread; 0: not known yet */
	uint64_t sigreturn_at, swapcontext_at; /* in the C library */
	int tell_signal;
	uint64_t stack_low,
		stack_high; /* what the kernel has given the process as its stack; it may have grown since */
	/* Between inject_begin and inject_end: */
	bool is_begun;
	bool is_at_syscall; /* the first thread has stopped behind a system call of a call */
	uint64_t frame_at;  /* of the first thread, for the end of calls */
	uint64_t stack_end; /* of calls on a stack of the process; 0: there was none */
	bool is_lent;       /* it was all zeros down there, and is to be that again */
	uint64_t room;      /* where the next room ends */
	char *frame;        /* being made */
	char *vectors;      /* XSAVE area of the first thread */
	size_t vectors_bytes;
	int held_signal;   /* came meanwhile and cannot be blocked */
	bool is_abandoned; /* the first thread is in a call that does not end */
};

/* Whether a call that was given up, or any other, is made again when the thread goes on: the kernel does it by orig_rax. */
static inline bool inject_is_restarted(const uint64_t *registers)
{
	enum {
		ERESTARTSYS_NUMBER = 512,
		ERESTART_RESTARTBLOCK_NUMBER = 516,
	};
	uint64_t error = -registers[INJECT_RAX];

	return (int64_t)registers[INJECT_ORIG_RAX] >= 0 && error >= ERESTARTSYS_NUMBER && error != 515 &&
	       error <= ERESTART_RESTARTBLOCK_NUMBER;
}

struct error *inject_ended(const struct inject *in);
/* Who traces it; 0: nobody. */
long inject_tracer_of(pid_t pid);
/* Of a thread: R, S, D, T, t, Z, X. */
char inject_state_of(pid_t pid, pid_t tid);
/* How often a processor has run that thread. 0: not known. */
uint64_t inject_turns_of(pid_t pid, pid_t tid);
/* Nothing but its number, or its first thread's, is left. */
bool inject_is_gone(const struct inject *in);
/* By errno: it has ended, or what failed. */
struct error *inject_failed(const struct inject *in, const char *what);
/* own->stack_low and stack_high. */
void inject_find_stack(struct inject *in);
/*
 * Where a stack for calls by the first thread may begin, downwards, INJECT_LENT_BYTES at most. *ret_is_lent: these are zeros, and are to be that
 * again.
 */
uint64_t inject_find_room(struct inject *in, bool *ret_is_lent);
/*
 * As waitpid for any thread that does not wait. A stop for a signal stays to be told until the thread goes on, or waitpid takes it.
 */
pid_t inject_next_event(int *ret);
/* Something has happened to that thread: it stands still by itself, or for a signal, which it gets, or is no more. */
struct error *inject_take_event(struct inject *in, pid_t tid, int status);
/* The thread goes on. */
struct error *inject_continue(struct inject *in, struct inject_thread *thread);

/* The registers of a thread that stopped in a system call are made such that the call goes on. True: they have changed. */
bool inject_restart(struct inject_thread *thread);

struct error *inject_calls_close(struct inject *in);
/* pc is in the code that makes calls, of a tracer that has died, or waits there. */
bool inject_is_stub(struct inject *in, uint64_t pc);

struct error *inject_images_open(struct inject *in);
/* own->sigreturn_at, if there is one. */
void inject_images_find_return(struct inject *in);
void inject_images_close(struct inject *in);

#endif

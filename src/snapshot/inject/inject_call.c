/*
 * inject_call.c - calls of functions by the first thread, such that the tracer may die at any instant.
 *
 * The kernel lets all threads go on when the tracer dies: so each of them is at any time where it finds its way back by itself. As after
 * a handler of a signal this is rt_sigreturn, with a frame that was written before the thread's registers are changed. Nothing is written
 * into the program's code.
 *
 *      area  .-----------------.   thread 0                                other threads, where the call is to be alone
 *            | stub (r-x)      |   is the gate GATE_CALL? no: -.           parked: while the gate is GATE_CALL wait (futex)
 *            | struct inject_gate     |   calls the function          |           rt_sigreturn: where it was
 *            | stack of calls  |   notes what it returns       |
 *            |  frames ...     |   puts errno back             |
 *            '-----------------'   gate = GATE_DONE, wakes     |
 *                                  raises a signal  <----------'
 *                                  rt_sigreturn: where it was
 *
 * The tracer sees the signal, of which the process itself takes no notice: it is ignored, by default or by the program. Then it puts the
 * registers back itself, or makes the next call; those of parked threads as well. So what is said above happens only without a tracer:
 *
 *      it dies while            the threads
 *      registers are written    find the gate not at GATE_CALL: no call is made, and none waits
 *      the call is made         wait in the futex until it is over, with all signals blocked as before
 *      registers are put back   go on, or find the gate at GATE_DONE
 *
 * A write of one word, the gate, decides whether the call takes place. The area itself is mapped by calls of mmap and mprotect on the
 * thread's own stack, below the red zone, or at the low end of the process's stack (inject_find_room), which return to the C library's own
 * rt_sigreturn.
 *
 * The mask of a thread and its registers are two writes. Had the tracer died between them, the thread would be in the stub with its own mask,
 * and the next signal would be handled at the top of the alternate stack, if the thread has one: also where it was in a handler on that stack,
 * whose frames would be written over. So between its own place and the stub a thread is in a third place, where nothing is pushed and either
 * mask does:
 *
 *      its own place        its mask                 rip: swapcontext of the C library, which writes nothing to the stack that it leaves
 *      the crossing         its mask, then all   ->  rsp: its own; where the frame is on that stack, below the frame
 *      the stub             all                      rsi: a context with all signals blocked, rt_sigreturn, and the frame as stack
 *
 * A signal that comes in the crossing is handled on the stack that the thread is on, below what is in use there, and when the tracer is dead
 * swapcontext blocks all signals before it takes the thread off that stack. The way back is the same.
 *
 * A thread that was in a system call has left it with -ERESTART... in rax and the call's number in orig_rax. When its registers are
 * put back and the thread goes on, the kernel makes the system call again, and where it has a timeout goes on with what is left of it
 * (restart_syscall). The frame for the end without a tracer has the registers of the call itself: it is made again from its beginning.
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "snapshot/inject/inject_private.h"

enum {
	AREA_BYTES = 16 << 20,
	LEAST_STACK_BYTES = 1 << 20,
	VECTORS_BYTES = 16 << 10,
	FLAGS_CLEARED = 0x40500, /* alignment checks, direction, trap */
	SIGNAL_SET_BYTES = 8,
	WAIT_NS = 50000,
	LET_GO_NS = 20000000,
	SYSCALL_BYTES = 2,
	SYSCALL_STOP = SIGTRAP | 0x80,
	CLOSE_TRIES = 4,
	NO_STACK_FLAGS = 0x55,   /* no sigaltstack has them: rt_sigreturn leaves it as it is */
	FLOAT_CONTROL = 0x37f,   /* of the x87 unit: no exceptions */
	FLOAT_EMPTY = 0xffff,    /* no register is in use */
	VECTOR_CONTROL = 0x1f80, /* the same: mxcsr */
};

#define CALL_NS UINT64_C(15000000000)

static uint64_t gate_of(const struct inject_private *own)
{
	return own->area + INJECT_PAGE_BYTES;
}

static uint64_t stub_at(const struct inject_private *own, const char *label)
{
	return own->area + (uint64_t)(label - inject_stub);
}

/* ---- frames ---- */

/* As the kernel has it: struct rt_sigframe, before the vector registers. */
struct signal_frame {
	uint64_t return_address;
	uint64_t flags, link, stack_at;
	uint32_t stack_flags, stack_unused;
	uint64_t stack_bytes;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, vectors, reserved[8];
	uint64_t mask;
	char info[128];
};
_Static_assert(sizeof(struct signal_frame) == 440, "struct rt_sigframe");

enum {
	FRAME_FLAGS = 7, /* it has XSAVE data; ss is there and to be put back */
	MAGIC_BEGIN = 0x46505853,
	MAGIC_END = 0x46505845,
	SOFTWARE_OFF = 464, /* struct _fpx_sw_bytes in the legacy area */
	HEADER_OFF = 512,
	VECTORS_LEAST_BYTES = 576,
	TILES_FIRST = 17, /* AMX: state that a process has to ask for */
	TILES_LAST = 18,
};

struct software_bytes {
	uint32_t magic, extended_size;
	uint64_t features;
	uint32_t size, padding[7];
};
_Static_assert(sizeof(struct software_bytes) == 48, "struct _fpx_sw_bytes");

/* XSAVE data as ptrace has it becomes what rt_sigreturn takes: which features, up to where, and an end. The size in bytes. */
static size_t finish_vectors(char *vectors, size_t len_bytes)
{
	const uint32_t magic = MAGIC_END;
	struct software_bytes software = {.magic = MAGIC_BEGIN};
	uint64_t has, used;
	uint32_t size = VECTORS_LEAST_BYTES;

	memcpy(&has, vectors + SOFTWARE_OFF, sizeof has);
	memcpy(&used, vectors + HEADER_OFF, sizeof used);
	for (unsigned int i = TILES_FIRST; i <= TILES_LAST; i++)
		if (!(used >> i & 1))
			has &= ~(UINT64_C(1) << i);
	for (unsigned int i = 2; i < 63; i++) {
		uint32_t bytes, offset, ecx, edx;

		if (!(has >> i & 1))
			continue;
		__cpuid_count(0xd, i, bytes, offset, ecx, edx);
		if (offset + bytes <= len_bytes && offset + bytes > size)
			size = offset + bytes;
	}
	software.size = size;
	software.extended_size = size + (uint32_t)sizeof magic;
	software.features = has;
	memcpy(vectors + SOFTWARE_OFF, &software, sizeof software);
	memcpy(vectors + size, &magic, sizeof magic);
	return size + sizeof magic;
}

static void set_frame(struct signal_frame *f, const struct inject_private *own, const struct inject_thread *thread,
		      uint64_t vectors)
{
	const uint64_t *r = thread->registers;

	/* In the order of struct user_regs_struct. */
	*f = (struct signal_frame){
		.return_address = own->sigreturn_at,
		.flags = FRAME_FLAGS,
		.stack_flags = NO_STACK_FLAGS,
		.r15 = r[0],
		.r14 = r[1],
		.r13 = r[2],
		.r12 = r[3],
		.rbp = r[4],
		.rbx = r[INJECT_RBX],
		.r11 = r[INJECT_R11],
		.r10 = r[INJECT_R10],
		.r9 = r[INJECT_R9],
		.r8 = r[INJECT_R8],
		.rax = r[INJECT_RAX],
		.rcx = r[INJECT_RCX],
		.rdx = r[INJECT_RDX],
		.rsi = r[INJECT_RSI],
		.rdi = r[INJECT_RDI],
		.rip = r[INJECT_RIP],
		.rsp = r[INJECT_RSP],
		.eflags = r[INJECT_FLAGS],
		.cs = (uint16_t)r[INJECT_CS],
		.ss = (uint16_t)r[INJECT_SS],
		.vectors = vectors,
		.mask = thread->mask,
	};
	if (inject_is_restarted(r)) {
		f->rax = r[INJECT_ORIG_RAX];
		f->rip -= SYSCALL_BYTES;
	}
}

/* What swapcontext of glibc needs of a ucontext_t. */
struct crossing {
	uint64_t to_before[20], to_rsp, to_rip, to_between[6], to_float_at, to_reserved[8], to_mask[16];
	uint64_t to_float[3]; /* controls, state, tags */
	uint32_t to_vector_control, to_unused;
	uint64_t from[58]; /* it keeps there what nobody reads */
};
_Static_assert(offsetof(struct crossing, to_rsp) == 0xa0 && offsetof(struct crossing, to_float_at) == 0xe0 &&
		       offsetof(struct crossing, to_mask) == 0x128 && offsetof(struct crossing, to_float) == 0x1a8 &&
		       offsetof(struct crossing, to_vector_control) == 0x1c0,
	       "ucontext_t");

static struct error *write_crossing(struct inject *in, uint64_t at, uint64_t frame_at)
{
	struct crossing c = {.to_rsp = frame_at + sizeof(uint64_t),
			     .to_rip = in->own->sigreturn_at,
			     .to_float_at = at + offsetof(struct crossing, to_float),
			     .to_float = {FLOAT_CONTROL, FLOAT_EMPTY},
			     .to_vector_control = VECTOR_CONTROL};

	memset(c.to_mask, 0xff, sizeof c.to_mask);
	return inject_write(in, at, &c, sizeof c);
}

/* Writes the thread's frame below that address, and its crossing. *ret: where the frame is. */
static struct error *write_frame(struct inject *in, struct inject_thread *thread, uint64_t below, uint64_t *ret)
{
	struct inject_private *own = in->own;
	char *vectors = own->frame + sizeof(struct signal_frame) +
			INJECT_PAGE_BYTES; /* in front of it there is room to move the frame */
	struct iovec read = {vectors, VECTORS_BYTES};
	struct signal_frame frame;
	uint64_t vectors_at, at, crossing_at = (below - sizeof(struct crossing)) & ~UINT64_C(63);
	struct error *err;
	size_t len;

	memset(vectors, 0, VECTORS_BYTES);
	if (ptrace(PTRACE_GETREGSET, thread->tid, (void *)NT_X86_XSTATE, &read) != 0)
		return inject_failed(in, "its vector registers cannot be read");
	len = finish_vectors(vectors, read.iov_len);
	vectors_at = (crossing_at - len) & ~UINT64_C(63);
	at = ((vectors_at - sizeof frame) & ~UINT64_C(15)) - sizeof frame.return_address;
	set_frame(&frame, own, thread, vectors_at);
	memcpy(vectors - (vectors_at - at), &frame, sizeof frame);
	err = inject_write(in, at, vectors - (vectors_at - at), vectors_at - at + len)
		      ?: write_crossing(in, crossing_at, at);
	if (err)
		return err;
	thread->crossing_at = crossing_at;
	thread->crossing_sp = thread->registers[INJECT_RSP];
	*ret = at;
	return NULL;
}

static struct error *save_vectors(struct inject *in)
{
	struct inject_private *own = in->own;
	struct iovec read = {own->vectors, VECTORS_BYTES};

	if (ptrace(PTRACE_GETREGSET, in->threads[0].tid, (void *)NT_X86_XSTATE, &read) != 0)
		return inject_failed(in, "its vector registers cannot be read");
	own->vectors_bytes = read.iov_len;
	return NULL;
}

/* ---- registers ---- */

static struct error *read_mask(struct inject *in, struct inject_thread *thread)
{
	if (ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)SIGNAL_SET_BYTES, &thread->mask) != 0)
		return inject_failed(in, "its signal mask cannot be read");
	return NULL;
}

static void begin_registers(const struct inject_thread *thread, uint64_t *registers)
{
	memcpy(registers, thread->registers, sizeof thread->registers);
	registers[INJECT_FLAGS] &= ~(uint64_t)FLAGS_CLEARED;
	registers[INJECT_ORIG_RAX] = UINT64_MAX;
}

static bool set_registers(const struct inject_thread *thread, const uint64_t *registers)
{
	return ptrace(PTRACE_SETREGS, thread->tid, NULL, registers) == 0;
}

/* Puts the thread where it finds its way back with any mask, and gives it that one. */
static bool cross(const struct inject *in, const struct inject_thread *thread, uint64_t mask)
{
	uint64_t registers[INJECT_REGISTERS];

	begin_registers(thread, registers);
	registers[INJECT_RIP] = in->own->swapcontext_at;
	registers[INJECT_RSP] = thread->crossing_sp;
	registers[INJECT_RSI] = thread->crossing_at;
	registers[INJECT_RDI] = thread->crossing_at + offsetof(struct crossing, from);
	return set_registers(thread, registers) &&
	       ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)SIGNAL_SET_BYTES, &mask) == 0;
}

static struct error *send_to(struct inject *in, const struct inject_thread *thread, const uint64_t *registers,
			     uint64_t mask)
{
	return cross(in, thread, mask) && set_registers(thread, registers)
		       ? NULL
		       : inject_failed(in, "its registers cannot be written");
}

/* One that was not sent anywhere is where it was. */
static struct error *put_back(struct inject *in, struct inject_thread *thread)
{
	if (!thread->crossing_at)
		return NULL;
	if (!cross(in, thread, thread->mask) || !set_registers(thread, thread->registers))
		return inject_failed(in, "its registers cannot be put back");
	thread->crossing_at = 0;
	return NULL;
}

/* Signals that a call may end with are not blocked: the kernel would take their handlers away. */
static uint64_t mask_of_calls(const struct inject_private *own)
{
	static const int sent[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	uint64_t mask = ~UINT64_C(0);

	for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
		mask &= ~(UINT64_C(1) << (sent[i] - 1));
	return own->tell_signal ? mask & ~(UINT64_C(1) << (own->tell_signal - 1)) : mask;
}

static void set_arguments(uint64_t *registers, const uint64_t arguments[INJECT_ARGUMENTS])
{
	static const uint8_t places[INJECT_ARGUMENTS] = {INJECT_RDI, INJECT_RSI, INJECT_RDX,
							 INJECT_RCX, INJECT_R8,  INJECT_R9};

	for (int i = 0; i < INJECT_ARGUMENTS; i++)
		registers[places[i]] = arguments[i];
}

/* ---- waiting ---- */

static void nap(void)
{
	const struct timespec ts = {0, WAIT_NS};

	nanosleep(&ts, NULL);
}

static bool is_sent(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

/* The next stop of the first thread, until that time. *ret_signal: SYSCALL_STOP, a signal, or 0 for a stop by itself; -1: there was none. */
static struct error *wait_for_stop(struct inject *in, uint64_t until_ns, int *ret_signal)
{
	int status;

	for (;;) {
		struct error *err;
		pid_t got = inject_next_event(&status);

		if (got == in->pid && WIFSTOPPED(status))
			break;
		if (got < 0 && errno != EINTR)
			return inject_ended(in);
		err = got > 0 ? inject_take_event(in, got, status) : NULL;
		if (err)
			return err;
		if (got <= 0 && inject_now_ns() >= until_ns) {
			*ret_signal = -1;
			return NULL;
		}
		if (got <= 0)
			nap();
	}
	*ret_signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	/* It is known now, and not to be told again. */
	waitpid(in->pid, &status, __WALL | WNOHANG);
	return NULL;
}

static struct error *read_now(struct inject *in, uint64_t *registers)
{
	if (ptrace(PTRACE_GETREGS, in->threads[0].tid, NULL, registers) != 0)
		return inject_failed(in, "its registers cannot be read");
	return NULL;
}

static struct error *ended_by(const struct inject *in, int signal, uint64_t pc)
{
	return error_create(ERROR_FORMAT, "process %d: a call made in it was ended by signal %d at 0x%llx",
			    (int)in->pid, signal, (unsigned long long)pc);
}

static struct error *does_not_end(struct inject *in)
{
	in->own->is_abandoned = true;
	return error_create(ERROR_FORMAT, "process %d: a call made in it has not ended yet; it is left to itself",
			    (int)in->pid);
}

/* ---- calls on the thread's own stack ---- */

/* Until the function has made that system call. */
static struct error *wait_for_syscall(struct inject *in, uint64_t number, uint64_t *ret)
{
	uint64_t registers[INJECT_REGISTERS], until_ns = inject_now_ns() + CALL_NS;
	bool is_entered = false;
	int signal = -1;

	for (;;) {
		struct error *err = NULL;

		if (ptrace(PTRACE_SYSCALL, in->threads[0].tid, NULL, NULL) != 0)
			return inject_failed(in, "does not go on");
		err = wait_for_stop(in, until_ns, &signal) ?: read_now(in, registers);
		if (err)
			return err;
		if (signal < 0)
			return does_not_end(in);
		if (is_sent(signal))
			return ended_by(in, signal, registers[INJECT_RIP]);
		if (signal && signal != SYSCALL_STOP)
			in->own->held_signal = signal;
		if (signal != SYSCALL_STOP || registers[INJECT_ORIG_RAX] != number)
			continue;
		if (is_entered) {
			*ret = registers[INJECT_RAX];
			return NULL;
		}
		is_entered = true;
	}
}

static struct error *bare_call(struct inject *in, uint64_t function, uint64_t number,
			       const uint64_t arguments[INJECT_ARGUMENTS], uint64_t *ret)
{
	struct inject_thread *thread = in->threads;
	uint64_t registers[INJECT_REGISTERS], at = 0, result = 0;
	struct error *err;

	if (!in->own->stack_end)
		in->own->stack_end = inject_find_room(in, &in->own->is_lent);
	err = write_frame(in, thread, in->own->stack_end, &at);
	if (err)
		return err;
	if (!in->own->is_lent)
		thread->crossing_sp = at;
	begin_registers(thread, registers);
	set_arguments(registers, arguments);
	registers[INJECT_RAX] = 0;
	registers[INJECT_RSP] = at;
	registers[INJECT_RIP] = function;
	in->own->is_at_syscall = true;
	err = send_to(in, thread, registers, mask_of_calls(in->own)) ?: wait_for_syscall(in, number, &result);
	if (err)
		return err;
	if (result > UINT64_MAX - INJECT_PAGE_BYTES)
		return error_os((int)-result, "process %d: has no memory for calls", (int)in->pid);
	*ret = result;
	return NULL;
}

/* Where the kernel makes system calls again by the registers: behind that of a bare call it is not. */
static struct error *leave_syscall(struct inject *in)
{
	int signal = -1;
	struct error *err;

	if (!in->own->is_at_syscall)
		return NULL;
	if (ptrace(PTRACE_INTERRUPT, in->threads[0].tid, NULL, NULL) != 0 ||
	    ptrace(PTRACE_CONT, in->threads[0].tid, NULL, NULL) != 0)
		return inject_failed(in, "does not go on");
	err = wait_for_stop(in, inject_now_ns() + CALL_NS, &signal);
	if (!err && signal < 0)
		err = does_not_end(in);
	if (!err)
		in->own->is_at_syscall = false;
	return err;
}

static struct error *map_area(struct inject *in)
{
	struct inject_private *own = in->own;
	const uint64_t map[INJECT_ARGUMENTS] = {
		0, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, UINT64_MAX, 0};
	uint64_t mmap_at = inject_find(in, "libc.so.6", "mmap"), mprotect_at = inject_find(in, "libc.so.6", "mprotect"),
		 area = 0, ignored;
	struct error *err;

	if (!mmap_at || !mprotect_at || !inject_find(in, "libc.so.6", "munmap"))
		return error_create(ERROR_FORMAT, "process %d: its C library is not glibc 2.35 or later", (int)in->pid);
	err = bare_call(in, mmap_at, SYS_mmap, map, &area);
	if (err)
		return err;
	err = inject_write(in, area, inject_stub, (size_t)(inject_stub_end - inject_stub));
	if (!err)
		err = bare_call(in, mprotect_at, SYS_mprotect,
				(const uint64_t[INJECT_ARGUMENTS]){area, INJECT_PAGE_BYTES, PROT_READ | PROT_EXEC},
				&ignored);
	if (!err)
		own->area = area;
	return err;
}

/* ---- calls by the stub ---- */

/* Adds what a line of /proc/PID/status has, if it is that key's: "KEY: value", hexadecimal. */
static void add_set(const char *line, const char *key, uint64_t *set)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len) == 0)
		*set |= strtoull(line + len, NULL, 16);
}

/* *ret_used: the signals that have handlers or are pending; *ret_blocked: those that the first thread blocks. */
static struct error *read_signals(const struct inject *in, FILE *f, uint64_t *ret_used, uint64_t *ret_blocked)
{
	char *line = NULL;
	size_t capacity = 0;
	uint64_t used = 0, blocked = 0;
	struct error *err = NULL;

	while (getline(&line, &capacity, f) > 0) {
		add_set(line, "SigCgt:", &used);
		add_set(line, "SigPnd:", &used);
		add_set(line, "ShdPnd:", &used);
		add_set(line, "SigBlk:", &blocked);
	}
	if (!feof(f))
		err = inject_failed(in, "its signals cannot be read");
	free(line);
	if (err)
		return err;
	*ret_used = used;
	*ret_blocked = blocked;
	return NULL;
}

static int first_not_in(uint64_t set)
{
	static const int ignored[] = {SIGURG, SIGWINCH, SIGCONT, SIGCHLD};

	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		if (!(set >> (ignored[i] - 1) & 1))
			return ignored[i];
	return 0;
}

/* A signal that nothing happens for, best one that is not blocked: who takes blocked ones by sigwait would miss it. */
static struct error *choose_signal(struct inject *in)
{
	char path[INJECT_PROC_PATH_MAX];
	uint64_t used = 0, blocked = 0;
	struct error *err;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)in->pid);
	f = fopen(path, "re");
	if (!f)
		return inject_ended(in);
	err = read_signals(in, f, &used, &blocked);
	fclose(f);
	if (err)
		return err;
	in->own->tell_signal = first_not_in(used | blocked) ?: first_not_in(used);
	return in->own->tell_signal
		       ? NULL
		       : error_create(
				 ERROR_FORMAT,
				 "process %d: has handlers for SIGURG, SIGWINCH, SIGCONT and SIGCHLD: calls need one of them",
				 (int)in->pid);
}

static struct error *set_gate(struct inject *in, enum inject_gate_state state)
{
	const uint32_t word = state;

	return inject_write(in, gate_of(in->own) + offsetof(struct inject_gate, state), &word, sizeof word);
}

static struct error *prepare_gate(struct inject *in)
{
	struct inject_private *own = in->own;
	struct inject_gate gate = {.state = GATE_IDLE,
				   .signal = (uint32_t)own->tell_signal,
				   .errno_at = own->errno_at,
				   .frame_sp = own->frame_at + sizeof(uint64_t)};
	struct error *err = NULL;

	if (own->errno_at)
		err = inject_read(in, own->errno_at, &gate.saved_errno, sizeof gate.saved_errno);
	return err ? err : inject_write(in, gate_of(own), &gate, sizeof gate);
}

/* The other threads are where they wait for the call's end, should the tracer die. */
static struct error *park(struct inject *in)
{
	struct error *err = NULL;

	for (size_t i = 1; !err && i < in->thread_count; i++) {
		struct inject_thread *thread = &in->threads[i];
		uint64_t registers[INJECT_REGISTERS], room = inject_room(in, VECTORS_BYTES), at = 0;

		if (!room)
			return error_create(ERROR_FORMAT, "process %d: has too many threads (%zu)", (int)in->pid,
					    in->thread_count);
		err = read_mask(in, thread) ?: write_frame(in, thread, room + VECTORS_BYTES, &at);
		if (err)
			return err;
		in->own->room = at & ~UINT64_C(63);
		begin_registers(thread, registers);
		registers[INJECT_RBX] = gate_of(in->own);
		registers[INJECT_RSP] = at + sizeof(uint64_t);
		registers[INJECT_RIP] = stub_at(in->own, inject_stub_park);
		thread->is_parked = true;
		err = send_to(in, thread, registers, UINT64_MAX);
	}
	return err;
}

static struct error *unpark(struct inject *in)
{
	struct error *err = NULL;

	for (size_t i = 1; i < in->thread_count; i++) {
		struct error *one = in->threads[i].is_parked ? put_back(in, &in->threads[i]) : NULL;

		in->threads[i].is_parked = false;
		if (err)
			error_destroy(one);
		else
			err = one;
	}
	return err;
}

/* Those that stand still go on, and the first one is in its call. */
static struct error *let_others_go(struct inject *in)
{
	struct error *err = NULL;

	in->is_stopped = false;
	in->own->since_ns = 0;
	for (size_t i = 1; !err && i < in->thread_count; i++)
		if (!in->threads[i].is_running)
			err = inject_continue(in, &in->threads[i]);
	return err;
}

/* Until the stub raises its signal. *ret: what the function has returned. */
static struct error *wait_for_return(struct inject *in, bool is_alone, uint64_t *ret)
{
	uint64_t registers[INJECT_REGISTERS], begun_ns = inject_now_ns(), end_ns = begun_ns + CALL_NS;
	uint64_t left_ns = inject_left_ns(in), let_go_ns = begun_ns + (left_ns < LET_GO_NS ? left_ns : LET_GO_NS);
	bool is_let_go = is_alone;
	int signal = -1;

	for (;;) {
		struct error *err = wait_for_stop(in, is_let_go ? end_ns : let_go_ns, &signal);

		if (!err && signal < 0 && is_let_go)
			return does_not_end(in);
		if (!err && signal < 0) {
			err = let_others_go(in);
			is_let_go = true;
			if (!err)
				continue;
		}
		err = err ?: read_now(in, registers);
		if (err)
			return err;
		if (registers[INJECT_RIP] == stub_at(in->own, inject_stub_told) && signal == in->own->tell_signal)
			return inject_read(in, gate_of(in->own) + offsetof(struct inject_gate, result), ret,
					   sizeof *ret);
		if (is_sent(signal))
			return ended_by(in, signal, registers[INJECT_RIP]);
		if (signal && signal != in->own->tell_signal)
			in->own->held_signal = signal;
		if (ptrace(PTRACE_CONT, in->threads[0].tid, NULL, NULL) != 0)
			return inject_failed(in, "does not go on");
	}
}

struct error *inject_call(struct inject *in, uint64_t function, const uint64_t arguments[INJECT_ARGUMENTS],
			  bool is_alone, uint64_t *ret)
{
	struct inject_private *own = in->own;
	uint64_t registers[INJECT_REGISTERS];
	struct error *err = prepare_gate(in), *end;

	if (err)
		return err;
	begin_registers(in->threads, registers);
	set_arguments(registers, arguments);
	registers[INJECT_RAX] = function;
	registers[INJECT_RBX] = gate_of(own);
	registers[INJECT_RIP] = stub_at(own, inject_stub);
	err = is_alone ? park(in) : NULL;
	if (!err) {
		registers[INJECT_RSP] = own->room & ~UINT64_C(63);
		own->is_at_syscall = false;
		err = send_to(in, in->threads, registers, mask_of_calls(own));
	}
	if (!err)
		err = set_gate(in, GATE_CALL);
	if (!err && ptrace(PTRACE_CONT, in->threads[0].tid, NULL, NULL) != 0)
		err = inject_failed(in, "does not go on");
	if (!err)
		err = wait_for_return(in, is_alone, ret);
	if (own->is_abandoned)
		return err;
	end = unpark(in);
	if (err)
		error_destroy(end);
	return err ? err : end;
}

uint64_t inject_room(struct inject *in, size_t len_bytes)
{
	struct inject_private *own = in->own;

	if (own->room - gate_of(own) < INJECT_PAGE_BYTES + LEAST_STACK_BYTES + len_bytes)
		return 0;
	own->room = (own->room - len_bytes) & ~UINT64_C(63);
	return own->room;
}

/* ---- beginning and ending ---- */

static struct error *begin_thread(struct inject *in)
{
	struct inject_private *own = in->own;

	if (!own->frame)
		own->frame =
			malloc(sizeof(struct signal_frame) + INJECT_PAGE_BYTES + VECTORS_BYTES + INJECT_PAGE_BYTES);
	if (!own->vectors)
		own->vectors = malloc(VECTORS_BYTES);
	if (!own->frame || !own->vectors)
		return &error_no_memory;
	return save_vectors(in) ?: read_mask(in, in->threads);
}

struct error *inject_begin(struct inject *in)
{
	struct inject_private *own = in->own;
	const uint64_t none[INJECT_ARGUMENTS] = {0};
	struct error *err = begin_thread(in);

	if (!own->swapcontext_at)
		own->swapcontext_at = inject_find(in, "libc.so.6", "swapcontext");
	if (!err && (!own->sigreturn_at || !own->swapcontext_at))
		err = error_create(ERROR_FORMAT, "process %d: its C library has no rt_sigreturn or swapcontext",
				   (int)in->pid);
	if (!err)
		err = choose_signal(in);
	if (err)
		return err;
	own->is_begun = true;
	if (!own->area)
		err = map_area(in);
	if (err)
		return err;
	err = write_frame(in, in->threads, own->area + AREA_BYTES, &own->frame_at);
	own->room = own->frame_at & ~UINT64_C(63);
	if (!err && !own->errno_at)
		err = inject_call(in, inject_find(in, "libc.so.6", "__errno_location"), none, false, &own->errno_at);
	return err;
}

static struct error *give_back_room(struct inject *in)
{
	static const char zeros[INJECT_LENT_BYTES];
	uint64_t end = in->own->stack_end;

	in->own->stack_end = 0;
	return end && in->own->is_lent ? inject_write(in, end - sizeof zeros, zeros, sizeof zeros) : NULL;
}

struct error *inject_end(struct inject *in)
{
	struct inject_private *own = in->own;
	struct iovec vectors = {own->vectors, own->vectors_bytes};
	struct error *err, *end;

	if (!own->is_begun || own->is_abandoned)
		return NULL;
	own->is_begun = false;
	err = leave_syscall(in);
	if (own->is_abandoned)
		return err;
	if (ptrace(PTRACE_SETREGSET, in->threads[0].tid, (void *)NT_X86_XSTATE, &vectors) != 0)
		err = err ?: inject_failed(in, "its vector registers cannot be put back");
	end = put_back(in, in->threads);
	if (!end)
		end = give_back_room(in);
	if (err)
		error_destroy(end);
	return err ? err : end;
}

/* Where the process goes on: the area is not needed any more. */
static struct error *unmap_area(struct inject *in)
{
	struct inject_private *own = in->own;
	const uint64_t arguments[INJECT_ARGUMENTS] = {own->area, AREA_BYTES};
	uint64_t ignored;
	struct error *err, *end;

	const char *why = NULL;

	for (int i = 0; own->area && !own->is_abandoned && !in->is_stopped && i < CLOSE_TRIES; i++) {
		err = inject_stop(in, &why);
		if (err)
			return err;
	}
	if (!own->area || own->is_abandoned || !in->is_stopped)
		return NULL;
	own->area = 0;
	err = begin_thread(in);
	if (err)
		return err;
	own->is_begun = true;
	err = bare_call(in, inject_find(in, "libc.so.6", "munmap"), SYS_munmap, arguments, &ignored);
	end = inject_end(in);
	if (err)
		error_destroy(end);
	return err ? err : end;
}

struct error *inject_calls_close(struct inject *in)
{
	struct error *err = inject_end(in), *end = NULL;

	if (!err)
		end = unmap_area(in);
	free(in->own->vectors);
	in->own->vectors = NULL;
	return err ? err : end;
}

/*
 * waits.c - what a thread waits for: the futex of the system call that it is in, and which function of the C library has
 * called it there.
 *
 *      pthread_mutex_t (glibc, x86-64):  0 lock: 0 free, 1 held, 2 and waited for | 4 count | 8 owner | 12 users | 16 kind
 *      pthread_rwlock_t:  0 readers: 1 write phase, 2 a writer has it or is to get it, 4 readers wait for writers, 8 each reader |
 *                         4 writers | 8 futex of the phase | 12 futex of the writers | 24 writer, in the write phase
 *
 * The lock is the futex, so the address of one is that of the other. The owner's field is written behind taking the lock and
 * cleared before giving it back: a thread that stands there holds it.
 */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "snapshot/state/waits.h"

enum {
	FRAMES_MAX = 8, /* of the C library, above the system call */
	MUTEX_OWNER_OFF = 8,
	/* pthread_rwlock_t */
	RWLOCK_BYTES_READ = 28,
	RWLOCK_PHASE_OFF = 8,
	RWLOCK_WRITERS_OFF = 12,
	RWLOCK_WRITER = 6, /* word of the writer */
	RWLOCK_WRITE_PHASE = 1,
	RWLOCK_WRITE_LOCKED = 2,
	RWLOCK_READERS_SHIFT = 3,
};

/* Part of the function's name, whatever marks glibc puts before and behind; the innermost frame that has one decides. */
static const struct {
	const char *name;
	enum snapshot_wait_kind kind;
} waiters[] = {
	{"pthread_mutex_", SNAPSHOT_WAIT_MUTEX},     {"mtx_lock", SNAPSHOT_WAIT_MUTEX},
	{"mtx_timedlock", SNAPSHOT_WAIT_MUTEX},      {"pthread_cond_", SNAPSHOT_WAIT_CONDITION},
	{"cnd_wait", SNAPSHOT_WAIT_CONDITION},       {"cnd_timedwait", SNAPSHOT_WAIT_CONDITION},
	{"pthread_rwlock_", SNAPSHOT_WAIT_RWLOCK},   {"sem_wait", SNAPSHOT_WAIT_SEMAPHORE},
	{"sem_timedwait", SNAPSHOT_WAIT_SEMAPHORE},  {"sem_clockwait", SNAPSHOT_WAIT_SEMAPHORE},
	{"pthread_barrier_", SNAPSHOT_WAIT_BARRIER}, {"pthread_join", SNAPSHOT_WAIT_JOIN},
	{"pthread_clockjoin", SNAPSHOT_WAIT_JOIN},   {"pthread_timedjoin", SNAPSHOT_WAIT_JOIN},
	{"thrd_join", SNAPSHOT_WAIT_JOIN},
};

static enum snapshot_wait_kind kind_of(const char *function)
{
	for (size_t i = 0; i < sizeof waiters / sizeof waiters[0]; i++)
		if (strstr(function, waiters[i].name))
			return waiters[i].kind;
	return SNAPSHOT_WAIT_NONE;
}

static struct error *kind_of_frame(struct snapshot *s, const struct snapshot_frame *frame, enum snapshot_wait_kind *ret)
{
	const struct debug_line *lines;
	uint32_t count;
	struct error *err = snapshot_lines(s, frame, &lines, &count);

	for (uint32_t line = 0; !err && line < count && *ret == SNAPSHOT_WAIT_NONE; line++)
		if (lines[line].function)
			*ret = kind_of(lines[line].function);
	return err;
}

/* The pointer that `jmp *offset(%rip)` or `call *offset(%rip)` at `address` goes through. */
static bool read_slot(const struct snapshot *s, uint64_t address, uint8_t modrm, uint64_t *ret)
{
	struct {
		uint8_t opcode, modrm;
		int32_t off;
	} __attribute__((packed)) code;

	return snapshot_read(s, address, &code, sizeof code) && code.opcode == 0xff && code.modrm == modrm &&
	       snapshot_read(s, address + sizeof code + (uint64_t)(int64_t)code.off, ret, sizeof *ret);
}

/* Which function of another image the call in front of the return address has entered: by `call *slot(%rip)`, or by a stub of the PLT. */
static bool called_function(const struct snapshot *s, uint64_t return_address, uint64_t *ret)
{
	enum {
		CALL_LEN_BYTES = 5,
		CALL_SLOT_LEN_BYTES = 6,
		CALL_SLOT = 0x15,
		JUMP_SLOT = 0x25,
	};
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	struct {
		uint8_t opcode;
		int32_t off;
	} __attribute__((packed)) call;
	uint8_t stub[sizeof endbr64 + 1];
	uint64_t at;

	if (read_slot(s, return_address - CALL_SLOT_LEN_BYTES, CALL_SLOT, ret))
		return true;
	if (!snapshot_read(s, return_address - CALL_LEN_BYTES, &call, sizeof call) || call.opcode != 0xe8)
		return false;
	at = return_address + (uint64_t)(int64_t)call.off;
	if (!snapshot_read(s, at, stub, sizeof stub))
		return false;
	if (memcmp(stub, endbr64, sizeof endbr64) == 0)
		at += sizeof endbr64 + (stub[sizeof endbr64] == 0xf2); /* bnd */
	return read_slot(s, at, JUMP_SLOT, ret);
}

/*
 * Only frames of the image that the system call is in, or of a statically linked program those above the first unknown one. Without debug
 * information of the C library its own functions have no names, and the one that was called may have jumped to one of these (sem_wait,
 * pthread_join): so the last resort is what the program has called.
 */
static struct error *find_kind(struct snapshot *s, const struct snapshot_thread *thread, enum snapshot_wait_kind *ret)
{
	struct snapshot_frame called = {.is_activation = true};
	const struct snapshot_frame *frame = thread->frames, *end = frame + thread->frame_count;
	struct error *err = NULL;

	*ret = SNAPSHOT_WAIT_NONE;
	for (; frame < end && frame < thread->frames + FRAMES_MAX; frame++) {
		if (frame->module != thread->frames->module || frame->is_trampoline)
			break;
		err = kind_of_frame(s, frame, ret);
		if (err || *ret != SNAPSHOT_WAIT_NONE)
			return err;
	}
	if (frame == thread->frames || frame == end || frame->is_trampoline ||
	    !called_function(s, frame->pc, &called.pc))
		return NULL;
	called.module = thread->frames->module;
	return kind_of_frame(s, &called, ret);
}

static void find_owner(const struct snapshot *s, int command, struct snapshot_wait *ret)
{
	uint32_t lock = 0, owner = 0;

	if (!snapshot_read(s, ret->address, &lock, sizeof lock))
		return;
	if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2) {
		owner = lock & FUTEX_TID_MASK;
		ret->owner = (pid_t)owner;
		ret->is_free = !owner;
		return;
	}
	ret->is_free = !lock;
	if (lock && snapshot_read(s, ret->address + MUTEX_OWNER_OFF, &owner, sizeof owner) && owner <= INT32_MAX)
		ret->owner = (pid_t)owner;
}

/*
 * The lock begins at a multiple of 8: where the futex does not, it is the writers'. That of the phase has a number below 4, and the word
 * of the readers, for which readers wait that let writers go first, has 4 in it.
 */
static void find_writer(const struct snapshot *s, struct snapshot_wait *ret)
{
	uint32_t words[RWLOCK_BYTES_READ / sizeof(uint32_t)], futex = 0;
	uint64_t lock = ret->address - RWLOCK_WRITERS_OFF;

	if (!snapshot_read(s, ret->address, &futex, sizeof futex))
		return;
	if (ret->address % 8 == 0)
		lock = futex < 4 ? ret->address - RWLOCK_PHASE_OFF : ret->address;
	if (!snapshot_read(s, lock, words, sizeof words))
		return;
	ret->address = lock;
	if (!(words[0] & RWLOCK_WRITE_PHASE))
		ret->readers = words[0] >> RWLOCK_READERS_SHIFT;
	else if (words[0] & RWLOCK_WRITE_LOCKED && words[RWLOCK_WRITER] <= INT32_MAX)
		ret->owner = (pid_t)words[RWLOCK_WRITER];
	ret->is_free = !(words[0] & (RWLOCK_WRITE_PHASE | RWLOCK_WRITE_LOCKED)) && !ret->readers;
}

struct error *snapshot_wait_of(struct snapshot *s, const struct snapshot_thread *thread, struct snapshot_wait *ret)
{
	int command = (int)(thread->wait_arguments[1] & (uint64_t)FUTEX_CMD_MASK & UINT32_MAX);
	uint32_t tid;
	struct error *err;

	*ret = (struct snapshot_wait){0};
	if (thread->waits_in != SYS_futex)
		return NULL;
	if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET && command != FUTEX_LOCK_PI &&
	    command != FUTEX_LOCK_PI2)
		return NULL;
	err = find_kind(s, thread, &ret->kind);
	if (err)
		return err;
	/* A thread that was woken takes the lock again within pthread_cond_wait. */
	if (ret->kind == SNAPSHOT_WAIT_CONDITION && command != FUTEX_WAIT_BITSET)
		ret->kind = SNAPSHOT_WAIT_MUTEX;
	if (ret->kind == SNAPSHOT_WAIT_NONE)
		ret->kind = SNAPSHOT_WAIT_FUTEX;
	ret->address = thread->wait_arguments[0];
	if (ret->kind == SNAPSHOT_WAIT_MUTEX)
		find_owner(s, command, ret);
	else if (ret->kind == SNAPSHOT_WAIT_RWLOCK)
		find_writer(s, ret);
	else if (ret->kind == SNAPSHOT_WAIT_JOIN && snapshot_read(s, ret->address, &tid, sizeof tid) &&
		 tid <= INT32_MAX)
		ret->owner = (pid_t)tid;
	return NULL;
}

/*
 * crash_cause.c - which signal ended the program, who sent it, and what else the kernel says of it; faults and abort have files of
 * their own. Without a signal it is a deadlock, if there is one.
 */
#include "model/crash/crash_cause.h"

#include <inttypes.h>
#include <signal.h>

#include "model/crash/crash_cause_build.h"
#include "snapshot/image/code.h"

enum {
	SECCOMP_CODE = 1, /* SYS_SECCOMP */
	TRAP_BYTES = 3,   /* that are shown of an instruction, at least */
	INT3 = 0xcc,
};

/* ---- signals that are sent ---- */

static bool is_in_handler(const struct cause *q)
{
	for (uint32_t i = 0; i < q->t->machine->frame_count; i++)
		if (q->t->machine->frames[i].is_trampoline)
			return true;
	return false;
}

static void say_sender(struct cause *q)
{
	const struct snapshot *s = q->s;

	if (!s->has_sender || (s->sender == s->pid && s->signal == SIGABRT))
		return;
	if (s->sender == s->pid)
		cause_say(q, "the process sent the signal to itself%s",
			  is_in_handler(q) ? ", in a handler of a signal" : "");
	else if (s->sender)
		cause_say(q, "the signal was sent by process %d of user %u", (int)s->sender, s->sender_user);
	else
		cause_say(q, "the signal was sent by a process that it cannot see (of another pid namespace)");
}

/* ---- instructions ---- */

static void say_trap(struct cause *q)
{
	const struct snapshot_frame *frame = &q->t->machine->frames[0];
	uint8_t byte;

	if (frame->is_activation && snapshot_read(q->s, frame->pc - 1, &byte, 1) && byte == INT3)
		cause_say(q, "a breakpoint in the code (int3)");
}

static void say_illegal(struct cause *q)
{
	static const char hex[] = "0123456789abcdef";
	const struct snapshot_frame *frame = &q->t->machine->frames[0];
	char text[3 * INSTRUCTION_BYTES_MAX + 1] = "";
	struct instruction i;
	size_t len = TRAP_BYTES;

	if (!q->s->has_fault_address || q->s->fault_address != frame->pc)
		return;
	if (snapshot_instruction_at(q->s, frame->pc, &i)) {
		if (i.kind == INSTRUCTION_TRAP) {
			cause_say(
				q,
				"the compiler's trap (ud2): __builtin_trap, a check that failed, or code that is never to be reached");
			return;
		}
		len = i.len_bytes;
	}
	for (size_t at = 0; at < len && at < INSTRUCTION_BYTES_MAX; at++) {
		uint8_t byte;

		if (!snapshot_read(q->s, frame->pc + at, &byte, 1))
			return;
		text[3 * at] = ' ';
		text[3 * at + 1] = hex[byte >> 4];
		text[3 * at + 2] = hex[byte & 15];
	}
	cause_say(q, "an instruction that the processor does not have:%s", text);
}

/* ---- hangs ---- */

static void say_deadlock(struct cause *q)
{
	for (uint32_t i = 0; q->v && i < q->c->thread_count; i++) {
		uint32_t at = i, steps = 0;

		if (!q->v->waits[i].is_deadlocked)
			continue;
		if (q->v->waits[i].owner_thread == i) {
			cause_say(q, "deadlock: thread %" PRIu32 " waits for itself", i + 1);
			return;
		}
		cause_say(q, "deadlock: thread %" PRIu32, i + 1);
		do {
			at = q->v->waits[at].owner_thread;
			cause_say(q, "%s%s waits for thread %" PRIu32, q->text, steps ? ", which" : "", at + 1);
		} while (q->text && at != i && ++steps < q->c->thread_count);
		return;
	}
}

static void say(struct cause *q)
{
	const struct snapshot *s = q->s;

	if (s->is_live || !s->signal) {
		say_deadlock(q);
		return;
	}
	say_sender(q);
	if (q->text)
		return;
	switch (s->signal) {
	case SIGSEGV:
		cause_of_fault(q);
		break;
	case SIGBUS:
		cause_of_bus_error(q);
		break;
	case SIGFPE:
		cause_of_division(q);
		break;
	case SIGABRT:
		cause_of_abort(q);
		break;
	case SIGILL:
		say_illegal(q);
		break;
	case SIGTRAP:
		say_trap(q);
		break;
	case SIGSYS:
		if (s->refused_call >= 0 && s->signal_code == SECCOMP_CODE)
			cause_say(q, "seccomp refused system call %" PRId64, s->refused_call);
		break;
	case SIGXCPU:
		cause_say(q, "the limit on processor time was reached (RLIMIT_CPU)");
		break;
	case SIGXFSZ:
		cause_say(q, "the limit on the size of files was reached (RLIMIT_FSIZE)");
		break;
	default:
		break;
	}
}

struct error *crash_cause_of(const struct crash *c, const struct crash_values *v, struct arena *arena, const char **ret)
{
	struct cause q = {.c = c, .v = v, .s = c->stopped, .arena = arena};

	*ret = NULL;
	if (!c->thread_count || !c->threads[0].machine->frame_count)
		return NULL;
	q.t = &c->threads[0];
	say(&q);
	if (!q.err)
		*ret = q.text;
	return q.err;
}

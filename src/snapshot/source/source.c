/*
 * source.c - what a core and a process have in common: registers of threads, notes.
 */
#include <stdarg.h>

#include "snapshot/source/source.h"

void snapshot_take_registers(const uint64_t user[SNAPSHOT_USER_WORDS], uint64_t ret[SNAPSHOT_REGISTERS])
{
	/* Indices in user_regs_struct (sys/user.h), by DWARF number: rax rdx rcx rbx rsi rdi rbp rsp r8 to r15 rip */
	static const uint8_t places[SNAPSHOT_REGISTERS] = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16};

	for (int i = 0; i < SNAPSHOT_REGISTERS; i++)
		ret[i] = user[places[i]];
}

struct error *snapshot_note(struct snapshot *s, const char *format, ...)
{
	struct snapshot_source *source = s->source;
	const char *text;
	va_list args;

	va_start(args, format);
	text = arena_vprintf(&s->arena, format, args);
	va_end(args);
	return text ? snapshot_note_vec_append(&source->notes, text) : &error_no_memory;
}

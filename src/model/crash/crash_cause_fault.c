/*
 * crash_cause_fault.c - faults of memory and of division, by the instruction and what is mapped where its operand points.
 *
 *      pc is no code            it was called: the call in front of the return address led there, with these very registers
 *      pc is at a call or ret   its target is no address
 *      address                  nothing is mapped there, or what may not be written, or a file has no such page any more
 *
 * A variable is named when its own place has the address, or when it alone of the pointers on the line leads there.
 */
#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "model/crash/crash_cause_build.h"
#include "snapshot/image/code.h"
#include "snapshot/image/elf.h"

enum {
	FIRST_BYTES = 65536, /* that nothing is mapped in (vm.mmap_min_addr): offsets of what a null pointer has */
	RSP = 7,
};

/* "0" or "0x18". */
static const char *number_text(struct cause *q, uint64_t n)
{
	const char *text = n ? arena_printf(q->arena, "0x%" PRIx64, n) : "0";

	return text ? text : "?";
}

/* Bits 47 to 63 differ: no address (of a program that does not ask for more than 47 bits). */
static bool is_no_address(uint64_t address)
{
	const int64_t high = (int64_t)address >> 47;

	return high != 0 && high != -1;
}

/* ---- expressions ---- */

/* The values of a level of a machine frame; the caller deinits. false: none, or an error. */
static bool values_of(struct cause *q, const struct crash_frame *f, struct crash_frame_values *ret)
{
	if (!q->v || q->err)
		return false;
	q->err = crash_values_of(q->v, q->t, f, q->arena, ret);
	return !q->err;
}

static const struct snapshot_value *find_value(const struct crash_frame_values *values, const char *name, size_t len)
{
	for (size_t i = 0; i < values->values.count; i++)
		if (strlen(values->values.items[i].name) == len && memcmp(values->values.items[i].name, name, len) == 0)
			return &values->values.items[i];
	for (size_t i = 0; i < values->arguments.count; i++)
		if (strlen(values->arguments.items[i].name) == len &&
		    memcmp(values->arguments.items[i].name, name, len) == 0)
			return &values->arguments.items[i];
	return NULL;
}

/* "a->b" of "a->b->c.d"; NULL: there is no pointer in it, or it is not known. */
static const struct snapshot_value *pointer_of(const struct crash_frame_values *values, const char *name)
{
	const char *last = NULL;

	for (const char *at = name; (at = strstr(at, "->")) != NULL; at += 2)
		last = at;
	if (!last) {
		last = strrchr(name, '[');
		if (!last)
			return NULL;
	}
	return find_value(values, name, (size_t)(last - name));
}

/* The smallest value that has the address in it. */
static const struct snapshot_value *find_place(const struct snapshot_value_vec *values, uint64_t address)
{
	const struct snapshot_value *found = NULL;

	for (size_t i = 0; i < values->count; i++) {
		const struct snapshot_value *v = &values->items[i];

		if (v->has_address && v->len_bytes && address >= v->address && address - v->address < v->len_bytes &&
		    (!found || v->len_bytes <= found->len_bytes))
			found = v;
	}
	return found;
}

/* Counts pointers that can lead to the address, and those that are not known. */
static void count_pointers(const struct snapshot_value_vec *values, uint64_t address,
			   const struct snapshot_value **found, uint32_t *count)
{
	for (size_t i = 0; i < values->count; i++) {
		const struct snapshot_value *v = &values->items[i];

		if (v->is_known && (!v->is_pointer || v->number > address || address - v->number >= FIRST_BYTES))
			continue;
		if (v->is_known)
			*found = v;
		(*count)++;
	}
}

/* "whole->part->kind, where whole->part is 0", "list, which is 0"; NULL: not known, or not sure. */
static const char *expression_at(struct cause *q, const struct crash_frame *f, uint64_t address)
{
	struct crash_frame_values values;
	const struct snapshot_value *place, *pointer = NULL;
	const char *text = NULL;
	uint32_t count = 0;

	if (!values_of(q, f, &values))
		return NULL;
	place = find_place(&values.values, address);
	if (place)
		pointer = pointer_of(&values, place->name);
	if (pointer && pointer->is_known) {
		text = arena_printf(q->arena, "%s, where %s is %s", place->name, pointer->name,
				    number_text(q, pointer->number));
	} else if (!place) {
		count_pointers(&values.values, address, &pointer, &count);
		count_pointers(&values.arguments, address, &pointer, &count);
		if (count == 1 && pointer)
			text = arena_printf(q->arena, "%s, which is %s", pointer->name,
					    number_text(q, pointer->number));
	}
	crash_frame_values_deinit(&values);
	return text;
}

/* Finds the expression in the levels of the frame that faulted. */
static const char *find_expression(struct cause *q, uint64_t address)
{
	const char *text = NULL;

	for (uint32_t i = 0; i < q->t->frame_count && !text; i++) {
		if (q->t->frames[i].machine != &q->t->machine->frames[0])
			break;
		text = expression_at(q, &q->t->frames[i], address);
	}
	return text;
}

/* The only pointer to a function on the lines of a machine frame that has the number. */
static const char *code_pointer(struct cause *q, uint32_t machine, uint64_t number)
{
	const char *found = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < q->t->frame_count; i++) {
		struct crash_frame_values values;

		if (q->t->frames[i].machine != &q->t->machine->frames[machine] ||
		    !values_of(q, &q->t->frames[i], &values))
			continue;
		for (size_t k = 0; k < values.values.count + values.arguments.count; k++) {
			const struct snapshot_value *v = k < values.values.count
								 ? &values.values.items[k]
								 : &values.arguments.items[k - values.values.count];

			if (!v->is_code || (v->is_known && v->number != number))
				continue;
			found = v->is_known ? v->name : found;
			count++;
		}
		crash_frame_values_deinit(&values);
	}
	return count == 1 ? found : NULL;
}

/* ---- what is mapped ---- */

/* "letters", "a read-only mapping of FILE". */
static const char *place_text(struct cause *q, uint64_t address, const struct snapshot_region *region)
{
	const char *name = NULL, *text;

	if (q->v && !q->err)
		q->err = snapshot_variable_at(q->s, address, q->arena, &name);
	if (name && region->path)
		text = arena_printf(q->arena, "%s, which is read-only in %s", name, region->path);
	else if (region->path)
		text = arena_printf(q->arena, "a read-only mapping of %s", region->path);
	else
		text = "memory that is read-only";
	return text ? text : "?";
}

/* glibc's inner names: __GI___libc_free. */
static const char *outer_name(const char *name)
{
	static const char *const prefixes[] = {"__GI_", "__libc_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0 && name[strlen(prefixes[i])])
			name += strlen(prefixes[i]);
	return name;
}

/* ", in memcpy, which f called": of a library, the function that was called into it. */
static const char *where_text(struct cause *q)
{
	const struct crash_frame *frames = q->t->frames;
	const char *text;
	uint32_t outer = 0;

	if (!q->t->frame_count || frames[0].image == q->s->main_module || frames[0].image >= q->s->module_count)
		return "";
	while (outer + 1 < q->t->frame_count && frames[outer + 1].image == frames[0].image)
		outer++;
	if (outer + 1 == q->t->frame_count || !frames[outer].name || frames[outer].machine->is_trampoline)
		return "";
	text = arena_printf(q->arena, ", in %s, which %s called", outer_name(cause_name(q, &frames[outer])),
			    cause_name(q, &frames[outer + 1]));
	return text ? text : "";
}

/* ---- calls ---- */

/* Describes what is at an address that was called. */
static const char *target_text(struct cause *q, uint64_t address)
{
	static const char first[] = "[0]";
	struct snapshot_region region;
	const char *name = NULL;
	size_t len;

	if (is_no_address(address))
		return "no address";
	if (!snapshot_region_at(q->s, address, &region))
		return "where nothing is mapped";
	if (q->v && !q->err)
		q->err = snapshot_variable_at(q->s, address, q->arena, &name);
	if (!name)
		return "data and no code";
	len = strlen(name);
	if (len > sizeof first - 1 && strcmp(name + len - (sizeof first - 1), first) == 0)
		len -= sizeof first - 1;
	name = arena_printf(q->arena, "the data %.*s and no code", (int)len, name);
	return name ? name : "?";
}

/* "o->flush" of "r = o->flush(v);", which begins at the column of the call. NULL: there is no such text. */
static const char *called_text(struct cause *q, uint32_t machine)
{
	const struct crash_frame *f = cause_frame(q, machine);
	const struct source_file *source;
	const char *line = NULL, *start, *end;

	if (!q->v || q->err || !f || !f->file || !f->line || !f->column)
		return NULL;
	q->err = sources_try(q->v->sources, f->file, &source);
	if (!q->err)
		q->err = source_line(source, f->line, q->arena, &line);
	if (q->err || !line || strlen(line) < f->column)
		return NULL;
	start = end = line + f->column - 1;
	if (!isalpha((unsigned char)*start) && *start != '_')
		return NULL;
	if (start > line && (isalnum((unsigned char)start[-1]) || strchr("_.>:", start[-1])))
		return NULL;
	while (isalnum((unsigned char)*end) || *end == '_' || *end == '.' || (end[0] == '-' && end[1] == '>'))
		end += *end == '-' ? 2 : 1;
	return *end == '(' ? arena_strndup(q->arena, start, (size_t)(end - start)) : NULL;
}

static void say_call(struct cause *q, uint32_t caller, uint64_t target)
{
	const char *value = code_pointer(q, caller, target), *pointer = value ? value : called_text(q, caller);
	const char *number = number_text(q, target), *what = target < FIRST_BYTES ? NULL : target_text(q, target);

	if (pointer)
		cause_say(q, "call through %s, which is %s%s%s", pointer, number, what ? ": " : "", what ? what : "");
	else
		cause_say(q, "call of %s through a pointer in %s%s%s", number, cause_name(q, cause_frame(q, caller)),
			  what ? ": " : "", what ? what : "");
}

/* pc is no code, and nothing of it has run: the registers are those of the call. */
static void say_no_code(struct cause *q)
{
	const struct snapshot_thread *m = q->t->machine;
	struct snapshot_frame at_call = m->frames[0];
	uint64_t address, function, off;
	const char *name = NULL, *number = number_text(q, at_call.pc);
	struct instruction i;

	at_call.registers[RSP] += 8; /* the return address is taken off again */
	if (m->frame_count > 1 && !m->frames[1].is_activation &&
	    snapshot_call_to(q->s, &at_call, m->frames[1].pc, at_call.pc, &i, &address)) {
		say_call(q, 1, at_call.pc);
		return;
	}
	if (m->frame_count > 1 && !m->frames[1].is_activation && snapshot_direct_call(q->s, m->frames[1].pc, &function))
		name = snapshot_symbol_at(q->s, function, &off);
	if (name && !off)
		cause_say(
			q,
			"control went to %s, which is not code, from %s or from a function that it called by a tail call",
			number, name);
	else
		cause_say(q, "control went to %s, which is no code", number);
}

/* An instruction that leads to what is no address faults itself. */
static bool say_no_target(struct cause *q, const struct instruction *i)
{
	const struct snapshot_frame *frame = &q->t->machine->frames[0];
	uint64_t target;

	if (i->kind == INSTRUCTION_RETURN && frame->known & 1u << RSP &&
	    snapshot_read(q->s, frame->registers[RSP], &target, sizeof target) && is_no_address(target)) {
		cause_say(q, "%s returns to %s: its return address was overwritten", cause_name(q, cause_frame(q, 0)),
			  number_text(q, target));
		return true;
	}
	if ((i->kind != INSTRUCTION_CALL && i->kind != INSTRUCTION_JUMP) || i->is_direct ||
	    !snapshot_operand(q->s, frame, i, frame->pc, &target) || !is_no_address(target))
		return false;
	say_call(q, 0, target);
	return true;
}

/* ---- SIGSEGV ---- */

/* The machine does not report the address: that of the operand, if it is none. */
static void say_protection(struct cause *q, const struct instruction *i)
{
	const struct snapshot_frame *frame = &q->t->machine->frames[0];
	const char *expression;
	uint64_t address;

	if (say_no_target(q, i) || !snapshot_operand_address(frame, i, frame->pc, &address))
		return;
	expression = find_expression(q, address);
	if (is_no_address(address))
		cause_say(q, "access to %s%s%s", expression ? expression : number_text(q, address),
			  expression ? ": no address" : ", which is no address", where_text(q));
	else if (address % i->alignment)
		cause_say(q, "access to %s by an instruction that needs an address that %u divides%s",
			  number_text(q, address), i->alignment, where_text(q));
}

static void say_unmapped(struct cause *q, uint64_t address)
{
	const char *expression = find_expression(q, address);

	if (expression)
		cause_say(q, "access to %s%s", expression, where_text(q));
	else if (address < FIRST_BYTES)
		cause_say(q, "access to address %s, where nothing is ever mapped%s", number_text(q, address),
			  where_text(q));
	else
		cause_say(q, "access to %s, where nothing is mapped%s", number_text(q, address), where_text(q));
}

static void say_forbidden(struct cause *q, uint64_t address)
{
	struct snapshot_region region;

	if (!snapshot_region_at(q->s, address, &region))
		return;
	if (!region.is_told && region.path)
		cause_say(q, "access to a mapping of %s, which does not permit it%s", region.path, where_text(q));
	if (!region.is_told)
		return;
	if (region.is_readable && !region.is_writable)
		cause_say(q, "write to %s%s", place_text(q, address, &region), where_text(q));
	else if (!region.is_readable && !region.is_writable && !region.is_executable)
		cause_say(q, "access to %s%s that is closed to any (PROT_NONE)%s",
			  region.path ? "a mapping of " : "memory", region.path ? region.path : "", where_text(q));
}

void cause_of_fault(struct cause *q)
{
	const struct snapshot *s = q->s;
	const struct snapshot_frame *frame = &q->t->machine->frames[0];
	struct snapshot_region region;
	struct instruction i;

	if (!s->has_signal_code)
		return;
	if (cause_is_overflow(q))
		return;
	if (s->has_fault_address && s->fault_address == frame->pc &&
	    (!snapshot_region_at(s, frame->pc, &region) || (region.is_told && !region.is_executable))) {
		say_no_code(q);
		return;
	}
	if (s->signal_code == SI_KERNEL) {
		if (snapshot_instruction_at(s, frame->pc, &i))
			say_protection(q, &i);
		return;
	}
	if (s->signal_code == SEGV_MAPERR)
		say_unmapped(q, s->fault_address);
	else if (s->signal_code == SEGV_ACCERR)
		say_forbidden(q, s->fault_address);
	else if (s->signal_code == SEGV_PKUERR)
		cause_say(q, "access to %s, which a protection key closes", number_text(q, s->fault_address));
}

/* ---- SIGBUS ---- */

/* The file has no such page, now at least: it was made shorter. */
static void say_no_page(struct cause *q, uint64_t address)
{
	struct snapshot_region region;
	struct stat st;

	if (!snapshot_region_at(q->s, address, &region) || !region.path)
		return;
	if (stat(region.path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size <= region.file_off)
		cause_say(q, "access to byte %" PRIu64 " of %s, which was made shorter: it has %" PRIu64 " bytes now",
			  region.file_off, region.path, (uint64_t)st.st_size);
	else
		cause_say(q,
			  "access to byte %" PRIu64
			  " of %s, whose page could not be had: the file was made shorter, or could not be read",
			  region.file_off, region.path);
}

void cause_of_bus_error(struct cause *q)
{
	const struct snapshot *s = q->s;

	if (!s->has_fault_address || !s->has_signal_code)
		return;
	if (s->signal_code == BUS_ADRERR)
		say_no_page(q, s->fault_address);
	else if (s->signal_code == BUS_ADRALN)
		cause_say(q, "access to %s, which is not aligned", number_text(q, s->fault_address));
	else if (s->signal_code == BUS_MCEERR_AR || s->signal_code == BUS_MCEERR_AO)
		cause_say(q, "the machine's memory is damaged at %s", number_text(q, s->fault_address));
}

/* ---- SIGFPE ---- */

/* "parts, which is": of a value on the line that is zero, where no other is. */
static const char *zero_on_line(struct cause *q)
{
	const char *found = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < q->t->frame_count && q->t->frames[i].machine == &q->t->machine->frames[0]; i++) {
		struct crash_frame_values values;

		if (!values_of(q, &q->t->frames[i], &values))
			continue;
		for (size_t k = 0; k < values.values.count + values.arguments.count; k++) {
			const struct snapshot_value *v = k < values.values.count
								 ? &values.values.items[k]
								 : &values.arguments.items[k - values.values.count];

			if (v->is_pointer || (v->is_known && (!v->has_number || v->number)))
				continue;
			found = v->is_known ? v->name : found;
			count++;
		}
		crash_frame_values_deinit(&values);
	}
	return count == 1 ? found : NULL;
}

void cause_of_division(struct cause *q)
{
	const struct snapshot_frame *frame = &q->t->machine->frames[0];
	const char *zero = NULL;
	struct instruction i;
	uint64_t divisor;

	if (!q->s->has_signal_code)
		return;
	switch (q->s->signal_code) {
	case FPE_INTDIV:
		if (!snapshot_instruction_at(q->s, frame->pc, &i) || i.kind != INSTRUCTION_DIVIDE ||
		    !snapshot_operand(q->s, frame, &i, frame->pc, &divisor))
			break;
		if (!divisor)
			zero = zero_on_line(q);
		if (divisor)
			cause_say(q, "integer division whose result does not fit, such as the least number by -1");
		else
			cause_say(q, "division by %s%szero", zero ? zero : "", zero ? ", which is " : "");
		break;
	case FPE_FLTDIV:
		cause_say(q, "division of floating-point numbers by zero");
		break;
	case FPE_FLTOVF:
		cause_say(q, "a floating-point result that is too large");
		break;
	case FPE_FLTUND:
		cause_say(q, "a floating-point result that is too small");
		break;
	case FPE_FLTRES:
		cause_say(q, "an inexact floating-point result");
		break;
	case FPE_FLTINV:
		cause_say(q, "a floating-point operation that is invalid");
		break;
	default:
		break;
	}
}

/*
 * location_frame.c - whether a frame is set up: an expression by the stack pointer or the frame pointer holds once the prologue has
 * set these. clang gives one expression for a whole function to what lies in memory; that control is behind the prologue the line
 * table shows, and the call frame information that it is not in the epilogue, or between pushing arguments and a call.
 */
#include "snapshot/debug/location.h"

bool location_is_in_body(const struct location_frame *f)
{
	if (f->address < f->start || f->address >= f->end)
		return true; /* a part that was split off: never the prologue */
	return f->body ? f->address >= f->body : !f->frame->is_activation;
}

bool location_is_set_up(const struct location_frame *f, int wanted)
{
	uint64_t bias = f->s->modules[f->frame->module].bias;
	int reg, body_reg;
	int64_t off, body_off;

	if (!location_is_in_body(f))
		return false;
	if (!snapshot_cfa_rule(f->s, f->frame->module, f->address + f->bias - bias, &reg, &off))
		return false;
	if (wanted == LOCATION_RBP)
		return reg == LOCATION_RBP;
	if (reg != LOCATION_RSP)
		return true;
	if (!f->body || !snapshot_cfa_rule(f->s, f->frame->module, f->body + f->bias - bias, &body_reg, &body_off))
		return false;
	return body_reg == LOCATION_RSP && body_off == off;
}

/* The addresses of the function; of one with several ranges, those of the range with its entry. 0 and 0: not known. */
static void find_range(struct location_frame *f)
{
	Dwarf_Addr base, entry;
	ptrdiff_t off = 0;

	if (dwarf_lowpc(&f->function, &f->start) == 0 && dwarf_highpc(&f->function, &f->end) == 0)
		return;
	f->start = f->end = 0;
	if (dwarf_entrypc(&f->function, &entry) != 0)
		return;
	while ((off = dwarf_ranges(&f->function, off, &base, &f->start, &f->end)) > 0)
		if (entry >= f->start && entry < f->end)
			return;
	f->start = f->end = 0;
}

/* The first line at or behind the address; count: there is none, or the table cannot be read. */
static size_t first_line_at(Dwarf_Lines *lines, size_t count, Dwarf_Addr start)
{
	size_t first = 0, end = count;

	while (end > first) {
		size_t middle = first + (end - first) / 2;
		Dwarf_Addr address;

		if (dwarf_lineaddr(dwarf_onesrcline(lines, middle), &address) != 0)
			return count;
		if (address < start)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

static void find_body(Dwarf_Die *unit, struct location_frame *f)
{
	Dwarf_Lines *lines;
	size_t count;

	find_range(f);
	if (f->start >= f->end || dwarf_getsrclines(unit, &lines, &count) != 0)
		return;
	for (size_t i = first_line_at(lines, count, f->start); i < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr address;
		bool is_end;

		if (dwarf_lineaddr(line, &address) != 0 || address >= f->end)
			return;
		if (dwarf_lineprologueend(line, &is_end) == 0 && is_end) {
			f->body = address;
			return;
		}
	}
}

void location_frame_init(struct snapshot *s, const struct snapshot_frame *frame, const struct snapshot_frame *caller,
			 uint64_t thread_pointer, const struct snapshot_scopes *scopes, struct location_frame *ret)
{
	Dwarf_Die unit = scopes->unit;

	*ret = (struct location_frame){
		.s = s,
		.frame = frame,
		.caller = caller,
		.thread_pointer = thread_pointer,
		.function = scopes->dies[0],
		.unit = scopes->unit,
		.address = frame->pc - !frame->is_activation - scopes->bias,
		.bias = scopes->bias,
	};
	find_body(&unit, ret);
}

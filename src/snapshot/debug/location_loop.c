/*
 * location_loop.c - variables that debug information has, for all of a loop, as a constant or in a register that the loop does not
 * write to. Vectorizers drop what they know of the variables that a loop changes, and then what was before the loop seems to hold in
 * it. Whether the loop changes the variable the source tells: the lines that the loop has code of.
 */
#include <dwarf.h>

#include "base/text.h"
#include "snapshot/debug/location.h"
#include "snapshot/image/code.h"

enum {
	PARTS_MAX = 4096, /* of a location list */
};

/* Finds the registers that the expression uses, by bits. false: it also uses memory, or something else that may change. */
static bool find_registers(const Dwarf_Op *ops, size_t count, uint32_t *ret)
{
	bool is_based = false, is_value = false;

	*ret = 0;
	for (size_t i = 0; i < count; i++) {
		is_based |= ops[i].atom >= DW_OP_breg0 && ops[i].atom <= DW_OP_breg15;
		is_value |= ops[i].atom == DW_OP_stack_value;
		switch (ops[i].atom) {
		case DW_OP_lit0 ... DW_OP_lit31:
		case DW_OP_const1u ... DW_OP_consts:
		case DW_OP_implicit_value:
		case DW_OP_stack_value:
		case DW_OP_piece:
		case DW_OP_entry_value:
		case DW_OP_GNU_entry_value:
		case DW_OP_and ... DW_OP_xor: /* arithmetic */
		case DW_OP_convert:
		case DW_OP_GNU_convert:
			break;
		case DW_OP_reg0 ... DW_OP_reg15:
			*ret |= 1u << (ops[i].atom - DW_OP_reg0);
			break;
		case DW_OP_breg0 ... DW_OP_breg15:
			*ret |= 1u << (ops[i].atom - DW_OP_breg0);
			break;
		default:
			return false;
		}
	}
	return count && (!is_based || is_value);
}

/* The part of a location list that has the address. */
static bool find_part(Dwarf_Attribute *attribute, uint64_t address, Dwarf_Addr *ret_start, Dwarf_Addr *ret_end)
{
	Dwarf_Addr base, start, end;
	uint32_t parts = 0;
	bool is_found = false;
	ptrdiff_t off = 0;
	Dwarf_Op *ops;
	size_t count;

	while (parts < PARTS_MAX && (off = dwarf_getlocations(attribute, off, &base, &start, &end, &ops, &count)) > 0) {
		parts++;
		if (address < start || address >= end)
			continue;
		is_found = true;
		*ret_start = start;
		*ret_end = end;
	}
	return is_found;
}

void location_find_loop(const struct location_frame *f, Dwarf_Attribute *attribute, const Dwarf_Op *ops, size_t count,
			struct location *ret)
{
	Dwarf_Addr start, end;
	uint64_t first, behind;
	uint32_t registers, written;

	if (!find_registers(ops, count, &registers) || !find_part(attribute, f->address, &start, &end) ||
	    !snapshot_loop_around(f->s, f->address + f->bias, start + f->bias, end + f->bias, &first, &behind,
				  &written) ||
	    registers & written)
		return;
	ret->loop_start = first - f->bias;
	ret->loop_end = behind - f->bias;
}

/* Where the variable is declared. elfutils 0.188 takes file 0 of DWARF 5, the unit's own, for none. */
static const char *file_of(Dwarf_Die *variable)
{
	const char *known = dwarf_decl_file(variable);
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	Dwarf_Die unit;
	size_t count;

	if (known || dwarf_formudata(dwarf_attr_integrate(variable, DW_AT_decl_file, &attribute), &number) != 0 ||
	    !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
		return known;
	return dwarf_filesrc(files, number, NULL, NULL);
}

bool location_loop_changes(const struct location_frame *f, Dwarf_Die *variable, const struct location *place,
			   const struct snapshot_assignments *a)
{
	const char *name = dwarf_diename(variable), *file = file_of(variable);
	Dwarf_Die unit = f->unit;
	Dwarf_Lines *lines;
	size_t count;
	int last = 0;

	if (!a || !name || !file || dwarf_getsrclines(&unit, &lines, &count) != 0)
		return true;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i),
			   *next = i + 1 < count ? dwarf_onesrcline(lines, i + 1) : row;
		Dwarf_Addr start, end;
		int line;

		if (dwarf_lineaddr(row, &start) != 0 || dwarf_lineaddr(next, &end) != 0 || start >= place->loop_end ||
		    end <= place->loop_start || dwarf_lineno(row, &line) != 0 || line == last ||
		    !text_equal(dwarf_linesrc(row, NULL, NULL), file))
			continue;
		last = line;
		if (line && a->may_change(a->data, file, (uint32_t)line, name))
			return true;
	}
	return !last;
}

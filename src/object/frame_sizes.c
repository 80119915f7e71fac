/* frame_sizes.c - decodes the functions of an ELF file one instruction after the other, and asks libdw for the CFA at calls. */
#include "object/frame_sizes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>

#include "base/instruction.h"
#include "base/order.h"

enum {
	RSP = 7,
	LEAF_BYTES = 8, /* of a function that calls nothing: its return address */
};

struct symbol {
	const char *name; /* of the file */
	uint64_t address, size;
	uint32_t section;
	uint32_t function; /* in the table, UINT32_MAX: several have its name */
};
VEC_DECLARE(symbol_vec, struct symbol);

struct program {
	const char *path;
	Elf *elf;
	Dwarf_CFI *cfi;
	struct symbol_vec symbols; /* by address */
	struct frame_table *table;
};

/* ---- symbols ---- */

/* The object that lld makes by link-time optimization: local functions of others may have the same names, and the pass did not see them. */
static const char module_file[] = "ld-temp.o";

static struct error *take_symbols(struct program *p, Elf_Scn *scn, const GElf_Shdr *h)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	bool is_of_module = false;
	struct error *err = NULL;
	GElf_Sym s;

	for (int i = 0; data && !err && gelf_getsym(data, i, &s); i++) {
		const char *name = elf_strptr(p->elf, h->sh_link, s.st_name);

		if (GELF_ST_TYPE(s.st_info) == STT_FILE)
			is_of_module = name && !strcmp(name, module_file);
		if (GELF_ST_BIND(s.st_info) == STB_LOCAL && !is_of_module)
			continue;
		if (GELF_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx != SHN_UNDEF && s.st_shndx < SHN_LORESERVE &&
		    s.st_size && name && *name)
			err = symbol_vec_append(&p->symbols, (struct symbol){.name = name,
									     .address = s.st_value,
									     .size = s.st_size,
									     .section = s.st_shndx});
	}
	return err;
}

static int by_name(const void *left, const void *right)
{
	const struct symbol *l = left, *r = right;
	return strcmp(l->name, r->name) ?: compare_u64(l->address, r->address);
}

static int by_address(const void *left, const void *right)
{
	const struct symbol *l = left, *r = right;

	return compare_u64(l->address, r->address) ?: strcmp(l->name, r->name);
}

/* The functions of the table: each name once. */
static struct error *name_functions(struct program *p)
{
	struct symbol *s = p->symbols.items;
	struct error *err = NULL;

	qsort(s, p->symbols.count, sizeof *s, by_name);
	for (size_t i = 0, end; i < p->symbols.count && !err; i = end) {
		struct frame_function f = {.name = arena_strdup(&p->table->arena, s[i].name)};
		bool is_one = true;

		for (end = i + 1; end < p->symbols.count && !strcmp(s[end].name, s[i].name); end++)
			is_one &= s[end].address == s[i].address;
		for (size_t k = i; k < end; k++)
			s[k].function = is_one ? (uint32_t)p->table->functions.count : UINT32_MAX;
		err = f.name ? frame_function_vec_append(&p->table->functions, f) : &error_no_memory;
	}
	qsort(s, p->symbols.count, sizeof *s, by_address);
	return err;
}

static struct error *read_symbols(struct program *p)
{
	Elf_Scn *scn = NULL;
	struct error *err = NULL;

	while (!err && (scn = elf_nextscn(p->elf, scn))) {
		GElf_Shdr h;

		if (gelf_getshdr(scn, &h) && h.sh_type == SHT_SYMTAB)
			err = take_symbols(p, scn, &h);
	}
	if (!err && !p->symbols.count)
		err = error_create(ERROR_NOT_FOUND, "%s: has no symbol table", p->path);
	return err ? err : name_functions(p);
}

/* The first of the symbols that begin where the function that has the address begins; NULL: none has it. */
static const struct symbol *symbol_at(const struct program *p, uint64_t address)
{
	const struct symbol *s = p->symbols.items;
	size_t low = 0, high = p->symbols.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - s[low - 1].address >= s[low - 1].size)
		return NULL;
	while (low > 1 && s[low - 2].address == s[low - 1].address)
		low--;
	return &s[low - 1];
}

/* ---- code ---- */

/* CFA - rsp, 0 where it is not that simple. */
static uint32_t cfa_offset(const struct program *p, uint64_t address)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t count;
	uint32_t ret = 0;

	if (!p->cfi || dwarf_cfi_addrframe(p->cfi, address, &frame))
		return 0;
	if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 &&
	    (ops[0].atom == DW_OP_breg0 + RSP || (ops[0].atom == DW_OP_bregx && ops[0].number == RSP))) {
		uint64_t offset = ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number;

		ret = offset <= INT32_MAX ? (uint32_t)offset : 0;
	}
	free(frame);
	return ret;
}

/* Notes a call of or a jump to another function. */
static struct error *note_pair(struct program *p, const struct symbol *from, uint64_t target, bool jumps)
{
	const struct symbol *to = symbol_at(p, target), *end = p->symbols.items + p->symbols.count;
	const uint64_t begin = to ? to->address : 0;
	struct error *err = NULL;

	for (; to && to < end && to->address == begin && !err; to++)
		if (to->function != UINT32_MAX)
			err = frame_jump_vec_append(&p->table->jumps, (struct frame_jump){.caller = from->function,
											  .callee = to->function,
											  .jumps = jumps,
											  .calls = !jumps});
	return err;
}

/* What a root does before its own code: instrument/contexts/entry.c. */
static bool is_entry_call(const struct program *p, const struct instruction *i)
{
	const struct symbol *to = i->is_direct ? symbol_at(p, i->target) : NULL;

	return to && !strcmp(to->name, "wm1.enter_slow");
}

/* What the calls of a function say. */
struct size {
	uint32_t bytes; /* 0: different ones, or none that is known */
	bool is_known;  /* there was a call */
};

static void add_call(struct size *size, uint32_t bytes)
{
	size->bytes = size->is_known && size->bytes != bytes ? 0 : bytes;
	size->is_known = true;
}

static struct error *look_at(struct program *p, const struct symbol *s, uint64_t address, const struct instruction *i,
			     struct size *size)
{
	const bool leaves = i->is_direct && i->target - s->address >= s->size;

	if (i->kind == INSTRUCTION_CALL && !is_entry_call(p, i) && !(size->is_known && !size->bytes))
		add_call(size, cfa_offset(p, address));
	if (leaves && i->kind == INSTRUCTION_CALL)
		return note_pair(p, s, i->target, false);
	if (leaves && (i->kind == INSTRUCTION_JUMP || i->kind == INSTRUCTION_BRANCH))
		return note_pair(p, s, i->target, true);
	return NULL;
}

static struct error *read_function(struct program *p, const struct symbol *s)
{
	Elf_Scn *scn = elf_getscn(p->elf, s->section);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	struct size size = {.bytes = LEAF_BYTES};
	bool is_known = true;
	struct error *err = NULL;
	GElf_Shdr h;

	if (!data || !data->d_buf || !gelf_getshdr(scn, &h) || s->address - h.sh_addr > data->d_size ||
	    s->size > data->d_size - (s->address - h.sh_addr))
		return NULL;
	for (uint64_t off = 0; off < s->size && is_known && !err;) {
		const uint8_t *code = (const uint8_t *)data->d_buf + (s->address - h.sh_addr) + off;
		struct instruction i;

		is_known = instruction_decode(code, s->size - off, s->address + off, &i);
		if (is_known)
			err = look_at(p, s, s->address + off, &i, &size);
		off += is_known ? i.len_bytes : 0;
	}
	p->table->functions.items[s->function].frame_bytes = is_known ? size.bytes : 0;
	return err;
}

/* ---- the table ---- */

/* Each pair once. */
static void unite_pairs(struct frame_table *t)
{
	struct frame_jump *last = t->jumps.items;

	frame_table_sort(t);
	for (size_t i = 1; i < t->jumps.count; i++) {
		const struct frame_jump *jump = &t->jumps.items[i];

		if (jump->caller != last->caller || jump->callee != last->callee) {
			*++last = *jump;
		} else {
			last->jumps |= jump->jumps;
			last->calls |= jump->calls;
		}
	}
	if (t->jumps.count)
		t->jumps.count = (size_t)(last - t->jumps.items) + 1;
}

static struct error *read_program(struct program *p)
{
	struct error *err = read_symbols(p);

	p->cfi = dwarf_getcfi_elf(p->elf);
	for (size_t i = 0; i < p->symbols.count && !err; i++)
		if (p->symbols.items[i].function != UINT32_MAX)
			err = read_function(p, &p->symbols.items[i]);
	if (p->cfi)
		dwarf_cfi_end(p->cfi);
	unite_pairs(p->table);
	return err;
}

struct error *frame_sizes_read(const char *path, struct frame_table *ret)
{
	struct program p = {.path = path, .table = ret};
	struct error *err;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_os(errno, "%s", path);
	elf_version(EV_CURRENT);
	p.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!p.elf || elf_kind(p.elf) != ELF_K_ELF)
		err = error_create(ERROR_FORMAT, "%s: is no ELF file", path);
	else
		err = read_program(&p);
	symbol_vec_deinit(&p.symbols);
	elf_end(p.elf);
	close(fd);
	return err;
}

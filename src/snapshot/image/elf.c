/*
 * elf.c - sections, symbols and thread-local variables of the modules of a stopped program.
 *
 * The program's own thread-local storage ends at the thread pointer. Only the loader knows where a library's is; it has put
 * the offsets where relocations (R_X86_64_TPOFF64) ask for them.
 */
#include "snapshot/image/elf.h"

#include <gelf.h>
#include <string.h>

#include "snapshot/source/source.h"

static Elf *elf_of(const struct snapshot_module *m)
{
	GElf_Addr bias;

	return m->dwfl ? dwfl_module_getelf(m->dwfl, &bias) : NULL;
}

void snapshot_sections_each(const struct snapshot_module *m,
			    bool (*visit)(void *data, const struct snapshot_section *section), void *data)
{
	Elf *elf = elf_of(m);
	Elf_Scn *at = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((at = elf_nextscn(elf, at)) != NULL) {
		struct snapshot_section section;
		GElf_Shdr header;

		if (!gelf_getshdr(at, &header) || !(header.sh_flags & SHF_ALLOC))
			continue;
		section = (struct snapshot_section){
			.name = elf_strptr(elf, names, header.sh_name),
			.address = header.sh_addr + m->bias,
			.len_bytes = header.sh_size,
			.is_data = header.sh_type == SHT_PROGBITS && header.sh_flags & SHF_WRITE,
		};
		if (!visit(data, &section))
			return;
	}
}

static const char *find_symbol(const struct snapshot *s, uint64_t address, GElf_Off *ret_off, GElf_Sym *ret_symbol)
{
	uint32_t module = snapshot_module_at(s, address);

	if (module == UINT32_MAX || !s->modules[module].dwfl)
		return NULL;
	return dwfl_module_addrinfo(s->modules[module].dwfl, address, ret_off, ret_symbol, NULL, NULL, NULL);
}

const char *snapshot_symbol_at(const struct snapshot *s, uint64_t address, uint64_t *ret_off)
{
	GElf_Off off = 0;
	GElf_Sym symbol;
	const char *name = find_symbol(s, address, &off, &symbol);

	if (name)
		*ret_off = off;
	return name;
}

bool snapshot_function_at(const struct snapshot *s, uint64_t address, struct snapshot_function *ret)
{
	GElf_Off off = 0;
	GElf_Sym symbol;
	const char *name = find_symbol(s, address, &off, &symbol);

	if (!name || off >= symbol.st_size)
		return false;
	*ret = (struct snapshot_function){name, address - off, address - off + symbol.st_size};
	return true;
}

/* false: the section is no table of symbols, or cannot be read. */
static bool read_symbols(Elf_Scn *section, GElf_Shdr *ret_header, Elf_Data **ret)
{
	return gelf_getshdr(section, ret_header) &&
	       (ret_header->sh_type == SHT_SYMTAB || ret_header->sh_type == SHT_DYNSYM) && ret_header->sh_entsize &&
	       (*ret = elf_getdata(section, NULL)) != NULL;
}

bool snapshot_symbol_find(const struct snapshot_module *m, const char *name, uint64_t *ret)
{
	Elf *elf = elf_of(m);
	Elf_Scn *section = NULL;

	while (elf && (section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *bytes;

		if (!read_symbols(section, &header, &bytes))
			continue;
		for (int i = 0; (uint64_t)i < header.sh_size / header.sh_entsize; i++) {
			const char *found;
			GElf_Sym s;

			if (!gelf_getsym(bytes, i, &s) || s.st_shndx == SHN_UNDEF || s.st_shndx == SHN_ABS)
				continue;
			found = elf_strptr(elf, header.sh_link, s.st_name);
			if (!found || strcmp(found, name) != 0)
				continue;
			*ret = s.st_value + m->bias;
			return true;
		}
	}
	return false;
}

bool snapshot_tls_of(const struct snapshot_module *m, struct snapshot_tls *ret)
{
	Elf *elf = elf_of(m);
	size_t count;

	if (!elf || elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr h;

		if (!gelf_getphdr(elf, (int)i, &h) || h.p_type != PT_TLS || !h.p_align)
			continue;
		*ret = (struct snapshot_tls){h.p_memsz, (h.p_memsz + h.p_align - 1) & ~(h.p_align - 1)};
		return true;
	}
	return false;
}

void snapshot_tls_each(const struct snapshot_module *m,
		       bool (*visit)(void *data, const struct snapshot_tls_symbol *symbol), void *data)
{
	Elf *elf = elf_of(m);
	Elf_Scn *section = NULL;

	while (elf && (section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *bytes;

		if (!read_symbols(section, &header, &bytes))
			continue;
		for (int i = 0; (uint64_t)i < header.sh_size / header.sh_entsize; i++) {
			struct snapshot_tls_symbol symbol = {.is_dynamic = header.sh_type == SHT_DYNSYM};
			GElf_Sym s;

			if (!gelf_getsym(bytes, i, &s) || GELF_ST_TYPE(s.st_info) != STT_TLS || s.st_shndx == SHN_UNDEF)
				continue;
			symbol.name = elf_strptr(elf, header.sh_link, s.st_name);
			symbol.off = s.st_value;
			symbol.len_bytes = s.st_size;
			if (!visit(data, &symbol))
				return;
		}
	}
}

struct search {
	const char *name;
	bool is_found;
	uint64_t off;
};

static bool visit(void *data, const struct snapshot_tls_symbol *symbol)
{
	struct search *search = data;

	if (!symbol->name || strcmp(symbol->name, search->name) != 0)
		return true;
	search->is_found = true;
	search->off = symbol->off;
	return false;
}

static bool find_in_program(const struct snapshot *s, const char *name, int64_t *ret)
{
	struct search search = {.name = name};
	struct snapshot_tls tls;

	if (s->main_module >= s->module_count || !snapshot_tls_of(&s->modules[s->main_module], &tls))
		return false;
	snapshot_tls_each(&s->modules[s->main_module], visit, &search);
	*ret = (int64_t)(search.off - tls.end);
	return search.is_found;
}

static const char *symbol_name(Elf *elf, const GElf_Shdr *relocations, uint64_t symbol)
{
	Elf_Scn *section = elf_getscn(elf, relocations->sh_link);
	GElf_Shdr header;
	GElf_Sym s;

	if (!section || !gelf_getshdr(section, &header) || symbol > INT32_MAX ||
	    !gelf_getsym(elf_getdata(section, NULL), (int)symbol, &s))
		return NULL;
	return elf_strptr(elf, header.sh_link, s.st_name);
}

static bool find_in_relocations(const struct snapshot *s, const struct snapshot_module *m, const char *wanted,
				int64_t *ret)
{
	Elf *elf = elf_of(m);
	Elf_Scn *section = NULL;

	while (elf && (section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !(header.sh_flags & SHF_ALLOC) ||
		    !header.sh_entsize || !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; (uint64_t)i < header.sh_size / header.sh_entsize; i++) {
			GElf_Rela r;
			const char *name;

			if (!gelf_getrela(data, i, &r) || GELF_R_TYPE(r.r_info) != R_X86_64_TPOFF64)
				continue;
			name = symbol_name(elf, &header, GELF_R_SYM(r.r_info));
			if (name && strcmp(name, wanted) == 0)
				return snapshot_read(s, r.r_offset + m->bias, ret, sizeof *ret);
		}
	}
	return false;
}

bool snapshot_tls_find(const struct snapshot *s, const char *name, int64_t *ret)
{
	if (find_in_program(s, name, ret))
		return true;
	for (uint32_t i = 0; i < s->module_count; i++)
		if (find_in_relocations(s, &s->modules[i], name, ret))
			return true;
	return false;
}

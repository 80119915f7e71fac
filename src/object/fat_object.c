/*
 * fat_object.c - compares the symbols of the machine code with those of the bitcode.
 *
 * The machine code comes out of the bitcode by further optimization: it keeps each definition that others can see, adds none
 * but reserved names, drops references, and adds such to functions of the C library and of the compiler's own. Whatever else
 * differs, a tool has changed. What such tools change among weak and reserved names alone is not seen, nor what they change
 * in objects with versioned symbols (.symver), where assemblers and LLVM differ.
 */
#include "object/fat_object.h"

#include <dlfcn.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "object/ir_kind.h"
#include "object/ir_symbols.h"

enum {
	TYPE_LLVM_LTO = 0x6fff4c0c
};

static const char bitcode_magic[4] = {'B', 'C', (char)0xc0, (char)0xde};

/* Each in the order of names, a name once. */
struct tables {
	struct ir_symbol_vec code;
	struct ir_symbol_vec bitcode;
	bool has_versions;
};

static int compare(const void *a, const void *b)
{
	const struct ir_symbol *x = a, *y = b;
	uint32_t len_bytes = x->len_bytes < y->len_bytes ? x->len_bytes : y->len_bytes;
	int order = memcmp(x->name, y->name, len_bytes);

	return order ? order : (x->len_bytes > y->len_bytes) - (x->len_bytes < y->len_bytes);
}

/* Bitcode that declares what its assembly defines has both. */
static void sort(struct ir_symbol_vec *v, bool *has_versions)
{
	size_t count = 0;

	if (v->count)
		qsort(v->items, v->count, sizeof *v->items, compare);
	for (size_t i = 0; i < v->count; i++) {
		*has_versions |= memchr(v->items[i].name, '@', v->items[i].len_bytes) != NULL;
		if (!count || compare(&v->items[count - 1], &v->items[i]))
			v->items[count++] = v->items[i];
		else if (v->items[count - 1].is_undefined)
			v->items[count - 1] = v->items[i];
	}
	v->count = count;
}

static const struct ir_symbol *find(const struct ir_symbol_vec *in, const struct ir_symbol *symbol)
{
	return in->count ? bsearch(symbol, in->items, in->count, sizeof *symbol, compare) : NULL;
}

static struct error *read_code(Elf *elf, struct ir_symbol_vec *ret, bool *has_table)
{
	*has_table = false;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr s;
		GElf_Sym symbol;
		Elf_Data *data =
			gelf_getshdr(section, &s) && s.sh_type == SHT_SYMTAB ? elf_getdata(section, NULL) : NULL;

		*has_table |= data != NULL;
		for (int i = data ? (int)s.sh_info : 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, s.sh_link, symbol.st_name);
			unsigned char bind = GELF_ST_BIND(symbol.st_info);
			struct error *err;

			if (!name || !*name || bind == STB_LOCAL)
				continue;
			err = ir_symbol_vec_append(ret, (struct ir_symbol){
								.name = name,
								.len_bytes = (uint32_t)strlen(name),
								.is_undefined = symbol.st_shndx == SHN_UNDEF,
								.is_weak = bind == STB_WEAK,
							});
			if (err)
				return err;
		}
	}
	return NULL;
}

/* Names that compilers make up. C++'s own begin with _Z. */
static bool is_reserved(const struct ir_symbol *s)
{
	static const char *const starts[] = {"__", "DW.ref.", "_Unwind_", "_GLOBAL_OFFSET_TABLE_"};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (s->len_bytes >= strlen(starts[i]) && !memcmp(s->name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* The optimizer calls functions of libc and libm that the source did not. */
static bool is_of_c_library(const char *name)
{
	static void *libm;

	if (!libm)
		libm = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL);
	return dlsym(RTLD_DEFAULT, name) || (libm && dlsym(libm, name));
}

/* A definition on one side that the other one lacks, or that can be replaced there. */
static const struct ir_symbol *find_changed_definition(const struct tables *t)
{
	for (size_t i = 0; i < t->bitcode.count; i++) {
		const struct ir_symbol *s = &t->bitcode.items[i];
		const struct ir_symbol *other = find(&t->code, s);

		if (!s->is_special && !s->is_undefined && !s->is_weak &&
		    (!other || other->is_undefined || other->is_weak) && !is_reserved(s))
			return s;
	}
	for (size_t i = 0; i < t->code.count; i++) {
		const struct ir_symbol *s = &t->code.items[i];
		const struct ir_symbol *other = find(&t->bitcode, s);

		if (!s->is_undefined && (!other || other->is_undefined) && !is_reserved(s))
			return s;
	}
	return NULL;
}

/* A reference that only the machine code has, in place of one that only the bitcode has. */
static const struct ir_symbol *find_changed_reference(const struct tables *t)
{
	const struct ir_symbol *before = NULL;

	for (size_t i = 0; i < t->bitcode.count && !before; i++) {
		const struct ir_symbol *s = &t->bitcode.items[i];

		if (s->is_undefined && !s->is_special && !is_reserved(s) && !find(&t->code, s))
			before = s;
	}
	for (size_t i = 0; i < t->code.count && before; i++) {
		const struct ir_symbol *s = &t->code.items[i];

		if (s->is_undefined && !find(&t->bitcode, s) && !is_reserved(s) && !is_of_c_library(s->name))
			return s;
	}
	return NULL;
}

static struct error *compare_symbols(Elf *elf, const Elf_Data *bitcode, struct fat_object *ret)
{
	struct tables t = {0};
	const struct ir_symbol *changed = NULL;
	bool has_table;
	struct error *err = ir_symbols_read(bitcode->d_buf, bitcode->d_size, "bitcode", &t.bitcode);

	if (err) { /* of another LLVM: the linker will say what it thinks of it */
		error_destroy(err);
		return NULL;
	}
	err = read_code(elf, &t.code, &has_table);
	sort(&t.code, &t.has_versions);
	sort(&t.bitcode, &t.has_versions);
	if (!err && has_table && !t.has_versions) {
		changed = find_changed_definition(&t);
		if (!changed)
			changed = find_changed_reference(&t);
	}
	if (changed) {
		size_t len = changed->len_bytes < sizeof ret->symbol ? changed->len_bytes : sizeof ret->symbol - 1;

		ret->kind = FAT_CHANGED;
		memcpy(ret->symbol, changed->name, len);
		ret->symbol[len] = '\0';
	}
	ir_symbol_vec_deinit(&t.code);
	ir_symbol_vec_deinit(&t.bitcode);
	return err;
}

/* gcc -flto without -ffat-lto-objects marks an object by this symbol. */
static bool is_gcc_slim(const struct ir_symbol_vec *code)
{
	for (size_t i = 0; i < code->count; i++)
		if (code->items[i].len_bytes == strlen("__gnu_lto_slim") &&
		    !memcmp(code->items[i].name, "__gnu_lto_slim", strlen("__gnu_lto_slim")))
			return true;
	return false;
}

static bool is_merged(const Elf_Data *data)
{
	return memmem((const char *)data->d_buf + sizeof bitcode_magic, data->d_size - sizeof bitcode_magic,
		      bitcode_magic, sizeof bitcode_magic) != NULL;
}

/* Without the dot that its name begins with, and with a type of no meaning, nothing takes the section for bitcode; its flags
 * keep it out of what is linked. */
static struct fat_patch hide(Elf *elf, const GElf_Ehdr *header, Elf_Scn *section, const GElf_Shdr *s)
{
	uint64_t base = (uint64_t)elf_getbase(elf);

	return (struct fat_patch){base + header->e_shoff + elf_ndxscn(section) * header->e_shentsize,
				  {s->sh_name + 1, SHT_PROGBITS}};
}

/* What one module of bitcode is, symbols aside. */
static void classify(const void *bytes, size_t len_bytes, uint32_t newest_llvm, struct fat_object *object)
{
	struct ir_kind kind;

	object->kind = FAT_SOUND;
	if (!ir_kind_read(bytes, len_bytes, &kind)) /* the linker will say what it thinks of it */
		return;
	if (kind.major > newest_llvm) {
		object->kind = FAT_NEWER;
		object->llvm = kind.major;
	} else if (kind.is_thin) {
		object->kind = FAT_THIN;
	}
}

/* header: a copy, since a member of an archive is aligned to 2 bytes only. */
static struct error *read_object(Elf *elf, const GElf_Ehdr *header, uint32_t newest_llvm, struct fat_object *object)
{
	struct ir_symbol_vec code = {0};
	bool has_table;
	struct error *err = read_code(elf, &code, &has_table);

	object->has_code = !is_gcc_slim(&code);
	if (!object->has_code)
		object->kind = FAT_FOREIGN;
	ir_symbol_vec_deinit(&code);

	for (Elf_Scn *section = NULL; !err && (section = elf_nextscn(elf, section));) {
		GElf_Shdr s;
		bool is_bitcode = gelf_getshdr(section, &s) && s.sh_type == TYPE_LLVM_LTO;
		Elf_Data *data = is_bitcode ? elf_rawdata(section, NULL) : NULL;

		if (!data || data->d_size <= sizeof bitcode_magic)
			continue;
		if (is_merged(data))
			object->kind = FAT_MERGED;
		else
			classify(data->d_buf, data->d_size, newest_llvm, object);
		object->patch = hide(elf, header, section, &s);
		if (object->kind == FAT_SOUND)
			err = compare_symbols(elf, data, object);
	}
	return err;
}

/* A walk over a file. */
struct walk {
	uint32_t newest_llvm;
	struct error *(*visit)(void *data, const struct fat_object *object);
	void *data;
};

static struct error *look_at(Elf *elf, const char *member, const struct walk *walk)
{
	struct fat_object object = {.kind = FAT_NONE, .member = member};
	GElf_Ehdr header;
	struct error *err = NULL;
	size_t len_bytes = 0;
	const char *bytes = elf_kind(elf) == ELF_K_ELF ? NULL : elf_rawfile(elf, &len_bytes);

	if (bytes && ir_kind_begins(bytes, len_bytes)) {
		classify(bytes, len_bytes, walk->newest_llvm, &object);
		return walk->visit(walk->data, &object);
	}
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) || header.e_type != ET_REL)
		return NULL;
	if (gelf_getclass(elf) == ELFCLASS64)
		err = read_object(elf, &header, walk->newest_llvm, &object);
	return err ? err : walk->visit(walk->data, &object);
}

struct error *fat_objects_each(int fd, uint32_t newest_llvm,
			       struct error *(*visit)(void *data, const struct fat_object *object), void *data)
{
	const struct walk walk = {newest_llvm, visit, data};
	Elf_Cmd next = ELF_C_READ_MMAP;
	struct error *err = NULL;
	Elf *elf, *member;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) != ELF_K_AR)
		err = look_at(elf, NULL, &walk);
	while (elf && elf_kind(elf) == ELF_K_AR && !err && (member = elf_begin(fd, next, elf))) {
		Elf_Arhdr *header = elf_getarhdr(member);

		if (header && header->ar_name && header->ar_name[0] != '/')
			err = look_at(member, header->ar_name, &walk);
		next = elf_next(member);
		elf_end(member);
	}
	elf_end(elf);
	return err;
}

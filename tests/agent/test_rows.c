/*
 * test_rows.c - the tables of this program and of its libraries, read by native/unwind/eh_frame.h and native/unwind/cfi.h, against libdw, which
 * reads the files: each FDE is found with its range, each row of each function has the same rules.
 */
#include <elfutils/libdw.h>
#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

#include "native/unwind/cfi.h"
#include "agent/images.h"
#include "check.h"

struct file {
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi;
};

static unsigned long rows, expressions, functions;

static struct file file_open(const char *path)
{
	struct file f = {.fd = open(path, O_RDONLY)};

	f.elf = elf_begin(f.fd, ELF_C_READ_MMAP, NULL);
	f.cfi = f.elf ? dwarf_getcfi_elf(f.elf) : NULL;
	return f;
}

static void file_close(struct file *f)
{
	dwarf_cfi_end(f->cfi);
	elf_end(f->elf);
	close(f->fd);
}

/* A rule in few numbers; a value is what it is in struct cfi_row, but for expressions, whose first operation it is. */
struct rule {
	unsigned int kind;
	int64_t value;
};

/* The operations of libdw's answer to a rule. */
static struct rule rule_of_libdw(Dwarf_Frame *frame, unsigned int reg)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, (int)reg, memory, &ops, &count) != 0)
		return (struct rule){99, 0};
	if (count == 0)
		return (struct rule){ops ? CFI_UNDEFINED : CFI_SAME, 0};
	if (ops[0].atom == DW_OP_regx)
		return (struct rule){CFI_REGISTER, (int64_t)ops[0].number};
	if (ops[0].atom == DW_OP_call_frame_cfa && ops == memory) {
		bool is_value = ops[count - 1].atom == DW_OP_stack_value;
		bool has_offset = count > 1 && ops[1].atom == DW_OP_plus_uconst;

		return (struct rule){is_value ? CFI_VALUE_OFFSET : CFI_OFFSET, has_offset ? (int64_t)ops[1].number : 0};
	}
	return (struct rule){ops[count - 1].atom == DW_OP_stack_value ? CFI_VALUE_EXPRESSION : CFI_EXPRESSION, 0};
}

static struct rule rule_of_row(const struct cfi_row *row, unsigned int reg)
{
	switch (row->rule[reg]) {
	case CFI_EXPRESSION:
	case CFI_VALUE_EXPRESSION:
		expressions++;
		return (struct rule){row->rule[reg], 0};
	default:
		return (struct rule){row->rule[reg], row->value[reg]};
	}
}

static bool is_same_cfa(Dwarf_Frame *frame, const struct cfi_row *row)
{
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0)
		return false;
	if (count == 1 && ops[0].atom == DW_OP_bregx)
		return row->cfa_kind == CFI_CFA_REGISTER && row->cfa_register == ops[0].number &&
		       row->cfa_value == (int64_t)ops[0].number2;
	return row->cfa_kind == CFI_CFA_EXPRESSION;
}

static bool check_row(const struct image *image, const struct eh_function *f, uintptr_t address, Dwarf_Frame *frame)
{
	struct cfi_row row;

	rows++;
	if (!cfi_row_at(&image->table, f, address, &row) || !is_same_cfa(frame, &row))
		return false;
	for (unsigned int reg = 0; reg < CFI_REGISTER_COUNT; reg++) {
		struct rule got = rule_of_row(&row, reg), want = rule_of_libdw(frame, reg);

		/* What no instruction named, libdw has as the same, as undefined or as the CFA. */
		if (got.kind == CFI_UNSPECIFIED && (want.kind == CFI_SAME || want.kind == CFI_UNDEFINED ||
						    (reg == CFI_RSP && want.kind == CFI_VALUE_OFFSET && !want.value)))
			continue;
		if (got.kind != want.kind || got.value != want.value) {
			fprintf(stderr, "register %u: rule %u %lld, want %u %lld\n", reg, got.kind,
				(long long)got.value, want.kind, (long long)want.value);
			return false;
		}
	}
	return true;
}

/* A start may be too low in libdw: DW_CFA_restore_state gives it back, too. */
static bool check_function(const struct image *image, const struct file *file, const struct eh_function *f)
{
	uintptr_t address = f->start;

	while (address < f->end) {
		Dwarf_Frame *frame;
		Dwarf_Addr start, end;
		bool is_signal;

		if (dwarf_cfi_addrframe(file->cfi, address - image->base, &frame) != 0)
			return false;
		if (dwarf_frame_info(frame, &start, &end, &is_signal) != CFI_RETURN_ADDRESS ||
		    is_signal != f->is_signal_frame || start + image->base > address || end + image->base <= address ||
		    !check_row(image, f, address, frame) || !check_row(image, f, end + image->base - 1, frame)) {
			fprintf(stderr, "%s: row at 0x%lx, libdw has [0x%lx, 0x%lx)\n", image->path,
				(unsigned long)(address - image->base), (unsigned long)start, (unsigned long)end);
			free(frame);
			return false;
		}
		free(frame);
		address = end + image->base;
	}
	return address == f->end;
}

/* Each FDE of the section: what ld, gold and lld write is relative to the field, in four bytes. */
static size_t check_ranges(const struct image *image, const struct file *file)
{
	Elf_Scn *section = NULL;
	Elf_Data *data = NULL;
	GElf_Shdr header = {0};
	size_t names, count = 0;
	Dwarf_Off at = 0, next;
	GElf_Ehdr elf_header;
	Dwarf_CFI_Entry entry;

	elf_getshdrstrndx(file->elf, &names);
	gelf_getehdr(file->elf, &elf_header);
	while (!data && (section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &header) &&
		    !strcmp(elf_strptr(file->elf, names, header.sh_name), ".eh_frame"))
			data = elf_rawdata(section, NULL);
	for (; data && dwarf_next_cfi(elf_header.e_ident, data, true, at, &next, &entry) == 0; at = next) {
		struct eh_function f;
		int32_t words[2];
		uintptr_t start;

		if (dwarf_cfi_cie_p(&entry))
			continue;
		memcpy(words, entry.fde.start, sizeof words);
		start = image->base + header.sh_addr + (uintptr_t)(entry.fde.start - (const uint8_t *)data->d_buf) +
			(uintptr_t)(intptr_t)words[0];
		count++;
		if (!CHECK(eh_find(&image->table, start, &f)) || !CHECK_U64(f.start, start) ||
		    !CHECK_U64(f.end - f.start, (uint32_t)words[1]))
			break;
		CHECK(eh_find(&image->table, f.end - 1, &f) && f.start == start);
	}
	return count;
}

static void check_image(const struct image *image)
{
	struct file file = file_open(image->path);
	uintptr_t last = 0;
	struct eh_function f;
	size_t at_entry = 0;

	if (!CHECK(file.cfi) || !CHECK(image->has_table))
		return;
	CHECK_U64(check_ranges(image, &file), image->table.count);
	for (size_t i = 0; i < image->table.count && check_failures < 20; i++) {
		if (!CHECK(eh_function_at(&image->table, i, &f)))
			continue;
		functions++;
		CHECK(f.start > last);
		last = f.start;
		CHECK(check_function(image, &file, &f));
		at_entry += eh_entry_cfa_offset(&image->table, &f) == 8;
	}
	CHECK(!eh_function_at(&image->table, image->table.count, &f));
	CHECK(!eh_find(&image->table, image->text.low - 1, &f));
	CHECK(!eh_find(&image->table, image->text.high, &f));
	/* All but PLTs, signal frames and .cold parts. */
	CHECK(at_entry > image->table.count / 2);
	file_close(&file);
}

int main(void)
{
	static struct image images[IMAGES_MAX];
	unsigned int count = images_read(images), checked = 0;

	elf_version(EV_CURRENT);
	for (unsigned int i = 0; i < count; i++) {
		if (images[i].path[0] != '/') /* the vdso has no file */
			continue;
		check_image(&images[i]);
		checked++;
	}
	printf("%u images, %lu functions, %lu rows, %lu expressions\n", checked, functions, rows, expressions);
	CHECK(checked >= 4 && functions > 5000 && rows > 50000 && expressions > 0);
	return check_status();
}

/*
 * image.c - an ELF file for the tests of the agent, from its section and program headers.
 */
#include "agent/image.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/scan/inner.h"

static uint8_t *at(const struct image *image, uint64_t address)
{
	return image->bytes + (address - image->low);
}

static uint64_t read_uleb(const uint8_t **p)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = *(*p)++;
		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static int64_t read_sleb(const uint8_t **p)
{
	const uint8_t *from = *p;
	uint64_t value = read_uleb(p);
	unsigned int bits = (unsigned int)(*p - from) * 7;

	if (bits < 64 && ((*p)[-1] & 0x40))
		value |= ~UINT64_C(0) << bits;
	return (int64_t)value;
}

/* A pointer of .eh_frame or an LSDA (DW_EH_PE_*). */
static uint64_t read_encoded(const struct image *image, const uint8_t **p, uint8_t encoding)
{
	uint64_t from = image->low + (uint64_t)(*p - image->bytes), value;
	int16_t half;
	int32_t word;

	if (encoding == 0xff)
		return 0;
	switch (encoding & 0x0f) {
	case 0x01:
		value = read_uleb(p);
		break;
	case 0x09:
		value = (uint64_t)read_sleb(p);
		break;
	case 0x02:
	case 0x0a:
		memcpy(&half, *p, 2);
		*p += 2;
		value = (encoding & 8) ? (uint64_t)(int64_t)half : (uint16_t)half;
		break;
	case 0x03:
	case 0x0b:
		memcpy(&word, *p, 4);
		*p += 4;
		value = (encoding & 8) ? (uint64_t)(int64_t)word : (uint32_t)word;
		break;
	default:
		memcpy(&value, *p, 8);
		*p += 8;
		break;
	}
	return value && (encoding & 0x70) == 0x10 ? value + from : value;
}

/* The CFA's distance from rsp, as the programs of CIE and FDE say at address. */
struct cfa {
	uint64_t address;
	int64_t off_bytes;
	uint64_t reg; /* UINT64_MAX: an expression */
};

/* Runs a program until address is passed. False when it was. */
static bool run(const struct image_rules *rules, const uint8_t *p, const uint8_t *end, uint64_t address,
		struct cfa *cfa, const struct image *image)
{
	struct cfa kept[16];
	size_t kept_count = 0;
	uint64_t delta;
	uint16_t half;
	uint32_t word;

	while (p < end) {
		uint8_t op = *p++;

		delta = 0;
		switch (op >> 6) {
		case 1:
			delta = op & 0x3f;
			op = 2;
			break;
		case 2:
			read_uleb(&p);
			continue;
		case 3:
			continue;
		default:
			break;
		}
		switch (op) {
		case 0x01: /* set_loc */
			cfa->address = read_encoded(image, &p, rules->fde_encoding);
			if (cfa->address > address)
				return false;
			continue;
		case 0x02:
			if (!delta)
				delta = *p++;
			break;
		case 0x03:
			memcpy(&half, p, 2);
			p += 2;
			delta = half;
			break;
		case 0x04:
			memcpy(&word, p, 4);
			p += 4;
			delta = word;
			break;
		case 0x05: /* offset_extended, register, val_offset */
		case 0x09:
		case 0x14:
			read_uleb(&p);
			read_uleb(&p);
			continue;
		case 0x11: /* offset_extended_sf, val_offset_sf */
		case 0x15:
			read_uleb(&p);
			read_sleb(&p);
			continue;
		case 0x06: /* restore_extended, undefined, same_value, args_size */
		case 0x07:
		case 0x08:
		case 0x2e:
			read_uleb(&p);
			continue;
		case 0x0a:
			if (kept_count < 16)
				kept[kept_count] = *cfa;
			kept_count++;
			continue;
		case 0x0b:
			kept_count--;
			if (kept_count < 16) {
				cfa->off_bytes = kept[kept_count].off_bytes;
				cfa->reg = kept[kept_count].reg;
			}
			continue;
		case 0x0c:
			cfa->reg = read_uleb(&p);
			cfa->off_bytes = (int64_t)read_uleb(&p);
			continue;
		case 0x0d:
			cfa->reg = read_uleb(&p);
			continue;
		case 0x0e:
			cfa->off_bytes = (int64_t)read_uleb(&p);
			continue;
		case 0x0f:
			cfa->reg = UINT64_MAX;
			delta = read_uleb(&p);
			p += delta;
			continue;
		case 0x10: /* expression, val_expression */
		case 0x16:
			read_uleb(&p);
			delta = read_uleb(&p);
			p += delta;
			continue;
		case 0x12:
			cfa->reg = read_uleb(&p);
			cfa->off_bytes = read_sleb(&p) * rules->data_align;
			continue;
		case 0x13:
			cfa->off_bytes = read_sleb(&p) * rules->data_align;
			continue;
		default: /* nop and what has no operands */
			continue;
		}
		cfa->address += delta * rules->code_align;
		if (cfa->address > address)
			return false;
	}
	return true;
}

static int cfa_at(const struct image *image, const struct image_range *range, uint64_t address)
{
	struct cfa cfa = {.address = range->low, .reg = UINT64_MAX};

	if (run(range->rules, range->rules->program, range->rules->program_end, address, &cfa, image))
		run(range->rules, range->program, range->program_end, address, &cfa, image);
	return cfa.reg == 7 ? (int)cfa.off_bytes : SCAN_CFA_UNKNOWN;
}

static const struct image_range *range_at(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address < image->ranges[middle].low)
			high = middle;
		else if (address >= image->ranges[middle].high)
			low = middle + 1;
		else
			return &image->ranges[middle];
	}
	return NULL;
}

static bool function_at(void *state, uint64_t address, uint64_t *start, uint64_t *end, int *entry_cfa_off_bytes)
{
	const struct image_range *range = range_at(state, address);

	if (!range)
		return false;
	*start = range->low;
	*end = range->high;
	*entry_cfa_off_bytes = range->entry_cfa_off_bytes;
	return true;
}

static uint64_t inner_of(void *state, uint64_t start)
{
	const struct image_range *range = range_at(state, start);
	const struct image *image = state;
	size_t off = range ? inner_entry(at(image, start), (size_t)(range->high - start)) : 0;

	return off ? start + off : 0;
}

static int cfa_offset_at(void *state, uint64_t address)
{
	const struct image_range *range = range_at(state, address);

	return range ? cfa_at(state, range, address) : SCAN_CFA_UNKNOWN;
}

static void landing_pads(void *state, uint64_t start, void (*visit)(void *visitor, uint64_t address), void *visitor)
{
	const struct image *image = state;
	const struct image_range *range = range_at(image, start);
	const uint8_t *p, *end;
	uint64_t base, len_bytes;
	uint8_t encoding;

	if (!range || !range->lsda)
		return;
	p = at(image, range->lsda);
	encoding = *p++;
	base = encoding == 0xff ? range->low : read_encoded(image, &p, encoding);
	if (*p++ != 0xff)
		read_uleb(&p);
	encoding = *p++;
	len_bytes = read_uleb(&p);
	end = p + len_bytes;
	while (p < end) {
		uint64_t pad;

		read_encoded(image, &p, encoding);
		read_encoded(image, &p, encoding);
		pad = read_encoded(image, &p, encoding);
		read_uleb(&p);
		if (pad)
			visit(visitor, base + pad);
	}
}

static uint64_t next_data_target(void *state, uint64_t from, uint64_t to)
{
	const struct image *image = state;
	size_t low = 0, high = image->pointer_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->pointers[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < image->pointer_count && image->pointers[low] < to ? image->pointers[low] : 0;
}

static void read_cie(struct image *image, const uint8_t *p, const uint8_t *end, struct image_rules *rules)
{
	const char *augmentation = (const char *)p + 1;

	p = (const uint8_t *)augmentation + strlen(augmentation) + 1;
	rules->code_align = read_uleb(&p);
	rules->data_align = read_sleb(&p);
	read_uleb(&p);
	rules->lsda_encoding = 0xff;
	rules->program_end = end;
	if (*augmentation == 'z') {
		const uint8_t *program;
		uint64_t len_bytes = read_uleb(&p);

		rules->has_augmentation = true;
		program = p + len_bytes;
		for (augmentation++; *augmentation; augmentation++) {
			if (*augmentation == 'R')
				rules->fde_encoding = *p++;
			else if (*augmentation == 'L')
				rules->lsda_encoding = *p++;
			else if (*augmentation == 'S')
				rules->is_signal = true;
			else if (*augmentation == 'P')
				read_encoded(image, &p, *p++ & 0x7f);
		}
		p = program;
	}
	rules->program = p;
}

static void read_fde(struct image *image, const struct image_rules *rules, const uint8_t *p, const uint8_t *end)
{
	struct image_range *range = &image->ranges[image->range_count];

	*range = (struct image_range){.rules = rules, .program_end = end};
	range->low = read_encoded(image, &p, rules->fde_encoding);
	range->high = range->low + read_encoded(image, &p, rules->fde_encoding & 0x0f);
	if (rules->has_augmentation) {
		uint64_t len_bytes = read_uleb(&p);
		const uint8_t *program = p + len_bytes;

		if (rules->lsda_encoding != 0xff)
			range->lsda = read_encoded(image, &p, rules->lsda_encoding);
		p = program;
	}
	range->program = p;
	if (range->high == range->low)
		return;
	range->entry_cfa_off_bytes = cfa_at(image, range, range->low);
	image->range_count++;
}

static int by_low(const void *a, const void *b)
{
	uint64_t x = ((const struct image_range *)a)->low, y = ((const struct image_range *)b)->low;

	return x < y ? -1 : x > y;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void read_frames(struct image *image, uint64_t section, uint64_t len_bytes)
{
	const uint8_t *from = at(image, section), *p = from;

	image->ranges = calloc(len_bytes / 8 + 1, sizeof(*image->ranges));
	image->rules = calloc(len_bytes / 8 + 1, sizeof(*image->rules));
	while (p + 8 <= from + len_bytes) {
		uint32_t record_bytes, id;
		const uint8_t *field = p + 4;

		memcpy(&record_bytes, p, 4);
		if (!record_bytes)
			break;
		memcpy(&id, field, 4);
		p = field + record_bytes;
		if (id == 0) {
			image->rules[image->rule_count].off = (uint64_t)(field - 4 - from);
			read_cie(image, field + 4, p, &image->rules[image->rule_count++]);
			continue;
		}
		for (size_t i = 0; i < image->rule_count; i++)
			if (image->rules[i].off == (uint64_t)(field - from) - id)
				read_fde(image, &image->rules[i], field + 4, p);
	}
	qsort(image->ranges, image->range_count, sizeof(*image->ranges), by_low);
}

static void add_pointer(struct image *image, uint64_t value)
{
	if (value < image->text.low || value >= image->text.high)
		return;
	if ((image->pointer_count & (image->pointer_count - 1)) == 0)
		image->pointers = realloc(image->pointers, (image->pointer_count ? image->pointer_count * 2 : 1) * 8);
	image->pointers[image->pointer_count++] = value;
}

static void read_relocations(struct image *image, const Elf64_Shdr *section)
{
	for (uint64_t off = 0; off + sizeof(Elf64_Rela) <= section->sh_size; off += sizeof(Elf64_Rela)) {
		Elf64_Rela rela;
		uint64_t value;

		memcpy(&rela, at(image, section->sh_addr + off), sizeof(rela));
		if (ELF64_R_TYPE(rela.r_info) != R_X86_64_RELATIVE)
			continue;
		value = (uint64_t)rela.r_addend;
		memcpy(at(image, rela.r_offset), &value, 8);
		add_pointer(image, value);
	}
}

/* What has no relocation any more in a program at a fixed address. */
static void read_words(struct image *image)
{
	for (size_t i = 0; i < image->scan.data_count; i++) {
		const struct scan_range *range = &image->data[i];

		for (uint64_t address = range->low; address + 8 <= range->high; address += 8) {
			uint64_t value;

			memcpy(&value, at(image, address), 8);
			add_pointer(image, value);
		}
	}
}

static bool map_segments(int fd, const Elf64_Ehdr *header, const Elf64_Phdr *segments, struct image *image)
{
	image->low = UINT64_MAX;
	for (size_t i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];

		if (segment->p_type != PT_LOAD)
			continue;
		if ((segment->p_vaddr & ~UINT64_C(4095)) < image->low)
			image->low = segment->p_vaddr & ~UINT64_C(4095);
		if (segment->p_vaddr + segment->p_memsz > image->high)
			image->high = segment->p_vaddr + segment->p_memsz;
	}
	image->bytes = mmap(NULL, image->high - image->low, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image->bytes == MAP_FAILED)
		return false;
	for (size_t i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];
		struct scan_range range = {segment->p_vaddr, segment->p_vaddr + segment->p_memsz, NULL};

		if (segment->p_type != PT_LOAD)
			continue;
		range.bytes = at(image, range.low);
		if (pread(fd, at(image, range.low), segment->p_filesz, (off_t)segment->p_offset) !=
		    (ssize_t)segment->p_filesz)
			return false;
		if (segment->p_flags & PF_X)
			image->text = range;
		else if (image->scan.data_count < 8)
			image->data[image->scan.data_count++] = range;
	}
	return true;
}

static bool read_headers(int fd, const char *path, struct image *image)
{
	Elf64_Ehdr header;
	Elf64_Phdr segments[32];
	Elf64_Shdr *sections;
	char *names;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) || header.e_phnum > 32 || !header.e_shnum ||
	    pread(fd, segments, header.e_phnum * sizeof(*segments), (off_t)header.e_phoff) < 0 ||
	    !map_segments(fd, &header, segments, image)) {
		fprintf(stderr, "%s: not an ELF file for these tests\n", path);
		return false;
	}
	image->is_pie = header.e_type == ET_DYN;
	image->entry = header.e_entry;
	sections = calloc(header.e_shnum, sizeof(*sections));
	if (pread(fd, sections, header.e_shnum * sizeof(*sections), (off_t)header.e_shoff) < 0)
		return false;
	names = calloc(1, sections[header.e_shstrndx].sh_size + 1);
	if (pread(fd, names, sections[header.e_shstrndx].sh_size, (off_t)sections[header.e_shstrndx].sh_offset) < 0)
		return false;
	for (size_t i = 0; i < header.e_shnum; i++) {
		if (!strcmp(names + sections[i].sh_name, ".eh_frame"))
			read_frames(image, sections[i].sh_addr, sections[i].sh_size);
		if (sections[i].sh_type == SHT_RELA && (sections[i].sh_flags & SHF_ALLOC))
			read_relocations(image, &sections[i]);
	}
	if (!image->is_pie)
		read_words(image);
	free(names);
	free(sections);
	return image->range_count > 0;
}

bool image_load(const char *path, struct image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_good;

	memset(image, 0, sizeof(*image));
	if (fd < 0) {
		perror(path);
		return false;
	}
	is_good = read_headers(fd, path, image);
	close(fd);
	if (!is_good)
		return false;
	if (image->pointer_count)
		qsort(image->pointers, image->pointer_count, sizeof(*image->pointers), by_value);
	image->scan.texts = &image->text;
	image->scan.text_count = 1;
	image->scan.data = image->data;
	image->scan.cache = calloc(1, sizeof(*image->scan.cache));
	image->scan.state = image;
	image->scan.function_at = function_at;
	image->scan.inner_of = inner_of;
	image->scan.cfa_offset_at = cfa_offset_at;
	image->scan.landing_pads = landing_pads;
	image->scan.next_data_target = next_data_target;
	return true;
}

void image_unload(struct image *image)
{
	munmap(image->bytes, image->high - image->low);
	free(image->ranges);
	free(image->rules);
	free(image->pointers);
	free(image->scan.cache);
}

/*
 * core_seed.c - a core dump in few bytes, with all that is read of one: two threads, a program that was mapped in two pieces, its
 * build id, a stack.
 */
#include <elf.h>
#include <string.h>
#include <sys/procfs.h>

#include "fuzz/fuzz.h"

enum {
	IMAGE_ADDRESS = 0x400000,
	STACK_ADDRESS = 0x7ff000,
	STACK_BYTES = 256,
	SEGMENTS = 3,
};

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Nhdr note;
	char name[4];
	uint8_t build_id[20];
};

static size_t add_note(uint8_t *out, size_t at, uint32_t type, const void *bytes, size_t len)
{
	Elf64_Nhdr note = {.n_namesz = 5, .n_descsz = (Elf64_Word)len, .n_type = type};

	memcpy(out + at, &note, sizeof note);
	memcpy(out + at + sizeof note, "CORE\0\0\0", 8);
	memcpy(out + at + sizeof note + 8, bytes, len);
	return at + sizeof note + 8 + ((len + 3) & ~(size_t)3);
}

static void set_header(Elf64_Ehdr *h, Elf64_Half type, Elf64_Half segments)
{
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_ident[EI_VERSION] = EV_CURRENT;
	h->e_type = type;
	h->e_machine = EM_X86_64;
	h->e_version = EV_CURRENT;
	h->e_phoff = sizeof *h;
	h->e_ehsize = sizeof *h;
	h->e_phentsize = sizeof(Elf64_Phdr);
	h->e_phnum = segments;
	h->e_entry = IMAGE_ADDRESS + 0x1000;
}

static size_t add_notes(uint8_t *out, size_t at)
{
	static const char names[] = "none/program\0none/program";
	struct elf_prstatus status = {.pr_pid = 12, .pr_cursig = 11};
	struct elf_prpsinfo process = {.pr_pid = 12, .pr_fname = "program", .pr_psargs = "program fault "};
	uint64_t vector[] = {AT_ENTRY, IMAGE_ADDRESS + 0x1000, AT_NULL, 0};
	uint64_t files[] = {
		2, 4096, IMAGE_ADDRESS, IMAGE_ADDRESS + 0x1000, 0, IMAGE_ADDRESS + 0x1000, IMAGE_ADDRESS + 0x2000, 1};
	uint8_t list[sizeof files + sizeof names];
	int32_t siginfo[32] = {[0] = 11, [2] = 1, [4] = 16};

	status.pr_reg[16] = IMAGE_ADDRESS + 0x1004; /* rip */
	status.pr_reg[19] = STACK_ADDRESS;          /* rsp */
	status.pr_reg[4] = STACK_ADDRESS + 64;      /* rbp */
	memcpy(list, files, sizeof files);
	memcpy(list + sizeof files, names, sizeof names);
	at = add_note(out, at, NT_PRSTATUS, &status, sizeof status);
	at = add_note(out, at, NT_PRPSINFO, &process, sizeof process);
	at = add_note(out, at, NT_SIGINFO, siginfo, sizeof siginfo);
	at = add_note(out, at, NT_AUXV, vector, sizeof vector);
	at = add_note(out, at, NT_FILE, list, sizeof list);
	status.pr_pid = 13;
	status.pr_reg[16] = 0; /* called nothing */
	return add_note(out, at, NT_PRSTATUS, &status, sizeof status);
}

size_t core_seed_build(uint8_t out[CORE_SEED_BYTES_MAX])
{
	Elf64_Ehdr header = {0};
	Elf64_Phdr segments[SEGMENTS] = {{.p_type = PT_NOTE}, {.p_type = PT_LOAD}, {.p_type = PT_LOAD}};
	struct image image = {.note = {4, 20, NT_GNU_BUILD_ID}, .name = "GNU", .build_id = "build id of program"};
	uint64_t stack[STACK_BYTES / 8] = {[0] = IMAGE_ADDRESS + 0x1008, [8] = 0, [9] = IMAGE_ADDRESS + 0x1010};
	size_t at = sizeof header + sizeof segments;

	memset(out, 0, CORE_SEED_BYTES_MAX);
	set_header(&header, ET_CORE, SEGMENTS);
	set_header(&image.header, ET_EXEC, 2);
	image.segments[0] =
		(Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = IMAGE_ADDRESS, .p_filesz = 0x2000, .p_memsz = 0x2000};
	image.segments[1] = (Elf64_Phdr){.p_type = PT_NOTE,
					 .p_offset = offsetof(struct image, note),
					 .p_vaddr = IMAGE_ADDRESS + offsetof(struct image, note),
					 .p_filesz = sizeof image - offsetof(struct image, note)};
	segments[0].p_offset = at;
	segments[0].p_filesz = add_notes(out, at) - at;
	at += segments[0].p_filesz;
	segments[1].p_offset = at;
	segments[1].p_vaddr = IMAGE_ADDRESS;
	segments[1].p_flags = PF_R | PF_X;
	segments[1].p_filesz = sizeof image;
	segments[1].p_memsz = 0x2000;
	memcpy(out + at, &image, sizeof image);
	at += sizeof image;
	segments[2].p_offset = at;
	segments[2].p_vaddr = STACK_ADDRESS;
	segments[2].p_flags = PF_R | PF_W;
	segments[2].p_filesz = sizeof stack;
	segments[2].p_memsz = sizeof stack;
	memcpy(out + at, stack, sizeof stack);
	at += sizeof stack;
	memcpy(out, &header, sizeof header);
	memcpy(out + sizeof header, segments, sizeof segments);
	return at;
}

/* merged_object.c - finds a second bitcode file in .llvm.lto and hides the section in a copy. */
#include "cli/merged_object.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TYPE_LLVM_LTO = 0x6fff4c0c
};

static const char bitcode_magic[4] = {'B', 'C', (char)0xc0, (char)0xde};

static bool is_merged(const Elf_Data *data)
{
	return data && data->d_size > sizeof bitcode_magic &&
	       memmem((const char *)data->d_buf + sizeof bitcode_magic, data->d_size - sizeof bitcode_magic,
		      bitcode_magic, sizeof bitcode_magic);
}

/* The file offset of the header of the section with merged bitcode; 0 when there is none. Its name is put into *ret. */
static off_t find_section(Elf *elf, uint32_t *ret_name)
{
	Elf64_Ehdr *header = elf64_getehdr(elf);
	for (Elf_Scn *section = NULL; header && (section = elf_nextscn(elf, section));) {
		Elf64_Shdr *s = elf64_getshdr(section);
		if (!s || s->sh_type != TYPE_LLVM_LTO || !is_merged(elf_rawdata(section, NULL)))
			continue;
		*ret_name = s->sh_name;
		return (off_t)(header->e_shoff + elf_ndxscn(section) * header->e_shentsize);
	}
	return 0;
}

/* Without the dot that its name begins with, and with a type of no meaning, nothing takes the section for bitcode; its flags
 * keep it out of what is linked. */
static struct error *copy_without(int in, const char *path, off_t header_off, uint32_t name, char **ret)
{
	struct stat st;
	int out = memfd_create("merged-object", 0);
	uint32_t name_and_type[2] = {name + 1, SHT_PROGBITS};
	if (out < 0 || fstat(in, &st))
		return error_os(errno, "%s: cannot copy it", path);
	off_t off = 0;
	while (off < st.st_size) {
		if (sendfile(out, in, &off, (size_t)(st.st_size - off)) <= 0)
			return error_os(errno, "%s: cannot copy it", path);
	}
	if (pwrite(out, name_and_type, sizeof name_and_type, header_off) != sizeof name_and_type)
		return error_os(errno, "%s: cannot copy it", path);
	return asprintf(ret, "/proc/self/fd/%d", out) < 0 ? &error_no_memory : NULL;
}

struct error *merged_object_replace(const char *word, char **ret)
{
	size_t len = strlen(word);
	*ret = NULL;
	if (word[0] == '-' || len < 3 || strcmp(word + len - 2, ".o"))
		return NULL;
	int fd = open(word, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	uint32_t name = 0;
	off_t header_off = elf && elf_kind(elf) == ELF_K_ELF ? find_section(elf, &name) : 0;
	elf_end(elf);
	struct error *err = header_off ? copy_without(fd, word, header_off, name, ret) : NULL;
	close(fd);
	return err;
}

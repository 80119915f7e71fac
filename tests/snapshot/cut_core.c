/*
 * cut_core.c - writes the first BYTES bytes of what the core would be if it had its notes first, as the kernel writes it: gdb
 * puts them at the end.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *read_whole(const char *path, size_t *ret)
{
	FILE *f = fopen(path, "rb");
	unsigned char *bytes;

	if (!f || fseek(f, 0, SEEK_END) != 0)
		return NULL;
	*ret = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(*ret + 1);
	if (!bytes || fread(bytes, 1, *ret, f) != *ret)
		return NULL;
	fclose(f);
	return bytes;
}

int main(int argc, char **argv)
{
	size_t len_bytes, at, limit;
	unsigned char *in, *out;
	Elf64_Ehdr *header;
	Elf64_Phdr *segments;
	FILE *f;

	if (argc != 4 || !(in = read_whole(argv[1], &len_bytes)))
		return 1;
	header = (void *)in;
	at = sizeof *header + header->e_phnum * sizeof *segments;
	out = calloc(1, len_bytes + at);
	if (!out)
		return 1;
	segments = (void *)(out + sizeof *header);
	memcpy(segments, in + header->e_phoff, header->e_phnum * sizeof *segments);
	for (int notes = 1; notes >= 0; notes--) {
		for (int i = 0; i < header->e_phnum; i++) {
			Elf64_Phdr *s = &segments[i];

			if ((s->p_type == PT_NOTE) != notes)
				continue;
			memcpy(out + at, in + s->p_offset, s->p_filesz);
			s->p_offset = at;
			at += s->p_filesz;
		}
	}
	memcpy(out, header, sizeof *header);
	header = (void *)out;
	header->e_phoff = sizeof *header;
	header->e_shoff = 0;
	header->e_shnum = 0;
	header->e_shstrndx = 0;
	limit = strtoul(argv[3], NULL, 10);
	f = fopen(argv[2], "wb");
	if (!f || fwrite(out, 1, limit < at ? limit : at, f) == 0 || fclose(f) != 0)
		return 1;
	free(in);
	free(out);
	return 0;
}

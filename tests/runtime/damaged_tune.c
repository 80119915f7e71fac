/*
 * damaged_tune.c - PROGRAM DIR: tune_read of copies of a program in which one byte of a header or of wm1_tunables is
 * another one, and of copies that end early: each is refused in one line that names the file, or read to something that is in
 * bounds.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "object/tunables.h"

struct program {
	uint8_t *bytes;
	size_t len_bytes;
	char copy[4096]; /* path */
	int fd;          /* of the copy */
};

static unsigned int read_count, refused_count;

static void write_bytes(const struct program *p, const void *bytes, size_t len_bytes, uint64_t off)
{
	if (pwrite(p->fd, bytes, len_bytes, (off_t)off) != (ssize_t)len_bytes)
		abort();
}

static void try(const struct program *p, size_t len_bytes)
{
	struct tune_image t;
	struct error *err = tune_read(p->copy, &t);

	if (err) {
		CHECK(strstr(err->message, p->copy) && !strchr(err->message, '\n'));
		error_destroy(err);
		refused_count++;
		return;
	}
	read_count++;
	for (uint32_t i = 0; i < t.function_count; i++) {
		const struct tune_function *f = &t.functions[i];

		CHECK(f->off < len_bytes && f->scheme_count && f->scheme_count <= WM1_SCHEMES &&
		      f->chosen < f->scheme_count);
		CHECK(strlen(f->name) + strlen(f->plain) + strlen(f->file) < len_bytes);
	}
	tune_deinit(&t);
}

static void change_all(const struct program *p, uint64_t off, uint64_t len_bytes, uint64_t stride)
{
	static const uint8_t masks[] = {0x01, 0x80, 0xff};

	for (uint64_t i = off; i < off + len_bytes && i < p->len_bytes; i += stride) {
		for (size_t k = 0; k < sizeof masks; k++) {
			uint8_t changed = p->bytes[i] ^ masks[k];

			write_bytes(p, &changed, 1, i);
			try(p, p->len_bytes);
		}
		write_bytes(p, &p->bytes[i], 1, i);
	}
}

static void read_program(const char *path, const char *dir, struct program *p)
{
	FILE *f = fopen(path, "rb");

	if (!f || fseek(f, 0, SEEK_END) != 0)
		abort();
	p->len_bytes = (size_t)ftell(f);
	rewind(f);
	p->bytes = malloc(p->len_bytes);
	if (!p->bytes || fread(p->bytes, 1, p->len_bytes, f) != p->len_bytes)
		abort();
	fclose(f);
	snprintf(p->copy, sizeof p->copy, "%s/tuned-copy", dir);
	p->fd = open(p->copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	write_bytes(p, p->bytes, p->len_bytes, 0);
}

int main(int argc, char **argv)
{
	struct program p;
	Elf64_Ehdr header;

	if (argc != 3)
		return 2;
	read_program(argv[1], argv[2], &p);
	memcpy(&header, p.bytes, sizeof header);
	try(&p, p.len_bytes);
	CHECK_U64(read_count, 1);
	change_all(&p, 0, sizeof header, 1);
	change_all(&p, header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize, 1);
	for (uint16_t i = 0; i < header.e_shnum; i++) {
		uint64_t at = header.e_shoff + (uint64_t)i * header.e_shentsize;
		Elf64_Shdr s;

		memcpy(&s, p.bytes + at, sizeof s);
		/* Records of 28 bytes: the only section here that has whole ones and is read-only. */
		change_all(&p, at, sizeof s, 3);
		if (s.sh_type == SHT_PROGBITS && s.sh_flags == SHF_ALLOC && s.sh_addralign == 4 && s.sh_size == 3 * 28)
			change_all(&p, s.sh_offset, s.sh_size, 1);
	}
	for (size_t len = p.len_bytes; len > 0; len -= 1 + len / 16) {
		if (ftruncate(p.fd, (off_t)len) != 0)
			abort();
		try(&p, len);
	}
	printf("%u read, %u refused\n", read_count, refused_count);
	CHECK(read_count > 100 && refused_count > 400);
	free(p.bytes);
	close(p.fd);
	remove(p.copy);
	return check_status();
}

/*
 * tunables.c - reads wm1_tunables by the section table, follows its offsets through the program headers, and writes changed copies.
 */
#include "object/tunables.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <gelf.h>
#include <libelf.h>

#include "base/cursor.h"
#include "format/scheme.h"
#include "object/demangle.h"
#include "object/new_file.h"
#include "waymark/trace.h"

static const char tunables_name[] = "wm1_tunables", chosen_name[] = "wm1_chosen";

enum {
	TUNABLE_BYTES = 28,
	TEXT_MAX = 1 << 16, /* names and paths; longer ones are damage */
};

_Static_assert(sizeof(struct wm1_tunable) == TUNABLE_BYTES, "read field by field below");

struct segment {
	uint64_t address, off, len_bytes;
};

struct reader {
	struct tune_image *t;
	struct segment *segments; /* the arena's */
	size_t segment_count;
	GElf_Shdr tunables, chosen;
	bool has_tunables, has_chosen;
};

static struct error *damaged(const struct reader *r, const char *what)
{
	return error_create(ERROR_FORMAT, "%s: %s: %s: the file is damaged", r->t->name, tunables_name, what);
}

static struct error *elf_error(const struct reader *r)
{
	return error_create(ERROR_FORMAT, "%s: cannot be read: %s: the file is damaged", r->t->name, elf_errmsg(-1));
}

static struct error *read_segments(struct reader *r, Elf *elf)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return elf_error(r);
	r->segments = arena_calloc(&r->t->arena, count + 1, sizeof *r->segments);
	if (!r->segments)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr))
			return elf_error(r);
		if (phdr.p_type == PT_LOAD)
			r->segments[r->segment_count++] = (struct segment){phdr.p_vaddr, phdr.p_offset, phdr.p_filesz};
	}
	return NULL;
}

static struct error *take_section(struct reader *r, const char *name, const GElf_Shdr *shdr)
{
	bool is_tunables = strcmp(name, tunables_name) == 0;

	if (!is_tunables && strcmp(name, chosen_name) != 0)
		return NULL;
	if (is_tunables ? r->has_tunables : r->has_chosen)
		return error_create(ERROR_FORMAT, "%s: two %s sections: link the program once", r->t->name, name);
	if (shdr->sh_type == SHT_NOBITS)
		return error_create(ERROR_ARGUMENT, "%s: is a debug file, its code is in the program: give the program",
				    r->t->name);
	if (is_tunables) {
		r->has_tunables = true;
		r->tunables = *shdr;
	} else {
		r->has_chosen = true;
		r->chosen = *shdr;
	}
	return NULL;
}

static struct error *read_sections(struct reader *r, Elf *elf, bool has_table)
{
	Elf_Scn *scn = NULL;
	size_t names, count;
	struct error *err = NULL;

	if (elf_getshdrnum(elf, &count) != 0)
		return elf_error(r);
	if (count == 0 && has_table)
		return error_create(ERROR_FORMAT, "%s: is truncated: its section table is not there", r->t->name);
	if (count == 0)
		return error_create(ERROR_ARGUMENT,
				    "%s: has no section headers (sstrip takes them): tune the program before that",
				    r->t->name);
	if (elf_getshdrstrndx(elf, &names) != 0)
		return elf_error(r);
	while (!err && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			return elf_error(r);
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name)
			err = take_section(r, name, &shdr);
	}
	if (!err && (!r->has_tunables || r->tunables.sh_size == 0))
		err = error_create(ERROR_NOT_FOUND,
				   "%s: no function has several schemes of tracing: build it with waymark cc "
				   "--wm=trace='PATTERN=none|cc+pt' or the like",
				   r->t->name);
	return err;
}

/* A class, an order of bytes and a machine that waymark cc does not make have none of its sections. */
static struct error *read_elf(struct reader *r, Elf *elf)
{
	GElf_Ehdr ehdr;
	struct error *err;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		return error_create(ERROR_FORMAT, "%s: this is no ELF file (a program or shared library)", r->t->name);
	if (ehdr.e_type == ET_REL)
		return error_create(ERROR_ARGUMENT, "%s: is an object file that is not linked yet: give the program",
				    r->t->name);
	if (ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
		return error_create(ERROR_ARGUMENT, "%s: is not for 64-bit little-endian machines", r->t->name);
	err = read_segments(r, elf);
	return err ? err : read_sections(r, elf, ehdr.e_shoff != 0);
}

/* Where the byte at a loaded address is in the file, and how many follow it there. */
static bool find_address(const struct reader *r, uint64_t address, uint64_t *ret_off, uint64_t *ret_left)
{
	for (size_t i = 0; i < r->segment_count; i++) {
		const struct segment *s = &r->segments[i];
		uint64_t in = address - s->address;

		if (address < s->address || in >= s->len_bytes || s->off > r->t->file.len_bytes ||
		    in >= r->t->file.len_bytes - s->off)
			continue;
		*ret_off = s->off + in;
		*ret_left = s->len_bytes - in;
		if (*ret_left > r->t->file.len_bytes - *ret_off)
			*ret_left = r->t->file.len_bytes - *ret_off;
		return true;
	}
	return false;
}

/* A field holds how far from itself what it refers to is. */
static struct error *read_address(struct cursor *c, uint64_t section_address, uint64_t *ret)
{
	uint64_t at = section_address + c->off;
	uint32_t relative;
	struct error *err = cursor_u32(c, &relative);

	if (!err)
		*ret = at + (uint64_t)(int64_t)(int32_t)relative;
	return err;
}

static struct error *read_text(struct reader *r, struct cursor *c, const char **ret)
{
	uint64_t address, off, left;
	size_t len;
	struct error *err = read_address(c, r->tunables.sh_addr, &address);

	if (err)
		return err;
	if (!find_address(r, address, &off, &left))
		return damaged(r, "a name that is not in the file");
	if (left > TEXT_MAX)
		left = TEXT_MAX;
	len = strnlen((const char *)r->t->file.bytes + off, left);
	if (len == left)
		return damaged(r, "a name without an end");
	*ret = (const char *)r->t->file.bytes + off;
	return NULL;
}

static struct error *read_chosen(struct reader *r, struct cursor *c, struct tune_function *f)
{
	uint64_t address, left;
	struct error *err = read_address(c, r->tunables.sh_addr, &address);

	if (err)
		return err;
	if (!r->has_chosen || address < r->chosen.sh_addr || address - r->chosen.sh_addr >= r->chosen.sh_size ||
	    !find_address(r, address, &f->off, &left))
		return damaged(r, "a choice that is not in wm1_chosen");
	f->before = f->chosen = r->t->file.bytes[f->off];
	return NULL;
}

static struct error *read_schemes(const struct reader *r, struct cursor *c, struct tune_function *f)
{
	uint8_t zero;
	const uint8_t *schemes;
	struct error *err;

	err = cursor_u8(c, &f->scheme_count) ?: cursor_u8(c, &zero) ?: cursor_bytes(c, sizeof f->schemes, &schemes);
	if (err)
		return err;
	if (f->scheme_count == 0 || f->scheme_count > sizeof f->schemes || f->chosen >= f->scheme_count)
		return damaged(r, "a choice that does not exist");
	for (uint8_t i = 0; i < f->scheme_count; i++)
		if (!scheme_exists(schemes[i]))
			return damaged(r, "an unknown scheme");
	memcpy(f->schemes, schemes, sizeof f->schemes);
	return NULL;
}

static struct error *read_function(struct reader *r, struct cursor *c, struct tune_function *f)
{
	struct error *err;

	err = read_text(r, c, &f->name) ?:
	      read_text(r, c, &f->plain) ?:
	      read_text(r, c, &f->file) ?:
	      read_chosen(r, c, f) ?:
	      read_schemes(r, c, f);
	if (err)
		return err;
	f->shown = demangle(&r->t->arena, f->name);
	return f->shown ? NULL : &error_no_memory;
}

static struct error *read_functions(struct reader *r)
{
	const GElf_Shdr *s = &r->tunables;
	struct tune_image *t = r->t;
	struct cursor c;
	struct error *err = NULL;

	if (s->sh_offset > t->file.len_bytes || s->sh_size > t->file.len_bytes - s->sh_offset)
		return damaged(r, "ends behind the end of the file");
	if (s->sh_size % TUNABLE_BYTES || s->sh_size / TUNABLE_BYTES > UINT32_MAX)
		return damaged(r, "does not hold whole records");
	t->function_count = (uint32_t)(s->sh_size / TUNABLE_BYTES);
	t->functions = arena_calloc(&t->arena, t->function_count, sizeof *t->functions);
	if (!t->functions)
		return &error_no_memory;
	cursor_init(&c, t->file.bytes + s->sh_offset, (size_t)s->sh_size, t->name);
	for (uint32_t i = 0; i < t->function_count && !err; i++)
		err = read_function(r, &c, &t->functions[i]);
	return err;
}

static struct error *read_image(struct tune_image *t)
{
	struct reader r = {.t = t};
	Elf *elf;
	struct error *err;

	elf_version(EV_CURRENT);
	/* libelf reads only; it takes a pointer that could be written through. */
	elf = elf_memory((char *)(uintptr_t)t->file.bytes, t->file.len_bytes);
	if (!elf)
		return elf_error(&r);
	err = read_elf(&r, elf);
	elf_end(elf);
	return err ? err : read_functions(&r);
}

struct error *tune_read(const char *path, struct tune_image *ret)
{
	struct tune_image t = {0};
	char *real = realpath(path, NULL);
	struct error *err;

	if (!real)
		return error_os(errno, "%s", path);
	arena_init(&t.arena);
	t.name = arena_strdup(&t.arena, path);
	t.path = arena_strdup(&t.arena, real);
	free(real);
	err = t.name && t.path ? file_map(path, &t.file) : &error_no_memory;
	if (!err)
		err = read_image(&t);
	if (err)
		tune_deinit(&t);
	else
		*ret = t;
	return err;
}

void tune_deinit(struct tune_image *t)
{
	file_unmap(&t->file);
	arena_deinit(&t->arena);
	*t = (struct tune_image){0};
}

struct error *tune_choose(const struct tune_image *t, struct tune_function *f, uint8_t scheme)
{
	char list[WM1_SCHEMES * (SCHEME_NAME_MAX + 2)] = "";

	for (uint8_t i = 0; i < f->scheme_count; i++) {
		if (f->schemes[i] == scheme) {
			f->chosen = i;
			return NULL;
		}
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
			 scheme_name(f->schemes[i]));
	}
	return error_create(ERROR_NOT_FOUND, "%s: function %s has no scheme %s compiled in, only %s", t->name, f->shown,
			    scheme_name(scheme), list);
}

uint32_t tune_changed(const struct tune_image *t)
{
	uint32_t changed = 0;

	for (uint32_t i = 0; i < t->function_count; i++)
		changed += t->functions[i].chosen != t->functions[i].before;
	return changed;
}

static struct error *write_all(int fd, const char *path, const uint8_t *bytes, size_t len_bytes)
{
	while (len_bytes) {
		ssize_t n = write(fd, bytes, len_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_os(n ? errno : EIO, "%s: cannot be written", path);
		bytes += n;
		len_bytes -= (size_t)n;
	}
	return NULL;
}

static struct error *write_content(const struct tune_image *t, int fd, const char *path)
{
	struct error *err = write_all(fd, path, t->file.bytes, t->file.len_bytes);

	for (uint32_t i = 0; i < t->function_count && !err; i++) {
		const struct tune_function *f = &t->functions[i];

		if (f->chosen != f->before && pwrite(fd, &f->chosen, 1, (off_t)f->off) != 1)
			err = error_os(errno, "%s: cannot be written", path);
	}
	return err;
}

/* The system gives this attribute to every new file, and refuses to set it. */
static bool is_of_system(const char *attribute)
{
	return strcmp(attribute, "security.selinux") == 0 || strcmp(attribute, "security.ima") == 0 ||
	       strcmp(attribute, "security.evm") == 0;
}

static struct error *copy_attribute(const char *path, int fd, const char *name)
{
	ssize_t len = lgetxattr(path, name, NULL, 0);
	char *value = len >= 0 ? malloc((size_t)len + 1) : NULL;
	struct error *err = NULL;

	if (value)
		len = lgetxattr(path, name, value, (size_t)len);
	if (!value || len < 0 || fsetxattr(fd, name, value, (size_t)len, 0) != 0)
		err = error_os(errno, "%s: its attribute %s cannot be kept", path, name);
	free(value);
	return err;
}

static struct error *copy_attributes(const char *path, int fd)
{
	ssize_t len = llistxattr(path, NULL, 0);
	char *names;
	struct error *err = NULL;

	if (len <= 0)
		return NULL; /* none, or a file system that has none */
	names = malloc((size_t)len);
	if (!names)
		return &error_no_memory;
	len = llistxattr(path, names, (size_t)len);
	for (ssize_t at = 0; at < len && !err; at += (ssize_t)strlen(names + at) + 1)
		if (!is_of_system(names + at))
			err = copy_attribute(path, fd, names + at);
	free(names);
	return err;
}

/* The owner first: a change of it takes set-user-ID and capabilities away. */
static struct error *copy_rights(const char *path, int fd, bool is_same)
{
	struct stat old, new;

	if (stat(path, &old) != 0 || fstat(fd, &new) != 0)
		return error_os(errno, "%s", path);
	if (!is_same)
		old.st_mode &= 0777;
	else if ((old.st_uid != new.st_uid || old.st_gid != new.st_gid) && fchown(fd, old.st_uid, old.st_gid) != 0)
		return error_os(errno, "%s: its owner cannot be kept: run as its owner, or write another file with -o",
				path);
	if (fchmod(fd, old.st_mode & 07777) != 0)
		return error_os(errno, "%s: its mode cannot be kept", path);
	return is_same ? copy_attributes(path, fd) : NULL;
}

static struct error *write_new(const struct tune_image *t, int fd, const char *path)
{
	struct error *err = write_content(t, fd, path);

	if (!err)
		err = copy_rights(t->path, fd, strcmp(t->path, path) == 0);
	if (!err && fsync(fd) != 0)
		err = error_os(errno, "%s: cannot be written", path);
	if (close(fd) != 0 && !err)
		err = error_os(errno, "%s: cannot be written", path);
	return err;
}

static struct error *write_at(const struct tune_image *t, const char *real, const char *path)
{
	struct new_file f;
	struct stat st;
	struct error *err;

	if (stat(real, &st) == 0 && !S_ISREG(st.st_mode))
		return error_create(ERROR_ARGUMENT, "%s: is not a regular file", path);
	err = strcmp(t->path, path) ? new_file_check_owner(real) : NULL; /* the program keeps its owner */
	if (!err)
		err = new_file_open(real, &f);
	return err ? err : new_file_end(&f, write_new(t, f.fd, path));
}

struct error *tune_write(const struct tune_image *t, const char *path)
{
	char *real = realpath(path, NULL); /* what a symbolic link leads to is replaced, not the link */
	struct error *err = write_at(t, real ? real : path, path);

	free(real);
	return err;
}

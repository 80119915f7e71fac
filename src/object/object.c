/* object.c - reads one ELF file through libelf. Knows nothing of where files are: find.c does. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <libelf.h>

#include "base/unfit.h"
#include "object/object.h"

/* A limit on sizes that ld or objcopy can be made to write, so that they do not fill memory. */
static const uint64_t SECTION_BYTES_MAX = UINT64_C(1) << 31;

static struct error *elf_error(const char *path, const char *what)
{
	return error_create(ERROR_FORMAT, "%s: %s: %s: the file is damaged", path, what, elf_errmsg(-1));
}

static const char *const section_names[OBJECT_SECTIONS] = {
	[OBJECT_CONTEXTS] = ".debug_waymark",      [OBJECT_PATHS] = ".debug_waymark_paths",
	[OBJECT_TRACE] = ".debug_waymark_trace",   [OBJECT_FLOW] = ".debug_waymark_flow",
	[OBJECT_POINTS] = ".debug_waymark_points", [OBJECT_BLOCKS] = ".llvm_bb_addr_map",
	[OBJECT_IR] = ".debug_waymark_ir",
};

const char *object_section_name(enum object_section section)
{
	return section_names[section];
}

static struct error *section_error(const char *path, const char *section, const char *what)
{
	return error_create(ERROR_FORMAT, "%s: %s%s: %s: the file is damaged", path, section, what, elf_errmsg(-1));
}

static struct error *read_section(Elf_Scn *scn, GElf_Shdr *shdr, const char *path, const char *name,
				  struct object_bytes *ret)
{
	Elf_Data *data;

	if (ret->bytes)
		return error_create(ERROR_FORMAT, "%s: two %s sections: link the program once", path, name);
	if (shdr->sh_flags & SHF_COMPRESSED) {
		GElf_Chdr chdr;

		if (!gelf_getchdr(scn, &chdr) || chdr.ch_size > SECTION_BYTES_MAX || elf_compress(scn, 0, 0) < 0)
			return section_error(path, name, " cannot be unpacked");
	}
	if (shdr->sh_type == SHT_NOBITS)
		return NULL; /* what objcopy --only-keep-debug leaves of loaded sections; none of ours */
	data = elf_rawdata(scn, NULL);
	if (!data)
		return section_error(path, name, "");
	ret->bytes = malloc(data->d_size + 1);
	if (!ret->bytes)
		return &error_no_memory;
	if (data->d_size)
		memcpy(ret->bytes, data->d_buf, data->d_size);
	ret->len_bytes = data->d_size;
	return NULL;
}

/* The old GNU way renames a compressed section: .zdebug_waymark. */
static bool is_old_compressed(const char *name, const char *section)
{
	return name[0] == '.' && name[1] == 'z' && strcmp(name + 2, section + 1) == 0;
}

static struct error *take_section(Elf_Scn *scn, GElf_Shdr *shdr, const char *path, const char *name,
				  unsigned int wanted, struct object *o)
{
	for (int i = 0; i < OBJECT_SECTIONS; i++) {
		if (!(wanted & 1u << i))
			continue;
		if (strcmp(name, section_names[i]) == 0)
			return read_section(scn, shdr, path, name, &o->sections[i]);
		if (is_old_compressed(name, section_names[i]))
			return error_create(ERROR_FORMAT,
					    "%s: %s is compressed in the old GNU way: use objcopy "
					    "--decompress-debug-sections",
					    path, name);
	}
	return NULL;
}

static struct error *read_sections(Elf *elf, const char *path, unsigned int wanted, struct object *o)
{
	Elf_Scn *scn = NULL;
	size_t names;
	struct error *err = NULL;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return elf_error(path, "section names");
	while (!err && (scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			return elf_error(path, "section table");
		name = elf_strptr(elf, names, shdr.sh_name);
		if (name)
			err = take_section(scn, &shdr, path, name, wanted, o);
	}
	return err;
}

static struct error *read_segments(Elf *elf, const char *path, struct object *o)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return elf_error(path, "program headers");
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf, (int)i, &phdr))
			return elf_error(path, "program headers");
		if (phdr.p_type == PT_INTERP)
			o->is_dynamic = true;
	}
	return NULL;
}

static struct error *read_elf(Elf *elf, const char *path, unsigned int sections, struct object *o)
{
	GElf_Ehdr ehdr;
	const void *id;
	const char *link;
	GElf_Word crc;
	ssize_t id_bytes;
	struct error *err;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		return error_create(ERROR_FORMAT, "%s: this is no ELF file (a program or shared library)", path);
	o->is_relocatable = ehdr.e_type == ET_REL;
	err = read_segments(elf, path, o);
	if (err)
		return err;
	id_bytes = dwelf_elf_gnu_build_id(elf, &id);
	if (id_bytes > 0) {
		o->build_id.len_bytes = id_bytes < BUILD_ID_MAX ? (uint32_t)id_bytes : BUILD_ID_MAX;
		memcpy(o->build_id.bytes, id, o->build_id.len_bytes);
	}
	link = dwelf_elf_gnu_debuglink(elf, &crc);
	if (link && *link) {
		o->debuglink = strdup(link);
		if (!o->debuglink)
			return &error_no_memory;
	}
	return read_sections(elf, path, sections, o);
}

/* The C library that the loader of this name is part of; NULL: glibc, or not known. */
static const char *libc_of(const char *loader)
{
	const char *slash = strrchr(loader, '/'), *name = slash ? slash + 1 : loader;

	return strncmp(name, "ld-musl", 7) == 0 ? "musl" : strncmp(name, "linker", 6) == 0 ? "Bionic" : NULL;
}

/* By the program's interpreter. */
static const char *read_libc(Elf *elf)
{
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;
		const Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_INTERP)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)phdr.p_offset, phdr.p_filesz, ELF_T_BYTE);
		return data && data->d_size && memchr(data->d_buf, 0, data->d_size) ? libc_of(data->d_buf) : NULL;
	}
	return NULL;
}

/* A FIFO or a device would block or worse. */
static struct error *open_regular(const char *path, int *ret)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return error_os(errno, "%s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_create(ERROR_ARGUMENT, "%s: is not a regular file", path);
	}
	*ret = fd;
	return NULL;
}

/* The caller ends *ret and closes *ret_fd. */
static struct error *open_elf(const char *path, int *ret_fd, Elf **ret)
{
	struct error *err = open_regular(path, ret_fd);

	if (err)
		return err;
	elf_version(EV_CURRENT);
	*ret = elf_begin(*ret_fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (*ret)
		return NULL;
	close(*ret_fd);
	return elf_error(path, "cannot be read");
}

struct error *object_read(const char *path, unsigned int sections, struct object *ret)
{
	struct object o = {0};
	int fd;
	Elf *elf;
	struct error *err = open_elf(path, &fd, &elf);

	if (err)
		return err;
	err = read_elf(elf, path, sections, &o);
	elf_end(elf);
	close(fd);
	if (err)
		object_deinit(&o);
	else
		*ret = o;
	return err;
}

static bool names_symbol(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, const char *wanted, bool is_defined)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, shdr->sh_link, symbol.st_name);

		if (name && strcmp(name, wanted) == 0 && (!is_defined || symbol.st_shndx != SHN_UNDEF))
			return true;
	}
	return false;
}

/* jemalloc with a prefix (Rust's first), mimalloc, rpmalloc, TBB. */
static const char *const allocator_names[] = {"_rjem_malloc", "_rjem_mallocx", "je_malloc",      "je_mallocx",
					      "mi_malloc",    "rpmalloc",      "scalable_malloc"};

/* Of jemalloc and tcmalloc, which have malloc, too: the agent follows these in a library. */
static const char *const own_names[] = {"mallocx", "tc_malloc"};

/* malloc itself, which nothing stands in front of where the program has it. */
static const char *const malloc_names[] = {"malloc"};

/* Their operators new and delete do not call malloc. */
static const char *const allocator_libraries[] = {"libjemalloc.so", "libtcmalloc.so", "libtcmalloc_minimal.so"};

static const char *find_name(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, const char *const *names, size_t count,
			     bool is_defined)
{
	for (size_t i = 0; i < count && (shdr->sh_type == SHT_DYNSYM || shdr->sh_type == SHT_SYMTAB); i++)
		if (names_symbol(elf, scn, shdr, names[i], is_defined))
			return names[i];
	return NULL;
}

/* The dynamic section has one of these libraries, of any version. */
static bool needs_allocator(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	Elf_Data *data = shdr->sh_type == SHT_DYNAMIC ? elf_getdata(scn, NULL) : NULL;
	GElf_Dyn dyn;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
		const char *name = dyn.d_tag == DT_NEEDED ? elf_strptr(elf, shdr->sh_link, dyn.d_un.d_val) : NULL;

		for (size_t k = 0; name && k < sizeof allocator_libraries / sizeof *allocator_libraries; k++)
			if (strncmp(name, allocator_libraries[k], strlen(allocator_libraries[k])) == 0)
				return true;
	}
	return false;
}

/* Code that was instrumented registers itself; what only includes waymark.h has weak references to other functions. */
static void read_runtime(Elf *elf, struct object_program *ret)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (!name)
			continue;
		if (strncmp(name, ".debug_waymark", strlen(".debug_waymark")) == 0)
			ret->is_instrumented = true;
		if (!ret->allocator)
			ret->allocator = find_name(elf, scn, &shdr, allocator_names,
						   sizeof allocator_names / sizeof *allocator_names, false);
		if (!ret->own_allocator)
			ret->own_allocator =
				find_name(elf, scn, &shdr, own_names, sizeof own_names / sizeof *own_names, true);
		ret->has_malloc |=
			find_name(elf, scn, &shdr, malloc_names, 1, true) || needs_allocator(elf, scn, &shdr);
		if (shdr.sh_type != SHT_DYNSYM)
			continue;
		for (int i = 0; i < UNFITS && !ret->unfit; i++)
			if (names_symbol(elf, scn, &shdr, unfits[i].symbol, false))
				ret->unfit = unfits[i].what;
		if (!names_symbol(elf, scn, &shdr, "wm1_register", false))
			continue;
		ret->is_instrumented = true;
		ret->keeps_contexts = !names_symbol(elf, scn, &shdr, "wm1_recorder", false);
	}
}

static bool is_name_of_loader(const char *name)
{
	return strncmp(name, "ld-linux", strlen("ld-linux")) == 0 || strcmp(name, "ld.so.1") == 0;
}

/* It says its own name. */
static void read_dynamic(Elf *elf, struct object_program *ret)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		Elf_Data *data;
		GElf_Dyn dyn;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++) {
			const char *name = elf_strptr(elf, shdr.sh_link, dyn.d_un.d_val);

			if (dyn.d_tag == DT_SONAME && name)
				ret->is_loader = !ret->is_dynamic && is_name_of_loader(name);
		}
	}
}

struct error *object_read_program(const char *path, struct object_program *ret)
{
	struct object_program program = {0};
	struct object o = {0};
	GElf_Ehdr ehdr;
	int fd;
	Elf *elf;
	struct error *err = open_elf(path, &fd, &elf);

	if (err)
		return err;
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &ehdr))
		err = error_create(ERROR_FORMAT, "%s: this is no ELF file (a program or shared library)", path);
	else
		err = read_segments(elf, path, &o);
	if (!err) {
		program.is_x86_64 = ehdr.e_ident[EI_CLASS] == ELFCLASS64 && ehdr.e_machine == EM_X86_64;
		program.is_dynamic = o.is_dynamic;
		program.libc = read_libc(elf);
		read_runtime(elf, &program);
		read_dynamic(elf, &program);
		*ret = program;
	}
	elf_end(elf);
	close(fd);
	return err;
}

void object_deinit(struct object *o)
{
	for (int i = 0; i < OBJECT_SECTIONS; i++)
		free(o->sections[i].bytes);
	free(o->debuglink);
	*o = (struct object){0};
}

const char *build_id_text(const struct build_id *id, char buf[BUILD_ID_TEXT_MAX])
{
	if (id->len_bytes == 0)
		return strcpy(buf, "none");
	for (uint32_t i = 0; i < id->len_bytes; i++)
		snprintf(buf + (size_t)i * 2, 3, "%02x", id->bytes[i]);
	return buf;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->len_bytes == b->len_bytes && memcmp(a->bytes, b->bytes, a->len_bytes) == 0;
}

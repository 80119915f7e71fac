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

/* Functions that are looked for. All tables of symbols are read once, for all of them: a large program has tens of thousands. */
enum {
	NAME_ALLOCATOR, /* jemalloc with a prefix (Rust's first), mimalloc, rpmalloc, TBB; the first one counts */
	NAME_ALLOCATOR_END = NAME_ALLOCATOR + 7,
	NAME_OWN =
		NAME_ALLOCATOR_END, /* of jemalloc and tcmalloc, which have malloc, too: the agent follows these in a library */
	NAME_OWN_END = NAME_OWN + 2,
	NAME_MALLOC = NAME_OWN_END, /* which nothing stands in front of where the program has it */
	NAME_REGISTER,
	NAME_RECORDER,
	NAME_KEEPER,
	NAME_UNFIT,
	NAMES = NAME_UNFIT + UNFITS,
	NAME_PREFIX = 3, /* bytes: none is shorter */
};
_Static_assert(NAMES <= 32, "a bit each");

static const char *const names_of_functions[NAME_UNFIT] = {
	"_rjem_malloc", "_rjem_mallocx", "je_malloc", "je_mallocx",   "mi_malloc",    "rpmalloc",  "scalable_malloc",
	"mallocx",      "tc_malloc",     "malloc",    "wm1_register", "wm1_recorder", "wm1_keeper"};

static const char *name_of(unsigned int i)
{
	return i < NAME_UNFIT ? names_of_functions[i] : unfits[i - NAME_UNFIT].symbol;
}

/* Which of the names have that byte at that place. */
struct name_filter {
	uint32_t with[NAME_PREFIX][256];
};

static void make_filter(struct name_filter *ret)
{
	memset(ret, 0, sizeof *ret);
	for (unsigned int i = 0; i < NAMES; i++)
		for (unsigned int k = 0; k < NAME_PREFIX; k++)
			ret->with[k][(uint8_t)name_of(i)[k]] |= 1u << i;
}

/* The bit of the name; 0: it is none of them. */
static uint32_t bit_of(const struct name_filter *filter, const char *name)
{
	uint32_t left = filter->with[0][(uint8_t)name[0]] & filter->with[1][(uint8_t)name[1]] &
			filter->with[2][(uint8_t)name[2]];

	for (; left; left &= left - 1)
		if (strcmp(name, name_of((unsigned int)__builtin_ctz(left))) == 0)
			return left & -left;
	return 0;
}

/* Names that symbols of a table have: bits. */
struct found_names {
	uint32_t any, defined;
};

static struct found_names find_names(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, const struct name_filter *filter)
{
	Elf_Data *data = elf_getdata(scn, NULL), *strings = elf_getdata(elf_getscn(elf, shdr->sh_link), NULL);
	const char *text = strings ? strings->d_buf : NULL, *last = text ? memrchr(text, 0, strings->d_size) : NULL;
	struct found_names ret = {0, 0};
	GElf_Sym symbol;

	for (int i = 0; data && last && gelf_getsym(data, i, &symbol); i++) {
		uint32_t bit;

		if (symbol.st_name + (uint64_t)NAME_PREFIX > (uint64_t)(last - text))
			continue;
		bit = bit_of(filter, text + symbol.st_name);
		ret.any |= bit;
		if (symbol.st_shndx != SHN_UNDEF)
			ret.defined |= bit;
	}
	return ret;
}

static bool has_name(uint32_t found, unsigned int name)
{
	return found >> name & 1;
}

/* The first of the names [from, to) that is among them; NULL: none is. */
static const char *first_name(uint32_t found, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		if (has_name(found, i))
			return name_of(i);
	return NULL;
}

/* Their operators new and delete do not call malloc. */
static const char *const allocator_libraries[] = {"libjemalloc.so", "libtcmalloc.so", "libtcmalloc_minimal.so"};

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

static void read_symbols(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, const struct name_filter *filter,
			 struct object_program *ret)
{
	struct found_names found = find_names(elf, scn, shdr, filter);

	if (!ret->allocator)
		ret->allocator = first_name(found.any, NAME_ALLOCATOR, NAME_ALLOCATOR_END);
	if (!ret->own_allocator)
		ret->own_allocator = first_name(found.defined, NAME_OWN, NAME_OWN_END);
	ret->has_malloc |= has_name(found.defined, NAME_MALLOC);
	if (shdr->sh_type != SHT_DYNSYM)
		return;
	for (unsigned int i = 0; i < UNFITS && !ret->unfit; i++)
		if (has_name(found.any, NAME_UNFIT + i))
			ret->unfit = unfits[i].what;
	/* Code that was instrumented registers itself; what only includes waymark.h has weak references to other functions. */
	if (!has_name(found.any, NAME_REGISTER))
		return;
	ret->is_instrumented = true;
	ret->keeps_contexts = !has_name(found.any, NAME_RECORDER) && !has_name(found.any, NAME_KEEPER);
	ret->has_no_recorder = has_name(found.defined, NAME_KEEPER) && !has_name(found.defined, NAME_RECORDER);
}

static void read_runtime(Elf *elf, struct object_program *ret)
{
	struct name_filter filter;
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	make_filter(&filter);
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (!name)
			continue;
		if (strncmp(name, ".debug_waymark", strlen(".debug_waymark")) == 0)
			ret->is_instrumented = true;
		ret->has_malloc |= needs_allocator(elf, scn, &shdr);
		if (shdr.sh_type == SHT_DYNSYM || shdr.sh_type == SHT_SYMTAB)
			read_symbols(elf, scn, &shdr, &filter, ret);
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

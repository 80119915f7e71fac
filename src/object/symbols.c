/*
 * symbols.c - symbols and lines through libdwfl, which joins a file with its debug file. Functions are sorted once by address; lines are those
 * of debug_lines.h.
 */
#include "object/symbols.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "base/arena.h"
#include "base/order.h"

struct symbol {
	uint64_t address; /* as linked */
	uint64_t size;    /* of a label: up to the end of its section */
	const char *name;
	bool is_function; /* by its type; else it has none, as in assembly */
	bool is_global;   /* or weak */
	bool is_label;    /* its size is not known */
	bool is_indirect; /* the address of code that says where the function is */
};
VEC_DECLARE(symbol_vec, struct symbol);

struct symbols {
	struct arena arena;
	const struct object_search *search;
	struct build_id build_id;
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t first_address; /* as linked, of the ELF header */
	struct symbol_vec functions;
	bool has_local;                /* functions */
	uint32_t *by_name;             /* functions, when first needed */
	struct debug_lines *lines;     /* made when first needed */
	struct call_site_index *calls; /* the same */
};

/* ---- the file ---- */

struct file_search {
	const struct object_wanted *wanted;
	char *found;       /* malloc'd */
	struct error *why; /* the first file of another build, or that cannot be read */
};

static struct error *other_build(const struct object_wanted *wanted, const char *path, const struct build_id *id)
{
	char have[BUILD_ID_TEXT_MAX], want[BUILD_ID_TEXT_MAX];

	return error_create(ERROR_MISMATCH, "%s: is of another build: its build id is %s, %s is wanted", path,
			    build_id_text(id, have), build_id_text(&wanted->build_id, want));
}

static struct error *check_file(struct file_search *h, const char *path)
{
	const struct build_id *wanted = &h->wanted->build_id;
	struct object o;
	struct error *err = object_read(path, 0, &o);

	if (err)
		return err;
	if (wanted->len_bytes && !build_id_equal(wanted, &o.build_id))
		err = other_build(h->wanted, path, &o.build_id);
	object_deinit(&o);
	return err;
}

static bool try_file(void *state, const char *path)
{
	struct file_search *h = state;
	struct error *err = check_file(h, path);

	if (!err)
		h->found = strdup(path);
	else if (!h->why)
		h->why = err;
	else
		error_destroy(err);
	return h->found != NULL;
}

/* *ret is malloc'd. */
static struct error *find_file(const struct object_search *search, const struct object_wanted *wanted, char **ret)
{
	struct file_search h = {.wanted = wanted};
	const struct locate files = {.search = search,
				     .path = wanted->path,
				     .build_id = wanted->build_id,
				     .wants_program = true,
				     .wants_debug = true,
				     .is_by_name = wanted->path && !wanted->build_id.len_bytes,
				     .try = try_file,
				     .state = &h};

	if (locate_file(&files)) {
		error_destroy(h.why);
		*ret = h.found;
		return NULL;
	}
	return h.why ? h.why : error_create(ERROR_NOT_FOUND, "%s: not found", wanted->path ? wanted->path : "?");
}

/* ---- libdwfl ---- */

struct debug_search {
	const struct symbols *symbols;
	char *path; /* malloc'd */
	int fd;
};

static bool try_debug_file(void *state, const char *path)
{
	struct debug_search *h = state;
	struct object o;
	struct error *err;
	bool is_right;

	if (strcmp(path, h->symbols->path) == 0)
		return false;
	err = object_read(path, 0, &o);
	if (err) {
		error_destroy(err);
		return false;
	}
	is_right = build_id_equal(&o.build_id, &h->symbols->build_id);
	object_deinit(&o);
	if (is_right)
		h->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (h->fd >= 0)
		h->path = strdup(path);
	return h->fd >= 0;
}

static bool is_of_build(int fd, const struct build_id *wanted)
{
	struct object o;
	char path[64];
	struct error *err;
	bool ret;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	err = object_read(path, 0, &o);
	if (err) {
		error_destroy(err);
		return false;
	}
	ret = build_id_equal(&o.build_id, wanted);
	object_deinit(&o);
	return ret;
}

/*
 * The user's directories first. elfutils looks at the build id of files, but not at that of what a server sends. A link without a checksum
 * is that to what several debug files share (dwz), which has a build id of its own.
 */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **ret)
{
	const struct symbols *s = *userdata;
	struct debug_search h = {.symbols = s, .fd = -1};
	const struct locate files = {
		.search = s->search, .build_id = s->build_id, .wants_debug = true, .try = try_debug_file, .state = &h};

	if (link && !crc)
		return dwfl_standard_find_debuginfo(module, userdata, name, base, file_name, link, crc, ret);
	if (s->build_id.len_bytes >= 2 && (locate_file(&files) || (link && locate_debuglink(&files, s->path, link)))) {
		*ret = h.path;
		return h.fd;
	}
	h.fd = dwfl_standard_find_debuginfo(module, userdata, name, base, file_name, link, crc, ret);
	if (h.fd < 0 || !s->build_id.len_bytes || is_of_build(h.fd, &s->build_id))
		return h.fd;
	close(h.fd);
	free(*ret);
	*ret = NULL;
	return -1;
}

static struct error *dwfl_failed(const struct symbols *s)
{
	return error_create(ERROR_FORMAT, "%s: cannot be read: %s", s->path, dwfl_errmsg(-1));
}

/* Addresses of the module are those as linked. */
static struct error *open_module(struct symbols *s)
{
	static Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	void **userdata;
	GElf_Addr bias;
	GElf_Phdr h;
	Elf *elf;

	callbacks.debuginfo_path = locate_debuginfo_path();
	s->dwfl = dwfl_begin(&callbacks);
	if (!s->dwfl)
		return dwfl_failed(s);
	dwfl_report_begin(s->dwfl);
	s->module = dwfl_report_elf(s->dwfl, s->path, s->path, -1, 0, true);
	if (!s->module || dwfl_report_end(s->dwfl, NULL, NULL) != 0)
		return dwfl_failed(s);
	dwfl_module_info(s->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = s;
	elf = dwfl_module_getelf(s->module, &bias);
	if (!elf)
		return dwfl_failed(s);
	for (int i = 0; gelf_getphdr(elf, i, &h) != NULL; i++)
		if (h.p_type == PT_LOAD) {
			s->first_address = h.p_vaddr - h.p_offset;
			break;
		}
	return NULL;
}

/* ---- symbols ---- */

static size_t leading_underscores(const char *name)
{
	return strspn(name, "_");
}

/* The one to show is the first of its address. */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return compare_u64(x->address, y->address) ?:
	       compare_u64(y->is_function, x->is_function) ?:
	       compare_u64(y->is_global, x->is_global) ?:
	       compare_u64(leading_underscores(x->name), leading_underscores(y->name)) ?:
	       strcmp(x->name, y->name);
}

/* The symbol names code, or has no type and is in a section of code. */
static bool is_of_code(const GElf_Sym *symbol, Elf *elf, GElf_Word section)
{
	Elf_Scn *scn;
	GElf_Shdr h;
	int type = GELF_ST_TYPE(symbol->st_info);

	if (section == SHN_UNDEF || section == SHN_ABS)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	scn = type == STT_NOTYPE && elf ? elf_getscn(elf, section) : NULL;
	return scn && gelf_getshdr(scn, &h) && (h.sh_flags & SHF_EXECINSTR);
}

/* Up to the end of its section. */
static uint64_t bytes_behind(const GElf_Sym *symbol, Elf *elf, GElf_Word section)
{
	Elf_Scn *scn = elf ? elf_getscn(elf, section) : NULL;
	GElf_Shdr h;

	if (!scn || !gelf_getshdr(scn, &h) || symbol->st_value < h.sh_addr || symbol->st_value - h.sh_addr > h.sh_size)
		return 0;
	return h.sh_size - (symbol->st_value - h.sh_addr);
}

static struct error *add_symbol(struct symbols *s, int i)
{
	GElf_Sym symbol;
	GElf_Addr address;
	GElf_Word section;
	Elf *elf;
	const char *name = dwfl_module_getsym_info(s->module, i, &symbol, &address, &section, &elf, NULL);
	size_t len = name ? strcspn(name, "@") : 0;
	char *copy;

	if (!len || !is_of_code(&symbol, elf, section))
		return NULL;
	copy = arena_strndup(&s->arena, name, len);
	if (!copy)
		return &error_no_memory;
	return symbol_vec_append(&s->functions,
				 (struct symbol){.address = address,
						 .size = symbol.st_size ?: bytes_behind(&symbol, elf, section),
						 .name = copy,
						 .is_function = GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE,
						 .is_global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
						 .is_label = !symbol.st_size,
						 .is_indirect = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC});
}

static struct error *read_symbols(struct symbols *s)
{
	int count = dwfl_module_getsymtab(s->module); /* -1: it has none */
	struct error *err = NULL;

	for (int i = 1; i < count && !err; i++)
		err = add_symbol(s, i);
	for (size_t i = 0; i < s->functions.count; i++)
		s->has_local |= !s->functions.items[i].is_global;
	if (s->functions.count)
		qsort(s->functions.items, s->functions.count, sizeof *s->functions.items, by_address);
	return err;
}

struct error *symbols_open(const struct object_search *search, const struct object_wanted *wanted, struct symbols **ret)
{
	struct symbols *s;
	char *path;
	struct error *err = find_file(search, wanted, &path);

	if (err)
		return err;
	s = calloc(1, sizeof *s);
	if (!s) {
		free(path);
		return &error_no_memory;
	}
	arena_init(&s->arena);
	s->search = search;
	s->build_id = wanted->build_id;
	s->path = path;
	err = open_module(s) ?: read_symbols(s);
	if (err)
		symbols_close(s);
	else
		*ret = s;
	return err;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	call_site_index_destroy(s->calls);
	debug_lines_destroy(s->lines);
	free(s->by_name);
	dwfl_end(s->dwfl);
	symbol_vec_deinit(&s->functions);
	arena_deinit(&s->arena);
	free(s->path);
	free(s);
}

const char *symbols_function(const struct symbols *s, uint64_t address)
{
	const struct symbol *functions = s->functions.items;
	size_t below;

	address += s->first_address;
	below = COUNT_BELOW(functions, s->functions.count, address, address);
	return below < s->functions.count && functions[below].address == address ? functions[below].name : NULL;
}

const char *symbols_function_at(const struct symbols *s, size_t i, uint64_t *ret_size)
{
	const struct symbol *symbol = &s->functions.items[i];

	if (i >= s->functions.count)
		return NULL;
	*ret_size = symbol->is_label ? 0 : symbol->size;
	return symbol->name;
}

const char *symbols_around(const struct symbols *s, uint64_t address)
{
	const struct symbol *functions = s->functions.items;
	size_t below = COUNT_UP_TO(functions, s->functions.count, address, address + s->first_address);
	uint64_t start;

	if (!below)
		return NULL;
	start = functions[below - 1].address;
	while (below && functions[below - 1].address == start)
		below--;
	if (address + s->first_address - start >= functions[below].size || (functions[below].is_label && !s->has_local))
		return NULL;
	return functions[below].name;
}

/* ---- by name ---- */

static int compare_names(const void *a, const void *b, void *functions)
{
	const struct symbol *all = functions, *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];

	return strcmp(x->name, y->name) ?: compare_u64(y->is_global, x->is_global);
}

static bool sort_by_name(struct symbols *s)
{
	if (s->by_name)
		return true;
	s->by_name = calloc(s->functions.count + 1, sizeof *s->by_name);
	if (!s->by_name)
		return false;
	for (size_t i = 0; i < s->functions.count; i++)
		s->by_name[i] = (uint32_t)i;
	if (s->functions.count)
		qsort_r(s->by_name, s->functions.count, sizeof *s->by_name, compare_names, s->functions.items);
	return true;
}

static const struct symbol *named(const struct symbols *s, size_t i)
{
	return &s->functions.items[s->by_name[i]];
}

/* The first that has the name, or a later one. */
static size_t first_named(const struct symbols *s, const char *name)
{
	size_t low = 0, high = s->functions.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(named(s, middle)->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool symbols_find(struct symbols *s, const char *name, uint64_t *ret)
{
	const struct symbol *first, *other;
	size_t at;

	if (!sort_by_name(s))
		return false;
	at = first_named(s, name);
	first = at < s->functions.count ? named(s, at) : NULL;
	if (!first || strcmp(first->name, name) != 0 || first->is_indirect)
		return false;
	while (++at < s->functions.count) {
		other = named(s, at);
		if (strcmp(other->name, name) != 0 || other->is_global != first->is_global)
			break;
		if (other->address != first->address || other->is_indirect)
			return false;
	}
	*ret = first->address - s->first_address;
	return true;
}

/* ---- lines ---- */

static struct error *open_lines(struct symbols *s)
{
	return s->lines ? NULL : debug_lines_create(s->module, s->search, &s->lines);
}

struct error *symbols_lines(struct symbols *s, uint64_t address, const struct debug_line **ret, uint32_t *ret_count)
{
	struct error *err = open_lines(s);

	return err ? err : debug_lines_at(s->lines, address + s->first_address, &s->arena, ret, ret_count);
}

const struct error *symbols_lost(const struct symbols *s)
{
	return s->lines ? debug_lines_lost(s->lines) : NULL;
}

struct error *symbols_calls(struct symbols *s, uint64_t address, const struct call_sites **ret)
{
	struct error *err = open_lines(s);

	if (!err && !s->calls)
		err = call_site_index_create(s->lines, &s->calls);
	return err ? err : call_sites_at(s->calls, address + s->first_address, ret);
}

uint64_t symbols_base(const struct symbols *s)
{
	return s->first_address;
}

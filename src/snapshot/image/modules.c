/*
 * modules.c - which files were mapped where, and where these files are now. A file is only used when its build id is
 * the one in memory; a note says what memory does not show (the core lacks the page).
 *
 * The vdso has no file: its bytes are in the core.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libelf.h>

#include "base/cleanup.h"
#include "base/order.h"
#include "snapshot/source/source.h"

enum {
	HEADERS_MAX = 512,
	NOTES_BYTES_MAX = 65536,
	VDSO_BYTES_MAX = 1 << 20,
	PAGE_MASK = 4095,
};

static const char vdso_path[] = "[vdso]";

/* The headers of an ELF image, in memory or in a file. */
struct image {
	uint64_t first_address; /* as linked, of the byte at offset 0 */
	uint64_t entry;
	uint64_t file_bytes;   /* up to the end of its section headers */
	uint64_t memory_bytes; /* from the address at offset 0 to the last segment's end */
	struct build_id build_id;
	bool has_notes; /* they could be read */
};

struct reader {
	const struct snapshot_source *source; /* NULL: file */
	uint64_t start;
	const struct mapped_file *file;
};

static bool read_at(const struct reader *r, uint64_t off, void *ret, size_t len_bytes)
{
	if (!r->source) {
		if (off > r->file->len_bytes || r->file->len_bytes - off < len_bytes)
			return false;
		memcpy(ret, r->file->bytes + off, len_bytes);
		return true;
	}
	for (size_t done = 0, part; done < len_bytes; done += part) {
		part = snapshot_memory(r->source, r->start + off + done, (uint8_t *)ret + done, len_bytes - done);
		if (!part)
			return false;
	}
	return true;
}

static void take_build_id(const uint8_t *notes, size_t len_bytes, struct image *ret)
{
	size_t off = 0;

	while (len_bytes - off >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr h;
		size_t name_bytes, id_bytes;

		memcpy(&h, notes + off, sizeof h);
		off += sizeof h;
		name_bytes = ((size_t)h.n_namesz + 3) & ~(size_t)3;
		id_bytes = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (name_bytes > len_bytes - off || h.n_descsz > len_bytes - off - name_bytes)
			return;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(notes + off, "GNU", 4) == 0) {
			ret->build_id.len_bytes = h.n_descsz < BUILD_ID_MAX ? h.n_descsz : BUILD_ID_MAX;
			memcpy(ret->build_id.bytes, notes + off + name_bytes, ret->build_id.len_bytes);
			return;
		}
		if (id_bytes > len_bytes - off - name_bytes)
			return;
		off += name_bytes + id_bytes;
	}
}

static void read_notes(const struct reader *r, const Elf64_Phdr *h, struct image *ret)
{
	/* In memory as in the file: the linker puts notes into the segment that begins with the ELF header. */
	uint64_t off = r->source ? h->p_vaddr - ret->first_address : h->p_offset;
	uint8_t *notes;

	if (h->p_filesz > NOTES_BYTES_MAX || ret->build_id.len_bytes)
		return;
	notes = malloc(h->p_filesz + 1);
	if (!notes || !read_at(r, off, notes, h->p_filesz))
		ret->has_notes = false;
	else
		take_build_id(notes, h->p_filesz, ret);
	free(notes);
}

static void read_segments(const Elf64_Phdr *headers, unsigned int count, struct image *ret)
{
	bool is_first = true;

	for (unsigned int i = 0; i < count; i++) {
		const Elf64_Phdr *h = &headers[i];

		if (h->p_type != PT_LOAD)
			continue;
		if (is_first)
			ret->first_address = h->p_vaddr - h->p_offset;
		is_first = false;
		if (h->p_vaddr + h->p_memsz - ret->first_address > ret->memory_bytes)
			ret->memory_bytes = h->p_vaddr + h->p_memsz - ret->first_address;
	}
}

/* false: no ELF image of this machine there. */
static bool read_image(const struct reader *r, struct image *ret)
{
	Elf64_Ehdr e;
	Elf64_Phdr *headers;
	struct image image = {.has_notes = true};
	bool is_good;

	if (!read_at(r, 0, &e, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != EM_X86_64 || e.e_phentsize != sizeof *headers ||
	    e.e_phnum > HEADERS_MAX)
		return false;
	headers = calloc((size_t)e.e_phnum + 1, sizeof *headers);
	is_good = headers && read_at(r, e.e_phoff, headers, e.e_phnum * sizeof *headers);
	image.entry = e.e_entry;
	image.file_bytes = e.e_shoff + (uint64_t)e.e_shnum * e.e_shentsize;
	if (is_good)
		read_segments(headers, e.e_phnum, &image);
	for (int i = 0; is_good && i < e.e_phnum; i++)
		if (headers[i].p_type == PT_NOTE)
			read_notes(r, &headers[i], &image);
	free(headers);
	if (is_good)
		*ret = image;
	return is_good;
}

static bool read_file_image(const char *path, struct image *ret)
{
	struct mapped_file file;
	struct error *err = file_map(path, &file);
	bool is_good;

	if (err) {
		error_destroy(err);
		return false;
	}
	is_good = read_image(&(struct reader){.file = &file}, ret);
	file_unmap(&file);
	return is_good;
}

/* ---- where a module's file is now ---- */

struct file_search {
	struct snapshot *s;
	const char *path; /* as loaded */
	struct image memory;
	bool has_memory; /* memory is known, and so what its build id should be */
	bool is_loose;   /* memory has no build id: the name decides */
	char *found;     /* malloc'd */
	struct image image;
	struct build_id other; /* that the file at `path` had */
	bool is_other;
};

static bool try_file(void *state, const char *path)
{
	struct file_search *h = state;
	struct image image;

	if (!read_file_image(path, &image))
		return false;
	if (!h->is_loose && !build_id_equal(&image.build_id, &h->memory.build_id)) {
		if (strcmp(path, h->path) == 0) {
			h->is_other = true;
			h->other = image.build_id;
		}
		return false;
	}
	h->found = strdup(path);
	h->image = image;
	return h->found;
}

/* A file that a live process has mapped exists even if its name does not any more, or is one of another root directory. */
static void search_file(struct file_search *h, const struct object_search *search, const struct snapshot_mapping *first)
{
	const struct locate_mapping mapping = {h->s->pid, first->start, first->end};
	static const struct build_id unknown;

	locate_file(&(struct locate){
		.search = search,
		.path = h->path,
		.build_id = h->is_loose ? unknown : h->memory.build_id,
		.wants_program = true,
		.is_by_name = h->is_loose,
		.mapping = h->s->is_live ? &mapping : NULL,
		.try = try_file,
		.state = h,
	});
}

/* The file that the user named as the program. */
static struct error *take_program(struct file_search *h, const char *program)
{
	char have[BUILD_ID_TEXT_MAX], want[BUILD_ID_TEXT_MAX];
	struct snapshot_source *source = h->s->source;
	struct mapped_file file;
	struct error *err = file_map(program, &file);
	bool is_image;

	if (err)
		return err;
	is_image = read_image(&(struct reader){.file = &file}, &h->image);
	file_unmap(&file);
	if (!is_image)
		return error_create(ERROR_FORMAT, "%s: this is no x86-64 program", program);
	h->found = strdup(program);
	if (!h->found)
		return &error_no_memory;
	if (h->is_loose)
		return NULL;
	if (build_id_equal(&h->image.build_id, &h->memory.build_id))
		return NULL;
	return error_create(
		ERROR_MISMATCH,
		"%s: is of another build than %s: its build id is %s, that of what ran (%s) is %s: give the "
		"file that ran",
		program, source->name, build_id_text(&h->image.build_id, have), h->path,
		build_id_text(&h->memory.build_id, want));
}

static struct error *note_lost(struct file_search *h)
{
	char have[BUILD_ID_TEXT_MAX], want[BUILD_ID_TEXT_MAX];

	build_id_text(&h->memory.build_id, want);
	if (h->is_other)
		return snapshot_note(
			h->s,
			"%s: is of another build now: its build id is %s, that of what ran is %s: give that "
			"with --exe",
			h->path, build_id_text(&h->other, have), want);
	return snapshot_note(h->s, "%s (build id %s): is not there: give it with --exe", h->path,
			     h->is_loose ? "not known" : want);
}

/* ---- modules ---- */

VEC_DECLARE(module_vec, struct snapshot_module);

struct finder {
	struct snapshot *s;
	const struct snapshot_options *options;
	struct module_vec modules;
	uint64_t main_start;
};

/* Whether the file is of the build that ran, where memory does not show it. */
static struct error *note_unchecked(const struct file_search *h)
{
	if (!h->is_loose || !h->image.build_id.len_bytes)
		return NULL;
	return snapshot_note(h->s, "%s: whether it is of the same build cannot be checked: %s", h->found,
			     h->has_memory && h->memory.has_notes ? "what ran had no build id"
								  : "the core lacks the page with the build id");
}

static struct error *search(struct file_search *h, const struct finder *f, const struct snapshot_mapping *first,
			    bool is_main)
{
	struct error *err = NULL;

	if (is_main && f->options->program)
		err = take_program(h, f->options->program);
	else
		search_file(h, f->options->search, first);
	if (err)
		return err;
	return h->found ? note_unchecked(h) : note_lost(h);
}

static void file_search_deinit(struct file_search *h)
{
	free(h->found);
}

static struct error *find_file(struct finder *f, const struct snapshot_mapping *first, bool is_main,
			       struct snapshot_module *m)
{
	CLEANUP(file_search_deinit) struct file_search h = {.s = f->s, .path = m->path};
	struct error *err;

	h.has_memory = read_image(&(struct reader){.source = f->s->source, .start = first->start}, &h.memory);
	h.is_loose = !h.has_memory || !h.memory.has_notes || !h.memory.build_id.len_bytes;
	err = search(&h, f, first, is_main);
	if (err)
		return err;
	m->build_id = h.is_loose ? h.image.build_id : h.memory.build_id;
	if (h.has_memory || h.found)
		m->bias = first->start - first->file_off - (h.has_memory ? &h.memory : &h.image)->first_address;
	if (!h.found)
		return NULL;
	m->file = arena_strdup(&f->s->arena, h.found);
	return m->file ? NULL : &error_no_memory;
}

static bool is_all_told(const struct snapshot_mapping *m, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!m[i].is_told)
			return false;
	return true;
}

/*
 * The mappings of one module are neighbours of one path, as far as its ELF header says that it goes (all segments of a small
 * one may be of the file's first page); where no header is to be seen, up to where the file starts anew. A file that is only read lies there in one piece.
 */
static size_t module_end(const struct snapshot_source *source, size_t first, bool *is_code)
{
	const struct snapshot_mapping *m = source->mappings.items;
	struct reader reader = {.source = source, .start = m[first].start};
	struct image image;
	bool has_image =
		m[first].file_off == 0 && (read_image(&reader, &image) || read_file_image(m[first].path, &image));
	size_t end = first;

	*is_code = false;
	do {
		*is_code |= m[end].is_executable;
		end++;
	} while (
		end < source->mappings.count && strcmp(m[end].path, m[first].path) == 0 &&
		(has_image ? m[end].start - m[first].start < image.memory_bytes : m[end].file_off > m[first].file_off));
	*is_code |= has_image && end - first > 1 && !is_all_told(&m[first], end - first);
	return end;
}

static struct error *add_module(struct finder *f, size_t first, size_t end)
{
	struct snapshot_source *source = f->s->source;
	struct snapshot_mapping *mappings = source->mappings.items;
	struct snapshot_module m = {
		.path = mappings[first].path,
		.start = mappings[first].start,
		.end = mappings[end - 1].end,
	};
	bool is_main = source->entry ? source->entry >= m.start && source->entry < m.end : f->modules.count == 0;
	struct error *err = find_file(f, &mappings[first], is_main, &m);

	if (is_main)
		f->main_start = m.start;

	return err ? err : module_vec_append(&f->modules, m);
}

/* A core without a list of files: the program is where the entry point shows it. */
static struct error *add_program_only(struct finder *f)
{
	struct snapshot_source *source = f->s->source;
	struct snapshot_module m = {.path = f->options->program, .file = f->options->program};
	struct image image;
	struct mapped_file file;
	struct error *err =
		snapshot_note(f->s, "%s: has no list of mapped files: shared libraries are not known", source->name);

	if (err || !m.path || !source->entry)
		return err;
	err = file_map(m.path, &file);
	if (err)
		return err;
	if (!read_image(&(struct reader){.file = &file}, &image)) {
		err = error_create(ERROR_FORMAT, "%s: this is no x86-64 program", m.path);
	} else {
		m.bias = source->entry - image.entry;
		m.build_id = image.build_id;
		m.start = m.bias + image.first_address;
		m.end = m.start + image.memory_bytes;
		f->main_start = m.start;
		err = module_vec_append(&f->modules, m);
	}
	file_unmap(&file);
	return err;
}

static struct error *add_vdso(struct finder *f)
{
	struct snapshot_source *source = f->s->source;
	struct snapshot_module m = {.path = vdso_path, .start = source->vdso};
	struct reader reader = {.source = source, .start = source->vdso};
	struct image image;

	if (!source->vdso || !read_image(&reader, &image))
		return NULL;
	m.end = (m.start + image.file_bytes + PAGE_MASK) & ~(uint64_t)PAGE_MASK;
	m.bias = m.start - image.first_address;
	m.build_id = image.build_id;
	return image.file_bytes <= VDSO_BYTES_MAX ? module_vec_append(&f->modules, m) : NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct snapshot_module *x = a, *y = b;

	return compare_u64(x->start, y->start);
}

static struct error *collect(struct finder *f)
{
	struct snapshot_source *source = f->s->source;
	struct error *err = NULL;

	for (size_t i = 0, end; i < source->mappings.count && !err; i = end) {
		bool is_code;

		end = module_end(source, i, &is_code);
		if (is_code)
			err = add_module(f, i, end);
	}
	if (!err && !f->modules.count)
		err = add_program_only(f);
	return err ? err : add_vdso(f);
}

/* ---- libdwfl ---- */

static void read_vdso(struct snapshot_image *image)
{
	const struct snapshot_module *m = image->module;
	size_t len_bytes = (size_t)(m->end - m->start);

	image->copy = calloc(1, len_bytes);
	if (!image->copy)
		return;
	for (size_t done = 0, part; done < len_bytes; done += part) {
		part = snapshot_memory(image->source, m->start + done, image->copy + done, len_bytes - done);
		if (!part)
			break;
	}
}

/* Modules with a file were reported with it: only the vdso and lost files come here. libdwfl ends what it is given. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, char **file_name,
		    Elf **elf)
{
	struct snapshot_image *image = *userdata;

	(void)module;
	(void)name;
	(void)base;
	(void)file_name;
	if (image && image->module->path == vdso_path && !image->copy) {
		read_vdso(image);
		if (image->copy)
			*elf = elf_memory((char *)image->copy, (size_t)(image->module->end - image->module->start));
	}
	return -1;
}

struct debug_file {
	const struct snapshot_module *module;
	char *path; /* malloc'd */
	int fd;
};

static bool try_debug_file(void *state, const char *path)
{
	struct debug_file *f = state;
	const struct snapshot_module *m = f->module;
	struct image image;

	if ((m->file && strcmp(path, m->file) == 0) || !read_file_image(path, &image) ||
	    !build_id_equal(&image.build_id, &m->build_id))
		return false;
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd >= 0)
		f->path = strdup(path);
	return f->fd >= 0;
}

static int find_named_debug_file(const struct snapshot_module *m, const struct object_search *search, const char *link,
				 char **ret)
{
	struct debug_file f = {.module = m, .fd = -1};
	const struct locate files = {
		.search = search,
		.build_id = m->build_id,
		.wants_debug = true,
		.try = try_debug_file,
		.state = &f,
	};

	if (!search || m->build_id.len_bytes < 2)
		return -1;
	if (locate_file(&files) || (link && m->file && locate_debuglink(&files, m->file, link)))
		*ret = f.path;
	return f.fd;
}

static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *file_name, const char *link, GElf_Word crc, char **ret)
{
	const struct snapshot_image *image = *userdata;
	int fd = image ? find_named_debug_file(image->module, image->source->search, link, ret) : -1;

	return fd >= 0 ? fd : dwfl_standard_find_debuginfo(module, userdata, name, base, file_name, link, crc, ret);
}

static struct error *report_module(struct snapshot *s, uint32_t index)
{
	struct snapshot_source *source = s->source;
	struct snapshot_module *m = &s->modules[index];
	void **userdata;

	source->images[index] = (struct snapshot_image){.source = source, .module = m};
	if (m->file)
		m->dwfl = dwfl_report_elf(s->dwfl, m->path, m->file, -1, m->bias, true);
	if (!m->dwfl)
		m->dwfl = dwfl_report_module(s->dwfl, m->path, m->start, m->end);
	if (!m->dwfl)
		return snapshot_note(s, "%s: cannot be read: %s", m->path, dwfl_errmsg(-1));
	dwfl_module_info(m->dwfl, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = &source->images[index];
	return NULL;
}

static struct error *report_modules(struct snapshot *s)
{
	static Dwfl_Callbacks callbacks = {
		.find_elf = find_elf,
		.find_debuginfo = find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	struct snapshot_source *source = s->source;
	struct error *err = NULL;

	callbacks.debuginfo_path = locate_debuginfo_path();
	s->dwfl = dwfl_begin(&callbacks);
	source->images = calloc((size_t)s->module_count + 1, sizeof *source->images);
	if (!s->dwfl || !source->images)
		return &error_no_memory;
	dwfl_report_begin(s->dwfl);
	for (uint32_t i = 0; i < s->module_count && !err; i++)
		err = report_module(s, i);
	dwfl_report_end(s->dwfl, NULL, NULL);
	return err;
}

struct error *snapshot_find_modules(struct snapshot *s, const struct snapshot_options *options)
{
	struct finder f = {.s = s, .options = options};
	struct error *err = collect(&f);

	if (!err && f.modules.count) {
		qsort(f.modules.items, f.modules.count, sizeof *f.modules.items, by_start);
		s->modules = arena_copy(&s->arena, f.modules.items, f.modules.count, sizeof *s->modules);
		s->module_count = (uint32_t)f.modules.count;
		err = s->modules ? NULL : &error_no_memory;
	}
	s->main_module = UINT32_MAX;
	for (uint32_t i = 0; i < s->module_count && !err; i++)
		if (s->modules[i].start == f.main_start)
			s->main_module = i;
	module_vec_deinit(&f.modules);
	return err ? err : report_modules(s);
}

void snapshot_free_modules(struct snapshot *s)
{
	struct snapshot_source *source = s->source;

	if (s->dwfl)
		dwfl_end(s->dwfl);
	elf_end(source->machine);
	for (uint32_t i = 0; source->images && i < s->module_count; i++) {
		file_unmap(&source->images[i].file);
		free(source->images[i].copy);
	}
	free(source->images);
}

uint32_t snapshot_module_at(const struct snapshot *s, uint64_t address)
{
	size_t below = COUNT_UP_TO(s->modules, s->module_count, start, address);

	return below && address < s->modules[below - 1].end ? (uint32_t)below - 1 : UINT32_MAX;
}

static bool map_file(struct snapshot_image *image)
{
	if (!image->is_tried && image->module->file) {
		image->is_tried = true;
		error_destroy(file_map(image->module->file, &image->file));
	}
	return image->file.bytes;
}

size_t snapshot_file_memory(const struct snapshot *s, uint64_t address, void *ret, size_t len_bytes)
{
	const struct snapshot_source *source = s->source;
	uint32_t index = snapshot_module_at(s, address);

	if (index == UINT32_MAX || !map_file(&source->images[index]))
		return 0;
	for (size_t i = 0; i < source->mappings.count; i++) {
		const struct snapshot_mapping *m = &source->mappings.items[i];
		const struct mapped_file *file = &source->images[index].file;
		uint64_t off = m->file_off + (address - m->start), part = m->end - address;

		if (address < m->start || address >= m->end)
			continue;
		if (m->is_writable || off >= file->len_bytes)
			return 0;
		if (part > len_bytes)
			part = len_bytes;
		if (part > file->len_bytes - off)
			part = file->len_bytes - off;
		memcpy(ret, file->bytes + off, part);
		return part;
	}
	return 0;
}

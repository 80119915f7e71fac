/*
 * image.c - lists images. _dl_find_object gives an address's image without a lock (glibc 2.35 and later); program headers give its
 * segments.
 */
#include "agent/program/image.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "agent/code/code.h"
#include "agent/code/trampolines.h"
#include "native/unwind/cfi.h"
#include "native/image_header.h"
#include "native/maps.h"
#include "native/restart.h"
#include "agent/os/state.h"
#include "agent/os/memory.h"
#include "agent/program/program.h"
#include "agent/program/no_callback.h"
#include "agent/program/symbol.h"
#include "agent/program/targets.h"
#include "agent/os/address_map.h"
#include "recorder/config.h"
#include "waymark/runtime.h"

/* Newest first; only ever pushed to. Writers hold the agent's lock. */
static struct agent_image *images;
/* What the loader had loaded when the agent came. Under the agent's lock. */
static struct address_map early;

/* Never changed: the C library and what runs below it. */
static const char *const foreign_names[] = {"ld-linux-x86-64.so", "libc.so",     "libpthread.so", "libdl.so",
					    "librt.so",           "libgcc_s.so", "linux-vdso",    "libZydis.so",
					    "libZycore.so",       "libwaymark-"};

bool agent_images_begin(void)
{
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		if (!address_map_set(&early, (uintptr_t)map, 1))
			return false;
	return true;
}

struct agent_image *agent_image_find(uintptr_t address)
{
	struct agent_image *image = __atomic_load_n(&images, __ATOMIC_ACQUIRE);

	while (image && (image->is_gone || address < image->low || address >= image->high))
		image = image->next;
	return image;
}

bool agent_image_is_own(const struct agent_image *image, uintptr_t pc)
{
	uint32_t site;

	return image && image->kind == AGENT_IMAGE_OWN && !trampoline_find(pc, &site);
}

bool restart_is_code(uintptr_t low, uintptr_t high)
{
	const struct agent_image *image = agent_image_find(low);

	return image && image == agent_image_find(high);
}

struct code_area *agent_image_area(struct agent_image *image)
{
	if (!image->area)
		image->area = code_area_for(image->low, image->high);
	return image->area;
}

bool agent_image_function(const struct agent_image *image, uintptr_t address, struct eh_function *ret)
{
	return eh_find(&image->table, address, ret);
}

/* ---- what scanning asks ---- */

struct agent_image *agent_images_first(void)
{
	return images;
}

static bool function_at(void *state, uint64_t address, uint64_t *start, uint64_t *end, int *entry_cfa_off_bytes)
{
	const struct agent_image *image = state;
	struct eh_function f;
	int32_t off;

	if (!eh_find(&image->table, address, &f))
		return false;
	off = eh_entry_cfa_offset(&image->table, &f);
	*start = f.start;
	*end = f.end;
	*entry_cfa_off_bytes = off == EH_ENTRY_UNKNOWN ? SCAN_CFA_UNKNOWN : off;
	return true;
}

static uint64_t inner_of(void *state, uint64_t start)
{
	(void)state;
	return agent_function_inner(start);
}

static int cfa_offset_at(void *state, uint64_t address)
{
	const struct agent_image *image = state;
	struct eh_function f;
	struct cfi_row row;

	if (!eh_find(&image->table, address, &f) || !cfi_row_at(&image->table, &f, address, &row))
		return SCAN_CFA_UNKNOWN;
	return row.cfa_kind == CFI_CFA_REGISTER && row.cfa_register == CFI_RSP ? row.cfa_value : SCAN_CFA_UNKNOWN;
}

struct pad_visit {
	void (*visit)(void *visitor, uint64_t address);
	void *visitor;
};

static bool visit_pad(void *data, uintptr_t address)
{
	const struct pad_visit *v = data;

	v->visit(v->visitor, address);
	return true;
}

static void landing_pads(void *state, uint64_t start, void (*visit)(void *visitor, uint64_t address), void *visitor)
{
	const struct agent_image *image = state;
	struct pad_visit v = {visit, visitor};
	struct eh_function f;

	if (eh_find(&image->table, start, &f))
		eh_landing_pads(&image->table, &f, visit_pad, &v);
}

static uint64_t next_data_target(void *state, uint64_t low, uint64_t high)
{
	return targets_next(state, low, high);
}

/* ---- what an image holds ---- */

static const void *at(uintptr_t address)
{
	return (const void *)address; /* NOLINT(performance-no-int-to-ptr) */
}

/* The texts and, behind them, the data: the texts once more, since read-only data may share a segment with code. */
static void add_ranges(struct agent_image *image)
{
	const Elf64_Ehdr *ehdr = image->ehdr;
	const Elf64_Phdr *p = image_program_headers(ehdr);
	struct scan_range *next = image->ranges;

	image->scan.texts = next;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < ehdr->e_phnum; i++) {
			uintptr_t low = image->bias + p[i].p_vaddr;
			bool is_text = p[i].p_flags & PF_X;

			if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_R && is_text == (pass == 0))
				*next++ = (struct scan_range){low, low + p[i].p_memsz, at(low)};
		}
		if (pass == 0)
			image->scan.text_count = (size_t)(next - image->ranges);
	}
	for (size_t i = 0; i < image->scan.text_count; i++) {
		image->texts[i] = (struct eh_text){image->ranges[i].low, image->ranges[i].high};
		*next++ = image->ranges[i];
	}
	image->scan.data = image->ranges + image->scan.text_count;
	image->scan.data_count = (size_t)(next - image->scan.data);
}

/* Texts, data and .eh_frame_hdr. False: there is nothing executable, or no table of functions. */
static bool read_segments(struct agent_image *image)
{
	const Elf64_Ehdr *ehdr = image->ehdr;
	const Elf64_Phdr *p = image_program_headers(ehdr);
	struct eh_image eh = {.low = at(image->low), .high = at(image->high)};

	image->ranges = agent_alloc(2 * sizeof *image->ranges * ehdr->e_phnum);
	image->texts = agent_alloc(sizeof *image->texts * ehdr->e_phnum);
	if (!image->ranges || !image->texts)
		return false;
	add_ranges(image);
	eh.texts = image->texts;
	eh.text_count = image->scan.text_count;
	for (int i = 0; i < ehdr->e_phnum; i++) {
		if (p[i].p_type != PT_GNU_EH_FRAME)
			continue;
		eh.hdr = at(image->bias + p[i].p_vaddr);
		eh.hdr_bytes = p[i].p_memsz;
	}
	return eh.text_count && eh_table_init(&image->table, &eh);
}

static bool has(const struct agent_image *image, uintptr_t address)
{
	return address >= image->low && address < image->high;
}

/*
 * A library, loaded with the program, whose malloc is the process's, or would be if another did not interpose it (the heap client):
 * functions of libc that call nothing back (no_callback.h) and what interposes it call it, without telling the agent.
 */
static bool is_allocator(const struct agent_image *image)
{
	return !image->is_late && !has(image, getauxval(AT_ENTRY)) && symbol_address(image, "malloc") &&
	       symbol_address(image, "free");
}

static enum agent_image_kind kind_of(const struct agent_image *image)
{
	const char *path = image->path, *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (strncmp(name, "libwaymark-agent", 16) == 0)
		return AGENT_IMAGE_OWN;
	for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++)
		if (strncmp(name, foreign_names[i], strlen(foreign_names[i])) == 0)
			return AGENT_IMAGE_FOREIGN;
	return is_allocator(image) ? AGENT_IMAGE_FOREIGN : AGENT_IMAGE_CODE;
}

static const char *copy_path(const char *path)
{
	size_t size = strlen(path) + 1;
	char *copy = agent_alloc(size);

	return copy ? memcpy(copy, path, size) : NULL;
}

static void find_ends(struct agent_image *image)
{
	const Elf64_Ehdr *ehdr = image->ehdr;
	const Elf64_Phdr *p = image_program_headers(ehdr);

	image->low = UINTPTR_MAX;
	for (int i = 0; i < ehdr->e_phnum; i++) {
		uintptr_t low = image->bias + p[i].p_vaddr;

		if (p[i].p_type != PT_LOAD)
			continue;
		if (low < image->low)
			image->low = low;
		if (low + p[i].p_memsz > image->high)
			image->high = low + p[i].p_memsz;
	}
}

/* The loader names a file as it was asked for: the kernel's name of it is whole. */
static const char *path_of(const struct dl_find_object *found)
{
	const char *path = found->dlfo_link_map->l_name;
	struct maps_range range;

	if (!*path)
		return copy_path(wmrt_config()->program);
	if (*path != '/' && maps_find((uintptr_t)found->dlfo_map_start, &range) && range.path[0] == '/')
		return copy_path(range.path);
	return copy_path(path);
}

/* It calls nothing of the program back without the agent's knowing: it hands over what it is called for. */
static void find_runtime(struct agent_image *image)
{
	const struct wm1_runtime *runtime = at(symbol_address(image, "wm1_runtime"));

	if (!runtime)
		return;
	image->runtime_low = (uintptr_t)runtime->text_low;
	image->runtime_high = (uintptr_t)runtime->text_high;
}

static struct agent_image *list_image(const struct dl_find_object *found)
{
	const Elf64_Ehdr *ehdr = image_header_of(found);
	struct agent_image *image = agent_alloc(sizeof *image);
	bool is_readable;
	uint32_t number;

	if (!image || !ehdr)
		return NULL;
	image->ehdr = ehdr;
	image->bias = found->dlfo_link_map->l_addr;
	find_ends(image);
	image->record = UINT32_MAX;
	image->path = path_of(found);
	if (!image->path)
		return NULL;
	image->is_late = !address_map_find(&early, (uintptr_t)found->dlfo_link_map, &number);
	image->kind = kind_of(image);
	image->scan.cache = &agent_insns;
	image->scan.is_without_registers = true;
	image->scan.state = image;
	image->scan.function_at = function_at;
	image->scan.inner_of = inner_of;
	image->scan.cfa_offset_at = cfa_offset_at;
	image->scan.landing_pads = landing_pads;
	image->scan.next_data_target = next_data_target;
	is_readable = read_segments(image) && image->high - image->low <= UINT32_MAX;
	if (!is_readable && image->kind == AGENT_IMAGE_CODE)
		image->kind = AGENT_IMAGE_FOREIGN;
	find_runtime(image);
	if (!no_callback_add_runtime(image))
		return NULL;
	image->head = image_header_hash(ehdr, IMAGE_HEADER_BYTES);
	image->next = images;
	__atomic_store_n(&images, image, __ATOMIC_RELEASE);
	return image;
}

struct agent_image *agent_image_at(uintptr_t address)
{
	struct agent_image *image = agent_image_find(address);
	struct dl_find_object found;

	if (image || agent_is_seccomp_frozen ||
	    _dl_find_object((void *)address, &found) != 0) /* NOLINT(performance-no-int-to-ptr) */
		return image;
	return list_image(&found);
}

/* It is mapped where it was. */
static bool is_mapped(const struct agent_image *image)
{
	static uint64_t page[IMAGE_HEADER_BYTES / sizeof(uint64_t)];

	return image_memory_read((uintptr_t)image->ehdr, page, sizeof page) &&
	       image_header_hash(page, sizeof page) == image->head;
}

/* The loader finds an image for some time after it has unmapped it. */
bool agent_image_is_there(const struct agent_image *image)
{
	struct dl_find_object found;
	const void *text = image->scan.text_count ? image->scan.texts[0].bytes : image->ehdr;

	return !image->is_gone && _dl_find_object((void *)text, &found) == 0 &&
	       found.dlfo_link_map->l_addr == image->bias && (!agent_is_unloading || is_mapped(image));
}

/* Who reads the list goes on from it as before. */
static void unlist(struct agent_image *image)
{
	struct agent_image **link = &images;

	while (*link != image)
		link = &(*link)->next;
	__atomic_store_n(link, image->next, __ATOMIC_RELEASE);
}

void agent_image_sweep(void (*gone)(struct agent_image *image))
{
	for (struct agent_image *image = images; image; image = image->next) {
		if (agent_image_is_there(image) && image_header_hash(image->ehdr, IMAGE_HEADER_BYTES) == image->head)
			continue;
		__atomic_store_n(&image->is_gone, true, __ATOMIC_RELEASE);
		unlist(image);
		symbol_index_release(&image->names);
		targets_release(image);
		gone(image);
	}
}

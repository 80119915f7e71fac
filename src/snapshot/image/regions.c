/*
 * regions.c - what is mapped at an address and what may be done there. The core's segments say it; gdb's cores leave out what
 * is as in a file, of which the list of mapped files and the file's own headers say the rest.
 */
#include <gelf.h>

#include "snapshot/source/source.h"

static bool take_segment(const struct snapshot_source *source, uint64_t address, struct snapshot_region *ret)
{
	const struct snapshot_segment *segment = snapshot_segment_below(source, address);

	if (!segment || address >= segment->end)
		return false;
	*ret = (struct snapshot_region){
		.is_told = true,
		.is_readable = segment->is_readable,
		.is_writable = segment->is_writable,
		.is_executable = segment->is_executable,
		.start = segment->start,
		.end = segment->end,
	};
	return true;
}

/* By the program headers of the module's file. */
static void take_header(const struct snapshot *s, uint64_t address, struct snapshot_region *ret)
{
	uint32_t index = snapshot_module_at(s, address);
	GElf_Addr bias;
	size_t count;
	Elf *elf = index != UINT32_MAX && s->modules[index].dwfl ? dwfl_module_getelf(s->modules[index].dwfl, &bias)
								 : NULL;

	if (!elf || elf_getphdrnum(elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		uint64_t linked = address - s->modules[index].bias;
		GElf_Phdr h;

		if (!gelf_getphdr(elf, (int)i, &h) || h.p_type != PT_LOAD || linked < h.p_vaddr ||
		    linked - h.p_vaddr >= h.p_memsz)
			continue;
		ret->is_told = true;
		ret->is_readable = h.p_flags & PF_R;
		ret->is_writable = h.p_flags & PF_W;
		ret->is_executable = h.p_flags & PF_X;
		return;
	}
}

bool snapshot_region_at(const struct snapshot *s, uint64_t address, struct snapshot_region *ret)
{
	const struct snapshot_source *source = s->source;
	struct snapshot_region region = {0};
	bool is_there = take_segment(source, address, &region);

	for (size_t i = 0; i < source->mappings.count; i++) {
		const struct snapshot_mapping *m = &source->mappings.items[i];

		if (address < m->start || address >= m->end)
			continue;
		region.path = m->path;
		region.file_off = m->file_off + (address - m->start);
		if (!is_there) {
			region.start = m->start;
			region.end = m->end;
			region.is_told = m->is_told;
			region.is_readable = m->is_readable;
			region.is_writable = m->is_writable;
			region.is_executable = m->is_executable;
			if (!region.is_told)
				take_header(s, address, &region);
		}
		*ret = region;
		return true;
	}
	if (is_there)
		*ret = region;
	return is_there;
}

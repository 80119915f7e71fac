/*
 * memory.c - memory is what the core or the process has, and for what a core leaves out, the files that were mapped read-only.
 */
#include "snapshot/source/source.h"

size_t snapshot_memory(const struct snapshot_source *source, uint64_t address, void *ret, size_t len_bytes)
{
	return source->memory_fd >= 0 ? snapshot_live_memory(source, address, ret, len_bytes)
				      : snapshot_core_memory(source, address, ret, len_bytes);
}

bool snapshot_read(const struct snapshot *s, uint64_t address, void *ret, size_t len_bytes)
{
	const struct snapshot_source *source = s->source;
	uint8_t *to = ret;

	while (len_bytes) {
		size_t part = snapshot_memory(source, address, to, len_bytes);

		if (!part)
			part = snapshot_file_memory(s, address, to, len_bytes);
		if (!part)
			return false;
		address += part;
		to += part;
		len_bytes -= part;
	}
	return true;
}

/* library_buffer.c - the functions are known by their names. */
#include "model/contexts/library_buffer.h"

#include <string.h>

/* Functions that allocate for a stream of the C library, which keeps its buffer to the end, and for nothing else. */
static bool is_stream_function(const char *name)
{
	static const char *const names[] = {"printf",
					    "fprintf",
					    "vprintf",
					    "vfprintf",
					    "puts",
					    "fputs",
					    "putc",
					    "fputc",
					    "putchar",
					    "fwrite",
					    "fflush",
					    "perror",
					    "getc",
					    "fgetc",
					    "getchar",
					    "fgets",
					    "fread",
					    "scanf",
					    "fscanf",
					    "vscanf",
					    "vfscanf",
					    "ungetc",
					    "_IO_putc",
					    "_IO_getc",
					    "_IO_file_doallocate",
					    "_IO_wfile_doallocate"};
	static const char chk[] = "_chk", unlocked[] = "_unlocked";
	size_t len = strlen(name);

	if (strncmp(name, "__", 2) == 0 && len > 6 && strcmp(name + len - (sizeof chk - 1), chk) == 0) {
		name += 2;
		len -= sizeof chk + 1;
	} else if (len > sizeof unlocked && strcmp(name + len - (sizeof unlocked - 1), unlocked) == 0) {
		len -= sizeof unlocked - 1;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return true;
	return false;
}

bool library_buffer_is(const struct profile *p, uint32_t node)
{
	const struct tree_node *nodes = p->nodes.items;
	const struct frame *leaf = &p->frames.items[nodes[node].frame];

	if (!node)
		return false;
	if (leaf->flags & FRAME_FOREIGN && strcmp(leaf->link_name, "malloc") != 0)
		return is_stream_function(leaf->link_name);
	if (leaf->flags & FRAME_FOREIGN)
		node = nodes[node].parent;
	return node && strstr(p->frames.items[nodes[node].frame].link_name, "file_doallocate") &&
	       is_stream_function(p->frames.items[nodes[node].frame].link_name);
}

/* objects.c - lists variables by the debug information and the symbols, and blocks of the heap by their sizes (objects.h). */
#include "snapshot/debug/objects.h"

#include <dwarf.h>
#include <string.h>

#include "snapshot/debug/value.h"

enum {
	DIES_MAX = 100000, /* entries of a function */
	NESTED_MAX = 64,
	HEAD_BYTES = 16, /* of a chunk: the one in front of it has the first half */
	CHUNK_MIN_BYTES = 32,
	SIZE_FLAGS = 7,
	BLOCKS_MAX = 1 << 22,
	WORD_BYTES = 8,
	PAGE_BYTES = 4096,
};

/* ---- frames ---- */

struct listing {
	struct location_frame frame;
	struct arena *arena;
	struct snapshot_object_vec *out;
	int left; /* DIES_MAX */
};

static struct error *add_variable(struct listing *l, Dwarf_Die *variable)
{
	const char *name = dwarf_diename(variable);
	struct snapshot_object object;
	struct value v = {0};

	if (!name || !value_type_of(variable, &v.type))
		return NULL;
	location_find(&l->frame, variable, value_type_bytes(&v.type), &v.place);
	object.len_bytes = value_type_bytes(&v.type);
	if (!value_address(&v, &object.address) || !object.len_bytes)
		return NULL;
	object.name = arena_strdup(l->arena, name);
	return object.name ? snapshot_object_vec_append(l->out, object) : &error_no_memory;
}

static struct error *add_variables(struct listing *l, Dwarf_Die *scope, int depth)
{
	struct error *err = NULL;
	Dwarf_Die die;

	if (depth == NESTED_MAX || dwarf_child(scope, &die) != 0)
		return NULL;
	do {
		int tag = dwarf_tag(&die);

		if (--l->left < 0)
			break;
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			err = add_variable(l, &die);
		else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
			 tag == DW_TAG_catch_block)
			err = add_variables(l, &die, depth + 1);
	} while (!err && dwarf_siblingof(&die, &die) == 0);
	return err;
}

struct error *snapshot_frame_objects(struct snapshot *s, const struct snapshot_place *place, struct arena *arena,
				     struct snapshot_object_vec *ret)
{
	struct listing l = {.arena = arena, .out = ret, .left = DIES_MAX};
	struct snapshot_scopes *scopes = arena_alloc(arena, sizeof *scopes);
	struct error *err = scopes ? snapshot_find_scopes(s, place->frame, scopes) : &error_no_memory;

	if (err || !scopes->count)
		return err;
	location_frame_init(s, place->frame, place->caller, place->thread_pointer, scopes, &l.frame);
	return add_variables(&l, &scopes->dies[0], 0);
}

/* ---- static storage ---- */

struct error *snapshot_static_objects(const struct snapshot *s, uint32_t module, struct snapshot_object_vec *ret)
{
	Dwfl_Module *dwfl = s->modules[module].dwfl;
	int count = dwfl ? dwfl_module_getsymtab(dwfl) : 0;
	struct error *err = NULL;

	for (int i = 1; i < count && !err; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(dwfl, i, &symbol, &address, NULL, NULL, NULL);

		if (!name || !*name || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF ||
		    !symbol.st_size)
			continue;
		err = snapshot_object_vec_append(ret, (struct snapshot_object){name, address, symbol.st_size});
	}
	return err;
}

/* ---- heap ---- */

static bool read_word(const struct snapshot_segment *segment, uint64_t address, uint64_t *ret)
{
	if (address < segment->start || address - segment->start + WORD_BYTES > segment->len_bytes)
		return false;
	memcpy(ret, segment->bytes + (address - segment->start), sizeof *ret);
	return true;
}

/* glibc's first chunk is the cache of the thread that began the heap: since 2.30, and in 2.26 to 2.29. */
static bool begins_heap(const struct snapshot_segment *segment)
{
	uint64_t size;

	return segment->is_writable && !(segment->start % PAGE_BYTES) &&
	       read_word(segment, segment->start + WORD_BYTES, &size) && (size == 0x291 || size == 0x251);
}

static struct error *walk(const struct snapshot_segment *segment, struct snapshot_heap *ret)
{
	uint64_t at = segment->start, size;
	struct error *err = NULL;

	while (!err && at < segment->end && ret->blocks.count < BLOCKS_MAX) {
		if (!read_word(segment, at + WORD_BYTES, &size))
			return NULL;
		size &= ~(uint64_t)SIZE_FLAGS;
		if (size < CHUNK_MIN_BYTES || size % HEAD_BYTES || size > segment->end - at) {
			ret->broken = at + WORD_BYTES;
			return NULL;
		}
		/* Up to the size of the next one. The last one is the top. */
		if (size < segment->end - at)
			err = snapshot_object_vec_append(&ret->blocks, (struct snapshot_object){NULL, at + HEAD_BYTES,
												size - WORD_BYTES});
		at += size;
	}
	return err;
}

struct error *snapshot_heap_walk(const struct snapshot *s, struct snapshot_heap *ret)
{
	const struct snapshot_source *source = s->source;
	struct snapshot_heap heap = {0};
	struct error *err = NULL;

	for (size_t i = 0; i < source->segments.count && !err && !heap.blocks.count; i++)
		if (begins_heap(&source->segments.items[i]))
			err = walk(&source->segments.items[i], &heap);
	if (err)
		snapshot_heap_deinit(&heap);
	else
		*ret = heap;
	return err;
}

void snapshot_heap_deinit(struct snapshot_heap *h)
{
	snapshot_object_vec_deinit(&h->blocks);
	*h = (struct snapshot_heap){0};
}

/* ---- words ---- */

uint32_t snapshot_find_words(const struct snapshot *s, uint64_t first, uint64_t last, uint64_t *ret, uint32_t max)
{
	const struct snapshot_source *source = s->source;
	uint32_t count = 0;

	for (size_t i = 0; i < source->segments.count; i++) {
		const struct snapshot_segment *segment = &source->segments.items[i];

		for (uint64_t off = 0; segment->is_writable && off + WORD_BYTES <= segment->len_bytes;
		     off += WORD_BYTES) {
			uint64_t word;

			memcpy(&word, segment->bytes + off, sizeof word);
			if (word < first || word > last)
				continue;
			if (count == max)
				return count;
			ret[count++] = segment->start + off;
		}
	}
	return count;
}

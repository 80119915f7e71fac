/* builder.c - metadata models and .wmk bytes by hand. Writes the layout of include/waymark/wmk.h field by field. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/hash.h"
#include "format/section.h"
#include "format/token.h"
#include "support/builder.h"

static void must_have_room(uint32_t count)
{
	if (count >= BUILD_MAX)
		abort();
}

void build_meta_init(struct meta_builder *b, const char *unit)
{
	memset(b, 0, sizeof *b);
	meta_init(&b->meta);
	b->meta.producer = "waymark test";
	b->meta.unit = unit;
	b->meta.functions = b->functions;
	b->meta.sites = b->sites;
	b->meta.site_count = 1;
	b->meta.locations = b->locations;
}

uint32_t build_function(struct meta_builder *b, const char *name, uint32_t flags, uint64_t contexts, uint64_t restart)
{
	must_have_room(b->meta.function_count);
	b->functions[b->meta.function_count] = (struct meta_function){.link_name = name,
								      .name = name,
								      .file = "test.c",
								      .line = 10 * (b->meta.function_count + 1),
								      .flags = flags,
								      .contexts = contexts,
								      .restart = restart};
	return b->meta.function_count++;
}

uint32_t build_location(struct meta_builder *b, const char *function, const char *file, uint32_t line,
			uint32_t inlined_at)
{
	must_have_room(b->meta.location_count);
	b->locations[b->meta.location_count] = (struct meta_location){
		.function = function, .file = file, .line = line, .column = 1, .inlined_at = inlined_at};
	return ++b->meta.location_count;
}

uint32_t build_call(struct meta_builder *b, enum meta_site_kind kind, uint32_t caller, uint32_t callee, uint64_t addend)
{
	uint32_t site = build_site(b, kind, caller, NULL);

	b->sites[site].callee = callee;
	b->sites[site].addend = addend;
	return site;
}

uint32_t build_site(struct meta_builder *b, enum meta_site_kind kind, uint32_t caller, const char *foreign)
{
	must_have_room(b->meta.site_count);
	b->sites[b->meta.site_count] = (struct meta_site){.kind = kind, .caller = caller, .foreign = foreign};
	return b->meta.site_count++;
}

static void put_section(struct buffer *out, const char *magic, const uint8_t *raw, size_t raw_bytes)
{
	size_t bound = ZSTD_compressBound(raw_bytes);
	uint8_t *body = malloc(bound);
	size_t body_bytes;

	if (!body)
		abort();
	body_bytes = ZSTD_compress(body, bound, raw, raw_bytes, 1);
	if (ZSTD_isError(body_bytes))
		abort();
	buffer_bytes(out, magic, 8);
	buffer_u32(out, 1); /* version */
	buffer_u32(out, 1); /* zstd */
	buffer_u64(out, hash_bytes(HASH_START, raw, raw_bytes));
	buffer_u64(out, body_bytes);
	buffer_u64(out, raw_bytes);
	buffer_u64(out, 0);
	buffer_bytes(out, body, body_bytes);
	free(body);
	if (buffer_error(out))
		abort();
}

void build_section(struct buffer *out, const uint8_t *raw, size_t raw_bytes)
{
	put_section(out, "\x89WMD\r\n\x1a\n", raw, raw_bytes);
}

void build_paths_section(struct buffer *out, const uint8_t *raw, size_t raw_bytes)
{
	put_section(out, "\x89WMP\r\n\x1a\n", raw, raw_bytes);
}

/* With zeros. Not byte by byte: a chunk is 64 KB, and fuzzing makes one for each input. */
static void pad_to(struct buffer *out, size_t end)
{
	static const uint8_t zeros[WMK_CHUNK_BYTES];

	while (out->len_bytes < end && !out->failed) {
		size_t left = end - out->len_bytes;

		buffer_bytes(out, zeros, left < sizeof zeros ? left : sizeof zeros);
	}
}

void build_wmk_init(struct wmk_builder *b, uint64_t run, const char *program)
{
	char name[WMK_PROGRAM_BYTES] = {0};

	memset(b, 0, sizeof *b);
	snprintf(name, sizeof name, "%s", program);
	buffer_bytes(&b->out, WMK_MAGIC, 8);
	buffer_u32(&b->out, WMK_VERSION);
	buffer_u32(&b->out, WMK_CHUNK_BYTES);
	buffer_u64(&b->out, run);
	buffer_u64(&b->out, 0); /* parent_run */
	buffer_u32(&b->out, 4242);
	buffer_u32(&b->out, WMK_FLAG_CLOSED);
	buffer_u32(&b->out, 0); /* chunk_count */
	buffer_u32(&b->out, 0);
	for (size_t off = offsetof(struct wmk_header, start_realtime_ns); off < offsetof(struct wmk_header, program);
	     off += 8)
		buffer_u64(&b->out, 0);
	buffer_bytes(&b->out, name, sizeof name);
	pad_to(&b->out, WMK_HEADER_BYTES);
}

static void end_chunk(struct wmk_builder *b)
{
	uint32_t span;

	if (!b->chunk_count)
		return;
	b->used_bytes = (uint32_t)(b->out.len_bytes - b->chunk_off - WMK_CHUNK_HEADER_BYTES);
	span = (WMK_CHUNK_HEADER_BYTES + b->used_bytes + WMK_CHUNK_BYTES - 1) / WMK_CHUNK_BYTES;
	buffer_put_u32(&b->out, b->chunk_off + offsetof(struct wmk_chunk_header, used_bytes), b->used_bytes);
	if (span > 1)
		buffer_put_u32(&b->out, b->chunk_off + offsetof(struct wmk_chunk_header, span), span);
	b->chunk_count += span - 1;
	pad_to(&b->out, b->chunk_off + (size_t)span * WMK_CHUNK_BYTES);
}

void build_chunk(struct wmk_builder *b, enum wmk_kind kind, uint64_t first, uint32_t tid)
{
	end_chunk(b);
	b->chunk_off = b->out.len_bytes;
	b->chunk_count++;
	buffer_u32(&b->out, WMK_CHUNK_MAGIC);
	buffer_u32(&b->out, kind);
	buffer_u32(&b->out, 0);
	buffer_u32(&b->out, tid);
	buffer_u64(&b->out, first);
	for (int i = 0; i < 5; i++)
		buffer_u64(&b->out, 0);
}

uint64_t build_string(struct wmk_builder *b, uint64_t first, const char *text)
{
	uint64_t number = first + (b->out.len_bytes - b->chunk_off - WMK_CHUNK_HEADER_BYTES);

	buffer_u32(&b->out, (uint32_t)strlen(text));
	buffer_u32(&b->out, 1);
	buffer_bytes(&b->out, text, strlen(text));
	while (b->out.len_bytes % 8)
		buffer_u8(&b->out, 0);
	return number;
}

void build_image(struct wmk_builder *b, uint64_t key, uint32_t site_base, uint32_t site_count, uint64_t path,
		 const uint8_t *build_id, uint32_t build_id_bytes)
{
	uint8_t id[32] = {0};

	if (build_id)
		memcpy(id, build_id, build_id_bytes);
	buffer_u64(&b->out, key);
	buffer_u64(&b->out, 0x400000);
	buffer_u32(&b->out, site_base);
	buffer_u32(&b->out, site_count);
	buffer_u64(&b->out, path);
	buffer_bytes(&b->out, id, sizeof id);
	buffer_u32(&b->out, build_id_bytes);
	for (int i = 0; i < 6; i++)
		buffer_u32(&b->out, 0);
	buffer_u32(&b->out, 1);
}

void build_node(struct wmk_builder *b, uint32_t parent, uint64_t id, uint32_t site, uint32_t run)
{
	buffer_u64(&b->out, id);
	buffer_u32(&b->out, parent);
	buffer_u32(&b->out, site);
	buffer_u32(&b->out, run);
	buffer_u64(&b->out, 0);
	buffer_u32(&b->out, 1);
}

void build_event(struct wmk_builder *b, uint64_t time_ns, uint64_t value, uint64_t id, uint32_t prefix, uint32_t site,
		 uint32_t name)
{
	buffer_u64(&b->out, time_ns);
	buffer_u64(&b->out, value);
	buffer_u64(&b->out, id);
	buffer_u32(&b->out, prefix);
	buffer_u32(&b->out, site);
	buffer_u32(&b->out, name);
	buffer_u32(&b->out, 0); /* epoch */
	buffer_u32(&b->out, 4242);
	buffer_u32(&b->out, 1);
}

void build_thread(struct wmk_builder *b, uint64_t time_ns, uint32_t tid, uint32_t name)
{
	buffer_u64(&b->out, time_ns);
	buffer_u32(&b->out, tid);
	buffer_u32(&b->out, name);
	buffer_u32(&b->out, 0);
	buffer_u32(&b->out, 1);
}

void build_heap(struct wmk_builder *b, uint64_t id, uint32_t prefix, uint32_t site, uint64_t count, uint64_t bytes,
		uint64_t freed_count, uint64_t freed_bytes, uint64_t peak)
{
	const uint64_t none[4] = {0};

	build_forked_heap(b, id, prefix, site, count, bytes, freed_count, freed_bytes, peak, none);
}

void build_forked_heap(struct wmk_builder *b, uint64_t id, uint32_t prefix, uint32_t site, uint64_t count,
		       uint64_t bytes, uint64_t freed_count, uint64_t freed_bytes, uint64_t peak,
		       const uint64_t inherited[4])
{
	buffer_u64(&b->out, id);
	buffer_u32(&b->out, prefix);
	buffer_u32(&b->out, site);
	buffer_u64(&b->out, count);
	buffer_u64(&b->out, bytes);
	buffer_u64(&b->out, freed_bytes);
	buffer_u32(&b->out, 0); /* epoch */
	buffer_u32(&b->out,
		   count && bytes >= count ? 63 - (uint32_t)__builtin_clzll(bytes / count) : 0); /* size class */
	buffer_u64(&b->out, peak);
	buffer_u64(&b->out, 0); /* heap_peak_bytes of the header, unless a test sets that */
	for (int i = 0; i < WMK_LIVES; i++)
		buffer_u64(&b->out, i == 1 ? freed_count : 0);
	buffer_u64(&b->out, 0); /* temporary_count */
	for (int i = 0; i < 4; i++)
		buffer_u64(&b->out, inherited[i]);
	buffer_u64(&b->out, 0);
	buffer_u64(&b->out, 0);
	buffer_u32(&b->out, 0);
	buffer_u32(&b->out, 1);
}

void build_heap_peak(struct wmk_builder *b, uint64_t at_peak_of)
{
	buffer_put(&b->out, b->out.len_bytes - sizeof(struct wmk_heap) + offsetof(struct wmk_heap, at_peak_of),
		   at_peak_of, 8);
}

void build_heap_time(struct wmk_builder *b, uint64_t time_ns, uint64_t live, uint64_t low, uint64_t high)
{
	buffer_u64(&b->out, time_ns);
	buffer_u64(&b->out, live);
	buffer_u64(&b->out, low);
	buffer_u64(&b->out, high);
	buffer_u32(&b->out, 0);
	buffer_u32(&b->out, 1);
}

void build_table(struct wmk_builder *b, const struct wmk_paths *head, uint64_t begun, const uint64_t *words,
		 uint32_t word_count)
{
	while ((b->out.len_bytes - b->chunk_off) % 16)
		buffer_u8(&b->out, 0);
	b->table_off = b->out.len_bytes;
	buffer_u64(&b->out, head->name_key);
	buffer_u64(&b->out, head->cfg_key);
	buffer_u64(&b->out, head->path_count);
	buffer_u32(&b->out, head->image);
	buffer_u8(&b->out, head->kind);
	buffer_u8(&b->out, head->bits);
	buffer_u16(&b->out, head->flags);
	buffer_u32(&b->out, head->entry_count);
	for (int i = 0; i < 6; i++)
		buffer_u32(&b->out, 0);
	buffer_u32(&b->out, 1);
	buffer_u64(&b->out, begun);
	buffer_u64(&b->out, UINT64_C(0x7ffc12345678)); /* the runtime's */
	for (uint32_t i = 0; i < word_count; i++)
		buffer_u64(&b->out, words[i]);
}

void build_path_count(struct wmk_builder *b, const struct wmk_path_count *r)
{
	buffer_u64(&b->out, r->name_key);
	buffer_u64(&b->out, r->cfg_key);
	buffer_u64(&b->out, r->path_count);
	buffer_u64(&b->out, r->r);
	buffer_u64(&b->out, r->count);
	buffer_u64(&b->out, r->id);
	buffer_u32(&b->out, r->prefix);
	buffer_u32(&b->out, r->site);
	buffer_u32(&b->out, r->image);
	buffer_u8(&b->out, r->kind);
	buffer_u8(&b->out, r->bits);
	buffer_u16(&b->out, r->flags);
	buffer_u32(&b->out, r->epoch);
	buffer_u32(&b->out, 1);
}

void build_run(struct wmk_builder *b, uint64_t run)
{
	buffer_u64(&b->out, run);
	buffer_u32(&b->out, 0);
	buffer_u32(&b->out, 1);
}

void build_image_kind(struct wmk_builder *b, uint32_t kind)
{
	buffer_put_u32(&b->out, b->out.len_bytes - 28, kind);
}

void build_recorded_function(struct wmk_builder *b, const struct wmk_function *f)
{
	buffer_u64(&b->out, f->address);
	buffer_u32(&b->out, f->image);
	buffer_u32(&b->out, f->name);
	buffer_u32(&b->out, f->owner);
	buffer_u32(&b->out, f->descriptor);
	buffer_u32(&b->out, f->file);
	buffer_u32(&b->out, f->line);
	buffer_u32(&b->out, f->flags);
	buffer_u64(&b->out, 0);
	buffer_u32(&b->out, 1);
}

void build_recorded_site(struct wmk_builder *b, uint32_t function, uint32_t kind, uint32_t name, uint32_t position,
			 uint32_t line, uint32_t flags)
{
	buffer_u32(&b->out, function);
	buffer_u32(&b->out, kind);
	buffer_u32(&b->out, name);
	buffer_u32(&b->out, position);
	buffer_u32(&b->out, line);
	buffer_u32(&b->out, flags);
	buffer_u32(&b->out, 0);
	buffer_u32(&b->out, 1);
}

void build_recorded_line(struct wmk_builder *b, uint32_t function, uint32_t position, uint32_t line)
{
	buffer_u32(&b->out, function);
	buffer_u32(&b->out, position);
	buffer_u32(&b->out, line);
	buffer_u32(&b->out, 1);
}

void build_epoch_function(struct wmk_builder *b, uint32_t epoch, uint32_t function, uint64_t contexts, uint64_t restart,
			  uint32_t flags)
{
	buffer_u64(&b->out, contexts);
	buffer_u64(&b->out, restart);
	buffer_u32(&b->out, epoch);
	buffer_u32(&b->out, function);
	buffer_u32(&b->out, flags);
	buffer_u32(&b->out, 1);
}

void build_epoch_edge(struct wmk_builder *b, uint32_t epoch, uint32_t site, uint32_t callee, uint32_t kind,
		      uint64_t addend)
{
	buffer_u64(&b->out, addend);
	buffer_u32(&b->out, epoch);
	buffer_u32(&b->out, site);
	buffer_u32(&b->out, callee);
	buffer_u32(&b->out, kind);
	buffer_u32(&b->out, 0);
	buffer_u32(&b->out, 1);
}

static void put_epoch(struct wmk_builder *b, const struct wmk_epoch *e)
{
	buffer_u64(&b->out, 0);
	buffer_u32(&b->out, e->epoch);
	buffer_u32(&b->out, e->function_count);
	buffer_u32(&b->out, e->edge_count);
	buffer_u32(&b->out, e->base);
	buffer_u32(&b->out, e->flags);
	buffer_u32(&b->out, 1);
}

void build_epoch_record(struct wmk_builder *b, uint32_t epoch, uint32_t function_count, uint32_t edge_count)
{
	put_epoch(b, &(struct wmk_epoch){.epoch = epoch, .function_count = function_count, .edge_count = edge_count});
}

void build_ranked_epoch_record(struct wmk_builder *b, uint32_t epoch, uint32_t base, uint32_t function_count,
			       uint32_t edge_count)
{
	put_epoch(b, &(struct wmk_epoch){.epoch = epoch,
					 .function_count = function_count,
					 .edge_count = edge_count,
					 .base = base,
					 .flags = WMK_EPOCH_RANKS});
}

void build_epoch(struct wmk_builder *b, uint32_t epoch)
{
	static const uint8_t before_end[WMK_KIND_END] = {[WMK_NODES] = 12,
							 [WMK_EVENTS] = 12,
							 [WMK_HEAP] = sizeof(struct wmk_heap) -
								      offsetof(struct wmk_heap, epoch),
							 [WMK_PATH_COUNTS] = 8};
	uint8_t kind = b->out.bytes[b->chunk_off + offsetof(struct wmk_chunk_header, kind)];

	if (!before_end[kind])
		abort();
	buffer_put_u32(&b->out, b->out.len_bytes - before_end[kind], epoch);
}

void build_state(struct wmk_builder *b, uint32_t state)
{
	buffer_put_u32(&b->out, b->out.len_bytes - 4, state);
}

void build_table_state(struct wmk_builder *b, uint32_t state)
{
	buffer_put_u32(&b->out, b->table_off + offsetof(struct wmk_paths, state), state);
}

void build_header_u64(struct wmk_builder *b, size_t off, uint64_t v)
{
	buffer_put(&b->out, off, v, 8);
}

void build_header_u32(struct wmk_builder *b, size_t off, uint32_t v)
{
	buffer_put_u32(&b->out, off, v);
}

void build_wmk_finish(struct wmk_builder *b)
{
	end_chunk(b);
	build_header_u32(b, offsetof(struct wmk_header, chunk_count), b->chunk_count);
	if (buffer_error(&b->out))
		abort();
}

const char *build_token(char *buf, uint64_t run, const char *build, uint32_t site, uint64_t id, uint32_t prefix)
{
	return build_epoch_token(buf, run, build, site, id, prefix, 0);
}

const char *build_epoch_token(char *buf, uint64_t run, const char *build, uint32_t site, uint64_t id, uint32_t prefix,
			      uint32_t epoch)
{
	int len = snprintf(buf, 90, "wm1:%016llx:%s:%x:%llx:%x", (unsigned long long)run, build, site,
			   (unsigned long long)id, prefix);

	if (epoch)
		len += snprintf(buf + len, 90 - (size_t)len, ":v%x", epoch);
	snprintf(buf + len, 6, ":%04x", (unsigned int)token_check(buf, (size_t)len));
	return buf;
}

void build_trace_section(struct buffer *out, const uint8_t *raw, size_t raw_bytes)
{
	put_section(out, "\x89WMT\r\n\x1a\n", raw, raw_bytes);
}

/*
 * fuzz_import.c - import_file on folded stacks, text of perf and profiles of pprof, and archives: what is read is a profile that a view can be
 * made of, and that goes through an archive. An input that begins with FUZZ_ARCHIVE is the body of an archive, which is packed here.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/vec.h"
#include "fuzz/fuzz.h"
#include "model/archive/archive.h"
#include "model/base/profile_view.h"
#include "model/imports/import.h"

static void pack(const uint8_t *data, size_t size, struct buffer *out)
{
	size_t bound = ZSTD_compressBound(size), packed;
	uint8_t *bytes = malloc(bound);

	if (!bytes)
		abort();
	packed = ZSTD_compress(bytes, bound, data, size, 1);
	buffer_bytes(out, ARCHIVE_MAGIC, ARCHIVE_MAGIC_BYTES);
	buffer_u32(out, ARCHIVE_VERSION);
	buffer_u32(out, 0);
	buffer_u64(out, size);
	buffer_bytes(out, bytes, packed);
	free(bytes);
	if (ZSTD_isError(packed) || buffer_error(out))
		abort();
}

static void check_view(const struct profile *p)
{
	struct view v;
	struct error *err = view_create(p, &(struct view_options){.keeps_zeros = true}, "fuzz", &v);

	if (err)
		error_destroy(err);
	else
		view_deinit(&v);
}

static void check_archive(const struct profile *p)
{
	struct buffer bytes = {0};
	struct profile again;

	if (archive_write(p, &(struct archive_options){.is_anonymous = false}, &bytes) || profile_init(&again) ||
	    archive_add(&again, "again", &(struct mapped_file){bytes.bytes, bytes.len_bytes}))
		abort();
	if (again.nodes.count != p->nodes.count || again.cells.count != p->cells.count ||
	    again.texts.count != p->texts.count)
		abort();
	profile_deinit(&again);
	buffer_deinit(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer packed = {0};
	struct mapped_file file = {data, size};
	struct profile p;
	bool is_known;
	struct error *err;

	if (size && data[0] == FUZZ_ARCHIVE) {
		pack(data + 1, size - 1, &packed);
		file = (struct mapped_file){packed.bytes, packed.len_bytes};
	}
	if (profile_init(&p))
		abort();
	p.keeps_events = true;
	err = import_file(&p, "input", &file, &is_known);
	if (err) {
		error_destroy(err);
	} else if (is_known) {
		check_view(&p);
		check_archive(&p);
	}
	profile_deinit(&p);
	buffer_deinit(&packed);
	return 0;
}

/*
 * core_unpack.c - streams a packed core through its library into a temporary file. Blocks of zeros become holes. The size is bounded by
 * the program headers, as soon as they have come out, and by the room that there is: a file of a few bytes can unpack to any size.
 */
#include "snapshot/source/core_unpack.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zstd.h>

enum {
	OUT_BYTES = 1 << 18,
	HOLE_BYTES = 4096,
	ROOM_KEPT = 16,            /* one part of so many stays free */
	XZ_MEMORY_MAX = 256 << 20, /* bytes; xz -9 needs 65 MiB */
};

struct unpacker {
	const char *path;
	struct mapped_file packed;
	int fd;
	uint64_t len_bytes; /* that came out */
	uint64_t limit;     /* no more is needed */
	uint64_t stored;    /* without holes */
	uint64_t room;
	bool has_limit;
	bool is_cut;
	uint8_t out[OUT_BYTES];
};

static const uint64_t unpacked_max = UINT64_C(64) << 30; /* bytes, with holes: systemd-coredump stores 32 GiB */

static const uint8_t zstd_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
static const uint8_t lz4_magic[] = {0x04, 0x22, 0x4d, 0x18};
static const uint8_t xz_magic[] = {0xfd, '7', 'z', 'X', 'Z', 0x00};

bool core_is_packed(const uint8_t head[CORE_HEAD_BYTES])
{
	return memcmp(head, zstd_magic, sizeof zstd_magic) == 0 || memcmp(head, lz4_magic, sizeof lz4_magic) == 0 ||
	       memcmp(head, xz_magic, sizeof xz_magic) == 0;
}

/* ---- what comes out ---- */

static struct error *open_temporary(const char *path, int *ret)
{
	const char *dir = getenv("TMPDIR");
	char *name;
	int fd;

	dir = dir && *dir ? dir : "/var/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	if (fd < 0) { /* not every file system has that */
		if (asprintf(&name, "%s/waymark-core.XXXXXX", dir) < 0)
			return &error_no_memory;
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
		free(name);
	}
	if (fd < 0)
		return error_os(errno, "%s: cannot be unpacked under %s (TMPDIR names another place)", path, dir);
	*ret = fd;
	return NULL;
}

static bool read_back(const struct unpacker *u, uint64_t off, void *ret, size_t len_bytes)
{
	return off <= u->len_bytes && len_bytes <= u->len_bytes - off &&
	       pread(u->fd, ret, len_bytes, (off_t)off) == (ssize_t)len_bytes;
}

/* The end of the last segment, once the headers are there. A core of 65,535 segments and more says their number further on. */
static struct error *find_limit(struct unpacker *u)
{
	uint64_t end = 0;
	Elf64_Ehdr e;

	if (u->has_limit || !read_back(u, 0, &e, sizeof e))
		return NULL;
	if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_type != ET_CORE)
		return error_create(ERROR_FORMAT, "%s: what is packed in it is no core dump of a 64-bit program",
				    u->path);
	if (e.e_phnum == PN_XNUM || e.e_phentsize != sizeof(Elf64_Phdr)) {
		u->has_limit = true;
		return NULL;
	}
	for (unsigned i = 0; i < e.e_phnum; i++) {
		Elf64_Phdr h;

		if (!read_back(u, e.e_phoff + i * sizeof h, &h, sizeof h))
			return NULL; /* not yet there */
		if (h.p_offset + h.p_filesz > end && h.p_offset + h.p_filesz >= h.p_offset)
			end = h.p_offset + h.p_filesz;
	}
	if (end < u->limit)
		u->limit = end;
	u->has_limit = true;
	return NULL;
}

static struct error *store(struct unpacker *u, const uint8_t *bytes, size_t len_bytes)
{
	if (len_bytes > u->room - u->stored)
		return error_create(ERROR_OS,
				    "%s: unpacked it is larger than the room that TMPDIR has (%" PRIu64
				    " bytes); TMPDIR names another place",
				    u->path, u->room);
	for (size_t done = 0; done < len_bytes;) {
		ssize_t n = pwrite(u->fd, bytes + done, len_bytes - done, (off_t)(u->len_bytes + done));

		if (n < 0 && errno != EINTR)
			return error_os(errno, "%s: cannot be unpacked", u->path);
		done += n > 0 ? (size_t)n : 0;
	}
	u->stored += len_bytes;
	return NULL;
}

static bool is_zero(const uint8_t *bytes, size_t len_bytes)
{
	return !*bytes && memcmp(bytes, bytes + 1, len_bytes - 1) == 0;
}

/* Takes len_bytes of u->out. */
static struct error *take(struct unpacker *u, size_t len_bytes)
{
	const uint8_t *bytes = u->out;
	struct error *err = NULL;

	while (len_bytes && !err) {
		size_t part = HOLE_BYTES - u->len_bytes % HOLE_BYTES;

		part = part < len_bytes ? part : len_bytes;
		if (!is_zero(bytes, part))
			err = store(u, bytes, part);
		u->len_bytes += part;
		bytes += part;
		len_bytes -= part;
	}
	if (!err && ftruncate(u->fd, (off_t)u->len_bytes) != 0)
		err = error_os(errno, "%s: cannot be unpacked", u->path);
	return err ? err : find_limit(u);
}

static bool is_done(const struct unpacker *u)
{
	return u->len_bytes >= u->limit;
}

/* ---- libraries: until the end, the limit, or what is damaged ---- */

static struct error *unpack_zstd(struct unpacker *u)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {u->packed.bytes, u->packed.len_bytes, 0};
	size_t left = 1;
	struct error *err = stream ? NULL : &error_no_memory;

	while (!err && !is_done(u) && !u->is_cut) {
		ZSTD_outBuffer out = {u->out, sizeof u->out, 0};

		if (in.pos == in.size && !left)
			break;
		left = ZSTD_decompressStream(stream, &out, &in);
		u->is_cut = ZSTD_isError(left) || (!out.pos && in.pos == in.size && left);
		if (out.pos)
			err = take(u, out.pos);
	}
	ZSTD_freeDStream(stream);
	return err;
}

static struct error *unpack_lz4(struct unpacker *u)
{
	LZ4F_dctx *stream = NULL;
	size_t used = 0, left = 1;
	struct error *err =
		LZ4F_isError(LZ4F_createDecompressionContext(&stream, LZ4F_VERSION)) ? &error_no_memory : NULL;

	while (!err && !is_done(u) && !u->is_cut) {
		size_t out = sizeof u->out, in = u->packed.len_bytes - used;

		if (!in && !left)
			break;
		left = LZ4F_decompress(stream, u->out, &out, u->packed.bytes + used, &in, NULL);
		used += in;
		u->is_cut = LZ4F_isError(left) || (!out && !in && left);
		if (out && !LZ4F_isError(left))
			err = take(u, out);
	}
	if (stream)
		LZ4F_freeDecompressionContext(stream);
	return err;
}

static struct error *unpack_xz(struct unpacker *u)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret status = lzma_stream_decoder(&stream, XZ_MEMORY_MAX, LZMA_CONCATENATED);
	struct error *err = status == LZMA_OK ? NULL : &error_no_memory;

	stream.next_in = u->packed.bytes;
	stream.avail_in = u->packed.len_bytes;
	while (!err && !is_done(u) && !u->is_cut && status != LZMA_STREAM_END) {
		stream.next_out = u->out;
		stream.avail_out = sizeof u->out;
		status = lzma_code(&stream, stream.avail_in ? LZMA_RUN : LZMA_FINISH);
		u->is_cut = status != LZMA_OK && status != LZMA_STREAM_END;
		if (stream.avail_out < sizeof u->out)
			err = take(u, sizeof u->out - stream.avail_out);
	}
	lzma_end(&stream);
	return err;
}

static struct error *unpack(struct unpacker *u)
{
	struct statvfs room;

	if (fstatvfs(u->fd, &room) != 0)
		return error_os(errno, "%s: cannot be unpacked", u->path);
	u->room = room.f_bavail * room.f_frsize;
	u->room -= u->room / ROOM_KEPT;
	u->limit = unpacked_max;
	if (memcmp(u->packed.bytes, zstd_magic, sizeof zstd_magic) == 0)
		return unpack_zstd(u);
	return memcmp(u->packed.bytes, lz4_magic, sizeof lz4_magic) == 0 ? unpack_lz4(u) : unpack_xz(u);
}

static struct error *map_unpacked(const struct unpacker *u, struct mapped_file *ret)
{
	void *bytes;

	if (!u->len_bytes)
		return error_create(ERROR_FORMAT, "%s: is damaged: nothing of it can be unpacked", u->path);
	bytes = mmap(NULL, u->len_bytes, PROT_READ, MAP_PRIVATE, u->fd, 0);
	if (bytes == MAP_FAILED)
		return error_os(errno, "%s: cannot be mapped", u->path);
	*ret = (struct mapped_file){.bytes = bytes, .len_bytes = u->len_bytes};
	return NULL;
}

struct error *core_map(const char *path, struct mapped_file *ret, bool *ret_is_cut)
{
	struct unpacker *u;
	struct mapped_file file;
	struct error *err = file_map(path, &file);

	*ret_is_cut = false;
	if (err)
		return err;
	if (file.len_bytes < CORE_HEAD_BYTES || !core_is_packed(file.bytes)) {
		*ret = file;
		return NULL;
	}
	u = calloc(1, sizeof *u);
	if (!u) {
		file_unmap(&file);
		return &error_no_memory;
	}
	u->path = path;
	u->packed = file;
	err = open_temporary(path, &u->fd);
	if (!err) {
		err = unpack(u);
		if (!err)
			err = map_unpacked(u, ret);
		close(u->fd);
	}
	*ret_is_cut = u->is_cut || u->len_bytes >= unpacked_max;
	file_unmap(&u->packed);
	free(u);
	return err;
}

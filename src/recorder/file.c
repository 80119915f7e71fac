/*
 * file.c - makes and grows the .wmk.
 *
 * Growth is one chunk at a time under the lock, of as many units of a page as its owner asks for (chunkdir.h): check WAYMARK_LIMIT and RLIMIT_FSIZE (SIGXFSZ must not reach the
 * program), allocate, map, publish. The file descriptor sits at a high number, out of the way of programs that count
 * on low ones; before each use it is compared with the file's (device, inode), for the program may have closed it and
 * opened another under its number.
 *
 * The file is its owner's alone (mode 0600, whatever the umask), and is only written: lengths and counts that the process goes by are
 * in private memory (chunkdir.h). A file that was truncated is lost, and nothing but records with it (mapping.h): those of the process
 * from then on, and of children that it forks.
 *
 * Data that needs no file (code.h) is in private memory until there is one.
 *
 * After a fork the child has no file until it records something (unless a client has it made at once: client.h, after_fork);
 * then it makes its own and copies what its private memory knows of the parent's (prefixes, strings, images, code), each chunk
 * mapped over the place of the parent's, so that pointers into it stay good.
 */
#include "recorder/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "recorder/config.h"
#include "recorder/file_name.h"
#include "recorder/mapping.h"
#include "recorder/new_file.h"
#include "recorder/client.h"
#include "recorder/clock.h"
#include "recorder/process.h"
#include "recorder/run.h"
#include "recorder/sys.h"
#include "recorder/thread.h"

enum {
	MODE = 0600,
	BRIEF_CALLS = 1000, /* allocations of a forked child whose file is not kept if it becomes another program */
};

static const uint64_t NEVER = UINT64_MAX;
static const uint64_t RETRY_NS = 1000000000; /* after which room is looked for again */

struct wmrt_file wmrt_file;

/* All but the atomic ones are used under the lock only. */
static struct {
	_Atomic bool is_lost; /* what was mapped is not there any more (mapping.h) */
	_Atomic uint64_t
		retry_ns; /* there was no room: until when (CLOCK_MONOTONIC_COARSE) none is looked for; 0: there may be */
	_Atomic uint64_t run;
	uint64_t parent_run;
	struct wmk_header *header_place; /* where the header goes: kept over a fork */
	struct wmk_header *parent;       /* the header of the parent's file, in a forked child with one of its own */
	bool is_removed;                 /* the process becomes another program */
	bool has_events;                 /* the file has chunks of other kinds than an allocation needs */
	int fd_above; /* the descriptor + 1: 0 without one, so that nothing of this is in the program's file */
	uint64_t dev;
	uint64_t ino;
	uint32_t unit_count; /* of all chunks */
	uint64_t last_off;   /* of the chunk that was made last */
	int append_error;    /* why the last one that was not made was not */
	struct wmk_chunk_header *(*reclaim)(uint64_t *ret_off);
	char *spare; /* mapped already: the places of the next chunks */
	uint32_t spare_units;
	uint64_t memory_bytes; /* in chunks that no file has yet */
	int memory_error;      /* why such a chunk was not to be had */
	char path[WMRT_PATH_BYTES];
	char temp[WMRT_PATH_BYTES + WMRT_NEW_FILE_SUFFIX_BYTES]; /* what it is called before it is called path */
} file;

static int own_fd(void)
{
	return file.fd_above - 1;
}

static void set_own_fd(int fd)
{
	file.fd_above = fd + 1;
}

static void close_fd(int fd)
{
	wmrt_sys3(SYS_close, fd, 0, 0);
}

/* len_bytes gets the file's length; NULL: not wanted. */
static bool is_our_file(int fd, uint64_t *len_bytes)
{
	struct stat st;
	bool is_ours = fd >= 0 && wmrt_sys3(SYS_fstat, fd, (long)&st, 0) == 0 && st.st_dev == file.dev &&
		       st.st_ino == file.ino;

	if (is_ours && len_bytes)
		*len_bytes = (uint64_t)st.st_size;
	return is_ours;
}

static int open_again(uint64_t *len_bytes)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)file.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0, 0, 0);

	if (fd >= 0 && !is_our_file((int)fd, len_bytes)) {
		close_fd((int)fd);
		return -ESTALE;
	}
	return (int)fd;
}

/* In a thread that has its own descriptors: one to be closed. */
static int borrowed_fd(uint64_t *len_bytes)
{
	int fd = own_fd() < 0 ? -EBADF : wmrt_borrow_fd(own_fd());

	if (is_our_file(fd, len_bytes))
		return fd;
	if (fd >= 0)
		close_fd(fd);
	return open_again(len_bytes);
}

/* The descriptor, checked, and the file's length; -errno. */
static int usable_fd(uint64_t *len_bytes)
{
	int fd;

	if (wmrt_local.has_own_files)
		return borrowed_fd(len_bytes);
	if (is_our_file(own_fd(), len_bytes))
		return own_fd();
	set_own_fd(-1);
	fd = open_again(len_bytes);
	if (fd >= 0) {
		fd = wmrt_raise_fd(fd);
		set_own_fd(fd);
	}
	return fd;
}

static void done_with(int fd)
{
	if (wmrt_local.has_own_files)
		close_fd(fd);
}

/* For file systems without fallocate: writing zeros allocates as well. */
static int write_zeros(int fd, uint64_t off, uint64_t len_bytes)
{
	static char zeros[4096]; /* never written: as a constant it would be in the program's file */

	while (len_bytes) {
		uint64_t n = len_bytes < sizeof zeros ? len_bytes : sizeof zeros;
		long rc = wmrt_sys6(SYS_pwrite64, fd, (long)zeros, (long)n, (long)off, 0, 0);

		if (rc == -EINTR)
			continue;
		if (rc <= 0)
			return rc ? (int)rc : -ENOSPC;
		off += (uint64_t)rc;
		len_bytes -= (uint64_t)rc;
	}
	return 0;
}

/* SIGXFSZ would come. */
static bool is_over_file_size(uint64_t len_bytes)
{
	struct rlimit limit;

	return wmrt_sys3(SYS_getrlimit, RLIMIT_FSIZE, (long)&limit, 0) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       len_bytes > limit.rlim_cur;
}

/* 0 or -errno. */
static int allocate(int fd, uint64_t off, uint64_t len_bytes)
{
	long rc;

	if (off + len_bytes > wmrt_config()->limit_bytes)
		return -EFBIG;
	if (is_over_file_size(off + len_bytes))
		return -WMK_DROP_FILE_SIZE;
	do
		rc = wmrt_sys6(SYS_fallocate, fd, 0, (long)off, (long)len_bytes, 0, 0);
	while (rc == -EINTR);
	if (rc == -EOPNOTSUPP || rc == -ENOSYS || rc == -EINVAL)
		return write_zeros(fd, off, len_bytes);
	return (int)rc;
}

/* Allocates and maps; NULL with *error = -errno. Somebody may have cut the file off, and what is mapped of it is no file's then. */
static void *grow(uint64_t off, uint64_t len_bytes, void *at, int *error)
{
	uint64_t was_bytes = 0;
	int fd = usable_fd(&was_bytes);
	void *mapped;

	if (fd < 0) {
		*error = fd;
		return NULL;
	}
	if (was_bytes < off) {
		wmrt_file_lost();
		wmrt_mapping_clear_all();
		*error = -EIO;
	} else {
		*error = allocate(fd, off, len_bytes);
	}
	mapped = *error ? NULL : wmrt_mapping_new(at, len_bytes, fd, off);
	if (!*error && !mapped)
		*error = -ENOMEM;
	done_with(fd);
	return mapped;
}

/* After a chunk was looked for, or more of them in one piece. A full disk may have room later, a limit stays where it is. */
static void note_room(bool is_found, uint64_t off, uint64_t len_bytes)
{
	uint64_t retry_ns = 0;

	if (!is_found && len_bytes > WMK_CHUNK_BYTES)
		return; /* for a single one there may be room */
	if (!is_found)
		retry_ns = off + len_bytes > wmrt_config()->limit_bytes
				   ? NEVER
				   : wmrt_clock_ns(CLOCK_MONOTONIC_COARSE) + RETRY_NS;
	atomic_store_explicit(&file.retry_ns, retry_ns, memory_order_relaxed);
}

bool wmrt_file_is_full(void)
{
	uint64_t retry_ns = atomic_load_explicit(&file.retry_ns, memory_order_relaxed);

	return WMRT_UNLIKELY(retry_ns) && (retry_ns == NEVER || wmrt_clock_ns(CLOCK_MONOTONIC_COARSE) < retry_ns);
}

bool wmrt_file_is_full_for_good(void)
{
	return atomic_load_explicit(&file.retry_ns, memory_order_relaxed) == NEVER;
}

static void note_error(int error)
{
	struct wmk_header *header = atomic_load(&wmrt_file.header);
	uint64_t none = 0;

	if (header)
		__atomic_compare_exchange_n(&header->drop_errno, &none, (uint64_t)-error, 0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

/* A new file, whose name nobody expects until it has a header. 0 or -errno. */
static int create(void)
{
	struct stat st;
	int fd, rc;

	if (!wmrt_config_path(wmrt_process.pid, 0, file.path, sizeof file.path))
		return -ENAMETOOLONG;
	fd = wmrt_new_file(file.path, MODE, file.temp, sizeof file.temp);
	if (fd < 0)
		return fd;
	rc = (int)wmrt_sys3(SYS_fstat, fd, (long)&st, 0);
	if (rc) {
		close_fd(fd);
		wmrt_sys3(SYS_unlink, (long)file.temp, 0, 0);
		return rc;
	}
	wmrt_sys3(SYS_fchmod, fd, MODE, 0); /* whatever the umask has taken away */
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	set_own_fd(wmrt_raise_fd(fd));
	return 0;
}

static void fill_header(struct wmk_header *header)
{
	const struct wmrt_config *config = wmrt_config();

	memset(header, 0, sizeof *header);
	header->version = WMK_VERSION;
	header->chunk_bytes = WMK_UNIT_BYTES;
	header->run = wmrt_file_run();
	header->parent_run = file.parent_run;
	header->pid = wmrt_process.pid;
	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		if ((*c)->header_flags)
			header->flags |= (*c)->header_flags();
	header->start_realtime_ns = wmrt_clock_ns(CLOCK_REALTIME);
	header->start_monotonic_ns = wmrt_clock_ns(CLOCK_MONOTONIC);
	header->limit_bytes = config->limit_bytes;
	header->session = wmrt_run_session();
	header->session_pid = wmrt_run_pid();
	header->agent = wmrt_run_agent();
	memcpy(header->program, config->program, sizeof header->program);
	header->drop_errno = (uint64_t)-file.memory_error;
	memcpy(header->magic, WMK_MAGIC, sizeof header->magic);
}

static void fill_labels(struct wmk_header *header)
{
	memcpy((char *)header + WMK_LABELS_OFF, wmrt_config()->labels, WMK_LABELS_BYTES);
}

/* Places of chunks that are not needed, or are another process's. Those of the file stay: it grows over them. */
static void drop_spare(void)
{
	wmrt_mapping_drop(file.spare, (size_t)file.spare_units * WMK_UNIT_BYTES);
	file.spare = NULL;
	file.spare_units = 0;
}

/*
 * The first bytes of the file, and an unused page behind them. Valgrind joins mappings of one file that lie next to each other as they do in the
 * file, and fails an assertion if the file was renamed in between, as it is now.
 */
static char *grow_apart(uint64_t len_bytes, int *error)
{
	return grow(0, len_bytes, wmrt_map_memory(len_bytes + WMK_UNIT_BYTES), error);
}

/* The header and the first chunks in one piece, where there is room for them. */
static struct wmk_header *grow_first(int *error)
{
	uint32_t count = 0;
	char *first;

	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		count += (*c)->first_units;
	first = grow_apart(WMK_HEADER_BYTES + (uint64_t)count * WMK_UNIT_BYTES, error);
	if (!first)
		return count ? (struct wmk_header *)(void *)grow_apart(WMK_HEADER_BYTES, error) : NULL;
	file.spare = count ? first + WMK_HEADER_BYTES : NULL;
	file.spare_units = count;
	return (struct wmk_header *)(void *)first;
}

/* Its header is still asked for when this process has become another program. */
static void keep_parent(void)
{
	struct wmk_header *place = file.parent ? file.parent : wmrt_map_memory(WMK_HEADER_BYTES);

	if (place)
		wmrt_mapping_move(file.header_place, place, WMK_HEADER_BYTES);
	file.parent = place;
}

/* A file with a header and a name. NULL with *error = -errno: there is none. */
static struct wmk_header *begin_file(int *error)
{
	struct wmk_header *header = NULL;

	*error = create();
	if (*error)
		return NULL;
	header = grow_first(error);
	if (header) {
		fill_labels(header);
		fill_header(header);
		*error = wmrt_file_name_take(wmrt_process.pid, file.temp, file.path, sizeof file.path);
	}
	if (*error) {
		wmrt_sys3(SYS_unlink, (long)file.temp, 0, 0);
		close_fd(own_fd());
		set_own_fd(-1);
		wmrt_mapping_drop(header, WMK_HEADER_BYTES);
		drop_spare();
		return NULL;
	}
	/* In a forked child the parent's header stood there until now: it counts the children that get no file. */
	if (file.header_place) {
		keep_parent();
		wmrt_mapping_move(header, file.header_place, WMK_HEADER_BYTES);
		header = file.header_place;
	}
	return header;
}

/* In the child: the file is the parent's. */
static void after_fork(void)
{
	if (atomic_load(&wmrt_file.state) == WMRT_FILE_OPEN) {
		file.parent_run = atomic_load(&file.run);
		if (is_our_file(own_fd(), NULL))
			close_fd(own_fd());
		set_own_fd(-1);
		drop_spare();
	}
	/* With the file its tables are lost, and the child's records would need them. */
	atomic_store(&wmrt_file.state, atomic_load(&file.is_lost) ? WMRT_FILE_FAILED : WMRT_FILE_NONE);
	atomic_store(&file.retry_ns, 0);
	atomic_store(&wmrt_file.header, NULL);
	atomic_store(&file.run, 0);
}

static const struct wmrt_part part = {.after_fork = after_fork};

/* Under the lock. */
static bool open_file(void)
{
	struct wmk_header *header;
	int error;

	if (wmrt_config()->is_off)
		return false;
	header = begin_file(&error);
	wmrt_run_tell_file((uint64_t)-error);
	if (!header) {
		/* In a forked child that is the header of the last file of those that it comes from. */
		if (file.parent_run)
			__atomic_fetch_add(&file.header_place->lost_children, 1, __ATOMIC_RELAXED);
		return false;
	}
	file.header_place = header;
	file.unit_count = 0;
	file.has_events = false;
	file.append_error = 0;
	atomic_store_explicit(&wmrt_file.header, header, memory_order_release);
	for (int i = 0; i < WMRT_PARTS; i++) {
		const struct wmrt_part *other = atomic_load(&wmrt_process.parts[i]);

		if (other && other->begin_file)
			other->begin_file();
	}
	file.memory_bytes = 0;
	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		if ((*c)->begin_file)
			(*c)->begin_file();
	/* Part of what this child would have inherited is gone. */
	if (atomic_load(&file.is_lost))
		wmrt_sys3(SYS_unlink, (long)file.path, 0, 0);
	return !atomic_load(&file.is_lost);
}

bool wmrt_file_begin(void)
{
	struct wmrt_guard guard;
	int state;

	wmrt_config();
	wmrt_lock(&guard);
	wmrt_part_add(WMRT_PART_FILE, &part);
	state = atomic_load(&wmrt_file.state);
	if (state == WMRT_FILE_NONE) {
		state = open_file() ? WMRT_FILE_OPEN : WMRT_FILE_FAILED;
		atomic_store_explicit(&wmrt_file.state, state, memory_order_release);
		if (atomic_load(&file.is_lost)) /* in between */
			wmrt_file_lost();
	}
	wmrt_unlock(&guard);
	return state == WMRT_FILE_OPEN;
}

/* Notes in the rest of the file what happened. Runs in a signal handler, maybe on a small stack; holds no lock of the file's. */
static void tell_lost(int fd, uint64_t len_bytes)
{
	static _Alignas(64) struct wmk_header header; /* of who was first */
	const size_t flags_off = offsetof(struct wmk_header, flags);

	fill_header(&header);
	header.run = atomic_load(&file.run); /* tokens have named it */
	if (len_bytes < WMK_HEADER_BYTES) {
		wmrt_sys3(SYS_ftruncate, fd, WMK_HEADER_BYTES, 0);
		header.flags |= WMK_FLAG_LOST;
		wmrt_sys6(SYS_pwrite64, fd, (long)&header, sizeof header, 0, 0, 0);
		return;
	}
	wmrt_sys6(SYS_pread64, fd, (long)&header.flags, sizeof header.flags, (long)flags_off, 0, 0);
	header.flags |= WMK_FLAG_LOST;
	wmrt_sys6(SYS_pwrite64, fd, (long)&header.flags, sizeof header.flags, (long)flags_off, 0, 0);
}

void wmrt_file_lost(void)
{
	int state = WMRT_FILE_OPEN, fd = own_fd();
	uint64_t len_bytes = 0;
	bool is_opened = false;

	atomic_store(&file.is_lost, true);
	if (!atomic_compare_exchange_strong(&wmrt_file.state, &state, WMRT_FILE_FAILED) ||
	    is_over_file_size(WMK_HEADER_BYTES))
		return;
	if (!is_our_file(fd, &len_bytes)) {
		fd = (int)wmrt_sys6(SYS_openat, AT_FDCWD, (long)file.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0, 0, 0);
		is_opened = fd >= 0;
	}
	if (is_our_file(fd, &len_bytes))
		tell_lost(fd, len_bytes);
	if (is_opened)
		close_fd(fd);
}

const char *wmrt_file_path(void)
{
	return atomic_load_explicit(&wmrt_file.state, memory_order_acquire) == WMRT_FILE_OPEN ? file.path : NULL;
}

static struct wmk_chunk_header *take_spare(uint32_t units)
{
	char *chunk = file.spare;

	file.spare_units -= units;
	file.spare = file.spare_units ? chunk + (size_t)units * WMK_UNIT_BYTES : NULL;
	return (struct wmk_chunk_header *)(void *)chunk;
}

static struct wmk_chunk_header *grow_by(uint32_t units, void *at, int *error)
{
	uint64_t off = WMK_HEADER_BYTES + (uint64_t)file.unit_count * WMK_UNIT_BYTES;
	struct wmk_chunk_header *chunk;

	drop_spare();
	chunk = grow(off, (uint64_t)units * WMK_UNIT_BYTES, at, error);
	note_room(chunk, off, (uint64_t)units * WMK_UNIT_BYTES);
	return chunk;
}

/* As much as is needed of a large chunk that was given up. It keeps its length in the file. */
static struct wmk_chunk_header *reclaim(uint32_t units, uint64_t *ret_off)
{
	struct wmk_chunk_header *chunk = file.reclaim && units <= WMRT_UNITS_MAX ? file.reclaim(ret_off) : NULL;
	size_t used_bytes = (size_t)units * WMK_UNIT_BYTES;

	if (chunk && used_bytes < WMK_CHUNK_BYTES)
		wmrt_mapping_drop((char *)chunk + used_bytes, WMK_CHUNK_BYTES - used_bytes);
	return chunk;
}

/* One behind the others, which readers do not know yet. */
static struct wmk_chunk_header *append_chunk(uint32_t units, void *at)
{
	struct wmk_chunk_header *chunk;
	int error = 0;

	if (wmrt_file_is_full())
		return NULL;
	chunk = file.spare_units >= units && !at ? take_spare(units) : grow_by(units, at, &error);
	if (!chunk) {
		file.append_error = error;
		return NULL;
	}
	file.last_off = WMK_HEADER_BYTES + (uint64_t)file.unit_count * WMK_UNIT_BYTES;
	file.unit_count += units;
	chunk->span = units;
	return chunk;
}

/* may_reclaim: where there is no room for another chunk. */
static struct wmk_chunk_header *new_chunk(enum wmk_kind kind, uint32_t units, uint64_t first, uint32_t tid, void *at,
					  bool may_reclaim)
{
	struct wmk_header *header = atomic_load(&wmrt_file.header);
	struct wmk_chunk_header *chunk;

	if (wmrt_process.is_sealed)
		return NULL;
	chunk = append_chunk(units, at);
	if (!chunk && may_reclaim && !at)
		chunk = reclaim(units, &file.last_off);
	if (!chunk) {
		note_error(file.append_error);
		return NULL;
	}
	file.has_events |= kind == WMK_EVENTS || kind == WMK_PATHS || kind == WMK_PATH_COUNTS;
	chunk->tid = tid;
	chunk->first = first;
	chunk->kind = kind;
	__atomic_store_n(&chunk->magic, WMK_CHUNK_MAGIC, __ATOMIC_RELEASE);
	__atomic_store_n(&header->chunk_count, file.unit_count, __ATOMIC_RELEASE);
	return chunk;
}

struct wmk_chunk_header *wmrt_file_chunk(enum wmk_kind kind, uint32_t units, uint64_t first, uint32_t tid)
{
	return new_chunk(kind, units, first, tid, NULL, true);
}

struct wmk_chunk_header *wmrt_file_chunk_new(enum wmk_kind kind, uint32_t units)
{
	return new_chunk(kind, units, 0, 0, NULL, false);
}

uint64_t wmrt_file_last_off(void)
{
	return file.last_off;
}

struct wmk_chunk_header *wmrt_file_map_large(uint64_t off)
{
	uint64_t len_bytes = 0;
	int fd = usable_fd(&len_bytes);
	struct wmk_chunk_header *chunk = NULL;

	if (fd < 0)
		return NULL;
	if (len_bytes >= off + WMK_CHUNK_BYTES)
		chunk = wmrt_mapping_new(NULL, WMK_CHUNK_BYTES, fd, off);
	done_with(fd);
	return chunk;
}

void wmrt_file_set_reclaim(struct wmk_chunk_header *(*give)(uint64_t *ret_off))
{
	file.reclaim = give;
}

struct wmk_chunk_header *wmrt_file_chunk_at(enum wmk_kind kind, uint32_t units, void *at)
{
	return new_chunk(kind, units, 0, 0, at, true);
}

bool wmrt_file_inherit(struct wmk_chunk_header *place, enum wmk_kind kind, uint32_t units, uint64_t first,
		       uint32_t used_bytes, void (*copy)(char *to, const char *from, uint32_t len_bytes))
{
	struct wmk_chunk_header *chunk = wmrt_file_chunk(kind, units, first, 0);
	bool is_kept = chunk != NULL;

	/* Without room the child still reads its copy; it only goes into no file. */
	if (!chunk)
		chunk = wmrt_map_memory((size_t)units * WMK_UNIT_BYTES);
	if (!chunk)
		return false;
	if (copy)
		copy(wmrt_chunk_body(chunk), wmrt_chunk_body(place), used_bytes);
	else
		memcpy(wmrt_chunk_body(chunk), wmrt_chunk_body(place), used_bytes);
	chunk->first = first;
	chunk->used_bytes = used_bytes;
	wmrt_mapping_move(chunk, place, (size_t)units * WMK_UNIT_BYTES);
	return is_kept;
}

struct wmk_chunk_header *wmrt_file_chunk_or_memory(enum wmk_kind kind, uint32_t units, uint64_t first)
{
	size_t len_bytes = (size_t)units * WMK_UNIT_BYTES;
	struct wmk_chunk_header *chunk;

	if (atomic_load(&wmrt_file.header))
		return wmrt_file_chunk(kind, units, first, 0);
	if (WMK_HEADER_BYTES + file.memory_bytes + len_bytes > wmrt_config()->limit_bytes) {
		file.memory_error = -EFBIG;
		return NULL;
	}
	chunk = wmrt_map_memory(len_bytes);
	if (!chunk) {
		file.memory_error = -ENOMEM;
		return NULL;
	}
	file.memory_bytes += len_bytes;
	chunk->first = first;
	return chunk;
}

bool wmrt_file_own(struct wmk_chunk_header *place, uint32_t units, uint64_t first, uint32_t used_bytes)
{
	struct wmk_chunk_header *chunk;

	if (atomic_load(&wmrt_file.header))
		return true;
	chunk = wmrt_map_memory((size_t)units * WMK_UNIT_BYTES);
	if (!chunk)
		return false;
	memcpy(wmrt_chunk_body(chunk), wmrt_chunk_body(place), used_bytes);
	chunk->first = first;
	chunk->used_bytes = used_bytes;
	wmrt_mapping_move(chunk, place, (size_t)units * WMK_UNIT_BYTES);
	return true;
}

uint64_t wmrt_file_bytes(void)
{
	return (uint64_t)file.unit_count * WMK_UNIT_BYTES + file.memory_bytes;
}

void wmrt_file_drop(size_t counter)
{
	struct wmk_header *header = wmrt_file_header();

	if (header)
		__atomic_fetch_add((uint64_t *)(void *)((char *)header + counter), 1, __ATOMIC_RELAXED);
}

void wmrt_file_count_missed(void)
{
	struct wmk_header *header = __atomic_load_n(&file.header_place, __ATOMIC_RELAXED);

	if (header)
		__atomic_fetch_add(&header->missed_programs, 1, __ATOMIC_RELAXED);
}

/* Random, or what time and process id make of it before the kernel has random bytes. */
static uint64_t new_run(void)
{
	uint64_t run = 0;

	if (wmrt_sys3(SYS_getrandom, (long)&run, sizeof run, GRND_NONBLOCK) != sizeof run || !run)
		run = (wmrt_clock_ns(CLOCK_REALTIME) * UINT64_C(0x9e3779b97f4a7c15)) ^
		      ((uint64_t)wmrt_process.pid << 32) ^ 1;
	return run;
}

uint64_t wmrt_file_run(void)
{
	uint64_t run = atomic_load(&file.run);
	uint64_t made;

	if (atomic_load(&wmrt_file.state) == WMRT_FILE_FAILED)
		return 0;
	if (run)
		return run;
	wmrt_part_add(WMRT_PART_FILE, &part);
	made = new_run();
	return atomic_compare_exchange_strong(&file.run, &run, made) ? made : run;
}

void wmrt_chunk_raise_used(struct wmk_chunk_header *chunk, uint32_t used)
{
	uint32_t was = __atomic_load_n(&chunk->used_bytes, __ATOMIC_RELAXED);

	while (was < used &&
	       !__atomic_compare_exchange_n(&chunk->used_bytes, &was, used, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* ---- exec ---- */

/* The kernel counts the links of a directory: two, and one for each thread. */
static bool is_alone(void)
{
	struct stat st;

	return wmrt_sys6(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/task", (long)&st, 0, 0, 0) == 0 &&
	       st.st_nlink == 3;
}

/* *calls: the allocations that are in the file. */
static bool is_brief(uint64_t *calls)
{
	*calls = 0;
	if (!file.parent || file.has_events)
		return false;
	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		if ((*c)->count_calls)
			*calls += (*c)->count_calls();
	return *calls <= BRIEF_CALLS;
}

static void add_to(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Under the lock. */
static void remove_brief(uint64_t calls)
{
	const struct wmk_header *own = atomic_load(&wmrt_file.header);
	struct wmk_header *parent = file.parent;

	if (!is_our_file(own_fd(), NULL) || wmrt_sys3(SYS_unlink, (long)file.path, 0, 0) != 0)
		return;
	file.is_removed = true;
	add_to(&parent->replaced_children, own->replaced_children + 1);
	add_to(&parent->replaced_heap_calls, own->replaced_heap_calls + calls);
	add_to(&parent->lost_children, own->lost_children);
	add_to(&parent->missed_programs, own->missed_programs);
}

void wmrt_file_exec_begins(void)
{
	struct wmrt_guard guard;
	uint64_t calls;

	if (wmrt_process.is_sealed || wmrt_is_vfork_child() || atomic_load(&wmrt_file.state) != WMRT_FILE_OPEN)
		return;
	wmrt_lock(&guard);
	if (is_brief(&calls) && is_alone())
		remove_brief(calls);
	wmrt_unlock(&guard);
}

void wmrt_file_exec_failed(void)
{
	uint64_t parent_run = file.parent_run;

	if (wmrt_process.is_sealed || wmrt_is_vfork_child() || !file.is_removed)
		return;
	/* It is as if the process had only now been forked. */
	wmrt_mapping_move(file.parent, file.header_place, WMK_HEADER_BYTES);
	file.parent = NULL;
	file.is_removed = false;
	wmrt_renew();
	file.parent_run = parent_run;
}

void wmrt_seal(void)
{
	atomic_store_explicit(&wmrt_file.state, WMRT_FILE_FAILED, memory_order_release);
	wmrt_memory_seal();
	__atomic_store_n(&wmrt_process.is_sealed, true, __ATOMIC_RELEASE);
}

static void end_clients(void)
{
	for (const struct wmrt_client *const *c = wmrt_clients; *c; c++)
		if ((*c)->end)
			(*c)->end();
}

void wmrt_file_close(uint32_t how)
{
	struct wmk_header *header;

	if (wmrt_process.is_sealed)
		return;
	wmrt_check_fork();
	header = wmrt_file_header();
	if (!header || wmrt_is_vfork_child())
		return;
	if (how & (WMK_FLAG_CLOSED | WMK_FLAG_LEFT))
		end_clients();
	__atomic_fetch_or(&header->flags, how, __ATOMIC_RELAXED);
}

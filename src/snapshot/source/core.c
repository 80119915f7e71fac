/*
 * core.c - reads a core dump's headers and notes (Linux, x86-64): threads, mapped files and where memory lies in the
 * file. By hand and not with libelf, since a core that was cut off must be read as far as it goes.
 *
 *      ELF header | program headers: PT_NOTE, PT_LOAD... | notes | memory
 *      notes: NT_PRSTATUS of the thread that died, NT_PRPSINFO, NT_SIGINFO, NT_AUXV, NT_FILE, then NT_PRSTATUS of each other
 *      thread (the kernel's fs/binfmt_elf.c; gdb's gcore writes the same)
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/order.h"
#include "snapshot/source/core_unpack.h"
#include "snapshot/source/source.h"

enum {
	EHDR_BYTES = 64,
	PHDR_BYTES = 56,
	SHDR_BYTES = 64,
	SHDR_INFO_OFF = 44,
	NAME_BYTES_MAX = 16, /* of a note's owner: "CORE" */
	/* struct elf_prstatus */
	PRSTATUS_PID_OFF = 32,
	PRSTATUS_REGISTERS_OFF = 112,
	PRSTATUS_BYTES = PRSTATUS_REGISTERS_OFF + SNAPSHOT_USER_WORDS * 8,
	PRSTATUS_SIGNAL_OFF = 12,
	/* struct elf_prpsinfo */
	PRPSINFO_PID_OFF = 24,
	PRPSINFO_NAME_OFF = 40,
	PRPSINFO_NAME_BYTES = 16,
	PRPSINFO_ARGS_OFF = 56,
	PRPSINFO_ARGS_BYTES = 80,
	PRPSINFO_BYTES = PRPSINFO_ARGS_OFF + PRPSINFO_ARGS_BYTES,
	/* siginfo_t */
	SIGINFO_CODE_OFF = 8,
	SIGINFO_ADDRESS_OFF = 16,
	SIGINFO_PID_OFF = 16,
	SIGINFO_UID_OFF = 20,
	SIGINFO_CALL_OFF = 24,
	SIGINFO_BYTES = 28,
	PATH_BYTES_MAX = 4096,
};

struct core {
	struct snapshot *s;
	struct snapshot_source *source;
	struct cursor file;
	const char *path;
	bool has_siginfo;
	bool has_process;
	uint64_t memory_wanted; /* bytes that the headers promise */
	uint64_t memory_missing;
};

struct program_header {
	uint32_t type, flags;
	uint64_t off, address, file_bytes, memory_bytes;
};

static uint64_t word_at(const uint8_t *bytes, size_t off, size_t len_bytes)
{
	uint64_t v = 0;

	for (size_t i = 0; i < len_bytes; i++)
		v |= (uint64_t)bytes[off + i] << (8 * i);
	return v;
}

static struct error *check_ident(const struct core *c)
{
	static const uint8_t gzip_magic[] = {0x1f, 0x8b};
	const uint8_t *bytes = c->file.start;
	uint64_t type;

	if (c->file.len_bytes >= sizeof gzip_magic && memcmp(bytes, gzip_magic, sizeof gzip_magic) == 0)
		return error_create(ERROR_FORMAT, "%s: is compressed: unpack it first (gzip -d)", c->path);
	if (c->file.len_bytes < 4 || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return error_create(ERROR_FORMAT, "%s: this is no core dump (no ELF file)", c->path);
	if (c->file.len_bytes < EHDR_BYTES)
		return error_create(ERROR_FORMAT, "%s: ends within the ELF header, after %zu bytes", c->path,
				    c->file.len_bytes);
	type = word_at(bytes, 16, 2);
	if (type != ET_CORE)
		return error_create(ERROR_FORMAT, "%s: this is no core dump but %s", c->path,
				    type == ET_EXEC || type == ET_DYN ? "a program or a shared library"
								      : "another kind of ELF file");
	if (bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB || word_at(bytes, 18, 2) != EM_X86_64)
		return error_create(ERROR_FORMAT,
				    "%s: is the core of a program for another machine: only x86-64 is read", c->path);
	return NULL;
}

static struct error *read_header(struct cursor *c, struct program_header *ret)
{
	const uint8_t *bytes;
	struct error *err = cursor_bytes(c, PHDR_BYTES, &bytes);

	if (err)
		return err;
	*ret = (struct program_header){
		.type = (uint32_t)word_at(bytes, 0, 4),
		.flags = (uint32_t)word_at(bytes, 4, 4),
		.off = word_at(bytes, 8, 8),
		.address = word_at(bytes, 16, 8),
		.file_bytes = word_at(bytes, 32, 8),
		.memory_bytes = word_at(bytes, 40, 8),
	};
	return NULL;
}

/* Programs with 65535 mappings and more: the count is in section header 0. */
static struct error *header_count(struct core *c, uint64_t *ret)
{
	uint64_t count = word_at(c->file.start, 56, 2);
	uint64_t off = word_at(c->file.start, 40, 8);

	if (count == PN_XNUM) {
		if (off > c->file.len_bytes || c->file.len_bytes - off < SHDR_BYTES)
			return error_create(ERROR_FORMAT,
					    "%s: the number of its segments is not there: the core is cut off",
					    c->path);
		count = word_at(c->file.start, off + SHDR_INFO_OFF, 4);
	}
	*ret = count;
	return NULL;
}

static struct error *take_segment(struct core *c, const struct program_header *h)
{
	struct snapshot_segment segment = {
		.start = h->address,
		.is_readable = h->flags & PF_R,
		.is_executable = h->flags & PF_X,
		.is_writable = h->flags & PF_W,
	};

	if (h->memory_bytes == 0 || h->address + h->memory_bytes < h->address)
		return NULL;
	segment.end = h->address + h->memory_bytes;
	segment.len_bytes = h->file_bytes < h->memory_bytes ? h->file_bytes : h->memory_bytes;
	c->memory_wanted += segment.len_bytes;
	if (h->off >= c->file.len_bytes) {
		c->memory_missing += segment.len_bytes;
		segment.len_bytes = 0;
	} else if (c->file.len_bytes - h->off < segment.len_bytes) {
		c->memory_missing += segment.len_bytes - (c->file.len_bytes - h->off);
		segment.len_bytes = c->file.len_bytes - h->off;
	}
	segment.bytes = segment.len_bytes ? c->file.start + h->off : NULL;
	return snapshot_segment_vec_append(&c->source->segments, segment);
}

static struct error *take_status(struct core *c, const uint8_t *bytes, size_t len_bytes)
{
	struct snapshot_raw_thread thread = {0};
	uint64_t user[SNAPSHOT_USER_WORDS];

	if (len_bytes < PRSTATUS_BYTES)
		return error_create(ERROR_FORMAT,
				    "%s: the state of a thread has %zu bytes, not %d: the core is damaged", c->path,
				    len_bytes, PRSTATUS_BYTES);
	for (int i = 0; i < SNAPSHOT_USER_WORDS; i++)
		user[i] = word_at(bytes, PRSTATUS_REGISTERS_OFF + (size_t)i * 8, 8);
	thread.tid = (pid_t)word_at(bytes, PRSTATUS_PID_OFF, 4);
	snapshot_take_registers(user, thread.registers);
	thread.thread_pointer = user[SNAPSHOT_USER_FS_BASE];
	thread.system_call = (int64_t)user[SNAPSHOT_USER_ORIG_RAX];
	if (!c->source->threads.count && !c->has_siginfo)
		c->s->signal = (int)word_at(bytes, PRSTATUS_SIGNAL_OFF, 2);
	return snapshot_raw_thread_vec_append(&c->source->threads, thread);
}

static struct error *take_process(struct core *c, const uint8_t *bytes, size_t len_bytes)
{
	const char *arguments = (const char *)bytes + PRPSINFO_ARGS_OFF;
	const char *name = (const char *)bytes + PRPSINFO_NAME_OFF;
	size_t len;

	if (len_bytes < PRPSINFO_BYTES || c->has_process)
		return NULL;
	c->has_process = true;
	c->s->pid = (pid_t)word_at(bytes, PRPSINFO_PID_OFF, 4);
	len = strnlen(arguments, PRPSINFO_ARGS_BYTES);
	while (len && arguments[len - 1] == ' ')
		len--;
	if (len)
		c->s->command = arena_strndup(&c->s->arena, arguments, len);
	else
		c->s->command = arena_strndup(&c->s->arena, name, strnlen(name, PRPSINFO_NAME_BYTES));
	return c->s->command ? NULL : &error_no_memory;
}

/* Where the kernel found it out by itself, there is an address; SI_KERNEL: one that the machine does not report. */
static void take_signal(struct snapshot *s, const uint8_t *bytes)
{
	switch (s->signal) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
		s->has_fault_address = s->signal_code > 0 && s->signal_code < SI_KERNEL;
		break;
	case SIGSYS:
		if (s->signal_code > 0)
			s->refused_call = (int32_t)word_at(bytes, SIGINFO_CALL_OFF, 4);
		break;
	default:
		break;
	}
	if (s->has_fault_address)
		s->fault_address = word_at(bytes, SIGINFO_ADDRESS_OFF, 8);
	s->has_sender = s->signal_code == SI_USER || s->signal_code == SI_TKILL || s->signal_code == SI_QUEUE;
	if (!s->has_sender)
		return;
	s->sender = (pid_t)word_at(bytes, SIGINFO_PID_OFF, 4);
	s->sender_user = (uid_t)word_at(bytes, SIGINFO_UID_OFF, 4);
}

/* Takes the signal of the first thread: the kernel writes no other, gdb one for each. */
static void take_siginfo(struct core *c, const uint8_t *bytes, size_t len_bytes)
{
	if (len_bytes < SIGINFO_BYTES || c->has_siginfo || c->source->threads.count > 1)
		return;
	c->has_siginfo = true;
	if (!c->s->signal)
		c->s->signal = (int)word_at(bytes, 0, 4);
	c->s->signal_code = (int32_t)word_at(bytes, SIGINFO_CODE_OFF, 4);
	c->s->has_signal_code = c->s->signal == (int)word_at(bytes, 0, 4);
	if (c->s->has_signal_code)
		take_signal(c->s, bytes);
}

static void take_auxiliary(struct core *c, const uint8_t *bytes, size_t len_bytes)
{
	for (size_t off = 0; off + 16 <= len_bytes; off += 16) {
		uint64_t type = word_at(bytes, off, 8), value = word_at(bytes, off + 8, 8);

		if (type == AT_ENTRY)
			c->source->entry = value;
		else if (type == AT_SYSINFO_EHDR)
			c->source->vdso = value;
	}
}

/* NT_FILE: count, page size, (start, end, page) for each, then the names, each with its NUL. */
static struct error *take_files(struct core *c, const uint8_t *bytes, size_t len_bytes)
{
	struct cursor places, names;
	uint64_t count, page;
	struct error *err;

	cursor_init(&places, bytes, len_bytes, c->path);
	err = cursor_u64(&places, &count);
	if (!err)
		err = cursor_u64(&places, &page);
	if (err)
		return err;
	if (count > cursor_left(&places) / 24)
		return error_create(ERROR_FORMAT,
				    "%s: the list of mapped files is damaged: %" PRIu64 " files in %zu bytes", c->path,
				    count, len_bytes);
	names = places;
	err = cursor_skip(&names, (size_t)count * 24);
	for (uint64_t i = 0; i < count && !err; i++) {
		struct snapshot_mapping m = {0};
		const uint8_t *name = names.start + names.off;
		size_t len = strnlen((const char *)name, cursor_left(&names));

		if (len == cursor_left(&names))
			return error_create(ERROR_FORMAT, "%s: the list of mapped files is damaged: a name has no end",
					    c->path);
		err = cursor_skip(&names, len + 1) ?:
		      cursor_u64(&places, &m.start) ?:
		      cursor_u64(&places, &m.end) ?:
		      cursor_u64(&places, &m.file_off);
		if (err)
			break;
		m.file_off *= page;
		m.path = arena_strndup(&c->s->arena, (const char *)name, len < PATH_BYTES_MAX ? len : PATH_BYTES_MAX);
		if (!m.path)
			return &error_no_memory;
		if (m.start < m.end)
			err = snapshot_mapping_vec_append(&c->source->mappings, m);
	}
	return err;
}

static struct error *take_note(struct core *c, uint32_t type, const uint8_t *bytes, size_t len_bytes)
{
	switch (type) {
	case NT_PRSTATUS:
		return take_status(c, bytes, len_bytes);
	case NT_PRPSINFO:
		return take_process(c, bytes, len_bytes);
	case NT_SIGINFO:
		take_siginfo(c, bytes, len_bytes);
		return NULL;
	case NT_AUXV:
		take_auxiliary(c, bytes, len_bytes);
		return NULL;
	case NT_FILE:
		return take_files(c, bytes, len_bytes);
	default:
		return NULL;
	}
}

static size_t to_four(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static struct error *take_notes(struct core *c, const struct program_header *h)
{
	struct cursor notes;
	uint64_t len_bytes = h->file_bytes;

	if (h->off >= c->file.len_bytes)
		return error_create(ERROR_FORMAT, "%s: ends before its notes: without them nothing can be read",
				    c->path);
	if (c->file.len_bytes - h->off < len_bytes)
		len_bytes = c->file.len_bytes - h->off;
	cursor_init(&notes, c->file.start + h->off, len_bytes, c->path);
	while (cursor_left(&notes) >= 12) {
		uint64_t name_bytes = word_at(notes.start, notes.off, 4);
		uint64_t note_bytes = word_at(notes.start, notes.off + 4, 4);
		uint32_t type = (uint32_t)word_at(notes.start, notes.off + 8, 4);
		const uint8_t *name = notes.start + notes.off + 12;
		struct error *err;

		notes.off += 12;
		if (name_bytes > cursor_left(&notes) || to_four(name_bytes) > cursor_left(&notes) ||
		    note_bytes > cursor_left(&notes) - to_four(name_bytes))
			break;
		notes.off += to_four(name_bytes);
		if (name_bytes == 5 && memcmp(name, "CORE", 5) == 0) {
			err = take_note(c, type, notes.start + notes.off, note_bytes);
			if (err)
				return err;
		}
		notes.off += to_four(note_bytes) < cursor_left(&notes) ? to_four(note_bytes) : cursor_left(&notes);
	}
	return len_bytes < h->file_bytes
		       ? snapshot_note(c->s, "%s: ends within its notes: threads may be missing", c->path)
		       : NULL;
}

static int by_segment_start(const void *a, const void *b)
{
	const struct snapshot_segment *x = a, *y = b;

	return compare_u64(x->start, y->start);
}

/* Only segments have permissions. */
static void mark_mappings(struct snapshot_source *source)
{
	size_t s = 0;

	for (size_t i = 0; i < source->mappings.count; i++) {
		struct snapshot_mapping *m = &source->mappings.items[i];

		while (s < source->segments.count && source->segments.items[s].end <= m->start)
			s++;
		if (s < source->segments.count && source->segments.items[s].start < m->end) {
			m->is_told = true;
			m->is_readable = source->segments.items[s].is_readable;
			m->is_executable = source->segments.items[s].is_executable;
			m->is_writable = source->segments.items[s].is_writable;
		}
	}
}

static int by_mapping_start(const void *a, const void *b)
{
	const struct snapshot_mapping *x = a, *y = b;

	return compare_u64(x->start, y->start);
}

static struct error *read_headers(struct core *c)
{
	uint64_t off = word_at(c->file.start, 32, 8), count = 0;
	struct error *err = header_count(c, &count);
	struct cursor headers = c->file;

	if (!err && off > c->file.len_bytes)
		err = error_create(ERROR_FORMAT, "%s: ends before its program headers", c->path);
	headers.off = (size_t)off;
	for (uint64_t i = 0; i < count && !err; i++) {
		struct program_header h = {0};

		err = read_header(&headers, &h);
		if (!err && h.type == PT_LOAD)
			err = take_segment(c, &h);
		else if (!err && h.type == PT_NOTE)
			err = take_notes(c, &h);
	}
	return err;
}

static struct error *read_core(struct core *c)
{
	struct snapshot_source *source = c->source;
	struct error *err = check_ident(c);

	if (!err)
		err = read_headers(c);
	if (err)
		return err;
	if (!source->threads.count)
		return error_create(ERROR_FORMAT, "%s: has no threads: this is no core dump of a program", c->path);
	if (source->segments.count)
		qsort(source->segments.items, source->segments.count, sizeof *source->segments.items, by_segment_start);
	if (source->mappings.count)
		qsort(source->mappings.items, source->mappings.count, sizeof *source->mappings.items, by_mapping_start);
	mark_mappings(source);
	if (c->s->signal == SIGSTOP) /* kills none: gcore stops by it what it writes a core of */
		c->s->signal = 0;
	if (!c->has_process)
		c->s->pid = source->threads.items[0].tid;
	if (c->memory_missing)
		err = snapshot_note(c->s,
				    "%s: is cut off: %" PRIu64 " of %" PRIu64
				    " bytes of memory are missing (a limit on its size, or a full disk)",
				    c->path, c->memory_missing, c->memory_wanted);
	return err;
}

struct error *snapshot_read_core(const char *path, struct snapshot *s)
{
	struct core c = {.s = s, .source = s->source, .path = path};
	bool is_cut;
	struct error *err = core_map(path, &c.source->core, &is_cut);

	if (!err && is_cut)
		err = snapshot_note(s, "%s: ends early or is damaged: what could be unpacked of it is read", path);
	if (err)
		return err;
	cursor_init(&c.file, c.source->core.bytes, c.source->core.len_bytes, path);
	return read_core(&c);
}

const struct snapshot_segment *snapshot_segment_below(const struct snapshot_source *source, uint64_t address)
{
	const struct snapshot_segment *segments = source->segments.items;
	size_t below = COUNT_UP_TO(segments, source->segments.count, start, address);

	return below ? &segments[below - 1] : NULL;
}

size_t snapshot_core_memory(const struct snapshot_source *source, uint64_t address, void *ret, size_t len_bytes)
{
	const struct snapshot_segment *segment = snapshot_segment_below(source, address);
	uint64_t off, part;

	if (!segment)
		return 0;
	off = address - segment->start;
	if (off >= segment->len_bytes)
		return 0;
	part = segment->len_bytes - off;
	if (part > len_bytes)
		part = len_bytes;
	memcpy(ret, segment->bytes + off, part);
	return part;
}

bool snapshot_is_core(const char *path)
{
	uint8_t head[EI_NIDENT + 2];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is_read = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head;

	if (fd >= 0)
		close(fd);
	return is_read && (core_is_packed(head) ||
			   (memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_NIDENT] == ET_CORE && !head[EI_NIDENT + 1]));
}

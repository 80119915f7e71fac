/*
 * live.c - stops all threads of a running process by ptrace and reads their registers, its mappings and its memory.
 * PTRACE_SEIZE, not ATTACH: no SIGSTOP that a shell or the process itself could see; what stops it leaves no trace.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "snapshot/source/source.h"

enum {
	USER_CODE_32 = 0x23, /* cs of 32-bit code */
	PROC_PATH_MAX = 64,
	PAGE_BYTES = 4096,
	PAGES = 64,
};

_Static_assert(sizeof(struct user_regs_struct) == SNAPSHOT_USER_WORDS * sizeof(uint64_t), "27 registers");

/* Unwinding reads word by word. */
struct snapshot_page {
	uint64_t address;
	bool is_there;
	uint8_t bytes[PAGE_BYTES];
};

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[PROC_PATH_MAX];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

/* The number behind "KEY:" in /proc/PID/status; 0 when it is not there. */
static long status_number(pid_t pid, const char *key)
{
	FILE *f = open_proc(pid, "status");
	size_t len = strlen(key);
	char *line = NULL;
	size_t capacity = 0;
	long n = 0;

	if (!f)
		return 0;
	while (getline(&line, &capacity, f) > 0)
		if (strncmp(line, key, len) == 0 && line[len] == ':')
			n = strtol(line + len + 1, NULL, 10);
	free(line);
	fclose(f);
	return n;
}

static struct error *cannot_stop(pid_t pid, int errnum)
{
	long tracer = status_number(pid, "TracerPid");

	if (errnum == ESRCH)
		return error_create(ERROR_NOT_FOUND, "process %d: there is no such process", (int)pid);
	if (tracer)
		return error_create(
			ERROR_ARGUMENT,
			"process %d: process %ld traces it already (a debugger?): only one can: let it write a "
			"core and read that",
			(int)pid, tracer);
	return error_os(errnum,
			"process %d: cannot be stopped by ptrace (its owner or root may; see ptrace_scope in proc(5))",
			(int)pid);
}

static bool is_seized(const struct snapshot_source *source, pid_t tid)
{
	for (size_t i = 0; i < source->threads.count; i++)
		if (source->threads.items[i].tid == tid)
			return true;
	return false;
}

/* *ret: it is there and stands still. A thread may end at any time. */
static struct error *seize_thread(struct snapshot *s, pid_t tid, bool *ret)
{
	struct snapshot_source *source = s->source;
	struct snapshot_raw_thread thread = {.tid = tid};
	uint64_t user[SNAPSHOT_USER_WORDS];
	int status;

	*ret = false;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		if (errno == ESRCH && tid != s->pid)
			return NULL;
		return cannot_stop(s->pid, errno);
	}
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 || waitpid(tid, &status, __WALL) != tid ||
	    !WIFSTOPPED(status))
		return NULL;
	if (status >> 16 != PTRACE_EVENT_STOP)
		thread.signal = WSTOPSIG(status);
	if (ptrace(PTRACE_GETREGS, tid, NULL, user) != 0)
		return NULL;
	snapshot_take_registers(user, thread.registers);
	thread.thread_pointer = user[SNAPSHOT_USER_FS_BASE];
	thread.system_call = (int64_t)user[SNAPSHOT_USER_ORIG_RAX];
	if (user[17] == USER_CODE_32) {
		ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)thread.signal);
		return error_create(ERROR_FORMAT, "process %d: is a 32-bit program: only x86-64 is read", (int)s->pid);
	}
	*ret = true;
	return snapshot_raw_thread_vec_append(&source->threads, thread);
}

/* One pass over the threads; *ret: new ones were found. */
static struct error *seize_new(struct snapshot *s, bool *ret)
{
	char path[PROC_PATH_MAX];
	struct dirent *entry;
	struct error *err = NULL;
	DIR *d;

	*ret = false;
	snprintf(path, sizeof path, "/proc/%d/task", (int)s->pid);
	d = opendir(path);
	if (!d)
		return cannot_stop(s->pid, errno == ENOENT ? ESRCH : errno);
	while (!err && (entry = readdir(d)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		bool is_new = false;

		if (tid <= 0 || is_seized(s->source, tid))
			continue;
		err = seize_thread(s, tid, &is_new);
		*ret |= is_new;
	}
	closedir(d);
	return err;
}

static void name_threads(struct snapshot *s)
{
	struct snapshot_source *source = s->source;

	for (size_t i = 0; i < source->threads.count; i++) {
		char name[PROC_PATH_MAX], text[64];
		FILE *f;

		snprintf(name, sizeof name, "task/%d/comm", (int)source->threads.items[i].tid);
		f = open_proc(s->pid, name);
		if (!f)
			continue;
		if (fgets(text, sizeof text, f))
			source->threads.items[i].name = arena_strndup(&s->arena, text, strcspn(text, "\n"));
		fclose(f);
	}
}

static struct error *read_command(struct snapshot *s)
{
	FILE *f = open_proc(s->pid, "cmdline");
	char text[4096];
	size_t len;

	if (!f)
		return NULL;
	len = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	while (len && !text[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		if (!text[i])
			text[i] = ' ';
	if (!len)
		return NULL;
	s->command = arena_strndup(&s->arena, text, len);
	return s->command ? NULL : &error_no_memory;
}

static void read_auxiliary(struct snapshot *s)
{
	struct snapshot_source *source = s->source;
	FILE *f = open_proc(s->pid, "auxv");
	uint64_t pair[2];

	if (!f)
		return;
	while (fread(pair, sizeof pair, 1, f) == 1) {
		if (pair[0] == AT_ENTRY)
			source->entry = pair[1];
		else if (pair[0] == AT_SYSINFO_EHDR)
			source->vdso = pair[1];
	}
	fclose(f);
}

/* "7f00-7f10 r-xp 00001000 fe:00 123      /usr/lib/x.so": rising. */
static struct error *take_mapping(struct snapshot *s, const char *line)
{
	static const char deleted[] = " (deleted)";
	struct snapshot_source *source = s->source;
	struct snapshot_mapping m = {0};
	char permissions[5];
	size_t len;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m.start, &m.end, permissions,
		   &m.file_off, &path) != 4 ||
	    line[path] != '/')
		return NULL;
	len = strcspn(line + path, "\n");
	if (len > strlen(deleted) && memcmp(line + path + len - strlen(deleted), deleted, strlen(deleted)) == 0)
		len -= strlen(deleted);
	m.path = arena_strndup(&s->arena, line + path, len);
	if (!m.path)
		return &error_no_memory;
	m.is_told = true;
	m.is_readable = permissions[0] == 'r';
	m.is_writable = permissions[1] == 'w';
	m.is_executable = permissions[2] == 'x';
	return snapshot_mapping_vec_append(&source->mappings, m);
}

static struct error *read_mappings(struct snapshot *s)
{
	FILE *f = open_proc(s->pid, "maps");
	char *line = NULL;
	size_t capacity = 0;
	struct error *err = NULL;

	if (!f)
		return cannot_stop(s->pid, errno);
	while (!err && getline(&line, &capacity, f) > 0)
		err = take_mapping(s, line);
	free(line);
	fclose(f);
	return err;
}

static struct error *open_memory(struct snapshot *s)
{
	struct snapshot_source *source = s->source;
	char path[PROC_PATH_MAX];

	snprintf(path, sizeof path, "/proc/%d/mem", (int)s->pid);
	source->memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	source->pages = calloc(PAGES, sizeof *source->pages);
	if (source->memory_fd < 0)
		return cannot_stop(s->pid, errno);
	return source->pages ? NULL : &error_no_memory;
}

struct error *snapshot_seize(pid_t pid, struct snapshot *s)
{
	bool is_new = true;
	struct error *err = NULL;

	s->pid = pid;
	s->is_live = true;
	while (is_new && !err) /* until all stand still: none can make another one */
		err = seize_new(s, &is_new);
	if (!err && !((struct snapshot_source *)s->source)->threads.count)
		err = error_create(ERROR_NOT_FOUND, "process %d: has ended", (int)pid);
	if (!err)
		err = read_mappings(s);
	if (!err)
		err = open_memory(s);
	if (err)
		return err;
	name_threads(s);
	read_auxiliary(s);
	return read_command(s);
}

void snapshot_release(struct snapshot *s)
{
	struct snapshot_source *source = s->source;

	if (s->is_live)
		for (size_t i = 0; i < source->threads.count; i++)
			ptrace(PTRACE_DETACH, source->threads.items[i].tid, NULL,
			       (void *)(intptr_t)source->threads.items[i].signal);
	if (source->memory_fd >= 0)
		close(source->memory_fd);
	free(source->pages);
}

size_t snapshot_live_memory(const struct snapshot_source *source, uint64_t address, void *ret, size_t len_bytes)
{
	uint64_t start = address & ~(uint64_t)(PAGE_BYTES - 1);
	struct snapshot_page *page = &source->pages[start / PAGE_BYTES % PAGES];
	size_t part = (size_t)(start + PAGE_BYTES - address);

	if (!page->is_there || page->address != start) {
		page->address = start;
		page->is_there = start <= INT64_MAX &&
				 pread(source->memory_fd, page->bytes, PAGE_BYTES, (off_t)start) == PAGE_BYTES;
	}
	if (!page->is_there)
		return 0;
	if (part > len_bytes)
		part = len_bytes;
	memcpy(ret, page->bytes + (address - start), part);
	return part;
}

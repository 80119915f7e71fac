/*
 * inject_images.c - functions of the images of a live process by name, and what its threads are doing, by elfutils.
 *
 * Tables of all images are read while the process runs, so that a look at its threads is short: it stands still meanwhile. Images of a
 * process that sees another file system are opened by /proc/PID/map_files, or by a path that leads to the same file.
 *
 * A thread inside of the loader, or of the allocator that its libc uses, may hold a lock or have half changed what dlopen would use:
 * the frames near the top of its stack say so. The allocator's own functions have no names in a stripped library; the one that was
 * called from outside has, and is on the stack. An allocator that is a library of its own may have threads of its own, which wait on a
 * condition most of the time: one that sleeps there has let go of its lock.
 *
 * A thread that is made, or ends, has only frames of libc; the list of threads is locked then, of which dlopen makes use to give each the
 * thread-local storage of what it loads. A thread that the C library keeps for itself has no others either: it sleeps.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/order.h"
#include "base/text.h"
#include "snapshot/inject/inject_private.h"

enum {
	FRAMES_MAX = 512,
};

struct unsafe {
	const char *function;
	const char *why;
};

static const char allocates[] = "memory is being allocated", loads[] = "the loader is at work",
		  forks[] = "a process is being started", ends[] = "the program is ending",
		  throws[] = "an exception is on its way", threads[] = "a thread begins or ends",
		  calls[] = "a call has not ended that an earlier attach or detach has begun";
const char inject_hides[] = "a stack cannot be walked: code without unwind tables runs";

static const struct unsafe unsafes[] = {
	{"malloc", allocates},
	{"calloc", allocates},
	{"realloc", allocates},
	{"free", allocates},
	{"cfree", allocates},
	{"memalign", allocates},
	{"aligned_alloc", allocates},
	{"posix_memalign", allocates},
	{"valloc", allocates},
	{"pvalloc", allocates},
	{"reallocarray", allocates},
	{"malloc_trim", allocates},
	{"malloc_info", allocates},
	{"malloc_stats", allocates},
	{"mallinfo", allocates},
	{"mallinfo2", allocates},
	{"mallopt", allocates},
	{"dlopen", loads},
	{"dlmopen", loads},
	{"dlclose", loads},
	{"dlsym", loads},
	{"dlvsym", loads},
	{"dladdr", loads},
	{"dladdr1", loads},
	{"dlinfo", loads},
	{"dlerror", loads},
	{"dl_iterate_phdr", loads},
	{"_dl_find_object", loads},
	{"fork", forks},
	{"_Fork", forks},
	{"vfork", forks},
	{"posix_spawn", forks},
	{"posix_spawnp", forks},
	{"pthread_create", threads},
	{"thrd_create", threads},
	{"pthread_exit", threads},
	{"thrd_exit", threads},
	{"setuid", threads},
	{"setgid", threads},
	{"seteuid", threads},
	{"setegid", threads},
	{"setreuid", threads},
	{"setregid", threads},
	{"setresuid", threads},
	{"setresgid", threads},
	{"setgroups", threads},
	{"exit", ends},
	{"quick_exit", ends},
	{"_exit", ends},
	{"cxa_finalize", ends},
	{"_Unwind_RaiseException", throws},
	{"_Unwind_Resume", throws},
	{"_Unwind_Resume_or_Rethrow", throws},
	{"_Unwind_ForcedUnwind", throws},
};

static int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, const char *file,
			const char *link, GElf_Word crc, char **ret)
{
	(void)module;
	(void)user;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)ret;
	return -1;
}

/* ---- images of a process that sees another file system ---- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Its paths lead elsewhere for this process. */
static bool is_apart(pid_t pid)
{
	char path[INJECT_PROC_PATH_MAX];
	struct stat ours, theirs;

	snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
	if (stat("/", &ours) == 0 && stat(path, &theirs) == 0 && !is_same_file(&ours, &theirs))
		return true;
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
	return stat("/proc/self/ns/mnt", &ours) == 0 && stat(path, &theirs) == 0 && !is_same_file(&ours, &theirs);
}

/* A line of /proc/PID/maps. */
struct mapped {
	uint64_t start, end, inode;
	int path_at; /* in the line: its path, or what else stands there */
};

static bool parse_line(const char *line, struct mapped *ret)
{
	return sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %*x:%*x %" SCNu64 " %n", &ret->start, &ret->end,
		      &ret->inode, &ret->path_at) == 3;
}

static FILE *open_maps(pid_t pid)
{
	char path[INJECT_PROC_PATH_MAX];

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

/* The lines, each path behind /proc/PID/root: so names of images say whose they are. */
static struct error *report_lines(struct inject *in, FILE *maps, FILE *out)
{
	char *line = NULL, name[INJECT_PROC_PATH_MAX];
	size_t capacity = 0;
	struct mapped m;
	struct error *err = NULL;

	while (!err && getline(&line, &capacity, maps) > 0) {
		if (!parse_line(line, &m))
			continue;
		fprintf(out, "%.*s%s", m.path_at, line, line[m.path_at] == '/' ? "" : line + m.path_at);
		if (line[m.path_at] == '/')
			fprintf(out, "/proc/%d/root%s", (int)in->pid, line + m.path_at);
		if (strncmp(line + m.path_at, "[vdso]", 6) != 0)
			continue;
		snprintf(name, sizeof name, "[vdso: %d]", (int)in->pid);
		if (!dwfl_report_module(in->own->dwfl, name, m.start, m.end))
			err = &error_no_memory;
	}
	free(line);
	return err;
}

static struct error *report_apart(struct inject *in)
{
	char *text = NULL;
	size_t len = 0;
	FILE *maps = open_maps(in->pid), *out = open_memstream(&text, &len);
	struct error *err = maps && out ? report_lines(in, maps, out) : inject_failed(in, "its images cannot be read");

	if (maps)
		fclose(maps);
	if (out && fclose(out) != 0 && !err)
		err = &error_no_memory;
	out = err ? NULL : fmemopen(text, len, "r");
	if (!err && (!out || dwfl_linux_proc_maps_report(in->own->dwfl, out) != 0))
		err = error_create(ERROR_FORMAT, "process %d: its images cannot be read: %s", (int)in->pid,
				   dwfl_errmsg(-1));
	if (out)
		fclose(out);
	free(text);
	return err;
}

/* A path that may be the file's. */
static int open_same(const char *path, uint64_t inode)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_ino != inode)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* What is mapped at `base`: by the kernel's own link (root's alone), else by a path that leads to the file of that number. -1: neither. */
static int open_mapped(pid_t pid, const char *name, uint64_t base)
{
	char *line = NULL, link[INJECT_PROC_PATH_MAX];
	FILE *maps = open_maps(pid);
	size_t capacity = 0;
	struct mapped m;
	int fd = -1;

	while (maps && fd < 0 && getline(&line, &capacity, maps) > 0) {
		if (!parse_line(line, &m) || m.start != base)
			continue;
		snprintf(link, sizeof link, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m.start, m.end);
		fd = open_same(link, m.inode);
		line[strcspn(line, "\n")] = '\0';
		if (fd < 0)
			fd = open_same(line + m.path_at, m.inode);
		if (fd < 0)
			fd = open_same(name, m.inode);
		break;
	}
	free(line);
	if (maps)
		fclose(maps);
	return fd;
}

static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, char **ret_file, Elf **ret)
{
	int pid, fd = sscanf(name, "/proc/%d/root/", &pid) == 1 ? open_mapped(pid, name, base) : -1;

	if (fd < 0)
		return dwfl_linux_proc_find_elf(module, user, name, base, ret_file, ret);
	*ret_file = strdup(name);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = no_debuginfo,
};

/* A library that came as memory is mapped as /memfd:NAME. */
static const char *image_name(const char *path)
{
	static const char memory[] = "memfd:";
	const char *name = text_base_name(path);

	return strncmp(name, memory, sizeof memory - 1) == 0 ? name + sizeof memory - 1 : name;
}

static const char *module_name(Dwfl_Module *module)
{
	const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

	return name ? image_name(name) : "";
}

struct wanted {
	const char *image;
	Dwfl_Module *module;
};

static int compare_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *data)
{
	struct wanted *w = data;

	(void)user;
	(void)start;
	if (strncmp(image_name(name), w->image, strlen(w->image)) != 0)
		return DWARF_CB_OK;
	w->module = module;
	return DWARF_CB_ABORT;
}

static Dwfl_Module *find_module(struct inject *in, const char *image)
{
	struct wanted w = {.image = image};

	dwfl_getmodules(in->own->dwfl, compare_module, &w, 0);
	return w.module;
}

bool inject_has_image(struct inject *in, const char *image)
{
	return find_module(in, image) != NULL;
}

static uint64_t find_in(Dwfl_Module *module, const char *function)
{
	int count = module ? dwfl_module_getsymtab(module) : 0;

	for (int i = 1; i < count; i++) {
		GElf_Sym sym;
		GElf_Addr address;
		const char *name = dwfl_module_getsym_info(module, i, &sym, &address, NULL, NULL, NULL);

		if (name && sym.st_shndx != SHN_UNDEF && GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
		    strcmp(name, function) == 0)
			return address;
	}
	return 0;
}

uint64_t inject_find(struct inject *in, const char *image, const char *function)
{
	return find_in(find_module(in, image), function);
}

/* They have no lock while they sleep in a futex. */
static const char *const waits[] = {"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", NULL};
/* They take the lock of the list of threads, but not while they sleep. */
static const char *const joins[] = {"pthread_join",         "pthread_timedjoin_np",
				    "pthread_clockjoin_np", "pthread_tryjoin_np",
				    "pthread_detach",       "thrd_join",
				    "thrd_detach",          NULL};

static bool is_one_of(const char *name, const char *const names[])
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

/* One address has several names; which of them comes is not said: calloc is __libc_calloc, and clone is __clone. */
static const char *plain_name(const char *name)
{
	static const char *const prefixes[] = {"__GI_", "__libc_", "__"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			name += strlen(prefixes[i]);
	return name;
}

static const char *unsafe_of(const char *name)
{
	for (size_t i = 0; i < sizeof unsafes / sizeof *unsafes; i++)
		if (strcmp(unsafes[i].function, name) == 0)
			return unsafes[i].why;
	return NULL;
}

struct tables {
	struct inject *in;
	struct error **err;
};

static bool add_code(struct inject_private *own, const struct inject_code *code)
{
	if (own->code_count == own->code_capacity) {
		size_t capacity = own->code_capacity ? 2 * own->code_capacity : 256;
		struct inject_code *grown = realloc(own->codes, capacity * sizeof *grown);

		if (!grown)
			return false;
		own->codes = grown;
		own->code_capacity = capacity;
	}
	own->codes[own->code_count++] = *code;
	return true;
}

/*
 * An image without a table that is sorted by addresses, or whose table libdw does not use, has its frame information read up to what is
 * looked for, and kept: 24 ms for libclang. Here all of it is: no code is at the image's last byte.
 */
static void read_frame_information(Dwfl_Module *module)
{
	Dwarf_Addr bias = 0, end = 0;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	Dwarf_Frame *frame = NULL;

	dwfl_module_info(module, NULL, NULL, &end, NULL, NULL, NULL, NULL);
	if (cfi && end && dwarf_cfi_addrframe(cfi, end - 1 - bias, &frame) == 0)
		free(frame);
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	if (cfi && end && dwarf_cfi_addrframe(cfi, end - 1 - bias, &frame) == 0)
		free(frame);
}

static int read_table(Dwfl_Module *module, void **user, const char *image, Dwarf_Addr image_start, void *data)
{
	struct tables *t = data;
	int count = dwfl_module_getsymtab(module);

	(void)user;
	(void)image;
	(void)image_start;
	read_frame_information(module);
	for (int i = 1; i < count; i++) {
		GElf_Sym sym;
		GElf_Addr start;
		const char *name = dwfl_module_getsym_info(module, i, &sym, &start, NULL, NULL, NULL);
		struct inject_code code = {0};

		if (!name || sym.st_shndx == SHN_UNDEF || !sym.st_size)
			continue;
		name = plain_name(name);
		code = (struct inject_code){start,
					    start + sym.st_size,
					    unsafe_of(name),
					    is_one_of(name, waits),
					    is_one_of(name, joins),
					    strcmp(name, "clone") == 0};
		if ((code.why || code.is_wait || code.is_join || code.is_clone) && !add_code(t->in->own, &code)) {
			*t->err = &error_no_memory;
			return DWARF_CB_ABORT;
		}
	}
	return DWARF_CB_OK;
}

static int find_allocator(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *data)
{
	Dwfl_Module **ret = data;
	const char *base = text_base_name(name);

	(void)user;
	(void)start;
	if (strncmp(base, "lib", 3) != 0 || strncmp(base, "libc.so", 7) == 0 || !find_in(module, "malloc"))
		return DWARF_CB_OK;
	*ret = module;
	return DWARF_CB_ABORT;
}

static int compare_codes(const void *a, const void *b)
{
	const struct inject_code *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Reads the tables of all images, once: to look up a symbol by its address is slow. */
static struct error *read_tables(struct inject *in)
{
	struct inject_private *own = in->own;
	struct error *err = NULL;

	own->code_count = 0;
	own->allocator = NULL;
	dwfl_getmodules(own->dwfl, find_allocator, &own->allocator, 0);
	dwfl_getmodules(own->dwfl, read_table, &(struct tables){in, &err}, 0);
	if (own->code_count)
		qsort(own->codes, own->code_count, sizeof *own->codes, compare_codes);
	return err;
}

struct error *inject_read_images(struct inject *in)
{
	Dwfl *dwfl = in->own->dwfl;
	bool is_elsewhere = is_apart(in->pid);
	struct error *err = NULL;

	in->own->are_images_old = false;
	dwfl_report_begin(dwfl);
	if (is_elsewhere)
		err = report_apart(in);
	if (err)
		return err;
	if ((!is_elsewhere && dwfl_linux_proc_report(dwfl, in->pid) != 0) || dwfl_report_end(dwfl, NULL, NULL) != 0)
		return inject_is_gone(in) ? inject_ended(in)
					  : error_create(ERROR_FORMAT, "process %d: its images cannot be read: %s",
							 (int)in->pid, dwfl_errmsg(-1));
	return read_tables(in);
}

struct error *inject_images_open(struct inject *in)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	struct error *err;

	if (!dwfl)
		return &error_no_memory;
	in->own->dwfl = dwfl;
	err = inject_read_images(in);
	if (!err && dwfl_linux_proc_attach(dwfl, in->pid, true) != 0)
		err = inject_is_gone(in) ? inject_ended(in)
					 : error_create(ERROR_FORMAT, "process %d: its stacks cannot be read: %s",
							(int)in->pid, dwfl_errmsg(-1));
	return err;
}

void inject_images_close(struct inject *in)
{
	if (in->own->dwfl)
		dwfl_end(in->own->dwfl);
	in->own->dwfl = NULL;
}

/* ---- frames ---- */

/* The frames of one thread. */
struct frames {
	struct inject *in;
	unsigned int count;
	bool is_asleep;  /* in a futex */
	bool is_waiting; /* on a condition */
	bool is_in_libc; /* so far */
	uint64_t pc;     /* of the last one */
	const char *why;
};

static const struct inject_code *code_at(const struct inject_private *own, uint64_t pc)
{
	size_t low = COUNT_UP_TO(own->codes, own->code_count, start, pc);

	return low && pc < own->codes[low - 1].end ? &own->codes[low - 1] : NULL;
}

static const char *unsafe_in(struct frames *f, Dwarf_Addr pc, bool is_activation)
{
	const struct inject_private *own = f->in->own;
	Dwfl_Module *module = dwfl_addrmodule(own->dwfl, pc);
	const char *name = module ? module_name(module) : "";
	const struct inject_code *code;

	if (!module && inject_is_stub(f->in, pc))
		return calls;
	f->is_in_libc &= strncmp(name, "libc.so", 7) == 0;
	if (strncmp(name, "ld-linux", 8) == 0)
		return loads;
	if (strncmp(name, "libgcc_s", 8) == 0)
		return throws;
	if (module && module == own->allocator && !f->is_waiting)
		return allocates;
	code = code_at(own, pc);
	if (!code)
		return NULL;
	f->is_waiting |= f->is_asleep && code->is_wait;
	if (!f->is_asleep && code->is_join)
		return threads;
	/* Which is also the outermost frame of threads. */
	if (is_activation && code->is_clone)
		return forks;
	return code->why;
}

static int look_at_frame(Dwfl_Frame *frame, void *data)
{
	struct frames *f = data;
	bool is_activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &is_activation) || f->count++ == FRAMES_MAX)
		return DWARF_CB_ABORT;
	f->pc = pc;
	f->why = unsafe_in(f, is_activation ? pc : pc - 1, is_activation);
	return f->why ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/*
 * A function that makecontext has started returns to the first byte of code that says how it is left: in front of that byte, where elfutils
 * looks for a return address, is another function, or none.
 */
static bool is_end_of_coroutine(struct inject *in, uint64_t pc)
{
	/* mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi */
	static const uint8_t code[] = {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff};
	Dwfl_Module *module = dwfl_addrmodule(in->own->dwfl, pc);
	uint8_t bytes[sizeof code];

	return module && strncmp(module_name(module), "libc.so", 7) == 0 &&
	       pread(in->own->memory_fd, bytes, sizeof bytes, (off_t)pc) == (ssize_t)sizeof bytes &&
	       memcmp(bytes, code, sizeof code) == 0;
}

/* The reason why that thread is in the way; NULL: it is not. */
static const char *look_at_thread(struct inject *in, const struct inject_thread *thread)
{
	uint64_t call = thread->registers[INJECT_ORIG_RAX];
	struct frames f = {.in = in, .is_in_libc = true};

	/* One with a limit of time that was stopped before is in restart_syscall. */
	f.is_asleep = call == SYS_futex || call == SYS_restart_syscall;
	if (dwfl_getthread_frames(in->own->dwfl, thread->tid, look_at_frame, &f) < 0 && !f.why &&
	    !is_end_of_coroutine(in, f.pc))
		return inject_hides;
	if (!f.why && thread->tid != in->pid && f.is_in_libc && !f.is_asleep && call != SYS_rt_sigtimedwait)
		return threads;
	return f.why;
}

/* A thread that has not run since keeps what was found. */
static struct error *look_again(struct inject *in, struct inject_thread *thread)
{
	uint64_t registers[INJECT_REGISTERS];

	if (thread->is_looked_at)
		return NULL;
	thread->is_looked_at = true;
	thread->why = look_at_thread(in, thread);
	/* After a thread that has ended elfutils can look at no other one. */
	if (thread->why == inject_hides && ptrace(PTRACE_GETREGS, thread->tid, NULL, registers) != 0)
		return inject_ended(in);
	thread->unsafe_looks = thread->why ? thread->unsafe_looks + 1 : 0;
	/* It may be in an image that was loaded meanwhile. */
	in->own->are_images_old |= thread->why == inject_hides;
	return NULL;
}

struct error *inject_is_safe(struct inject *in, bool is_certain, const char **ret)
{
	unsigned int longest = 0;

	*ret = NULL;
	for (size_t i = 0; i < in->thread_count; i++) {
		struct inject_thread *thread = &in->threads[i];

		struct error *err = look_again(in, thread);

		if (err)
			return err;
		thread->is_in_the_way = thread->why && (is_certain || thread->why != inject_hides);
		if (thread->is_in_the_way && thread->unsafe_looks > longest) {
			longest = thread->unsafe_looks;
			*ret = thread->why;
		}
	}
	return NULL;
}

void inject_images_find_return(struct inject *in)
{
	/* mov $15, %rax; syscall, as debuggers look for it as well, or with a shorter mov. */
	static const uint8_t codes[][9] = {{0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05},
					   {0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}};
	static const size_t lens[] = {9, 7};
	Dwfl_Module *module = find_module(in, "libc.so.6");
	Dwarf_Addr start, end;
	char *bytes;
	ssize_t got;

	if (!module || !dwfl_module_info(module, NULL, &start, &end, NULL, NULL, NULL, NULL))
		return;
	bytes = malloc(end - start);
	/* As far as it is mapped without a gap. */
	got = bytes ? pread(in->own->memory_fd, bytes, end - start, (off_t)start) : -1;
	for (int i = 0; i < 2 && got > 0 && !in->own->sigreturn_at; i++) {
		const char *at = memmem(bytes, (size_t)got, codes[i], lens[i]);

		if (at)
			in->own->sigreturn_at = start + (uint64_t)(at - bytes);
	}
	free(bytes);
}

/*
 * inject_images.c - functions of the images of a live process by name, and what its threads are doing, by elfutils.
 *
 * A thread inside of the loader, or of the allocator that its libc uses, may hold a lock or have half changed what dlopen would use:
 * the frames near the top of its stack say so. The allocator's own functions have no names in a stripped library; the one that was
 * called from outside has, and is on the stack. An allocator that is a library of its own may have threads of its own, which wait on a
 * condition most of the time: one that sleeps there has let go of its lock.
 *
 * A thread that is made, or ends, has only frames of libc; the list of threads is locked then, of which dlopen makes use to give each the
 * thread-local storage of what it loads. A thread that the C library keeps for itself has no others either: it sleeps.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "snapshot/inject_private.h"

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
		  hides[] = "a stack cannot be walked";

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

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = no_debuginfo,
};

static struct error *report_images(struct inject *in)
{
	Dwfl *dwfl = in->own->dwfl;

	dwfl_report_begin(dwfl);
	if (dwfl_linux_proc_report(dwfl, in->pid) != 0 || dwfl_report_end(dwfl, NULL, NULL) != 0)
		return error_create(ERROR_FORMAT, "process %d: its images cannot be read: %s", (int)in->pid,
				    dwfl_errmsg(-1));
	return NULL;
}

struct error *inject_images_open(struct inject *in)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl)
		return &error_no_memory;
	in->own->dwfl = dwfl;
	return report_images(in);
}

void inject_images_close(struct inject *in)
{
	if (in->own->dwfl)
		dwfl_end(in->own->dwfl);
	in->own->dwfl = NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *module_name(Dwfl_Module *module)
{
	const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

	return name ? base_name(name) : "";
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
	if (strncmp(base_name(name), w->image, strlen(w->image)) != 0)
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

/* ---- frames ---- */

/* Of one thread. */
struct frames {
	struct inject *in;
	Dwfl_Module *allocator; /* a library whose malloc is the process's, not libc */
	unsigned int count;
	bool is_asleep;  /* in a futex */
	bool is_waiting; /* on a condition */
	bool is_in_libc; /* so far */
	const char *why;
};

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

static const char *unsafe_in(struct frames *f, Dwarf_Addr pc, bool is_activation)
{
	Dwfl_Module *module = dwfl_addrmodule(f->in->own->dwfl, pc);
	const char *name = module ? module_name(module) : "";
	GElf_Off off = 0;
	GElf_Sym sym;

	f->is_in_libc &= strncmp(name, "libc.so", 7) == 0;
	if (strncmp(name, "ld-linux", 8) == 0)
		return loads;
	if (strncmp(name, "libgcc_s", 8) == 0)
		return throws;
	if (module && module == f->allocator && !f->is_waiting)
		return allocates;
	name = module ? dwfl_module_addrinfo(module, pc, &off, &sym, NULL, NULL, NULL) : NULL;
	if (!name || off >= sym.st_size)
		return NULL;
	name = plain_name(name);
	f->is_waiting |= f->is_asleep && is_one_of(name, waits);
	if (!f->is_asleep && is_one_of(name, joins))
		return threads;
	/* Which is also the outermost frame of threads. */
	if (is_activation && strcmp(name, "clone") == 0)
		return forks;
	for (size_t i = 0; i < sizeof unsafes / sizeof *unsafes; i++)
		if (strcmp(unsafes[i].function, name) == 0)
			return unsafes[i].why;
	return NULL;
}

static int look_at_frame(Dwfl_Frame *frame, void *data)
{
	struct frames *f = data;
	bool is_activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &is_activation) || f->count++ == FRAMES_MAX)
		return DWARF_CB_ABORT;
	f->why = unsafe_in(f, is_activation ? pc : pc - 1, is_activation);
	return f->why ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* What is in the way in that thread; NULL: nothing. */
static const char *look_at_thread(struct inject *in, const struct inject_thread *thread, Dwfl_Module *allocator)
{
	uint64_t call = thread->registers[INJECT_ORIG_RAX];
	struct frames f = {.in = in, .allocator = allocator, .is_in_libc = true};

	/* One with a limit of time that was stopped before is in restart_syscall. */
	f.is_asleep = call == SYS_futex || call == SYS_restart_syscall;
	if (dwfl_getthread_frames(in->own->dwfl, thread->tid, look_at_frame, &f) < 0 && !f.why)
		return hides;
	if (!f.why && thread->tid != in->pid && f.is_in_libc && !f.is_asleep && call != SYS_rt_sigtimedwait)
		return threads;
	return f.why;
}

static int find_allocator(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *data)
{
	Dwfl_Module **ret = data;
	const char *base = base_name(name);

	(void)user;
	(void)start;
	if (strncmp(base, "lib", 3) != 0 || strncmp(base, "libc.so", 7) == 0 || !find_in(module, "malloc"))
		return DWARF_CB_OK;
	*ret = module;
	return DWARF_CB_ABORT;
}

struct error *inject_is_safe(struct inject *in, bool is_certain, const char **ret)
{
	Dwfl_Module *allocator = NULL;
	unsigned int longest = 0;
	bool are_new = false;

	*ret = NULL;
	if (dwfl_pid(in->own->dwfl) < 0 && dwfl_linux_proc_attach(in->own->dwfl, in->pid, true) != 0)
		return error_create(ERROR_FORMAT, "process %d: its stacks cannot be read: %s", (int)in->pid,
				    dwfl_errmsg(-1));
	dwfl_getmodules(in->own->dwfl, find_allocator, &allocator, 0);
	for (size_t i = 0; i < in->thread_count; i++) {
		struct inject_thread *thread = &in->threads[i];
		const char *why = look_at_thread(in, thread, allocator);

		if (why == hides && !is_certain)
			why = NULL;
		thread->is_in_the_way = why != NULL;
		thread->unsafe_looks = why ? thread->unsafe_looks + 1 : 0;
		if (thread->unsafe_looks > longest) {
			longest = thread->unsafe_looks;
			*ret = why;
		}
		are_new |= why == hides;
	}
	/* It may be in an image that was loaded meanwhile. */
	return are_new ? report_images(in) : NULL;
}

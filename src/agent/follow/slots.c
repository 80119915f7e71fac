/*
 * slots.c - relocations that name a function: what their words hold is replaced for functions that the agent interposes. Before
 * that all are bound, where the loader has not done that yet: nothing in that changes what the program does, so it takes as many steps as
 * it needs.
 *
 * A word is not bound while it leads to its own entry of the PLT, which pushes the relocation's number: no other code does. The loader
 * finds a symbol in the global scope first, then among what the image was opened with; so does dlvsym with the two handles here.
 *
 * Not reached: pointers that the program has copied before; when the agent was attached, images that are opened later.
 *
 * In a program that `waymark run` has started the loader binds all to the agent and the heap client, which come first; but a library that
 * is opened with RTLD_DEEPBIND looks for functions in its own scope before. When libraries are mapped, and not relocated yet, the loader
 * tells debuggers: relocations that name what is stood in front of get its address then.
 *
 * The functions of waymark.h are found nowhere without the agent: their words hold 0.
 */
#include "agent/follow/slots.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "agent/code/code.h"
#include "agent/os/memory.h"
#include "agent/program/symbol.h"
#include "recorder/dynamic.h"
#include "recorder/gnu_hash.h"

static const char *const names[] = {
	"longjmp",
	"siglongjmp",
	"_longjmp",
	"__longjmp_chk",
	"makecontext",
	"swapcontext",
	"setcontext",
	"_Unwind_SetIP",
	"sigaction",
	"siginterrupt",
	"signal",
	"bsd_signal",
	"ssignal",
	"sysv_signal",
	"__sysv_signal",
	"sigset",
	"sigprocmask",
	"pthread_sigmask",
	"_exit",
	"_Exit",
	"syscall",
	"vfork",
	"__vfork",
	"clone",
	"prctl",
	"pthread_create",
	"thrd_create",
	"poll",
	"epoll_wait",
	"epoll_pwait",
	"nanosleep",
	"clock_nanosleep",
	"usleep",
	"__pthread_register_cancel",
	"__pthread_unregister_cancel",
	"__pthread_register_cancel_defer",
	"__pthread_unregister_cancel_restore",
	"__pthread_unwind_next",
	"_Unwind_RaiseException",
	"_Unwind_Resume",
	"_Unwind_Resume_or_Rethrow",
	/* waymark.h's, which lead nowhere as long as there is no agent. */
	"wm1_agent_capture",
	"wm1_agent_token",
	"wm1_agent_event",
	"wm1_agent_task_begin",
	"wm1_agent_task_end",
};
/* What the heap client interposes. */
static const char *const heap_names[] = {"malloc",         "calloc",        "realloc",  "reallocarray", "free",
					 "posix_memalign", "aligned_alloc", "memalign", "valloc",       "pvalloc"};
#define CLIENT "wm1_agent_"
enum {
	NAMES = sizeof names / sizeof *names,
	HEAP_NAMES = sizeof heap_names / sizeof *heap_names,
	FIRST_LETTERS = 256,
	LOOKS = 32, /* at entries of a PLT, between looks at the clock */
};

struct taken {
	uintptr_t *slot;
	uintptr_t was, own;
};

/* Under the agent's lock. */
static uintptr_t owns[NAMES];
static bool is_first_of_own[FIRST_LETTERS];
static struct taken *taken;
static size_t taken_count, taken_capacity;

/* One image, and where the loader looks for what it names. */
struct scope {
	struct dynamic dynamic;
	const char *path;
	void *handle; /* of the image's own scope; NULL until needed */
};

/* The version that the image needs of the symbol; NULL: any. */
static const char *version_of(const struct dynamic *d, uint32_t symbol)
{
	enum {
		HIDDEN = 0x8000,
	};
	const char *need = (const char *)d->needed;
	unsigned int wanted = d->versions ? d->versions[symbol] & ~(unsigned int)HIDDEN : 0;

	if (wanted <= VER_NDX_GLOBAL || !need)
		return NULL;
	for (size_t i = 0; i < d->needed_count; i++) {
		const Elf64_Verneed *v = (const Elf64_Verneed *)(const void *)need;
		const char *aux = need + v->vn_aux;

		for (unsigned int k = 0; k < v->vn_cnt; k++) {
			const Elf64_Vernaux *a = (const Elf64_Vernaux *)(const void *)aux;

			if (a->vna_other == wanted)
				return d->strings + a->vna_name;
			aux += a->vna_next;
		}
		need += v->vn_next;
	}
	return NULL;
}

static uintptr_t find(void *scope, const char *name, const char *version)
{
	if (!name)
		return 0;
	return (uintptr_t)(version ? dlvsym(scope, name, version) : dlsym(scope, name));
}

static uintptr_t resolve(struct scope *s, uint32_t symbol)
{
	const struct dynamic *d = &s->dynamic;
	const char *name = d->strings + d->symbols[symbol].st_name, *version = version_of(d, symbol);
	uintptr_t found = find(RTLD_DEFAULT, name, version);

	if (found)
		return found;
	if (!s->handle && *s->path)
		s->handle = dlopen(s->path, RTLD_LAZY | RTLD_NOLOAD);
	return s->handle ? find(s->handle, name, version) : 0;
}

/* Its word has the address of its entry of the PLT: [endbr64] push $number. */
static bool is_unbound(const struct dynamic *d, uintptr_t value, size_t number)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const struct agent_image *image = agent_image_at(value);
	const uint8_t *code = (const uint8_t *)value; /* NOLINT(performance-no-int-to-ptr) */
	const struct scan_range *text = image ? scan_text_of(&image->scan, value) : NULL;
	uint32_t pushed;

	if (!text || image->bias != d->bias || value + 16 > text->high)
		return false;
	if (memcmp(code, endbr64, sizeof endbr64) == 0)
		code += sizeof endbr64;
	memcpy(&pushed, code + 1, sizeof pushed);
	return *code == 0x68 && pushed == number;
}

/* Tells most other names apart. */
static uint8_t first_letters(const char *name)
{
	return (uint8_t)(name[0] * 7 + (name[0] ? name[1] : 0));
}

static uintptr_t own_of(const char *name)
{
	for (int i = 0; is_first_of_own[first_letters(name)] && i < NAMES; i++)
		if (strcmp(names[i], name) == 0)
			return owns[i];
	return 0;
}

static bool put(uintptr_t *slot, uintptr_t value)
{
	/* It may be read-only by now. */
	return *slot == value || code_write((uintptr_t)slot, &value, sizeof value);
}

static bool take_slot(struct scope *s, const Elf64_Rela *r, uintptr_t was)
{
	const struct dynamic *d = &s->dynamic;
	uintptr_t *slot = (uintptr_t *)(d->bias + r->r_offset); /* NOLINT(performance-no-int-to-ptr) */
	uint32_t symbol = ELF64_R_SYM(r->r_info);
	const char *name = d->strings + d->symbols[symbol].st_name;
	uintptr_t own = own_of(name);

	if (!own || *slot == own || (!was && strncmp(name, CLIENT, sizeof CLIENT - 1) != 0))
		return true;
	/* A variable of the program's: it may have something else by now. */
	if (ELF64_R_TYPE(r->r_info) == R_X86_64_64 && was != resolve(s, symbol))
		return true;
	if (!agent_reserve((void **)&taken, &taken_capacity, taken_count + 1, sizeof *taken) || !put(slot, own))
		return false;
	taken[taken_count++] = (struct taken){slot, was, own};
	return true;
}

static bool take_functions(struct scope *s)
{
	const struct dynamic *d = &s->dynamic;
	bool ok = true;

	for (size_t i = 0; i < d->plt_count; i++) {
		const Elf64_Rela *r = &d->plt[i];

		if (ELF64_R_TYPE(r->r_info) == R_X86_64_JUMP_SLOT)
			ok &= take_slot(s, r, *(uintptr_t *)(d->bias + r->r_offset)); /* NOLINT */
	}
	return ok;
}

/* Binds what the loader has not, from where it was left. False: it is late, or a word could not be written. */
static bool bind_functions(struct agent_image *image, struct scope *s, bool (*is_late)(void))
{
	const struct dynamic *d = &s->dynamic;

	for (; image->bound < d->plt_count; image->bound++) {
		const Elf64_Rela *r = &d->plt[image->bound];
		uintptr_t *slot = (uintptr_t *)(d->bias + r->r_offset); /* NOLINT(performance-no-int-to-ptr) */
		uintptr_t found;

		if (image->bound % LOOKS == 0 && is_late())
			return false;
		if (ELF64_R_TYPE(r->r_info) == R_X86_64_JUMP_SLOT && is_unbound(d, *slot, image->bound) &&
		    (found = resolve(s, ELF64_R_SYM(r->r_info))) != 0 && !put(slot, found))
			return false;
	}
	return true;
}

static bool take_words(struct scope *s)
{
	const struct dynamic *d = &s->dynamic;
	bool ok = true;

	for (size_t i = 0; i < d->rela_count; i++) {
		const Elf64_Rela *r = &d->rela[i];
		uint32_t type = ELF64_R_TYPE(r->r_info);

		if (type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || (type == R_X86_64_64 && !r->r_addend))
			ok &= take_slot(s, r, *(uintptr_t *)(d->bias + r->r_offset)); /* NOLINT */
	}
	return ok;
}

/* The loader and libc bind among themselves, and the agent's own calls are to reach libc. */
static bool is_left_out(const struct agent_image *image)
{
	static const char *const bases[] = {"ld-linux-x86-64.so", "libc.so", "linux-vdso", "libZydis.so",
					    "libZycore.so"};
	const char *slash = strrchr(image->path, '/'), *name = slash ? slash + 1 : image->path;

	for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
		if (strncmp(name, bases[i], strlen(bases[i])) == 0)
			return true;
	return image->kind == AGENT_IMAGE_OWN;
}

struct visit {
	const Elf64_Dyn **dynamics;
	size_t count, capacity;
	bool is_ok;
};

/* The loader's lock is held: nothing is looked up here. */
static int add_image(struct dl_phdr_info *info, size_t size, void *data)
{
	const Elf64_Dyn *dynamic = dynamic_find(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr);
	struct visit *v = data;

	(void)size;
	if (!dynamic)
		return 0;
	v->is_ok &= agent_reserve((void **)&v->dynamics, &v->capacity, v->count + 1, sizeof *v->dynamics) != 0;
	if (v->is_ok)
		v->dynamics[v->count++] = dynamic;
	return 0;
}

static void find_owns(void)
{
	const struct agent_image *own = agent_image_at((uintptr_t)slots_take);

	for (int i = 0; own && i < NAMES; i++) {
		owns[i] = symbol_address(own, names[i]);
		is_first_of_own[first_letters(names[i])] = true;
	}
}

/* ---- libraries that are opened while the program runs ---- */

enum {
	FRONTS = NAMES + HEAP_NAMES,
};

/* Under the agent's lock. */
static struct {
	struct {
		const char *name;
		uintptr_t own;
		bool is_defined; /* by a library that is being added */
	} fronts[FRONTS];
	size_t count;
	bool is_first[FIRST_LETTERS]; /* some name begins so */
	bool is_adding;
	const struct link_map *last; /* of those that are loaded, when none is being added or taken away */
} late;

static void add_front(const char *name, uintptr_t own)
{
	if (!own)
		return;
	late.fronts[late.count].name = name;
	late.fronts[late.count++].own = own;
	late.is_first[first_letters(name)] = true;
}

static const struct link_map *last_map(void)
{
	const struct link_map *map = _r_debug.r_map;

	while (map && map->l_next)
		map = map->l_next;
	return map;
}

void slots_late_start(void)
{
	const struct agent_image *heap = agent_image_at((uintptr_t)dlsym(RTLD_DEFAULT, "wm1_heap_attach"));

	late.last = last_map();
	find_owns();
	for (int i = 0; i < NAMES; i++)
		if (strncmp(names[i], CLIENT, sizeof CLIENT - 1) != 0)
			add_front(names[i], owns[i]);
	/* A program's own malloc comes before the client's. */
	for (int i = 0; heap && i < HEAP_NAMES; i++) {
		uintptr_t own = symbol_address(heap, heap_names[i]);

		add_front(heap_names[i], (uintptr_t)dlsym(RTLD_DEFAULT, heap_names[i]) == own ? own : 0);
	}
}

static uintptr_t front_of(const char *name)
{
	for (size_t i = 0; late.is_first[first_letters(name)] && i < late.count; i++)
		if (strcmp(late.fronts[i].name, name) == 0)
			return late.fronts[i].is_defined ? 0 : late.fronts[i].own;
	return 0;
}

static void bind(const struct dynamic *d, const Elf64_Rela *relocations, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		Elf64_Rela r = relocations[i];
		uint32_t type = ELF64_R_TYPE(r.r_info);
		const Elf64_Sym *symbol = &d->symbols[ELF64_R_SYM(r.r_info)];
		uintptr_t own;

		if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) || r.r_addend ||
		    symbol->st_shndx != SHN_UNDEF)
			continue;
		own = front_of(d->strings + symbol->st_name);
		if (!own)
			continue;
		r.r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE);
		r.r_addend = (Elf64_Sxword)(own - d->bias);
		code_write((uintptr_t)&relocations[i], &r, sizeof r);
	}
}

static bool read_map(const struct link_map *map, struct dynamic *ret)
{
	*ret = dynamic_read(map->l_ld, map->l_addr);
	return ret->symbols && ret->strings;
}

/* Functions that new libraries define themselves: which of those the others in their scope are to have, the loader knows. */
static void note_defined(const struct link_map *first)
{
	struct dynamic d;

	for (size_t i = 0; i < late.count; i++)
		late.fronts[i].is_defined = false;
	for (const struct link_map *map = first; map; map = map->l_next)
		for (size_t i = 0; read_map(map, &d) && i < late.count; i++)
			late.fronts[i].is_defined |=
				gnu_hash_defines(d.gnu_hash, d.symbols, d.strings, late.fronts[i].name);
}

static void bind_from(const struct link_map *first)
{
	struct dynamic d;

	note_defined(first);
	for (const struct link_map *map = first; map; map = map->l_next) {
		if (!read_map(map, &d))
			continue;
		bind(&d, d.rela, d.rela_count);
		bind(&d, d.plt, d.plt_count);
	}
}

void slots_late(void)
{
	bool was_adding = late.is_adding;

	late.is_adding = _r_debug.r_state == RT_ADD;
	if (!late.count || _r_debug.r_state != RT_CONSISTENT)
		return;
	if (was_adding && late.last)
		bind_from(late.last->l_next);
	late.last = last_map();
}

/* The images whose words are looked at, until one says no. is_late: of bind_functions. */
static bool visit_images(bool (*look)(struct agent_image *image, struct scope *s, bool (*is_late)(void)),
			 bool (*is_late)(void))
{
	struct visit v = {.is_ok = true};

	dl_iterate_phdr(add_image, &v);
	for (size_t i = 0; v.is_ok && i < v.count; i++) {
		struct agent_image *image = agent_image_at((uintptr_t)v.dynamics[i]);
		struct scope s;

		if (!image || is_left_out(image))
			continue;
		s = (struct scope){.dynamic = dynamic_read(v.dynamics[i], image->bias), .path = image->path};
		if (!s.dynamic.symbols || !s.dynamic.strings)
			continue;
		v.is_ok = look(image, &s, is_late);
		if (s.handle)
			dlclose(s.handle);
	}
	agent_free(v.dynamics);
	return v.is_ok;
}

bool slots_bind(bool (*is_late)(void))
{
	return visit_images(bind_functions, is_late);
}

static bool take(struct agent_image *image, struct scope *s, bool (*is_late)(void))
{
	(void)image;
	(void)is_late;
	return take_functions(s) && take_words(s);
}

bool slots_take(void)
{
	find_owns();
	return visit_images(take, NULL);
}

void slots_give_back(void)
{
	for (size_t i = 0; i < taken_count; i++) {
		const struct agent_image *image = agent_image_at((uintptr_t)taken[i].slot);

		if (image && agent_image_is_there(image) && *taken[i].slot == taken[i].own)
			put(taken[i].slot, taken[i].was);
	}
	taken_count = 0;
}

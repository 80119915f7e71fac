/*
 * step_context.c [-s] POINTS GAP SEED STEPS IMAGES PROGRAM [ARGUMENT...] - runs a program with contexts one instruction at a time in its own code
 * (support/own_steps.h), stops at POINTS random instructions, GAP apart on the average, of its first STEPS, and compares the context
 * that its words give there (model/crash/thread_stop.h) with a shadow stack of calls, jumps and returns. IMAGES: the program and its
 * libraries with contexts, with commas between them; PROGRAM is the first.
 *
 * The shadow stack knows symbols and instructions, and nothing of ids: a call has put its return address on the stack, a jump to another
 * function is a tail call, what lies below the stack pointer has returned. Functions must be the same, one by one. With -s so must call sites: two
 * stops with the same chain of call instructions must have the same context, lines and columns included. Optimizers merge call sites.
 *
 * Prints the counts. Exit status 1 on a mismatch, or when nothing was compared. "not known" is what the reader says that it does not know.
 */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hashmap.h"
#include "base/instruction.h"
#include "base/text.h"
#include "model/crash/thread_stop.h"
#include "support/own_steps.h"

enum {
	DEPTH_MAX = 1 << 16,
	FAILURES_MAX = 5,
	FRAMES_MAX = 64,
};

struct symbol {
	struct word_function f;
	bool is_global;
	unsigned image;
	bool takes_part; /* in contexts */
};

/* An activation, or one that has left by a tail call: the next one has its slot. */
struct activation {
	const struct symbol *symbol;
	uint64_t slot; /* of its return address */
	uint64_t call; /* the return address of the call that it has made, or the jump by which it has left */
};

static struct {
	char *path;
	struct image *image;
	uint64_t descriptor; /* wm1.image, as linked */
} own[OWN_IMAGES_MAX];
static unsigned own_count;
static struct symbol *symbols;
static size_t symbol_count;
static struct activation *shadow;
static size_t depth;
/* One for each image: a cache knows images by build ids, which are not asked for here. */
static struct image_cache caches[OWN_IMAGES_MAX];
static struct thread_reader reader;
static struct stop_flows *flows;
static struct user_regs_struct was;
static bool was_own;
static unsigned long long steps, steps_max, points, points_max, in_helpers, in_quiet, unknown_count, elided, failures;
static unsigned gap, next_stop;
static bool compares_sites;
static struct hashmap chains; /* of call instructions */
static uint64_t *decoded;     /* [chains.count]: hash of the context */
static struct hashmap whys;
static const char **why_texts;
static unsigned long long *why_counts;

static void check(struct error *err)
{
	if (err)
		die("%s", err->message);
}

/* ---- symbols ---- */

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	if (x->f.start != y->f.start)
		return x->f.start < y->f.start ? -1 : 1;
	return y->is_global - x->is_global;
}

static bool takes_part(const struct meta *m, const char *name)
{
	for (uint32_t i = 0; i < m->function_count; i++)
		if (strcmp(m->functions[i].link_name, name) == 0)
			return true;
	return false;
}

static void add_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, unsigned image)
{
	Elf_Data *data = elf_getdata(section, NULL);
	const size_t count = header->sh_size / header->sh_entsize;
	symbols = realloc(symbols, (symbol_count + count) * sizeof *symbols);
	for (size_t i = 0; i < count; i++) {
		GElf_Sym sym;
		gelf_getsym(data, (int)i, &sym);
		const char *name = elf_strptr(elf, header->sh_link, sym.st_name);
		if (GELF_ST_TYPE(sym.st_info) == STT_OBJECT && strcmp(name, "wm1.image") == 0)
			own[image].descriptor = sym.st_value;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || !sym.st_size || !sym.st_shndx)
			continue;
		symbols[symbol_count++] = (struct symbol){
			{strdup(name), sym.st_value, sym.st_value + sym.st_size},
			GELF_ST_BIND(sym.st_info) != STB_LOCAL,
			image,
			takes_part(&own[image].image->meta, name),
		};
	}
}

/* The place of a thread-local variable of the program, from its end. */
static void find_state(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = 0;
	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
		GElf_Sym sym;
		gelf_getsym(data, (int)i, &sym);
		if (GELF_ST_TYPE(sym.st_info) != STT_TLS ||
		    strcmp(elf_strptr(elf, header->sh_link, sym.st_name), "wm1_thread_state") != 0)
			continue;
		for (size_t k = 0; k < count; k++) {
			GElf_Phdr p;
			gelf_getphdr(elf, (int)k, &p);
			if (p.p_type == PT_TLS)
				reader.code.state_off =
					(int64_t)(sym.st_value - ((p.p_memsz + p.p_align - 1) & -p.p_align));
		}
	}
}

static void read_symbols(unsigned image)
{
	int fd = open(own[image].path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		die("%s: no ELF file", own[image].path);
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
		GElf_Shdr header;
		gelf_getshdr(section, &header);
		if (header.sh_type != SHT_SYMTAB)
			continue;
		add_symbols(elf, section, &header, image);
		if (!image)
			find_state(elf, section, &header);
	}
	elf_end(elf);
	close(fd);
}

static void place_symbols(void)
{
	for (size_t i = 0; i < symbol_count; i++) {
		symbols[i].f.start += own_steps_base(symbols[i].image);
		symbols[i].f.end += own_steps_base(symbols[i].image);
	}
	qsort(symbols, symbol_count, sizeof *symbols, by_start);
}

static const struct symbol *symbol_at(uint64_t address)
{
	size_t low = 0, high = symbol_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (symbols[middle].f.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= symbols[low - 1].f.end)
		return NULL;
	for (low--; low && symbols[low - 1].f.start == symbols[low].f.start;)
		low--;
	return &symbols[low];
}

static bool find_code(void *data, uint64_t address, struct word_function *ret)
{
	const struct symbol *s = symbol_at(address);
	(void)data;
	if (s)
		*ret = s->f;
	return s != NULL;
}

static bool read_memory(void *data, uint64_t address, void *ret, size_t len_bytes)
{
	(void)data;
	return own_steps_read(address, ret, len_bytes);
}

static struct image *image_of(void *data, uint64_t address)
{
	const struct symbol *s = symbol_at(address);
	(void)data;
	return s ? own[s->image].image : NULL;
}

/* ---- the shadow stack ---- */

static bool is_start(const struct symbol *s, uint64_t pc)
{
	return s && s->f.start == pc;
}

static void enter(const struct symbol *s, uint64_t slot)
{
	if (depth == DEPTH_MAX)
		die("more than %d calls deep", DEPTH_MAX);
	shadow[depth++] = (struct activation){.symbol = s, .slot = slot};
}

static struct instruction instruction_at(uint64_t pc)
{
	uint8_t bytes[INSTRUCTION_BYTES_MAX] = {0};
	struct instruction i = {0};
	for (size_t len = sizeof bytes; len && !own_steps_read(pc, bytes, len);)
		len--;
	instruction_decode(bytes, sizeof bytes, pc, &i);
	return i;
}

static void follow(const struct user_regs_struct *regs)
{
	const struct symbol *here = symbol_at(regs->rip);
	const struct instruction i = was_own ? instruction_at(was.rip) : (struct instruction){0};
	uint64_t word = 0;
	while (depth && shadow[depth - 1].slot < regs->rsp)
		depth--;
	if (i.kind == INSTRUCTION_CALL && regs->rsp == was.rsp - 8 && own_steps_read(regs->rsp, &word, sizeof word) &&
	    word == was.rip + i.len_bytes) {
		if (depth)
			shadow[depth - 1].call = word;
		enter(here, regs->rsp);
	} else if (!was_own && is_start(here, regs->rip)) {
		enter(here, regs->rsp);
	} else if (depth && here && here != shadow[depth - 1].symbol && regs->rsp <= shadow[depth - 1].slot) {
		shadow[depth - 1].call = was.rip;
		enter(here, shadow[depth - 1].slot);
	}
}

/* ---- the comparison ---- */

static const uint64_t *registers_of(const struct user_regs_struct *r)
{
	static uint64_t values[SNAPSHOT_REGISTERS];
	const uint64_t now[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
				r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip};
	memcpy(values, now, sizeof values);
	return values;
}

/* The next instruction, and the return addresses of the shadow stack, as an unwinder would tell them: with the stack pointer alone. */
static uint32_t fill_frames(const struct user_regs_struct *regs, struct snapshot_frame *frames)
{
	uint32_t count = 1;
	frames[0] = (struct snapshot_frame){.pc = regs->rip, .is_activation = true, .known = 0xffff};
	memcpy(frames[0].registers, registers_of(regs), sizeof frames[0].registers);
	for (size_t i = depth; i-- > 0 && count < FRAMES_MAX;) {
		struct snapshot_frame *f = &frames[count];
		if (i && shadow[i - 1].slot == shadow[i].slot)
			continue;
		*f = (struct snapshot_frame){.known = 1u << WORD_RSP, .has_cfa = i > 0};
		f->registers[WORD_RSP] = shadow[i].slot + 8;
		f->cfa = i ? shadow[i - 1].slot + 8 : 0;
		if (own_steps_read(shadow[i].slot, &f->pc, sizeof f->pc))
			count++;
	}
	return count;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* Where control is in code of ours or in what takes no part, tail calls that led there are not seen: no frame is theirs. */
static size_t expected_depth(void)
{
	size_t end = depth;
	const uint64_t slot = depth ? shadow[depth - 1].slot : 0;
	if (!depth || (shadow[depth - 1].symbol && shadow[depth - 1].symbol->takes_part))
		return end;
	while (end && shadow[end - 1].slot == slot)
		end--;
	return end;
}

/* Contexts of a handler begin with the runtime's, which calls it. */
static size_t handler_depth(void)
{
	for (size_t i = depth; i-- > 0;)
		if (shadow[i].symbol && strcmp(shadow[i].symbol->f.name, "wmrt_handle") == 0)
			return i + 1;
	return 0;
}

static void report(const char *what, const struct user_regs_struct *regs, const struct frame_vec *frames)
{
	const struct symbol *here = symbol_at(regs->rip);
	if (++failures > FAILURES_MAX)
		return;
	fprintf(stderr, "%s at %s+%#" PRIx64 " (step %llu)\n  shadow:  ", what, here ? here->f.name : "?",
		here ? (uint64_t)regs->rip - here->f.start : 0, steps);
	for (size_t i = 0; i < depth; i++)
		fprintf(stderr, "%s%s%s", i ? ";" : "", shadow[i].symbol ? shadow[i].symbol->f.name : "?",
			shadow[i].symbol && shadow[i].symbol->takes_part ? "" : "-");
	fprintf(stderr, "\n  decoded: ");
	for (size_t i = 0; i < frames->count; i++)
		if (!(frames->items[i].flags & FRAME_INLINED))
			fprintf(stderr, frames->items[i].flags & FRAME_FOREIGN ? "%s[%s]" : "%s%s", i ? ";" : "",
				frames->items[i].link_name);
	fprintf(stderr, "\n");
}

/* The same functions, one by one; *ret_chain, *ret_context: hashes of the call instructions and of the frames. */
static bool is_same(const struct frame_vec *frames, uint64_t *ret_chain, uint64_t *ret_context)
{
	const size_t end = expected_depth();
	size_t i = frames->count && frames->items[0].flags & FRAME_ROOT ? handler_depth() : 0, last = i;
	const size_t begin = i;
	*ret_chain = *ret_context = 1;
	for (size_t k = 0; k < frames->count; k++) {
		const struct frame *f = &frames->items[k];
		*ret_context = mix(mix(*ret_context, f->line), f->column);
		if (f->flags & (FRAME_INLINED | FRAME_FOREIGN | FRAME_ROOT))
			continue;
		while (i < end && (!shadow[i].symbol || !shadow[i].symbol->takes_part))
			i++;
		if (i == end || strcmp(shadow[i].symbol->f.name, f->link_name) != 0)
			return false;
		*ret_context = mix(*ret_context, f->flags & FRAME_TAIL);
		last = i++;
	}
	while (i < end && (!shadow[i].symbol || !shadow[i].symbol->takes_part))
		i++;
	for (size_t k = begin; k < last; k++)
		*ret_chain = mix(*ret_chain, shadow[k].call);
	return i == end;
}

static bool is_same_as_before(uint64_t chain, uint64_t context)
{
	const uint32_t before = chains.count;
	uint32_t number;
	check(hashmap_add(&chains, &(struct key){{chain}}, &number));
	if (chains.count > before) {
		decoded = realloc(decoded, chains.count * sizeof *decoded);
		decoded[number] = context;
	}
	return decoded[number] == context;
}

static void count_why(const char *name, const char *why)
{
	uint32_t number;
	char text[400];
	snprintf(text, sizeof text, "%s %s", name, why);
	struct key key = key_of_text(text);
	const uint32_t before = whys.count;
	check(hashmap_add(&whys, &key, &number));
	if (whys.count > before) {
		why_texts = realloc(why_texts, whys.count * sizeof *why_texts);
		why_counts = realloc(why_counts, whys.count * sizeof *why_counts);
		why_texts[number] = strdup(text);
		why_counts[number] = 0;
	}
	why_counts[number]++;
}

static void compare(const struct user_regs_struct *regs)
{
	static struct snapshot_frame *frames;
	struct thread_words words = {0};
	struct frame_vec context = {0};
	struct thread_stop stop;
	const struct symbol *here = symbol_at(regs->rip);
	bool is_read, is_found = false;
	uint64_t chain, hash;
	uint32_t count;
	if (!frames && !(frames = calloc(FRAMES_MAX, sizeof *frames)))
		die("no memory");
	count = fill_frames(regs, frames);
	check(thread_words_read(&reader, regs->fs_base, true, &words, &is_read));
	if (!is_read)
		report("words cannot be read", regs, &context);
	else
		check(thread_stop_find(&reader, flows, frames, count, &words, &stop, &is_found));
	if (is_found && !stop.is_known) {
		unknown_count++;
		count_why(stop.image ? stop.image->meta.functions[stop.function].link_name : stop.name, stop.why);
	} else if (is_found) {
		struct error *err = thread_stop_decode(&reader, &stop, &words, &context);
		points++;
		in_helpers += here && word_is_helper(here->f.name);
		in_quiet += !here || (!here->takes_part && !word_is_helper(here->f.name));
		bool is_elided = false;
		for (size_t i = 0; i < context.count; i++)
			is_elided |= (context.items[i].flags & FRAME_ELIDED) != 0;
		elided += is_elided;
		if (err)
			report(err->message, regs, &context);
		else if (!is_elided && !is_same(&context, &chain, &hash))
			report("another context", regs, &context);
		else if (!is_elided && compares_sites && !stop.is_in_call && !is_same_as_before(chain, hash))
			report("another context than the last time", regs, &context);
		error_destroy(err);
	}
	frame_vec_deinit(&context);
	thread_words_deinit(&words);
}

/* ---- */

static bool find_images(void)
{
	if (reader.process.image_count)
		return true;
	for (unsigned i = 0; i < own_count; i++) {
		struct wm1_image registered;
		if (!own_steps_read(own[i].descriptor + own_steps_base(i), &registered, sizeof registered) ||
		    registered.site_base < WM_SITE_FIRST)
			return false;
	}
	reader.process.images = calloc(OWN_IMAGES_MAX, sizeof *reader.process.images);
	for (unsigned i = 0; i < own_count; i++) {
		struct wm1_image registered;
		own_steps_read(own[i].descriptor + own_steps_base(i), &registered, sizeof registered);
		unsigned at = reader.process.image_count++;
		for (; at && reader.process.images[at - 1].site_base > registered.site_base; at--)
			reader.process.images[at] = reader.process.images[at - 1];
		reader.process.images[at] = (struct process_image){
			.site_base = registered.site_base, .site_count = registered.site_count, .image = own[i].image};
	}
	return true;
}

static bool step(const struct user_regs_struct *regs)
{
	static bool is_placed;
	const struct symbol *here;
	if (!is_placed)
		place_symbols();
	is_placed = true;
	steps++;
	here = symbol_at(regs->rip);
	if (here || was_own)
		follow(regs);
	was = *regs;
	was_own = here != NULL;
	if (here && find_images() && !--next_stop) {
		next_stop = 1 + (unsigned)random() % (2 * gap);
		/* Of the runtime and what else takes no part little is to be learned. */
		if (here->takes_part || word_is_helper(here->f.name) || random() % 16 == 0)
			compare(regs);
	}
	return steps < steps_max && points < points_max && failures < FAILURES_MAX;
}

static void open_images(char *list)
{
	char *rest = list;
	for (char *path; (path = strsep(&rest, ",")) != NULL && own_count < OWN_IMAGES_MAX;) {
		struct cached_image *cached;
		image_cache_init(&caches[own_count]);
		check(image_cache_get(&caches[own_count], &(struct object_wanted){.path = path}, &cached));
		if (!cached->image)
			die("%s: %s", path, cached->why->message);
		own[own_count].path = path;
		own[own_count++].image = cached->image;
	}
	if (!own_count)
		die("no images");
}

int main(int argc, char **argv)
{
	char *paths[OWN_IMAGES_MAX];
	compares_sites = argc > 1 && strcmp(argv[1], "-s") == 0;
	argv += compares_sites;
	argc -= compares_sites;
	if (argc < 7) {
		fprintf(stderr, "usage: step_context [-s] POINTS GAP SEED STEPS IMAGES PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	points_max = strtoull(argv[1], NULL, 10);
	gap = (unsigned)strtoul(argv[2], NULL, 10);
	srandom((unsigned)strtoul(argv[3], NULL, 10));
	steps_max = strtoull(argv[4], NULL, 10);
	next_stop = 1 + (unsigned)random() % (2 * gap);
	open_images(argv[5]);
	for (unsigned i = 0; i < own_count; i++) {
		read_symbols(i);
		paths[i] = own[i].path;
	}
	shadow = calloc(DEPTH_MAX, sizeof *shadow);
	reader.code.read = read_memory;
	reader.code.find = find_code;
	reader.image_of = image_of;
	check(stop_flows_create(&flows));
	own_steps_run(argv + 6, paths, own_count, step);
	printf("%llu points (%llu in helpers, %llu in what takes no part, %llu with tail calls left out) of %llu instructions, "
	       "%u chains of call sites; %llu not known, %llu mismatches; seed %s\n",
	       points, in_helpers, in_quiet, elided, steps, chains.count, unknown_count, failures, argv[3]);
	for (uint32_t i = 0; i < whys.count; i++)
		printf("    not known %llu times: %s\n", why_counts[i], why_texts[i]);
	return failures || !points;
}

/*
 * methods.c - tables in address space that is reserved once, so that what is in them never moves; the kernel gives memory for what is
 * used.
 */
#include "jvm/c/codes/methods.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "jvm/c/codes/profile.h"
#include "recorder/sys.h"
#include "recorder/text.h"

enum {
	MAX_CLASSES = 1 << 20,
	MAX_METHODS = 1 << 23,
	MAX_SITES = 1 << 25,
	STRINGS_BYTES = 1 << 20,
};

struct class
{
	const char *loader;
	const char *name;
	const char *file;
	uint32_t image;
	bool is_recorded;
};

struct method {
	const char *name;
	const char *descriptor;
	int32_t owner;
	uint32_t line;
	uint32_t space;
	uint32_t record; /* 0: not yet */
};

struct site {
	struct jvm_site is; /* its space: that of its code */
	struct sitecode code;
	uint32_t wanted; /* the space of the methods that it calls; 0: not known */
	_Atomic uint32_t heat;
	/* As a call and as a place. 0: not yet; written under the lock. */
	_Atomic uint32_t record;
	_Atomic uint32_t place_record;
};

enum {
	FIRST_SITES = 31,
	/* Steps of the bits that calls of a method take. */
	STEP_BITS = 4,
	STEPS = JVM_PROFILE_MOST_ROOM / STEP_BITS + 1, /* the last one is for more */
	LEAST_LOOKS = 3,                               /* a method that was seen less often has no room */
};

/* How often calls of a method took how many bits. */
struct looks {
	uint32_t counts[STEPS];
};

/* The calls of a space, by rank: numbers of sites plus 1, 0 for none. Most have few. */
struct space {
	const char *name; /* NULL: it has none */
	bool is_shared;   /* it has several names; this one is the first */
	uint32_t count;   /* of ranks that are given, or are kept for calls of the profile */
	int32_t first[FIRST_SITES];
};
struct space_rest {
	int32_t sites[SITECODE_RANKS - FIRST_SITES];
};

/* Counts and records are written under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct class *classes;
static struct method *methods;
static struct site *sites;
static struct space *spaces;
static struct space_rest *rests;
/* By method; written by the one thread that looks. */
static struct looks *looks;
/* Behind those of functions: the next one, in turn. */
static uint32_t open_space = JVM_FUNCTION_SPACES + 1;
static int32_t class_count, method_count;
/* Released behind the site that it counts. */
static _Atomic int32_t site_count;
/* Where the next string goes. */
static char *strings;
static size_t strings_room;

bool jvm_methods_init(void)
{
	classes = wmrt_map_memory(MAX_CLASSES * sizeof *classes);
	methods = wmrt_map_memory(MAX_METHODS * sizeof *methods);
	sites = wmrt_map_memory(MAX_SITES * sizeof *sites);
	spaces = wmrt_map_memory(SITECODE_SPACES * sizeof *spaces);
	rests = wmrt_map_memory(SITECODE_SPACES * sizeof *rests);
	looks = wmrt_map_memory(MAX_METHODS * sizeof *looks);
	return classes && methods && sites && spaces && rests && looks;
}

/* NULL: s was, or there is no room, which *is_full says. */
static const char *copy(const char *s, bool *is_full)
{
	size_t size = s ? strlen(s) + 1 : 0;
	char *ret;

	if (!s)
		return NULL;
	if (size > strings_room) {
		size_t room = size > STRINGS_BYTES ? size : STRINGS_BYTES;

		ret = wmrt_map_memory(room);
		if (!ret) {
			*is_full = true;
			return NULL;
		}
		strings = ret;
		strings_room = room;
	}
	ret = memcpy(strings, s, size);
	strings += size;
	strings_room -= size;
	return ret;
}

int32_t jvm_class_add(const char *loader, const char *name, const char *file)
{
	bool is_full = false;
	int32_t ret = JVM_NONE;
	struct class class;

	pthread_mutex_lock(&lock);
	class = (struct class){
		.loader = copy(loader, &is_full), .name = copy(name, &is_full), .file = copy(file, &is_full)};
	if (!is_full && class_count < MAX_CLASSES) {
		ret = class_count++;
		classes[ret] = class;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

int32_t jvm_method_add(int32_t owner, const char *name, const char *descriptor, uint32_t line, uint32_t space)
{
	bool is_full = false;
	int32_t ret = JVM_NONE;
	struct method method;

	pthread_mutex_lock(&lock);
	method = (struct method){.name = copy(name, &is_full),
				 .descriptor = copy(descriptor, &is_full),
				 .owner = owner,
				 .line = line,
				 .space = space};
	if (!is_full && owner >= 0 && owner < class_count && method_count < MAX_METHODS) {
		ret = method_count++;
		methods[ret] = method;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

/* The space where the site gets a code; 0: none has room. Calls without a space of their own are spread: their codes are short. */
static uint32_t space_with_room(uint32_t wanted)
{
	uint32_t ret = open_space;

	if (wanted && spaces[wanted].count < SITECODE_RANKS)
		return wanted;
	open_space = ret + 1 < SITECODE_SPACES ? ret + 1 : JVM_FUNCTION_SPACES + 1;
	return spaces[ret].count < SITECODE_RANKS ? ret : 0;
}

static int32_t *site_of_rank(uint32_t space, uint32_t rank)
{
	return rank < FIRST_SITES ? &spaces[space].first[rank] : &rests[space].sites[rank - FIRST_SITES];
}

bool jvm_space_has_room(uint32_t space)
{
	bool ret;

	pthread_mutex_lock(&lock);
	ret = spaces[space].count < SITECODE_RANKS;
	pthread_mutex_unlock(&lock);
	return ret;
}

/* False: the space has several names, or none. */
static bool profile_call(const struct site *site, uint32_t space, struct jvm_profile_call *ret)
{
	const struct method *method = &methods[site->is.method];

	if (!spaces[space].name || spaces[space].is_shared)
		return false;
	*ret = (struct jvm_profile_call){.space = spaces[space].name,
					 .class_name = classes[method->owner].name,
					 .method = method->name,
					 .descriptor = method->descriptor,
					 .position = site->is.position};
	return true;
}

void jvm_space_add_name(uint32_t space, const char *name)
{
	bool is_full = false;

	pthread_mutex_lock(&lock);
	if (spaces[space].name) {
		spaces[space].is_shared = true;
	} else {
		spaces[space].name = copy(name, &is_full);
		spaces[space].count = is_full ? 0 : jvm_profile_calls(name);
	}
	pthread_mutex_unlock(&lock);
}

/* The rank is that of the profile, if no other site has it: the class may be loaded more than once. */
static uint32_t choose_rank(const struct site *site, uint32_t space)
{
	struct jvm_profile_call call;
	uint32_t rank;

	if (profile_call(site, space, &call) && jvm_profile_rank(&call, &rank) && !*site_of_rank(space, rank))
		return rank;
	return spaces[space].count++;
}

static void give_code(struct site *site, int32_t number, uint32_t space)
{
	uint32_t rank = choose_rank(site, space);

	site->is.space = space;
	site->code = sitecode_of(rank);
	*site_of_rank(space, rank) = number + 1;
}

int32_t jvm_site_add(const struct jvm_site *site)
{
	bool is_full = false;
	int32_t ret = JVM_NONE, count;
	uint32_t space;
	const char *callee;

	pthread_mutex_lock(&lock);
	callee = copy(site->callee, &is_full);
	count = atomic_load_explicit(&site_count, memory_order_relaxed);
	space = space_with_room(site->space);
	if (!is_full && space && site->method >= 0 && site->method < method_count && count < MAX_SITES) {
		sites[count].is = *site;
		sites[count].is.callee = callee;
		sites[count].wanted = site->space;
		give_code(&sites[count], count, space);
		atomic_store_explicit(&site_count, count + 1, memory_order_release);
		ret = count;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

uint64_t jvm_site_code(int32_t site, uint32_t *length)
{
	*length = sites[site].code.length;
	return sitecode_call(0, sites[site].is.space, sites[site].code);
}

/* Without the lock: who has a word with the code runs code that was made after it was given. */
int32_t jvm_site_take(uint64_t *word)
{
	uint32_t length, rank = sitecode_rank(sitecode_payload(*word), &length);
	int32_t site;

	site = rank < SITECODE_RANKS ? *site_of_rank(sitecode_space(*word), rank) - 1 : JVM_NONE;
	if (site == JVM_NONE)
		return JVM_NONE;
	*word = sitecode_word(sitecode_payload(*word) >> length, methods[sites[site].is.method].space);
	return site;
}

void jvm_site_count(int32_t site)
{
	atomic_fetch_add_explicit(&sites[site].heat, 1, memory_order_relaxed);
}

void jvm_method_count_bits(int32_t method, uint32_t bits)
{
	uint32_t step = bits ? (bits - 1) / STEP_BITS : 0;

	looks[method].counts[step < STEPS ? step : STEPS - 1]++;
}

/* Nine of ten looks had it or less. 0: it was not seen often, or needs more than there is. */
static uint32_t room_of(const struct looks *l)
{
	uint64_t all = 0, part = 0;
	uint32_t step;

	for (step = 0; step < STEPS; step++)
		all += l->counts[step];
	if (all < LEAST_LOOKS)
		return 0;
	for (step = 0; part * 10 < all * 9; step++)
		part += l->counts[step];
	return step < STEPS ? step * STEP_BITS : 0;
}

uint32_t jvm_method_room(int32_t method)
{
	const struct method *m = &methods[method];

	return jvm_profile_room(classes[m->owner].name, m->name, m->descriptor);
}

/* Sites, and then methods. */
static bool get_line(size_t number, struct jvm_profile_call *call, uint32_t *heat)
{
	size_t count = (size_t)atomic_load_explicit(&site_count, memory_order_acquire);
	const struct method *m;

	if (number < count) {
		*heat = atomic_load_explicit(&sites[number].heat, memory_order_relaxed);
		return sites[number].wanted && profile_call(&sites[number], sites[number].wanted, call);
	}
	m = &methods[number - count];
	*heat = room_of(&looks[number - count]);
	*call = (struct jvm_profile_call){
		.space = "", .class_name = classes[m->owner].name, .method = m->name, .descriptor = m->descriptor};
	return *heat;
}

bool jvm_methods_write_profile(const char *path)
{
	bool ret;

	pthread_mutex_lock(&lock);
	ret = jvm_profile_write(path, (size_t)(atomic_load(&site_count) + method_count), get_line);
	pthread_mutex_unlock(&lock);
	return ret;
}

static struct site *site_at(int32_t site)
{
	return site >= 0 && site < atomic_load_explicit(&site_count, memory_order_acquire) ? &sites[site] : NULL;
}

/* ---- recording, under the lock ---- */

static uint32_t record_class(struct class *class)
{
	if (!class->is_recorded)
		class->image = wmrt_code_image(NULL, class->loader, WMK_IMAGE_LOADER);
	class->is_recorded = true;
	return class->image;
}

/* Each method is a root with one context of its own: no call is numbered. */
static uint32_t record_method(struct method *method)
{
	struct class *class = &classes[method->owner];
	const struct wmrt_method record = {.name = method->name,
					   .owner = class->name,
					   .descriptor = method->descriptor,
					   .file = class->file,
					   .line = method->line};

	if (!method->record) {
		method->record = wmrt_code_method(record_class(class), &record);
		wmrt_code_epoch_function(JVM_EPOCH, method->record, 1, 0, WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY);
	}
	return method->record;
}

static __attribute__((noinline)) uint32_t record_site(const struct site *site, _Atomic uint32_t *ret,
						      enum wmk_site_kind kind)
{
	uint32_t record, method;

	pthread_mutex_lock(&lock);
	record = atomic_load(ret);
	if (!record) {
		method = record_method(&methods[site->is.method]);
		record = wmrt_code_method_site(method, kind, site->is.position, site->is.line,
					       kind == WMK_SITE_CAPTURE ? NULL : site->is.callee);
		atomic_store(ret, record);
	}
	pthread_mutex_unlock(&lock);
	return record;
}

uint32_t jvm_site_record(int32_t site)
{
	struct site *found = site_at(site);
	uint32_t record = found ? atomic_load_explicit(&found->record, memory_order_acquire) : 0;

	return record || !found ? record : record_site(found, &found->record, found->is.kind);
}

uint32_t jvm_place_record(int32_t site)
{
	struct site *found = site_at(site);
	uint32_t record = found ? atomic_load_explicit(&found->place_record, memory_order_acquire) : 0;

	return record || !found ? record : record_site(found, &found->place_record, WMK_SITE_CAPTURE);
}

bool jvm_site_is_place(int32_t site)
{
	const struct site *found = site_at(site);

	return found && found->is.is_place;
}

int32_t jvm_site_method(int32_t site)
{
	const struct site *found = site_at(site);

	return found ? found->is.method : JVM_NONE;
}

void jvm_site_describe(int32_t site, char *text, size_t size)
{
	const struct site *found = site_at(site);
	struct wmrt_text line = {text, size, 0};
	const struct method *method;

	if (!found) {
		wmrt_text_add(&line, "no site");
		return;
	}
	method = &methods[found->is.method];
	wmrt_text_add(&line, classes[method->owner].name);
	wmrt_text_char(&line, '.');
	wmrt_text_add(&line, method->name);
	wmrt_text_add(&line, method->descriptor);
	wmrt_text_char(&line, ':');
	wmrt_text_number(&line, found->is.line, 10, 1);
}

/* cache.c - the file is mapped; what is added waits in memory for the end. */
#include "jvm/c/classes/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"
#include "jvm/c/base/replace.h"

/* "wmjvmca" and a version; in the other order of bytes it is another one. */
#define MAGIC UINT64_C(0x0161636d766a6d77)

enum {
	ALIGNMENT = 8,
};

/* All sizes are below it, so that no sum overflows. */
#define MOST_BYTES (UINT64_C(1) << 40)

struct header {
	uint64_t magic;
	uint64_t key;
	uint64_t bytes; /* of the file */
	uint32_t slots, entries;
};

struct part {
	uint64_t at;
	uint64_t len;
};

struct entry {
	struct part name; /* without a NUL */
	struct part class_file;
	struct part template; /* empty: the class stays as it is */
	uint64_t sum;
};

/* One of this run. */
struct added {
	char *name;
	uint8_t *class_file;
	void *template;
	size_t len, template_len;
};

/* Written when the file is opened, before classes are loaded; read by any thread from then on. */
static const struct header *header;
static const uint32_t *slots;
static const struct entry *entries;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under it. */
static struct added *added;
static size_t added_count, added_room;
static bool is_over;

/* Changes with each word. */
static uint64_t sum(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t ret = HASH_START, word;

	for (; len >= sizeof word; len -= sizeof word, p += sizeof word) {
		memcpy(&word, p, sizeof word);
		ret = (ret ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		ret ^= ret >> 32;
	}
	return hash_bytes(ret, p, len);
}

static uint32_t hash_name(const char *name, size_t len)
{
	uint64_t hash = hash_bytes(HASH_START, name, len);

	return (uint32_t)(hash ^ hash >> 32);
}

/* ---- reading ---- */

static void forget(void)
{
	header = NULL;
}

enum jvm_cache_result jvm_cache_use(const void *bytes, size_t len, uint64_t key)
{
	const struct header *h = bytes;
	uint64_t front;

	forget();
	if (!len)
		return JVM_CACHE_OK;
	if (len < sizeof *h || h->magic != MAGIC || h->bytes != len)
		return JVM_CACHE_DAMAGED;
	front = sizeof *h + (uint64_t)h->slots * sizeof *slots + (uint64_t)h->entries * sizeof *entries;
	if (front > len || !h->slots || h->slots & 1 || h->slots & (h->slots - 1) || h->entries >= h->slots)
		return JVM_CACHE_DAMAGED;
	if (h->key != key)
		return JVM_CACHE_OK;
	header = h;
	slots = (const void *)(h + 1);
	entries = (const void *)(slots + h->slots);
	return JVM_CACHE_OK;
}

static const void *part(const struct part *p, size_t alignment)
{
	if (p->at > header->bytes || p->len > header->bytes - p->at || p->at % alignment)
		return NULL;
	return (const uint8_t *)header + p->at;
}

static bool has_name(const struct entry *e, const char *name, size_t len)
{
	const void *own = part(&e->name, 1);

	return own && e->name.len == len && memcmp(own, name, len) == 0;
}

/* NULL: there is none. A damaged table may have no free slot. */
static const struct entry *find_entry(const char *name, size_t len)
{
	uint32_t mask = header->slots - 1, i = hash_name(name, len);

	for (uint32_t tries = 0; tries <= mask; tries++, i++) {
		uint32_t number = slots[i & mask];

		if (!number || number > header->entries)
			return NULL;
		if (has_name(&entries[number - 1], name, len))
			return &entries[number - 1];
	}
	return NULL;
}

bool jvm_cache_find(const char *name, const uint8_t *bytes, size_t len, struct jvm_template *ret)
{
	const struct entry *e = header ? find_entry(name, strlen(name)) : NULL;
	const void *class_file = e ? part(&e->class_file, 1) : NULL;
	const void *template = class_file ? part(&e->template, ALIGNMENT) : NULL;

	if (!template || e->class_file.len != len || memcmp(class_file, bytes, len) != 0 ||
	    sum(template, e->template.len) != e->sum)
		return false;
	*ret = (struct jvm_template){0};
	return !e->template.len || jvm_template_open(template, e->template.len, ret);
}

/* The mapping stays. */
static enum jvm_cache_result use_file(int fd, uint64_t key)
{
	struct stat status;
	void *bytes;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return JVM_CACHE_UNREADABLE;
	if (!status.st_size)
		return JVM_CACHE_OK;
	/* Code of this process comes from it. */
	if ((status.st_uid && status.st_uid != geteuid()) || status.st_mode & (S_IWGRP | S_IWOTH))
		return JVM_CACHE_FOREIGN;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	return bytes == MAP_FAILED ? JVM_CACHE_UNREADABLE : jvm_cache_use(bytes, (size_t)status.st_size, key);
}

enum jvm_cache_result jvm_cache_open(const char *path, uint64_t key)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	enum jvm_cache_result ret;

	forget();
	if (fd < 0)
		return errno == ENOENT ? JVM_CACHE_OK : JVM_CACHE_UNREADABLE;
	ret = use_file(fd, key);
	close(fd);
	return ret;
}

/* ---- adding ---- */

static bool grow(void)
{
	struct added *grown = vec_grow(added, &added_room, added_room + 1, sizeof *added);

	if (grown)
		added = grown;
	return grown;
}

static void free_added(const struct added *a)
{
	free(a->name);
	free(a->class_file);
	free(a->template);
}

void jvm_cache_add(const char *name, const uint8_t *bytes, size_t len, void *template, size_t template_len)
{
	struct added a = {strdup(name), malloc(len + 1), template, len, template_len};
	bool is_added;

	if (a.class_file)
		memcpy(a.class_file, bytes, len);
	pthread_mutex_lock(&lock);
	is_added = a.name && a.class_file && !is_over && (added_count < added_room || grow());
	if (is_added)
		added[added_count++] = a;
	pthread_mutex_unlock(&lock);
	if (!is_added)
		free_added(&a);
}

/* ---- writing ---- */

/* The contents of an entry that is written. */
struct item {
	const char *name; /* without a NUL */
	const void *class_file;
	const void *template;
	size_t name_len, len, template_len;
};

/* A file that is made. */
struct image {
	struct header header;
	uint32_t *slots;
	struct entry *entries;
	struct item *items; /* by entry */
};

static uint64_t padded(uint64_t len)
{
	return (len + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

static uint32_t *slot_of(const struct image *image, const struct item *item)
{
	uint32_t i = hash_name(item->name, item->name_len), mask = image->header.slots - 1;

	for (; image->slots[i & mask]; i++) {
		const struct item *other = &image->items[image->slots[i & mask] - 1];

		if (other->name_len == item->name_len && memcmp(other->name, item->name, item->name_len) == 0)
			break;
	}
	return &image->slots[i & mask];
}

/* Unless one of the name is there. */
static void put(struct image *image, const struct item *item)
{
	uint32_t *slot = slot_of(image, item);

	if (*slot || item->len + item->template_len > MOST_BYTES)
		return;
	image->items[image->header.entries++] = *item;
	*slot = image->header.entries;
}

static void put_added(struct image *image)
{
	for (size_t i = added_count; i-- > 0;) {
		const struct added *a = &added[i];
		const struct item item = {a->name,         a->class_file, a->template,
					  strlen(a->name), a->len,        a->template_len};

		put(image, &item);
	}
}

/* Puts the entries of the file that was opened; damaged ones are left out. */
static void put_old(struct image *image)
{
	for (uint32_t i = 0; header && i < header->entries; i++) {
		const struct entry *e = &entries[i];
		const struct item item = {part(&e->name, 1), part(&e->class_file, 1), part(&e->template, ALIGNMENT),
					  e->name.len,       e->class_file.len,       e->template.len};

		if (item.name && item.class_file && item.template && sum(item.template, item.template_len) == e->sum)
			put(image, &item);
	}
}

static struct part place(struct image *image, size_t len)
{
	struct part ret = {image->header.bytes, len};

	image->header.bytes += padded(len);
	return ret;
}

static void lay_out(struct image *image)
{
	struct header *h = &image->header;

	h->bytes = sizeof *h + (uint64_t)h->slots * sizeof *image->slots + h->entries * sizeof *image->entries;
	for (uint32_t i = 0; i < h->entries; i++) {
		const struct item *item = &image->items[i];

		image->entries[i] = (struct entry){.name = place(image, item->name_len),
						   .class_file = place(image, item->len),
						   .template = place(image, item->template_len),
						   .sum = sum(item->template, item->template_len)};
	}
}

static void print_part(FILE *file, const void *bytes, size_t len)
{
	static const uint8_t zeros[ALIGNMENT];

	if (len)
		fwrite(bytes, 1, len, file);
	fwrite(zeros, 1, padded(len) - len, file);
}

static bool print(FILE *file, const void *data)
{
	const struct image *image = data;
	const struct header *h = &image->header;

	fwrite(h, sizeof *h, 1, file);
	fwrite(image->slots, sizeof *image->slots, h->slots, file);
	fwrite(image->entries, sizeof *image->entries, h->entries, file);
	for (uint32_t i = 0; i < h->entries; i++) {
		print_part(file, image->items[i].name, image->items[i].name_len);
		print_part(file, image->items[i].class_file, image->items[i].len);
		print_part(file, image->items[i].template, image->items[i].template_len);
	}
	return !ferror(file);
}

static bool write_all(const char *path, uint64_t key)
{
	size_t most = added_count + (header ? header->entries : 0);
	struct image image = {.header = {.magic = MAGIC, .key = key, .slots = 2}};
	bool ret = false;

	while (image.header.slots < 2 * most && image.header.slots < UINT32_C(1) << 31)
		image.header.slots *= 2;
	image.slots = calloc(image.header.slots, sizeof *image.slots);
	image.entries = calloc(most, sizeof *image.entries);
	image.items = calloc(most, sizeof *image.items);
	if (image.slots && image.entries && image.items) {
		put_added(&image);
		put_old(&image);
		lay_out(&image);
		ret = jvm_replace_file(path, print, &image);
	}
	free(image.slots);
	free(image.entries);
	free(image.items);
	return ret;
}

bool jvm_cache_write(const char *path, uint64_t key)
{
	bool ret;

	pthread_mutex_lock(&lock);
	is_over = true;
	ret = !added_count || write_all(path, key);
	for (size_t i = 0; i < added_count; i++)
		free_added(&added[i]);
	free(added);
	added = NULL;
	added_count = added_room = 0;
	pthread_mutex_unlock(&lock);
	return ret;
}

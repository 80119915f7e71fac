/*
 * cache.h - templates of classes (template.h) that an earlier run has made, in a file: to rewrite a class takes much longer than to load it.
 *
 * A template is found by the name of the class and all bytes that it was made of, so the classes may be others than before. The file also
 * has a key: what else the templates depend on, which is the agent's version and its options. With another key the file counts for nothing,
 * and is replaced.
 *
 *      header      struct header
 *      slots       32 bits each, a power of two: a hash table of numbers of entries plus 1, by name
 *      entries     struct entry each: where the name, the bytes and the template are, and a checksum of the template
 *      parts       at multiples of 8
 *
 * Numbers are as the machine has them; what was written by another kind of machine is of another version.
 */
#ifndef WM_JVM_CACHE_H
#define WM_JVM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/c/classes/template.h"

enum jvm_cache_result {
	JVM_CACHE_OK,         /* also where the file is not there, is empty, or has another key */
	JVM_CACHE_UNREADABLE, /* it is there, but cannot be read */
	JVM_CACHE_DAMAGED,    /* it is no cache, or is cut off */
	JVM_CACHE_FOREIGN,    /* a user who is neither this one nor root could have written it */
};

/* Before the others; nothing is known before. The file may be replaced afterwards, but not be written to. */
enum jvm_cache_result jvm_cache_open(const char *path, uint64_t key);
/* Such a cache of `len` bytes, at a multiple of 8, which stay. What was known before is forgotten; also where it is refused. */
enum jvm_cache_result jvm_cache_use(const void *bytes, size_t len, uint64_t key);
/* False: it has none, or a damaged one. A template without a header (NULL): the class stays as it is. Any thread. */
bool jvm_cache_find(const char *name, const uint8_t *bytes, size_t len, struct jvm_template *ret);
/* For the next run. template: located, malloc'd, which is taken; NULL and 0: the class stays as it is. Any thread; when there is no memory nothing is added. */
void jvm_cache_add(const char *name, const uint8_t *bytes, size_t len, void *template, size_t template_len);
/*
 * Writes what was added and the rest of what there was to the file, which it replaces as a whole, if anything was added. False: it cannot be
 * written, and the old one is there. Nothing can be added afterwards.
 */
bool jvm_cache_write(const char *path, uint64_t key);

#endif

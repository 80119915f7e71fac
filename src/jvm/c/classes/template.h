/*
 * template.h - a rewritten class that has no numbers yet: its class file, and what its methods and sites are. Numbers and codes are given
 * when the class is loaded (define.h), and differ from run to run; so a template can be kept for the next one (cache.h).
 *
 * A template is bytes. Words of 32 bits, the low byte first:
 *
 *      header      struct jvm_template_header
 *      methods     struct jvm_template_method each
 *      sites       struct jvm_template_site each, those of the first method first
 *      strings     where each one begins, behind all of these words; then the texts (modified UTF-8), with a NUL behind each
 *      class file  at a multiple of 4
 *      stores      struct jvm_template_store each, at a multiple of 4
 *
 * The rewriter (agent/Template.java) makes all but the stores and what else ends in _at, which jvm_template_locate finds: where the class
 * file has the places for numbers. There the rewriter has put constants of 64 bits, one or two for each method and one for each site, which
 * stand nowhere else. Whoever opens a template may rely on it as far as memory goes: what it refers to is inside.
 *
 * Pure, thread-safe.
 */
#ifndef WM_JVM_TEMPLATE_H
#define WM_JVM_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JVM_TEMPLATE_NONE = -1, /* for a string */
	JVM_TEMPLATE_MAGIC = 0x32544d57,
	JVM_TEMPLATE_HEADER_WORDS = 12,
	JVM_TEMPLATE_METHOD_WORDS = 9,
	JVM_TEMPLATE_SITE_WORDS = 8,
	JVM_TEMPLATE_STORE_WORDS = 2,
};

/* Kinds of spaces of calls (agent/Spaces.java). */
enum jvm_template_space {
	JVM_SPACE_NONE,
	JVM_SPACE_NAMED,
	JVM_SPACE_IF_KNOWN,    /* if anything has that name by now, else none */
	JVM_SPACE_CONSTRUCTOR, /* of a superclass: it must have room */
};

enum {
	JVM_TEMPLATE_IS_PARTIAL = 1, /* methods were left out of it, which has been said */

	JVM_METHOD_HAS_NUMBER = 1, /* its contexts are known; its code has a place for the number */
	JVM_METHOD_HAS_CODES = 2,  /* it is encoded by words (sitecode.h), not by Lucce */
	JVM_METHOD_IS_SYNCHRONIZED = 4,
};

struct jvm_template_header {
	uint32_t magic;
	uint32_t bytes; /* of all */
	uint32_t methods, sites, strings;
	uint32_t text_bytes;
	uint32_t class_bytes;
	uint32_t stores;
	int32_t loader, name, file; /* strings, as in jvm_class_add */
	uint32_t flags;
};

struct jvm_template_method {
	int32_t name, descriptor;
	int32_t space; /* the name of its space */
	uint32_t line;
	int32_t undoes; /* of a constructor: its name in super_calls.h, for it undoes calls of itself. Else none */
	uint32_t flags;
	uint32_t sites;
	uint32_t number_at; /* 8 bytes, the highest first: the space, or the method's number */
	uint32_t mask_at;   /* the same, if it has codes: sitecode_mask() */
};

struct jvm_template_site {
	uint32_t kind; /* enum wmk_site_kind, and JVM_SITE_PLACE */
	uint32_t space_kind;
	int32_t space;
	uint32_t position, line;
	int32_t callee;
	int32_t constructor; /* of JVM_SPACE_CONSTRUCTOR: the name in super_calls.h, else none */
	uint32_t number_at;  /* 8 bytes: the bits of its code and its space, or its number plus 1 */
};

/* A place that stores the site. */
struct jvm_template_store {
	uint32_t site;
	uint32_t length_at; /* 1 byte: the length of its code */
};

enum {
	JVM_SITE_PLACE = 16, /* beside a kind: events happen there in the method itself (methods.h) */
};

struct jvm_template {
	const struct jvm_template_header *header;
	const struct jvm_template_method *methods;
	const struct jvm_template_site *sites;
	const uint32_t *strings;
	const char *texts;
	const uint8_t *class_file;
	const struct jvm_template_store *stores;
};

/* bytes: at a multiple of 4; they outlive the template. False: they are no template. */
bool jvm_template_open(const void *bytes, size_t len, struct jvm_template *ret);
/* NULL for none. */
const char *jvm_template_text(const struct jvm_template *t, int32_t string);
/*
 * Finds the places for numbers in what the rewriter has made, and adds the stores to *bytes, which may move (realloc) and get longer.
 * False: there is no memory, it is no template, or a constant is not where it should be; *bytes is to be freed all the same.
 */
bool jvm_template_locate(void **bytes, size_t *len);

#endif

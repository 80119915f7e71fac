/* template.c - opens templates, and finds the places for numbers by a walk of the class file's code. */
#include "jvm/c/classes/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "jvm/c/classes/class_reader.h"

/* The constants that the rewriter has put there: agent/Template.java. The index of the method or the site is in the low bits. */
#define METHOD_CONSTANT UINT64_C(0x57a6d1c3e5000000)
#define SITE_CONSTANT UINT64_C(0x57a6d1c3e6000000)
#define MASK_CONSTANT UINT64_C(0x57a6d1c3e7000000)

enum {
	INDEX_BITS = 24,
	MAX_COUNT = 1 << INDEX_BITS,
	OP_BIPUSH = 0x10,
	OP_LDC2_W = 0x14,
	OP_LSHL = 0x79,
	NUMBER_BYTES = 8,
};

_Static_assert(sizeof(struct jvm_template_header) == JVM_TEMPLATE_HEADER_WORDS * 4, "words");
_Static_assert(sizeof(struct jvm_template_method) == JVM_TEMPLATE_METHOD_WORDS * 4, "words");
_Static_assert(sizeof(struct jvm_template_site) == JVM_TEMPLATE_SITE_WORDS * 4, "words");
_Static_assert(sizeof(struct jvm_template_store) == JVM_TEMPLATE_STORE_WORDS * 4, "words");

/* ---- opening ---- */

static uint64_t padded(uint64_t bytes)
{
	return (bytes + 3) & ~UINT64_C(3);
}

/* Sets the parts. False: the counts are not those of so many bytes. */
static bool lay_out(const uint8_t *bytes, size_t len, struct jvm_template *t)
{
	const struct jvm_template_header *h = (const void *)bytes;
	uint64_t methods = sizeof *h, sites, strings, texts, file, stores, end;

	if (len < sizeof *h || h->magic != JVM_TEMPLATE_MAGIC || h->bytes != len || h->methods > MAX_COUNT ||
	    h->sites > MAX_COUNT)
		return false;
	sites = methods + (uint64_t)h->methods * sizeof *t->methods;
	strings = sites + (uint64_t)h->sites * sizeof *t->sites;
	texts = strings + (uint64_t)h->strings * sizeof *t->strings;
	file = padded(texts + h->text_bytes);
	stores = padded(file + h->class_bytes);
	end = stores + (uint64_t)h->stores * sizeof *t->stores;
	if (end != len)
		return false;
	*t = (struct jvm_template){.header = h,
				   .methods = (const void *)(bytes + methods),
				   .sites = (const void *)(bytes + sites),
				   .strings = (const void *)(bytes + strings),
				   .texts = (const char *)(bytes + texts),
				   .class_file = bytes + file,
				   .stores = (const void *)(bytes + stores)};
	return true;
}

static bool is_string(const struct jvm_template *t, int32_t string)
{
	return string >= 0 && (uint32_t)string < t->header->strings;
}

static bool is_string_or_none(const struct jvm_template *t, int32_t string)
{
	return string == JVM_TEMPLATE_NONE || is_string(t, string);
}

/* 0, which is in the file's magic: no such place. */
static bool is_place(const struct jvm_template *t, uint32_t at, uint32_t bytes)
{
	return at <= t->header->class_bytes && t->header->class_bytes - at >= bytes;
}

static bool are_texts_whole(const struct jvm_template *t)
{
	const struct jvm_template_header *h = t->header;

	for (uint32_t i = 0; i < h->strings; i++)
		if (t->strings[i] >= h->text_bytes)
			return false;
	return !h->text_bytes || t->texts[h->text_bytes - 1] == '\0';
}

static bool are_methods_whole(const struct jvm_template *t)
{
	uint64_t sites = 0;

	for (uint32_t i = 0; i < t->header->methods; i++) {
		const struct jvm_template_method *m = &t->methods[i];

		if (!is_string(t, m->name) || !is_string(t, m->descriptor) || !is_string(t, m->space) ||
		    !is_string_or_none(t, m->undoes) || !is_place(t, m->number_at, NUMBER_BYTES) ||
		    !is_place(t, m->mask_at, NUMBER_BYTES))
			return false;
		sites += m->sites;
	}
	return sites == t->header->sites;
}

static bool are_sites_whole(const struct jvm_template *t)
{
	for (uint32_t i = 0; i < t->header->sites; i++) {
		const struct jvm_template_site *s = &t->sites[i];
		bool is_super = s->space_kind == JVM_SPACE_CONSTRUCTOR;

		if (s->space_kind > JVM_SPACE_CONSTRUCTOR || is_super != is_string(t, s->constructor) ||
		    (s->space_kind != JVM_SPACE_NONE) != is_string(t, s->space) || !is_string_or_none(t, s->callee) ||
		    !is_place(t, s->number_at, NUMBER_BYTES))
			return false;
	}
	for (uint32_t i = 0; i < t->header->stores; i++)
		if (t->stores[i].site >= t->header->sites || !is_place(t, t->stores[i].length_at, 1))
			return false;
	return true;
}

bool jvm_template_open(const void *bytes, size_t len, struct jvm_template *ret)
{
	return lay_out(bytes, len, ret) && are_texts_whole(ret) && is_string(ret, ret->header->loader) &&
	       is_string(ret, ret->header->name) && is_string_or_none(ret, ret->header->file) &&
	       are_methods_whole(ret) && are_sites_whole(ret);
}

const char *jvm_template_text(const struct jvm_template *t, int32_t string)
{
	return string < 0 ? NULL : t->texts + t->strings[string];
}

/* ---- the places for numbers ---- */

/* A walk of the class file that writes the template. */
struct search {
	struct class_reader r;
	uint32_t constants;
	uint32_t *site_of; /* by number: the site of a constant, plus 1; 0: it is none of a site */
	uint8_t *is_code;  /* by number: is it the text "Code"? */
	const struct jvm_template_header *header;
	struct jvm_template_method *methods;
	struct jvm_template_site *sites;
	struct jvm_template_store *stores;
	uint32_t store_count;
	size_t store_room;
};

static uint64_t read_value(const uint8_t *at)
{
	uint64_t ret = 0;

	for (size_t i = 0; i < NUMBER_BYTES; i++)
		ret = ret << 8 | at[i];
	return ret;
}

/* Is the value a constant of the rewriter's? *index: that of its method or site. */
static bool is_constant(uint64_t value, uint64_t first, uint32_t count, uint32_t *index)
{
	*index = (uint32_t)value & (MAX_COUNT - 1);
	return value - *index == first && *index < count;
}

/* False: it is there twice. */
static bool set_once(uint32_t *place, size_t at)
{
	bool is_new = !*place;

	*place = (uint32_t)at;
	return is_new;
}

static bool add_constant(struct search *s, uint32_t number, size_t at)
{
	uint64_t value = read_value(s->r.bytes + at);
	uint32_t index;

	if (is_constant(value, METHOD_CONSTANT, s->header->methods, &index))
		return set_once(&s->methods[index].number_at, at);
	if (is_constant(value, MASK_CONSTANT, s->header->methods, &index))
		return set_once(&s->methods[index].mask_at, at);
	if (!is_constant(value, SITE_CONSTANT, s->header->sites, &index))
		return true;
	s->site_of[number] = index + 1;
	return set_once(&s->sites[index].number_at, at);
}

static bool find_constants(struct search *s)
{
	uint32_t step;

	class_skip(&s->r, CLASS_HEADER_BYTES);
	s->constants = class_number(&s->r, 2);
	s->site_of = calloc(s->constants + 1, sizeof *s->site_of);
	s->is_code = calloc(s->constants + 1, 1);
	if (!s->site_of || !s->is_code)
		return false;
	for (uint32_t i = 1; i < s->constants && !s->r.is_short; i += step) {
		size_t at = s->r.off;

		step = class_skip_constant(&s->r);
		if (s->r.is_short)
			return false;
		s->is_code[i] = class_is_text(&s->r, at, "Code");
		if (s->r.bytes[at] == CLASS_LONG && !add_constant(s, i, at + 1))
			return false;
	}
	return !s->r.is_short;
}

static bool add_store(struct search *s, uint32_t site, size_t length_at)
{
	if (s->store_count == s->store_room) {
		struct jvm_template_store *stores =
			vec_grow(s->stores, &s->store_room, (size_t)s->store_count + 1, sizeof *stores);

		if (!stores)
			return false;
		s->stores = stores;
	}
	s->stores[s->store_count++] = (struct jvm_template_store){site, (uint32_t)length_at};
	return true;
}

/* bipush length; lshl; ldc2_w */
static bool find_length(struct search *s, const uint8_t *code, uint32_t at, uint32_t site)
{
	return at >= 3 && code[at - 3] == OP_BIPUSH && code[at - 1] == OP_LSHL &&
	       add_store(s, site, (size_t)(code + at - 2 - s->r.bytes));
}

static bool is_of_words(const struct search *s)
{
	return s->header->methods && s->methods[0].flags & JVM_METHOD_HAS_CODES;
}

/* An ldc2_w. */
static bool see_constant(struct search *s, const uint8_t *code, uint32_t at)
{
	uint32_t number = (uint32_t)code[at + 1] << 8 | code[at + 2];
	uint32_t site = number < s->constants ? s->site_of[number] : 0;

	return !site || !is_of_words(s) || find_length(s, code, at, site - 1);
}

static bool search_code(struct search *s, const uint8_t *code, uint32_t len)
{
	uint32_t bytes;

	for (uint32_t at = 0; at < len; at += bytes) {
		bytes = class_instruction_bytes(code, len, at);
		if (!bytes || (code[at] == OP_LDC2_W && !see_constant(s, code, at)))
			return false;
	}
	return true;
}

/* An attribute of a method. */
static bool search_attribute(struct search *s)
{
	uint32_t name = class_number(&s->r, 2), bytes = class_number(&s->r, 4);
	struct class_reader code = s->r;
	size_t begin;
	uint32_t len;

	class_skip(&s->r, bytes);
	if (s->r.is_short || name >= s->constants || !s->is_code[name])
		return !s->r.is_short;
	class_skip(&code, 4);
	len = class_number(&code, 4);
	begin = code.off;
	class_skip(&code, len);
	return !code.is_short && code.off <= s->r.off && search_code(s, s->r.bytes + begin, len);
}

static bool search_methods(struct search *s)
{
	uint32_t count;

	class_skip(&s->r, 6);
	class_skip(&s->r, 2 * (size_t)class_number(&s->r, 2));
	count = class_number(&s->r, 2);
	for (uint32_t i = 0; i < count && !s->r.is_short; i++) {
		class_skip(&s->r, 6);
		class_skip_attributes(&s->r);
	}
	count = class_number(&s->r, 2);
	for (uint32_t i = 0; i < count && !s->r.is_short; i++) {
		uint32_t attributes;

		class_skip(&s->r, 6);
		attributes = class_number(&s->r, 2);
		for (uint32_t k = 0; k < attributes; k++)
			if (!search_attribute(s))
				return false;
	}
	return !s->r.is_short;
}

/* Each method and each site has its places. */
static bool is_complete(const struct search *s)
{
	for (uint32_t i = 0; i < s->header->methods; i++) {
		const struct jvm_template_method *m = &s->methods[i];
		bool has_number = m->flags & JVM_METHOD_HAS_NUMBER;

		if (has_number != (m->number_at != 0) ||
		    (has_number && m->flags & JVM_METHOD_HAS_CODES) != (m->mask_at != 0))
			return false;
	}
	for (uint32_t i = 0; i < s->header->sites; i++)
		if (!s->sites[i].number_at)
			return false;
	return true;
}

static bool is_unlocated(const struct jvm_template *t)
{
	for (uint32_t i = 0; i < t->header->methods; i++)
		if (t->methods[i].number_at || t->methods[i].mask_at)
			return false;
	for (uint32_t i = 0; i < t->header->sites; i++)
		if (t->sites[i].number_at)
			return false;
	return t->header->stores == 0;
}

static bool add_stores(void **bytes, size_t *len, const struct search *s)
{
	size_t added = s->store_count * sizeof *s->stores;
	struct jvm_template_header *header;
	uint8_t *grown = *len + added <= UINT32_MAX ? realloc(*bytes, *len + added) : NULL;

	if (!grown)
		return false;
	if (added)
		memcpy(grown + *len, s->stores, added);
	header = (void *)grown;
	header->stores = s->store_count;
	header->bytes = (uint32_t)(*len + added);
	*bytes = grown;
	*len += added;
	return true;
}

bool jvm_template_locate(void **bytes, size_t *len)
{
	uint8_t *own = *bytes;
	struct jvm_template t;
	struct search s = {0};
	bool ret;

	if (!jvm_template_open(own, *len, &t) || !is_unlocated(&t))
		return false;
	s.r = (struct class_reader){t.class_file, t.header->class_bytes, 0, false};
	s.header = t.header;
	s.methods = (void *)(own + ((const uint8_t *)t.methods - own));
	s.sites = (void *)(own + ((const uint8_t *)t.sites - own));
	ret = find_constants(&s) && search_methods(&s) && is_complete(&s) && add_stores(bytes, len, &s);
	free(s.site_of);
	free(s.is_code);
	free(s.stores);
	return ret;
}

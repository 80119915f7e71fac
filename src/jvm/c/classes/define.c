/* define.c - one method after the other: its own number, its sites, then what the code of both is to have. */
#include "jvm/c/classes/define.h"

#include <stdlib.h>

#include "core/contexts/sitecode.h"
#include "jvm/c/codes/methods.h"
#include "jvm/c/codes/spaces.h"
#include "jvm/c/codes/super_calls.h"

struct definition {
	const struct JNINativeInterface_ **env;
	const struct jvm_template *t;
	uint8_t *class_file;
	/* Lengths of codes, by site. */
	uint8_t *lengths;
};

static void put_number(uint8_t *at, uint64_t number)
{
	for (int i = 7; i >= 0; i--, number >>= 8)
		at[i] = (uint8_t)number;
}

/* The space of a call; *is_given: there is memory. */
static uint32_t space_of(const struct jvm_template *t, const struct jvm_template_site *site, bool *is_given)
{
	const char *name = jvm_template_text(t, site->space);
	uint32_t ret;

	*is_given = true;
	if (site->space_kind == JVM_SPACE_NONE)
		return 0;
	if (site->space_kind == JVM_SPACE_IF_KNOWN)
		return jvm_space_if_known(name);
	ret = site->space_kind == JVM_SPACE_CONSTRUCTOR ? jvm_space_with_room(name) : jvm_space(name);
	*is_given = ret;
	return ret;
}

/* A capture may be interrupted by a loader that is asked for its class: in the middle of a context it is a call. */
static int32_t add_site(const struct definition *d, const struct jvm_template_site *site, int32_t method)
{
	bool is_capture = site->kind == WMK_SITE_CAPTURE, is_given;
	const struct jvm_site added = {
		.method = method,
		.kind = is_capture ? WMK_SITE_INDIRECT : (enum wmk_site_kind)(site->kind & ~(uint32_t)JVM_SITE_PLACE),
		.is_place = is_capture || site->kind & JVM_SITE_PLACE,
		.position = site->position,
		.line = site->line,
		.callee = jvm_template_text(d->t, site->callee),
		.space = space_of(d->t, site, &is_given)};
	int32_t ret = is_given ? jvm_site_add(&added) : JVM_NONE;

	if (ret != JVM_NONE && site->constructor != JVM_TEMPLATE_NONE &&
	    !jvm_super_calls_add(d->env, ret, jvm_template_text(d->t, site->constructor)))
		return JVM_NONE;
	return ret;
}

/* The sites of a method from `first` on. *longest: the length of the longest code. */
static bool define_sites(const struct definition *d, const struct jvm_template_method *method, int32_t number,
			 uint32_t first, uint32_t *longest)
{
	bool has_codes = method->flags & JVM_METHOD_HAS_CODES;

	*longest = 1;
	for (uint32_t i = first; i < first + method->sites; i++) {
		const struct jvm_template_site *site = &d->t->sites[i];
		int32_t added = add_site(d, site, number);
		uint32_t length;
		uint64_t code;

		if (added == JVM_NONE)
			return false;
		code = jvm_site_code(added, &length);
		if (length > *longest)
			*longest = length;
		d->lengths[i] = (uint8_t)length;
		put_number(d->class_file + site->number_at, has_codes ? code : (uint64_t)added + 1);
	}
	return true;
}

static bool define_method(const struct definition *d, const struct jvm_template_method *method, int32_t class,
			  uint32_t first)
{
	uint32_t space = jvm_space(jvm_template_text(d->t, method->space)), longest;
	int32_t number = space ? jvm_method_add(class, jvm_template_text(d->t, method->name),
						jvm_template_text(d->t, method->descriptor), method->line, space)
			       : JVM_NONE;

	if (number == JVM_NONE || !define_sites(d, method, number, first, &longest))
		return false;
	if (!(method->flags & JVM_METHOD_HAS_NUMBER))
		return true;
	if (method->flags & JVM_METHOD_HAS_CODES) {
		uint32_t room = jvm_method_room(number);

		put_number(d->class_file + method->number_at, space);
		put_number(d->class_file + method->mask_at, sitecode_mask(room > longest ? room : longest));
	} else {
		put_number(d->class_file + method->number_at, (uint64_t)number);
	}
	return true;
}

/* Constructors undo calls of themselves from now on: when nothing can fail any more. */
static bool define_undoing(const struct definition *d, uint32_t *full)
{
	for (uint32_t i = 0; i < d->t->header->methods; i++)
		if (d->t->methods[i].undoes != JVM_TEMPLATE_NONE &&
		    !jvm_super_calls_add_undoing(d->env, jvm_template_text(d->t, d->t->methods[i].undoes))) {
			*full = i;
			return false;
		}
	return true;
}

static bool define_all(const struct definition *d, uint32_t *full)
{
	const struct jvm_template_header *header = d->t->header;
	int32_t class = jvm_class_add(jvm_template_text(d->t, header->loader), jvm_template_text(d->t, header->name),
				      jvm_template_text(d->t, header->file));
	uint32_t first = 0;

	for (*full = 0; *full < header->methods; ++*full) {
		if (!define_method(d, &d->t->methods[*full], class, first))
			return false;
		first += d->t->methods[*full].sites;
	}
	for (uint32_t i = 0; i < header->stores; i++)
		d->class_file[d->t->stores[i].length_at] = d->lengths[d->t->stores[i].site];
	return define_undoing(d, full);
}

bool jvm_define(const struct JNINativeInterface_ **env, const struct jvm_template *t, uint8_t *class_file,
		uint32_t *full)
{
	const struct definition d = {env, t, class_file, calloc(t->header->sites + 1, 1)};
	bool ret;

	*full = 0;
	ret = d.lengths && define_all(&d, full);
	free(d.lengths);
	return ret;
}

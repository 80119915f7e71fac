/* diff_names.c - cuts what compilers add to names, and interns the rest. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/tables/diff_names.h"

/* The length of a part ".word.12.3" that a compiler has added; 0: there is none at text. */
static size_t added_len(const char *text)
{
	static const char *const words[] = {".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm", ".clone"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t len = strlen(words[i]);

		if (!text_begins(text, words[i]))
			continue;
		while (text[len] == '.' && isdigit((unsigned char)text[len + 1]))
			len += 1 + strspn(text + len + 1, "0123456789");
		if (isalnum((unsigned char)text[len]) || text[len] == '_') /* a longer word */
			continue;
		return len;
	}
	return 0;
}

/* " [clone .constprop.0]", as demanglers write it. */
static size_t clone_len(const char *text)
{
	static const char clone[] = " [clone ";
	const char *end = text_begins(text, clone) ? strchr(text, ']') : NULL;

	return end ? (size_t)(end + 1 - text) : 0;
}

void diff_plain_name(const char *name, char *ret)
{
	while (*name) {
		size_t len = *name == '.' ? added_len(name) : *name == ' ' ? clone_len(name) : 0;

		if (len)
			name += len;
		else
			*ret++ = *name++;
	}
	*ret = '\0';
}

static struct error *intern_plain(struct profile *both, const char *name, const char **ret)
{
	char *plain = malloc(strlen(name) + 1);
	struct error *err;

	if (!plain)
		return &error_no_memory;
	diff_plain_name(name, plain);
	err = profile_copy_string(both, plain, ret);
	free(plain);
	return err;
}

struct error *diff_names_create(const struct view *v, struct profile *both, struct diff_names *ret)
{
	const struct frame_vec *frames = &v->profile->frames;
	struct diff_names n = {.view = v,
			       .names = calloc(frames->count + 1, sizeof *n.names),
			       .link_names = calloc(frames->count + 1, sizeof *n.link_names),
			       .files = calloc(frames->count + 1, sizeof *n.files)};
	struct error *err = n.names && n.link_names && n.files ? NULL : &error_no_memory;

	for (size_t i = 0; i < frames->count && !err; i++) {
		const struct frame *f = &frames->items[i];

		err = intern_plain(both, f->name, &n.names[i]) ?: intern_plain(both, f->link_name, &n.link_names[i]);
		if (!err && f->file)
			err = profile_copy_string(both, text_base_name(f->file), &n.files[i]);
	}
	if (err)
		diff_names_deinit(&n);
	else
		*ret = n;
	return err;
}

void diff_names_deinit(struct diff_names *n)
{
	free(n->names);
	free(n->link_names);
	free(n->files);
	*n = (struct diff_names){0};
}

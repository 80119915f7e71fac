/* archive_sources.c - which lines of source an archive has: those of its frames, with some around each, as `waymark annotate` shows them. */
#include "model/archive/archive.h"

struct collector {
	struct profile *p;
	struct sources *sources;
	struct hashmap packed; /* files of which an archive has lines, by pointer */
	struct hashmap read;   /* files that were looked for, by pointer: the number in `files` */
	struct source_file_vec files;
	struct arena arena; /* texts */
};

static struct error *find_packed(struct collector *c)
{
	struct error *err = NULL;
	uint32_t number;

	for (size_t i = 0; i < c->p->texts.count && !err; i++)
		err = hashmap_add(&c->packed, &(struct key){{(uintptr_t)c->p->texts.items[i].file, 0, 0}}, &number);
	return err;
}

static struct error *find_file(struct collector *c, const char *name, const struct source_file **ret)
{
	const struct source_file *f;
	uint32_t number;
	struct error *err = hashmap_add(&c->read, &(struct key){{(uintptr_t)name, 0, 0}}, &number);

	if (!err && number == c->files.count)
		err = sources_try(c->sources, name, &f)
			      ?: source_file_vec_append(&c->files, (struct source_file *)(uintptr_t)f);
	if (!err)
		*ret = c->files.items[number];
	return err;
}

static struct error *add_line(struct collector *c, const struct source_file *f, const char *name, uint32_t line)
{
	struct source_text text = {.file = name, .changed_ns = f->changed_ns, .line = line};
	uint32_t number;
	struct error *err;

	if (hashmap_find(&c->p->text_map, &(struct key){{(uintptr_t)name, line, 0}}, &number))
		return NULL;
	err = source_line(f, line, &c->arena, &text.text);
	if (!err && text.text)
		err = profile_add_text(c->p, &text);
	return err;
}

static struct error *add_frame(struct collector *c, const struct frame *frame)
{
	const struct source_file *f;
	uint32_t number, first = frame->line > SOURCE_AROUND ? frame->line - SOURCE_AROUND : 1;
	struct error *err;

	if (!frame->file || !frame->line ||
	    hashmap_find(&c->packed, &(struct key){{(uintptr_t)frame->file, 0, 0}}, &number))
		return NULL;
	err = find_file(c, frame->file, &f);
	for (uint64_t line = first;
	     !err && f->path && line <= (uint64_t)frame->line + SOURCE_AROUND && line <= f->line_count; line++)
		err = add_line(c, f, frame->file, (uint32_t)line);
	return err;
}

struct error *archive_add_sources(struct profile *p, struct sources *sources)
{
	struct collector c = {.p = p, .sources = sources};
	struct error *err;

	arena_init(&c.arena);
	err = find_packed(&c);
	for (size_t i = 0; i < p->frames.count && !err; i++)
		err = add_frame(&c, &p->frames.items[i]);
	hashmap_deinit(&c.packed);
	hashmap_deinit(&c.read);
	source_file_vec_deinit(&c.files);
	arena_deinit(&c.arena);
	return err;
}

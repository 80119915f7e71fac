/* recorded_files.c - opens the files of recorded code, each once. */
#include "model/contexts/recorded_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void recorded_files_init(struct recorded_files *files, const struct object_search *search)
{
	*files = (struct recorded_files){.search = search};
}

static void file_destroy(struct recorded_file *file)
{
	symbols_close(file->symbols);
	error_destroy(file->why);
	free(file->path);
	free(file);
}

void recorded_files_deinit(struct recorded_files *files)
{
	for (size_t i = 0; i < files->files.count; i++)
		file_destroy(files->files.items[i]);
	recorded_file_vec_deinit(&files->files);
	hashmap_deinit(&files->map);
}

static struct error *add_file(struct recorded_files *files, const char *path, const struct build_id *build_id,
			      struct recorded_file **ret)
{
	const struct object_wanted wanted = {.path = path, .build_id = *build_id};
	struct recorded_file *file = calloc(1, sizeof *file);
	struct error *err;

	if (!file)
		return &error_no_memory;
	file->build_id = *build_id;
	file->path = strdup(path);
	err = file->path ? recorded_file_vec_append(&files->files, file) : &error_no_memory;
	if (err) {
		file_destroy(file);
		return err;
	}
	file->why = symbols_open(files->search, &wanted, &file->symbols);
	if (file->why)
		file->why = error_context(file->why, "its functions are shown by their addresses");
	*ret = file;
	return NULL;
}

struct error *recorded_files_get(struct recorded_files *files, const struct wmk_file_image *image,
				 const struct recorded_file **ret)
{
	struct build_id build_id = {.len_bytes = image->record.build_id_bytes};
	struct recorded_file *file;
	struct key key;
	uint32_t number;
	struct error *err;

	*ret = NULL;
	if (image->path[0] != '/')
		return NULL;
	memcpy(build_id.bytes, image->record.build_id, sizeof image->record.build_id);
	key = key_of_text_safe(image->path, 0);
	key.words[2] ^= hash_bytes(HASH_START, build_id.bytes, build_id.len_bytes);
	err = hashmap_add(&files->map, &key, &number);
	if (!err && number == files->files.count)
		err = add_file(files, image->path, &build_id, &file);
	if (!err)
		*ret = files->files.items[number];
	return err;
}

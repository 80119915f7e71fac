/*
 * test_paths_plugins.c - libraries that count paths and come and go: another one at the same place is told from it, the same
 * one goes on where it was.
 *
 *     test_paths_plugins PLUGIN1 PLUGIN2 PLUGIN3    (their keys are 201, 202, 203; the third has no build id)
 */
#include <dlfcn.h>

#include "path.h"

enum {
	ROUNDS = 300,
	PLUGINS = 3,
};

PATH_FUNCTION(own, WM1_PATHS_ARRAY, 0, 3, 101);

static const void *use(const char *path, unsigned int r)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const void *(*count)(unsigned int) = NULL;
	const void *place = NULL;

	if (!CHECK(library != NULL))
		fprintf(stderr, "%s\n", dlerror());
	else
		count = (const void *(*)(unsigned int))dlsym(library, "plugin_count");
	if (count)
		place = count(r);
	if (library)
		dlclose(library);
	return place;
}

/* Each function's tables name an image of its own file. */
static void check_images(char *const *plugins)
{
	struct wmk_path_table table;
	struct wmk_walk walk = {0};
	struct profile p;

	if (!profile_of(getpid(), "", &p))
		return;
	CHECK_U64(p.file.image_count, 1 + PLUGINS);
	while (wmk_next_path_table(&p.file, &walk, &table)) {
		const struct wmk_file_image *image = wmk_image_by_record(&p.file, table.record.image);

		if (!CHECK(image != NULL) || table.record.name_key < 201)
			continue;
		CHECK(strstr(image->path, plugins[table.record.name_key - 201]) != NULL && image->path[0] == '/');
		CHECK_U64(image->record.build_id_bytes != 0, table.record.name_key != 203);
	}
	profile_close(&p);
}

int main(int argc, char **argv)
{
	const void *places[PLUGINS];
	unsigned int i, k, same = 0;

	if (!CHECK(argc == 1 + PLUGINS))
		return check_status();
	path_end_array(path_enter(&own, &own_slot), 1);
	for (i = 0; i < ROUNDS; i++) {
		for (k = 0; k < PLUGINS; k++)
			places[k] = use(argv[1 + k], k);
		same += places[0] == places[1] && places[1] == places[2];
	}
	CHECK(same > 0); /* or nothing was tested */
	for (k = 0; k < PLUGINS; k++) {
		struct path_sum sum = path_sum_of_process(getpid(), 201 + k, k);

		CHECK_U64(sum.tables, 1);
		CHECK_U64(sum.begun, 2 * ROUNDS);
		CHECK_U64(sum.path, k == 0 ? 2 * ROUNDS : ROUNDS);
	}
	check_images(argv + 1);
	return check_status();
}

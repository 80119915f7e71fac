/*
 * recorded_names_file.c OUT PATH BUILD-ID ADDRESS:POSITION... - writes a recording of a chain of functions without names in the ELF
 * file at PATH: each calls the next at its position, in the last one is the capture. Numbers are hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/builder.h"

enum {
	FIRST_SITE = 20,
	FUNCTIONS_MAX = 16,
};

static uint32_t read_build_id(const char *text, uint8_t *ret)
{
	uint32_t n = 0;
	unsigned int byte;

	while (sscanf(text + (size_t)2 * n, "%2x", &byte) == 1)
		ret[n++] = (uint8_t)byte;
	return n;
}

static void put_chain(struct wmk_builder *b, const char *path, const char *build_id, char **places, uint32_t count)
{
	uint64_t address[FUNCTIONS_MAX], path_string;
	unsigned int position[FUNCTIONS_MAX];
	uint8_t id[32];

	for (uint32_t i = 0; i < count; i++)
		if (sscanf(places[i], "%lx:%x", &address[i], &position[i]) != 2)
			exit(2);
	build_chunk(b, WMK_STRINGS, 0, 0);
	build_string(b, 0, "hit"); /* number 0 */
	path_string = build_string(b, 0, path);
	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, 0, 0, 0, path_string, id, read_build_id(build_id, id));
	build_image_kind(b, WMK_IMAGE_BINARY);
	build_chunk(b, WMK_FUNCTIONS, 0, 0);
	for (uint32_t i = 0; i < count; i++)
		build_recorded_function(b, &(struct wmk_function){.address = address[i],
								  .name = WMK_NO_STRING,
								  .owner = WMK_NO_STRING,
								  .descriptor = WMK_NO_STRING,
								  .file = WMK_NO_STRING});
	build_chunk(b, WMK_SITES, FIRST_SITE, 0);
	for (uint32_t i = 0; i < count; i++)
		build_recorded_site(b, i, i + 1 < count ? WMK_SITE_CALL : WMK_SITE_CAPTURE, WMK_NO_STRING, position[i],
				    0, 0);
	build_chunk(b, WMK_EPOCH_FUNCTIONS, 0, 0);
	for (uint32_t i = 0; i < count; i++)
		build_epoch_function(b, 1, i, 1, 0, i ? 0 : WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY);
	build_chunk(b, WMK_EPOCH_EDGES, 0, 0);
	for (uint32_t i = 0; i + 1 < count; i++)
		build_epoch_edge(b, 1, FIRST_SITE + i, i + 1, WMK_EDGE_ENCODED, 0);
	build_chunk(b, WMK_EPOCHS, 0, 0);
	build_epoch_record(b, 1, count, count - 1);
	build_chunk(b, WMK_EVENTS, 0, 1);
	build_event(b, 1, 1, 0, WM_PREFIX_PROCESS, FIRST_SITE + count - 1, 0);
	build_epoch(b, 1);
}

int main(int argc, char **argv)
{
	struct wmk_builder b;
	FILE *f = argc > 4 && argc <= 4 + FUNCTIONS_MAX ? fopen(argv[1], "w") : NULL;

	if (!f)
		return 2;
	build_wmk_init(&b, 1, argv[2]);
	put_chain(&b, argv[2], argv[3], argv + 4, (uint32_t)argc - 4);
	build_wmk_finish(&b);
	if (fwrite(b.out.bytes, 1, b.out.len_bytes, f) != b.out.len_bytes || fclose(f) != 0)
		return 1;
	buffer_deinit(&b.out);
	return 0;
}

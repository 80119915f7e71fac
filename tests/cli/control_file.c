/*
 * control_file.c OUT EVIL - writes a recording of Java code in which each text ends in EVIL: the program, names of events, classes,
 * methods and files. A second event has a context that cannot be decoded, with EVIL in the reason; a count of paths is of an image that
 * is not there. Prints tokens of both contexts.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "support/builder.h"

enum {
	FIRST_SITE = 20,
};

static uint32_t evil_string(struct wmk_builder *b, const char *text, const char *evil)
{
	char whole[256];

	snprintf(whole, sizeof whole, "%s%s", text, evil);
	return (uint32_t)build_string(b, 0, whole);
}

static void put_code(struct wmk_builder *b, const char *evil)
{
	uint32_t event, path, name, owner, file;

	build_chunk(b, WMK_STRINGS, 0, 0);
	event = evil_string(b, "event", evil);
	path = evil_string(b, "/loader", evil);
	name = evil_string(b, "method", evil);
	owner = evil_string(b, "Class", evil);
	file = evil_string(b, "File.java", evil);
	build_chunk(b, WMK_IMAGES, 0, 0);
	build_image(b, 0, 0, 0, path, NULL, 0);
	build_image_kind(b, WMK_IMAGE_LOADER);
	build_image(b, 1, 100, 5, path, NULL, 0);
	build_chunk(b, WMK_FUNCTIONS, 0, 0);
	build_recorded_function(
		b, &(struct wmk_function){.name = name, .owner = owner, .descriptor = WMK_NO_STRING, .file = file});
	build_chunk(b, WMK_SITES, FIRST_SITE, 0);
	build_recorded_site(b, 0, WMK_SITE_CAPTURE, WMK_NO_STRING, 0, 7, 0);
	build_chunk(b, WMK_EPOCH_FUNCTIONS, 0, 0);
	build_epoch_function(b, 1, 0, 1, 0, WMK_EPOCH_ROOT | WMK_EPOCH_HAS_DUMMY);
	build_chunk(b, WMK_EPOCHS, 0, 0);
	build_epoch_record(b, 1, 1, 0);
	build_chunk(b, WMK_EVENTS, 0, 1);
	build_event(b, 1, 1, 0, WM_PREFIX_PROCESS, FIRST_SITE, event);
	build_epoch(b, 1);
	build_event(b, 2, 1, 0, WM_PREFIX_PROCESS, 101, event);
	build_epoch(b, 1);
	build_chunk(b, WMK_HEAP, 0, 0);
	build_heap(b, 0, WM_PREFIX_PROCESS, FIRST_SITE, 1, 10, 0, 0, 10);
	build_epoch(b, 1);
}

int main(int argc, char **argv)
{
	struct wmk_builder b;
	char program[256], token[96];
	FILE *f = argc == 3 ? fopen(argv[1], "w") : NULL;

	if (!f)
		return 2;
	snprintf(program, sizeof program, "/bin/program%s", argv[2]);
	build_wmk_init(&b, 1, program);
	put_code(&b, argv[2]);
	build_chunk(&b, WMK_PATH_COUNTS, 0, 1);
	build_path_count(
		&b, &(struct wmk_path_count){
			    .name_key = 3, .cfg_key = 4, .path_count = 2, .r = 1, .count = 9, .image = 1, .kind = 1});
	build_wmk_finish(&b);
	build_header_u64(&b, offsetof(struct wmk_header, dropped_events), 3);
	build_header_u64(&b, offsetof(struct wmk_header, drop_errno), 28);
	if (fwrite(b.out.bytes, 1, b.out.len_bytes, f) != b.out.len_bytes || fclose(f) != 0)
		return 1;
	buffer_deinit(&b.out);
	puts(build_epoch_token(token, 1, "0", FIRST_SITE, 0, WM_PREFIX_PROCESS, 1));
	puts(build_epoch_token(token, 1, "0", 101, 0, WM_PREFIX_PROCESS, 1));
	return 0;
}

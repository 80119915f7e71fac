/*
 * token.c - a context as text: wm1:RUN:BUILD:SITE:ID:PREFIX:CHECK, hexadecimal; with :vEPOCH before CHECK if that is not 0.
 *
 * RUN names this process's .wmk; BUILD the image that has the capture point; SITE is the number in that image. CHECK
 * is over what stands before its colon, so that a token cut or changed by a log differs from one that is whole.
 */
#include "recorder/token.h"

#include "recorder/file.h"
#include "recorder/image.h"
#include "recorder/text.h"

static uint32_t check_of(const char *s)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *s; s++)
		hash = (hash ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
	return (uint32_t)((hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) & 0xffff);
}

static void add_build(struct wmrt_text *text, const struct wmrt_image *image)
{
	int i;

	if (!image) {
		wmrt_text_char(text, '0');
	} else if (image->build_id_bytes) {
		for (i = 0; i < 4; i++)
			wmrt_text_number(text, image->build_id[i], 16, 2);
	} else {
		wmrt_text_char(text, 'm');
		wmrt_text_number(text, (uint32_t)image->meta_key, 16, 8);
	}
}

/* The run whose .wmk has the prefix: a child that was forked since the capture makes its own. */
static uint64_t run_here(void)
{
	wmrt_file_open();
	return wmrt_file_run();
}

static void token_write(wm_context c, struct wmrt_text *text)
{
	const struct wmrt_image *image = wmrt_image_of(c.site);

	wmrt_text_add(text, "wm1:");
	wmrt_text_number(text, run_here(), 16, 16);
	wmrt_text_char(text, ':');
	add_build(text, image);
	wmrt_text_char(text, ':');
	wmrt_text_number(text, image ? c.site - image->site_base : c.site, 16, 1);
	wmrt_text_char(text, ':');
	wmrt_text_number(text, c.id, 16, 1);
	wmrt_text_char(text, ':');
	wmrt_text_number(text, c.prefix, 16, 1);
	if (c.epoch) {
		wmrt_text_add(text, ":v");
		wmrt_text_number(text, c.epoch, 16, 1);
	}
}

int wmrt_token(wm_context c, char *buf, size_t size)
{
	char whole[WM_TOKEN_MAX];
	struct wmrt_text text = {whole, sizeof whole, 0};
	struct wmrt_text out = {buf, size, 0};

	if (c.epoch == WM_EPOCH_NONE) {
		wmrt_text_add(&text, "wm1:not-instrumented");
	} else {
		uint32_t check;

		token_write(c, &text);
		check = check_of(whole);
		wmrt_text_char(&text, ':');
		wmrt_text_number(&text, check, 16, 4);
	}
	wmrt_text_add(&out, whole);
	return (int)text.len;
}

/* page_parts.c - collects parts in memory, and writes them as chunks. */
#include "report/page_parts.h"

#include <stdlib.h>

#include "report/base64.h"
#include "report/gzip.h"
#include "report/html.h"

enum {
	CHUNK_BYTES = 1 << 17, /* of HTML: what a script unpacks for one part */
};

struct error *page_parts_begin(struct page_parts *p, FILE **ret)
{
	struct error *err = p->stream ? NULL : html_capture(&p->stream, &p->text, &p->size);

	if (!err)
		*ret = p->stream;
	return err;
}

struct error *page_parts_end(struct page_parts *p)
{
	putc('\f', p->stream);
	p->count++;
	return ftello(p->stream) >= CHUNK_BYTES ? page_parts_flush(p) : NULL;
}

static struct error *write_chunk(const struct page_parts *p)
{
	struct gzip *gzip = malloc(sizeof *gzip);
	struct error *err = gzip ? gzip_begin(gzip, base64_print, p->page) : &error_no_memory;

	if (!err) {
		fputs("<script type=\"text/plain\" class=\"parts\">", p->page);
		gzip_add(gzip, p->text, p->size);
		gzip_end(gzip);
		fputs("</script>\n", p->page);
	}
	free(gzip);
	return err;
}

struct error *page_parts_flush(struct page_parts *p)
{
	struct error *err;

	if (!p->stream)
		return NULL;
	err = fclose(p->stream) == 0 && p->text ? write_chunk(p) : &error_no_memory;
	free(p->text);
	*p = (struct page_parts){.page = p->page, .chunk = p->chunk + 1};
	return err;
}

void page_parts_deinit(struct page_parts *p)
{
	if (p->stream)
		fclose(p->stream);
	free(p->text);
	*p = (struct page_parts){0};
}

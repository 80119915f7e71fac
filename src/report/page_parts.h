/*
 * page_parts.h - parts of a page that its script puts in when they are looked at: their HTML, compressed, in elements that a browser does not
 * read.
 *
 *      <table data-part="0:0"></table>  <table data-part="0:1"></table> ...    where they go: number of the chunk, number in it
 *      <script type="text/plain" class="parts">H4sIAAAA...</script>            chunk 0: gzip, base64; parts end with a form feed
 *
 * paths.js has the other end.
 */
#ifndef WM_REPORT_PAGE_PARTS_H
#define WM_REPORT_PAGE_PARTS_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* All zero but for `page` is one without parts. */
struct page_parts {
	FILE *page;
	FILE *stream; /* into the memory of the chunk that is filled; NULL: none is */
	char *text;
	size_t size;
	uint32_t chunk;
	uint32_t count; /* parts of the chunk */
};

/* *ret: where the HTML of the next part is written, which has no form feed (html_text writes none). It is the chunk's `count`. */
struct error *page_parts_begin(struct page_parts *p, FILE **ret);
/* Ends the part. What was begun is written to the page once it is long enough: call it where the page may have an element. */
struct error *page_parts_end(struct page_parts *p);
struct error *page_parts_flush(struct page_parts *p);
void page_parts_deinit(struct page_parts *p);

#endif

/* base64.h - bytes as text in lines (RFC 4648), as scripts of pages read them. */
#ifndef WM_REPORT_BASE64_H
#define WM_REPORT_BASE64_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A line. Of bytes that are printed in several calls all but the last have a multiple of 3. */
void base64_print(FILE *out, const uint8_t *bytes, size_t len_bytes);

#endif

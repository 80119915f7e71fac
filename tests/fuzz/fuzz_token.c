/*
 * fuzz_token.c - token_find. The first byte says where the text is cut in two; the tokens found must be the same, at the same
 * places, as in the whole text.
 */
#include <stdlib.h>

#include "format/token.h"
#include "fuzz/fuzz.h"

struct found {
	size_t count;
	uint64_t sum; /* over place, length and fields of each */
};

static struct found find_all(const char *text, size_t size, size_t cut)
{
	struct found found = {0};
	size_t used = 0, end = cut;

	for (;;) {
		struct token t = {0};
		size_t off, len = 0;
		bool is_found = token_find(text, used, end, end == size, &t, &off, &len);

		if (off < used || off > end || len > end - off)
			abort();
		used = off;
		if (is_found) {
			found.count++;
			found.sum = found.sum * 31 + used * 7 + len + (uint64_t)t.kind + t.run + t.id + t.site +
				    t.prefix + t.build;
			used += len;
		} else if (end == size) {
			return found;
		} else {
			if (end - used > TOKEN_BYTES_MAX)
				abort();
			end = size;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct found whole, parts;

	if (size < 1)
		return 0;
	size--;
	whole = find_all(text, size, size);
	parts = find_all(text, size, size ? data[0] % (size + 1) : 0);
	if (whole.count != parts.count || whole.sum != parts.sum)
		abort();
	return 0;
}

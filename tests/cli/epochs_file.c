/* epochs_file.c - writes the recording of two epochs to the file named, and a line "VALUE TOKEN" for each of its contexts. */
#include <stdio.h>

#include "support/epoch_builder.h"

int main(int argc, char **argv)
{
	struct wmk_builder b;
	char token[96];
	FILE *f = argc > 1 ? fopen(argv[1], "w") : NULL;

	if (!f)
		return 2;
	build_epochs(&b);
	if (fwrite(b.out.bytes, 1, b.out.len_bytes, f) != b.out.len_bytes || fclose(f) != 0)
		return 1;
	for (uint32_t i = 0; i < EPOCHS_CONTEXTS; i++) {
		const struct epochs_context *c = &epochs_contexts[i];

		printf("%llu %s\n", (unsigned long long)c->value,
		       build_epoch_token(token, EPOCHS_RUN, "0", c->site, c->id, c->prefix, c->epoch));
	}
	buffer_deinit(&b.out);
	return 0;
}

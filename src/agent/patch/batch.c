/* batch.c - a few patches of the program's code, until there is no room for more. */
#include "agent/patch/batch.h"

#include <string.h>

#include "agent/code/code.h"
#include "agent/program/program.h"

/* Under the agent's lock. */
static struct {
	bool is_open, has_failed;
	size_t count;
	struct code_patch patches[CODE_PATCHES_MAX];
} batch;

static void write_all(void)
{
	code_change_all(batch.patches, batch.count);
	for (size_t i = 0; i < batch.count; i++) {
		const struct code_patch *patch = &batch.patches[i];

		agent_site(patch->owner)->is_written = patch->is_written;
		batch.has_failed |= !patch->is_written;
	}
	batch.count = 0;
}

bool batch_has(uintptr_t at, const uint8_t *bytes, uint32_t len)
{
	return !batch.is_open && memcmp((const void *)at, bytes, len) == 0 && /* NOLINT(performance-no-int-to-ptr) */
	       code_write_stubs();
}

bool batch_write(uint32_t site, uintptr_t at, const uint8_t *bytes, uint32_t len)
{
	struct code_patch *patch;

	if (!batch.is_open || len > sizeof patch->bytes)
		return code_change(at, bytes, len);
	if (batch.count == CODE_PATCHES_MAX)
		write_all();
	patch = &batch.patches[batch.count++];
	*patch = (struct code_patch){.at = at, .owner = site, .len = (uint8_t)len};
	memcpy(patch->bytes, bytes, len);
	return true;
}

void batch_begin(void)
{
	batch.is_open = true;
	batch.has_failed = false;
}

bool batch_end(void)
{
	if (batch.count)
		write_all();
	batch.is_open = false;
	return !batch.has_failed;
}

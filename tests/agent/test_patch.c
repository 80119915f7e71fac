/*
 * test_patch.c LIBRARY - bytes of a library that is instrumented: only those of sites change, calls of it do what they did, and when the agent
 * leaves every byte is the program's own again.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/code/code.h"
#include "agent/life/detach.h"
#include "agent/patch/batch.h"
#include "agent/patch/patch.h"
#include "agent/patch/patch_entry.h"
#include "agent/patch/shape.h"
#include "agent/program/program.h"
#include "agent/unit/unit.h"
#include "check.h"

static uint8_t *copy(const void *bytes, size_t len)
{
	uint8_t *ret = malloc(len);

	if (ret)
		memcpy(ret, bytes, len);
	return ret;
}

static bool is_of_site(uintptr_t at)
{
	for (size_t i = 0; i < agent_program.site_count; i++) {
		const struct agent_site *site = &agent_program.sites[i];

		if (at >= shape_start(site) && at < shape_start(site) + shape_bytes(site))
			return true;
	}
	for (size_t i = 0; i < agent_program.function_count; i++) {
		const struct agent_function *f = &agent_program.functions[i];

		if (f->is_hooked && at >= f->entry_address && at < f->entry_address + f->entry_bytes)
			return true;
	}
	return false;
}

static unsigned ends;

static void end(int n)
{
	ends++;
	CHECK_U64(n, 12345);
}

int main(int argc, char **argv)
{
	struct agent_guard guard;
	uint8_t *own, *patched, path[UNIT_PATH_MAX + 1];
	const uint8_t *text;
	uintptr_t start;
	size_t len, changed = 0;

	if (argc != 2 || !unit_start(argv[1]))
		return 1;
	len = unit_text(&start);
	text = (const uint8_t *)start; /* NOLINT(performance-no-int-to-ptr) */
	own = copy(text, len);
	CHECK(unit_reach());
	agent_lock(&guard);
	for (int i = 0; i < UNIT_FUNCTIONS; i++)
		CHECK(patch_entry(agent_function_at((uintptr_t)unit_functions[i])));
	agent_unlock(&guard);
	for (uint32_t seed = 1; seed <= 200; seed++) {
		unit_seed(seed);
		unit_path(path);
		unit_run(path, end);
	}
	CHECK_U64(ends, 200);
	for (size_t i = 0; i < len; i++) {
		changed += text[i] != own[i];
		if (!CHECK(text[i] == own[i] || is_of_site(start + i)))
			break;
	}
	CHECK(changed > 0);
	patched = copy(text, len);
	/* What is planned anew is what is there: no stub is added, no byte changes. */
	agent_lock(&guard);
	size_t stubs = code_stub_bytes();

	for (uint32_t s = 0; s < agent_program.site_count; s++) {
		CHECK(patch_site(s));
		CHECK(agent_program.sites[s].is_written);
	}
	CHECK_U64(code_stub_bytes(), stubs);
	CHECK(memcmp(text, patched, len) == 0);
	batch_begin();
	for (uint32_t s = 0; s < agent_program.site_count; s++)
		CHECK(patch_site(s));
	CHECK(batch_end());
	CHECK(memcmp(text, patched, len) == 0);
	CHECK(detach_code());
	CHECK(memcmp(text, own, len) == 0);
	for (uint32_t s = 0; s < agent_program.site_count; s++)
		CHECK(patch_site(s));
	agent_unlock(&guard);
	unit_run(path, end);
	CHECK_U64(ends, 201);
	free(own);
	free(patched);
	return check_status();
}

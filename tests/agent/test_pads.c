/*
 * test_pads.c - landing pads of the C++ code that pads.sh links in: eh_landing_pads finds those that the compiler's assembly names,
 * and no others.
 */
#include <stdlib.h>

#include "agent/images.h"
#include "check.h"

enum {
	PADS_MAX = 4096,
};

/* pads.sh puts them there. */
extern const uintptr_t __start_expected_pads[], __stop_expected_pads[];

struct pads {
	uintptr_t at[PADS_MAX];
	size_t count;
};

static bool add_pad(void *data, uintptr_t address)
{
	struct pads *p = data;

	if (p->count < PADS_MAX)
		p->at[p->count++] = address;
	return p->count < PADS_MAX;
}

static int compare_addresses(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

static void make_set(struct pads *p)
{
	size_t kept = 0;

	qsort(p->at, p->count, sizeof p->at[0], compare_addresses);
	for (size_t i = 0; i < p->count; i++)
		if (!kept || p->at[kept - 1] != p->at[i])
			p->at[kept++] = p->at[i];
	p->count = kept;
}

int main(void)
{
	static struct image images[IMAGES_MAX];
	static struct pads got, want;
	struct eh_function f;
	struct pads first = {.count = PADS_MAX - 1};
	size_t with_lsda = 0;

	images_read(images);
	for (size_t i = 0; i < images[0].table.count; i++) {
		CHECK(eh_function_at(&images[0].table, i, &f));
		CHECK(eh_landing_pads(&images[0].table, &f, add_pad, &got));
		if (f.lsda && !with_lsda++) {
			CHECK(eh_landing_pads(&images[0].table, &f, add_pad, &first));
			CHECK_U64(first.count, PADS_MAX);
		}
	}
	for (const uintptr_t *p = __start_expected_pads; p < __stop_expected_pads; p++)
		add_pad(&want, *p);
	make_set(&got);
	make_set(&want);
	printf("%zu landing pads in %zu functions\n", want.count, with_lsda);
	CHECK(want.count > 5);
	CHECK_U64(got.count, want.count);
	CHECK(!memcmp(got.at, want.at, want.count * sizeof want.at[0]));
	return check_status();
}

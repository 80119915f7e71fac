/*
 * targets.c - reads the text addresses that an image's data holds: relocations have them, or in an image that is not relocated its words.
 *
 * A text after the other: each source is read in steps, which set bits, and then the bits become a list.
 */
#include "agent/program/targets.h"

#include <elf.h>

#include "agent/os/memory.h"
#include "recorder/dynamic.h"

enum {
	STEP = 1 << 16, /* words or relocations */
};

/* Behind the ranges of data: */
enum source {
	SOURCE_RELA,
	SOURCE_RELR,
	SOURCE_END,
};

static const void *at(uintptr_t address)
{
	return (const void *)address; /* NOLINT(performance-no-int-to-ptr) */
}

static const struct scan_range *text_of(const struct agent_image *image)
{
	return &image->scan.texts[image->targets.text];
}

static void add(struct agent_image *image, uint64_t address)
{
	const struct scan_range *text = text_of(image);
	uint64_t off = address - text->low;

	if (scan_range_has(text, address))
		image->targets.bits[off / 64] |= UINT64_C(1) << off % 64;
}

/* Not relocated: each aligned word of data may be an address. False: there is no more. */
static bool read_words(struct agent_image *image, const struct scan_range *range)
{
	struct targets *t = &image->targets;
	const uint64_t *words = at((range->low + 7) & ~(uintptr_t)7);
	size_t count = range->high < (uintptr_t)words ? 0 : (range->high - (uintptr_t)words) / sizeof *words, end;

	end = count - t->at < STEP ? count : t->at + STEP;
	while (t->at < end)
		add(image, words[t->at++]);
	return t->at < count;
}

/* Relative relocations: what they store is an address of the image. */
static bool read_rela(struct agent_image *image, const struct dynamic *d)
{
	struct targets *t = &image->targets;
	size_t count = d->rela_count, end = count - t->at < STEP ? count : t->at + STEP;

	if (!d->rela)
		return false;
	for (; t->at < end; t->at++)
		if (ELF64_R_TYPE(d->rela[t->at].r_info) == R_X86_64_RELATIVE)
			add(image, image->bias + (uint64_t)d->rela[t->at].r_addend);
	return t->at < count;
}

/* DT_RELR: addresses of words, and bitmaps of those behind them. Few bytes, so all at once. */
static void read_relr(struct agent_image *image, const struct dynamic *d)
{
	const uint64_t *where = NULL;

	for (size_t i = 0; d->relr && i < d->relr_count; i++) {
		uint64_t entry = d->relr[i];

		if (!(entry & 1)) {
			where = at(image->bias + entry);
			add(image, *where++);
			continue;
		}
		for (unsigned int bit = 0; where && bit < 63; bit++)
			if (entry >> (bit + 1) & 1)
				add(image, where[bit]);
		if (where)
			where += 63;
	}
}

/* False: nothing is left of that source of the text. */
static bool read_source(struct agent_image *image, size_t source)
{
	const Elf64_Ehdr *ehdr = image->ehdr;
	size_t ranges = image->scan.data_count - image->scan.text_count; /* the texts are behind them once more */
	struct dynamic d;

	if (source < ranges)
		return ehdr->e_type == ET_EXEC && read_words(image, &image->scan.data[source]);
	d = dynamic_read(dynamic_find(at((uintptr_t)ehdr + ehdr->e_phoff), ehdr->e_phnum, image->bias), image->bias);
	if (source == ranges + SOURCE_RELA)
		return read_rela(image, &d);
	read_relr(image, &d);
	return false;
}

static size_t words_of(const struct scan_range *text)
{
	return (size_t)(text->high - text->low) / 64 + 1;
}

/* What the bits say. The linker writes segments by rising address. */
static bool list(struct agent_image *image)
{
	const struct scan_range *text = text_of(image);
	struct targets *t = &image->targets;
	uint64_t base = text->low - image->low;
	size_t count = 0, words = words_of(text);

	for (size_t i = 0; i < words; i++)
		count += (size_t)__builtin_popcountll(t->bits[i]);
	if (!agent_reserve((void **)&t->items, &t->capacity, t->count + count + 1, sizeof *t->items))
		return false;
	for (size_t i = 0; i < words; i++)
		for (uint64_t left = t->bits[i]; left; left &= left - 1)
			t->items[t->count++] = (uint32_t)(base + i * 64 + (uint64_t)__builtin_ctzll(left));
	return true;
}

static void free_bits(struct targets *t)
{
	agent_free(t->bits);
	t->bits = NULL;
}

/* Goes on with the text. False without memory. */
static bool step(struct agent_image *image)
{
	struct targets *t = &image->targets;

	if (!t->bits)
		t->bits = agent_alloc(words_of(text_of(image)) * sizeof *t->bits);
	if (!t->bits)
		return false;
	if (read_source(image, t->source))
		return true;
	t->source++;
	t->at = 0;
	if (t->source < image->scan.data_count - image->scan.text_count + SOURCE_END)
		return true;
	t->source = 0;
	if (!list(image))
		return false;
	free_bits(t);
	t->text++;
	return true;
}

bool targets_read(struct agent_image *image, bool (*is_late)(void))
{
	struct targets *t = &image->targets;

	while (!t->are_read) {
		if (is_late && is_late())
			return false;
		t->are_unknown = t->text < image->scan.text_count && !step(image);
		t->are_read = t->are_unknown || t->text >= image->scan.text_count;
	}
	free_bits(t);
	return true;
}

uint64_t targets_next(struct agent_image *image, uint64_t low, uint64_t high)
{
	const struct targets *t = &image->targets;
	size_t first = 0, last;

	targets_read(image, NULL);
	if (t->are_unknown)
		return low;
	for (last = t->count; first < last;) {
		size_t middle = first + (last - first) / 2;

		if (image->low + t->items[middle] < low)
			first = middle + 1;
		else
			last = middle;
	}
	return first < t->count && image->low + t->items[first] < high ? image->low + t->items[first] : 0;
}

void targets_release(struct agent_image *image)
{
	free_bits(&image->targets);
	agent_free(image->targets.items);
	image->targets = (struct targets){.are_read = true, .are_unknown = true};
}

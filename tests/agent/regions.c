/*
 * regions.c - the analysis of all functions of an image.
 */
#include "agent/regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct finder {
	const struct image *image;
	struct regions *regions;
	bool is_good;
	size_t overlaps;
	uint64_t start;
};

/* Bytes [low, high) are replaced from `low` on. */
static void add_region(struct finder *f, uint64_t low, uint64_t high, const char *what)
{
	if (low == high)
		return;
	if (low < f->image->text.low || high > f->image->text.high || high - low < 5) {
		fprintf(stderr, "%#lx: a region (%s) of %lu bytes, or outside the text\n", low, what, high - low);
		f->is_good = false;
		return;
	}
	for (uint64_t address = low; address < high; address++) {
		uint8_t *m = regions_at(f->regions, f->image, address);

		if (*m & (REGION_INSIDE | REGION_FIRST)) {
			if (f->overlaps++ < 10)
				fprintf(stderr, "%#lx: a region (%s of %#lx) overlaps another\n", address, what,
					f->start);
			f->is_good = false;
		}
		*m |= address == low ? REGION_FIRST : REGION_INSIDE;
	}
}

static void add_site(struct finder *f, const struct scan_site *site)
{
	struct region_counts *c = &f->regions->counts;
	uint64_t end = site->address + site->insn.len_bytes;
	bool is_call = site->kind == SCAN_CALL || site->kind == SCAN_CALL_INDIRECT;
	uint64_t tail_end = end + (is_call ? 0 : site->suffix_bytes);

	*regions_at(f->regions, f->image, site->address) |=
		(uint8_t)((is_call ? REGION_CALL : REGION_TAIL) | (site->may_stay ? REGION_STAY : 0));
	c->calls += site->kind == SCAN_CALL;
	c->indirect_calls += site->kind == SCAN_CALL_INDIRECT;
	c->tails += site->kind == SCAN_TAIL;
	c->indirect_tails += site->kind == SCAN_TAIL_INDIRECT;
	c->may_stay += site->may_stay;
	if (site->prefix_bytes || tail_end > end)
		add_region(f, site->address - site->prefix_bytes, tail_end, "lead and site");
	c->tails_replaced += !is_call && (site->insn.len_bytes >= 5 || site->prefix_bytes || site->has_suffix);
	if (!is_call)
		return;
	if (end < f->image->text.high)
		*regions_at(f->regions, f->image, end) |= REGION_RETURN;
	if (site->has_suffix)
		add_region(f, end, end + site->suffix_bytes, "room");
	c->rooms += site->has_suffix;
	c->entered_rooms += site->has_suffix && site->is_suffix_entered;
	c->last += site->is_last;
	c->short_sites += site->insn.len_bytes < 5;
	c->leads += site->prefix_bytes != 0;
	c->dead_flags += site->flags_live == 0;
	c->dead_r11 += (site->regs_live & (1U << 11)) == 0;
}

static void add_function(struct finder *f, const struct scan_function *function)
{
	struct region_counts *c = &f->regions->counts;
	uint32_t number = (uint32_t)++c->functions;

	f->start = function->start;
	for (size_t i = 0; i < function->chunk_count; i++) {
		for (uint64_t at = function->chunks[i].low; at < function->chunks[i].high; at++) {
			f->regions->function[at - f->image->text.low] = number;
			if (!function->reason)
				*regions_at(f->regions, f->image, at) |= REGION_UNDERSTOOD;
		}
	}
	*regions_at(f->regions, f->image, function->start) |= REGION_START;
	c->parts += function->chunk_count;
	c->insns += function->insn_count;
	if (function->reason)
		return;
	c->understood++;
	c->leaves += function->is_leaf;
	c->switching += function->switches_stack;
	c->hooked += function->entry_bytes != 0;
	add_region(f, function->entry_address, function->entry_address + function->entry_bytes, "entry");
	for (size_t i = 0; i < function->site_count; i++)
		add_site(f, &function->sites[i]);
}

/* The functions of an image, but for those that turn out to be parts of others: they start without a frame and never jump back. */
static size_t find_functions(const struct image *image, struct scan_function *functions, struct region_counts *c)
{
	bool *is_part = calloc(image->text.high - image->text.low, sizeof(*is_part));
	size_t found = 0, kept = 0;

	for (size_t i = 0; i < image->range_count; i++) {
		struct scan_function *f = &functions[found];

		if (scan_function(&image->scan, image->ranges[i].low, NULL, f) != SCAN_OK)
			continue;
		if (f->start != image->ranges[i].low) {
			c->cold++;
			scan_function_release(f, NULL);
			continue;
		}
		for (size_t n = 1; n < f->chunk_count; n++)
			is_part[f->chunks[n].low - image->text.low] = true;
		found++;
	}
	for (size_t i = 0; i < found; i++) {
		if (is_part[functions[i].start - image->text.low])
			scan_function_release(&functions[i], NULL);
		else
			functions[kept++] = functions[i];
	}
	c->cold += found - kept;
	free(is_part);
	return kept;
}

bool regions_find(const struct image *image, bool is_verbose, struct regions *regions)
{
	size_t text_bytes = image->text.high - image->text.low, count;
	struct scan_function *functions = calloc(image->range_count, sizeof(*functions));
	struct finder f = {.image = image, .regions = regions, .is_good = true};

	*regions = (struct regions){.marks = calloc(text_bytes + 1, 1), .function = calloc(text_bytes + 1, 4)};
	count = find_functions(image, functions, &regions->counts);
	for (size_t i = 0; i < count; i++) {
		if (functions[i].reason && is_verbose)
			printf("%#lx: %s at %#lx\n", functions[i].start, functions[i].reason,
			       functions[i].reason_address);
		add_function(&f, &functions[i]);
		scan_function_release(&functions[i], NULL);
	}
	free(functions);
	return f.is_good;
}

void regions_free(struct regions *regions)
{
	free(regions->marks);
	free(regions->function);
}

static double share(size_t part, size_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

void regions_print(const char *name, const struct region_counts *c)
{
	size_t calls = c->calls + c->indirect_calls, tails = c->tails + c->indirect_tails;

	printf("%s: %zu functions (and %zu cold parts by their own start), understood %.2f %%, entry %.1f %%, leaf %.1f %%, "
	       "switching stacks %zu; %zu instructions\n",
	       name, c->functions, c->cold, share(c->understood, c->functions), share(c->hooked, c->understood),
	       share(c->leaves, c->understood), c->switching, c->insns);
	printf("    %zu calls (%.1f %% direct): room %.1f %% (entered %.1f %%), last %.1f %%, dead flags %.1f %%, dead r11 %.1f %%; "
	       "%zu short, lead %.1f %%\n",
	       calls, share(c->calls, calls), share(c->rooms, calls), share(c->entered_rooms, calls),
	       share(c->last, calls), share(c->dead_flags, calls), share(c->dead_r11, calls), c->short_sites,
	       share(c->leads, c->short_sites));
	printf("    %zu tail jumps (%.1f %% indirect, %zu may stay): %.1f %% can be replaced\n", tails,
	       share(c->indirect_tails, tails), c->may_stay, share(c->tails_replaced, tails));
}

/*
 * test_patterns.c NAME IN OUT - plans the site of IN, and compares its bytes and stubs with those of OUT, which the system's assembler has
 * made (patterns/pattern.inc).
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/image.h"
#include "agent/os/memory.h"
#include "agent/patch/plan.h"
#include "agent/patch/plan_entry.h"
#include "agent/patch/shape.h"
#include "agent/patterns/pattern.h"
#include "check.h"

enum {
	CALLS_MAX = 20,
	STUBS_MAX = CALLS_MAX + 3,
	BYTES_MAX = STUBS_MAX * EMIT_MAX_BYTES,
	HEADER_BYTES = 8,
};

/* As pattern.inc lays them out. */
struct pattern {
	uint64_t what, site, addend, next, at, len, to, restart, left;
};
struct pattern_call {
	uint64_t target, pushes, foreign, restart, record, tails, gone;
};

struct section {
	uint8_t *bytes;
	size_t len;
	uint64_t address;
};

static uint8_t *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = calloc(1, 1 << 20);

	if (!file || !bytes || fread(bytes, 1, 1 << 20, file) < sizeof(Elf64_Ehdr)) {
		perror(path);
		exit(1);
	}
	fclose(file);
	return bytes;
}

/* The section of that name, empty if there is none. */
static struct section find_section(uint8_t *file, const char *name)
{
	Elf64_Ehdr ehdr;
	Elf64_Shdr shdr, names;

	memcpy(&ehdr, file, sizeof ehdr);
	memcpy(&names, file + ehdr.e_shoff + ehdr.e_shstrndx * sizeof names, sizeof names);
	for (int i = 1; i < ehdr.e_shnum; i++) {
		memcpy(&shdr, file + ehdr.e_shoff + (size_t)i * sizeof shdr, sizeof shdr);
		if (strcmp((const char *)file + names.sh_offset + shdr.sh_name, name) == 0)
			return (struct section){file + shdr.sh_offset, shdr.sh_size, shdr.sh_addr};
	}
	return (struct section){NULL, 0, 0};
}

static uint8_t starts[1 << 20]; /* no stub is there yet */
static const struct code_area area = {
	.low = AREA,
	.high = COUNTERS,
	.first = STUBS,
	.used = STUBS,
	.place = {STUBS, COUNTERS},
	.counters = COUNTERS,
	.counter_capacity = 100,
	.starts = starts,
	.places = {.id = ID,
		   .top = TOP,
		   .base = BASE,
		   .foreign = AREA + AT_FOREIGN,
		   .grow = AREA + AT_GROW,
		   .discover = AREA + AT_DISCOVER,
		   .returned = AREA + AT_RETURNED,
		   .unknown = AREA + AT_UNKNOWN,
		   .entered = AREA + AT_ENTERED},
};

/* The stubs as they will be in memory. */
static size_t lay_out(const struct stub_plan *s, uint8_t *memory)
{
	const uint8_t *code = s->bytes;
	size_t end = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct code_stub *stub = &s->stubs[i];
		size_t at = stub->start - HEADER_BYTES - STUBS;

		CHECK(at % 16 == 0 && at >= end);
		memcpy(memory + at, &stub->number, sizeof stub->number);
		memcpy(memory + at + 4, (uint8_t[]){stub->kind, stub->first, stub->done, 0}, 4);
		memcpy(memory + at + HEADER_BYTES, code, stub->len);
		end = at + HEADER_BYTES + stub->len;
		code += stub->len;
	}
	return end;
}

static void print(const char *name, const char *what, const uint8_t *bytes, size_t len)
{
	fprintf(stderr, "    %s: %s", name, what);
	for (size_t i = 0; i < len; i++)
		fprintf(stderr, "%s%02x", i % 16 ? " " : "\n      ", bytes[i]);
	fprintf(stderr, "\n");
}

/* region: in place of the text's bytes at `at`. */
static void compare(const char *name, struct section in, uint8_t *out, const uint8_t *region, uint64_t at, size_t len,
		    const struct stub_plan *s)
{
	static uint8_t memory[BYTES_MAX], text[4096];
	struct section want = find_section(out, ".text"), stubs = find_section(out, ".stubs");
	size_t end = lay_out(s, memory);

	if (!CHECK(in.bytes && want.bytes))
		return;
	memcpy(text, in.bytes, in.len);
	memcpy(text + (at - in.address), region, len);
	if (!CHECK(want.len == in.len && want.address == in.address && memcmp(want.bytes, text, in.len) == 0)) {
		print(name, "planned", text + (at - in.address), len);
		print(name, "assembled", want.bytes + (at - in.address), len);
	}
	if (!CHECK_U64(end, stubs.len) || !CHECK(memcmp(memory, stubs.bytes, end) == 0)) {
		print(name, "planned", memory, end);
		print(name, "assembled", stubs.bytes, stubs.len);
	}
}

static struct plan_call call_of(const struct pattern_call *c, uint32_t number)
{
	return (struct plan_call){.target = c->target,
				  .restart = c->restart,
				  .number = CALL + number,
				  .pushed_site = (uint32_t)c->record,
				  .pushes = c->pushes,
				  .is_foreign = c->foreign,
				  .is_counted = !c->foreign,
				  .leaves_tails = c->tails,
				  .is_gone = c->gone};
}

static void test_site(const char *name, const char *path, uint8_t *in, uint8_t *out, const struct pattern *p)
{
	static uint64_t no_slots[1];
	static struct plan_call calls[CALLS_MAX];
	static struct plan_placed placed[CALLS_MAX];
	static struct dispatch_case cases[CALLS_MAX];
	static struct code_stub stubs[STUBS_MAX];
	static uint8_t bytes[BYTES_MAX];
	struct section text = find_section(in, ".text"), seen = find_section(in, ".calls");
	struct dispatch_table table = {.slots = no_slots, .bits = SLOT_BITS};
	uint32_t count = (uint32_t)(seen.len / sizeof(struct pattern_call)), most_stubs, most_bytes;
	const struct scan_site *scanned;
	struct scan_function scan;
	struct agent_site site;
	struct image image;
	struct plan plan;

	table.slots = (uint64_t *)SLOTS; /* NOLINT(performance-no-int-to-ptr): it is not read */
	if (!CHECK(image_load(path, &image)) ||
	    !CHECK_U64(scan_function(&image.scan, image.ranges[0].low, &agent_allocator, &scan), SCAN_OK) ||
	    !CHECK(p->site < scan.site_count && count <= CALLS_MAX))
		return;
	scanned = &scan.sites[p->site];
	CHECK(!scan.reason && !shape_refuses(scanned, p->site ? scanned - 1 : NULL));
	site = shape_site(scanned, p->site ? scanned - 1 : NULL);
	for (uint32_t i = 0; i < count; i++) {
		struct pattern_call call;

		memcpy(&call, seen.bytes + i * sizeof call, sizeof call);
		calls[i] = call_of(&call, i);
	}
	struct plan_site input = {.site = &site,
				  .number = SITE,
				  .original = text.bytes + (shape_start(&site) - text.address),
				  .calls = calls,
				  .call_count = count,
				  .addend = p->addend,
				  .area = &area,
				  .trampoline = TRAMPOLINE,
				  .next_dispatch = p->next,
				  .table = &table};

	plan_most(&input, &most_stubs, &most_bytes);
	stub_plan(&plan.stubs, &area, stubs, most_stubs, bytes, most_bytes);
	plan.placed = placed;
	plan.cases = cases;
	if (CHECK(plan_site(&input, &plan)))
		compare(name, text, out, plan.region, shape_start(&site), shape_bytes(&site), &plan.stubs);
	CHECK(agent_site_is_direct(&site) || plan.dispatch);
	CHECK(plan.is_before_led == site.shares_suffix);
	scan_function_release(&scan, &agent_allocator);
	image_unload(&image);
}

/* What is not the empty function that it should be stays as it is. */
static void test_no_loader(struct plan_bytes bytes, uint64_t to)
{
	static const uint8_t busy[] = {0x55, 0xc3, 0x90, 0x90, 0x90}, traced[] = {0xcc, 0x0f, 0x1e, 0xfa, 0xc3};
	static const uint8_t empty[] = {0xc3, 0x90, 0x90, 0x90, 0x90};
	struct plan_branch plan;

	bytes.original = busy;
	CHECK(!plan_loader(&bytes, to, &plan));
	bytes.original = traced;
	CHECK(!plan_loader(&bytes, to, &plan));
	bytes.original = empty;
	CHECK(plan_loader(&bytes, to, &plan));
	bytes.at += 8;
	CHECK(!plan_loader(&bytes, to, &plan));
}

static void test_branch(const char *name, uint8_t *in, uint8_t *out, const struct pattern *p)
{
	struct section text = find_section(in, ".text"), callers = find_section(in, ".callers");
	uintptr_t addresses[EMIT_MAX_CALLERS] = {0};
	struct plan_bytes bytes = {.at = p->at,
				   .len = (uint32_t)p->len,
				   .original = text.bytes + (p->at - text.address),
				   .function = FUNCTION,
				   .area = &area};
	struct plan_callers known = {
		.addresses = addresses, .count = (uint32_t)(callers.len / 8), .left = (uint8_t)p->left};
	struct plan_branch plan;
	bool ok = false;

	if (callers.bytes)
		memcpy(addresses, callers.bytes, callers.len < sizeof addresses ? callers.len : sizeof addresses);
	if (p->what == PLAN_ENTRY)
		ok = plan_entry(&bytes, p->restart, &known, &plan);
	else if (p->what == PLAN_FOREIGN_RETURN)
		ok = plan_foreign_return(&bytes, &plan);
	else if (p->what == PLAN_FOREIGN_CALL)
		ok = plan_foreign_call(&bytes, p->to, &plan);
	else if (p->what == PLAN_DETOUR)
		ok = plan_detour(&bytes, p->to, &plan);
	else if (p->what == PLAN_LOADER)
		ok = plan_loader(&bytes, p->to, &plan);
	if (CHECK(ok))
		compare(name, text, out, plan.region, p->at, p->len, &plan.stubs);
	if (p->what == PLAN_LOADER)
		test_no_loader(bytes, p->to);
}

int main(int argc, char **argv)
{
	uint8_t *in, *out;
	struct section section;
	struct pattern pattern;

	if (argc != 4)
		return 2;
	in = read_file(argv[2]);
	out = read_file(argv[3]);
	section = find_section(in, ".plan");
	if (!CHECK_U64(section.len, sizeof pattern))
		return 1;
	memcpy(&pattern, section.bytes, sizeof pattern);
	if (pattern.what == PLAN_SITE)
		test_site(argv[1], argv[2], in, out, &pattern);
	else
		test_branch(argv[1], in, out, &pattern);
	free(in);
	free(out);
	if (check_status())
		fprintf(stderr, "pattern %s\n", argv[1]);
	return check_status();
}

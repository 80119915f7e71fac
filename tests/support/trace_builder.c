/* trace_builder.c - metadata of tracing by hand. */
#include "support/trace_builder.h"

#include <string.h>

static const struct tracemeta_variant no_frame = {.sum_off = TRACE_NO_OFFSET,
						  .count_off = TRACE_NO_OFFSET,
						  .ring_off = TRACE_NO_OFFSET,
						  .local_off = TRACE_NO_OFFSET};

static void set_variants(struct tracemeta_function *f)
{
	f->variants[0] = f->variants[1] = f->variants[2] = no_frame;
	f->variants[1].scheme = BUILD_TRACE_SCHEME;
	f->variants[1].frame_bytes = 40;
	f->variants[1].sum_bytes = 2;
	f->variants[1].sum_off = 0;
	f->variants[1].count_off = 4;
	f->variants[1].ring_off = 8;
	f->variants[1].ring_slots = 8;
	f->variants[1].local_off = 24;
	f->variants[1].local_points = 2;
	f->variants[1].local_bits = 1;
	f->variants[2].scheme = WM1_SCHEME_BLOCKS;
	f->variants[2].frame_bytes = 10;
	f->variants[2].local_off = 0;
	f->variants[2].local_points = 9;
	f->variants[2].local_bits = 8;
	f->variant_count = 3;
}

static void set_calls(struct tracemeta_call *calls)
{
	calls[0] = (struct tracemeta_call){.kind = TRACEMETA_DIRECT,
					   .may_leave = true,
					   .callee = "puts",
					   .file = "test.c",
					   .line = 11,
					   .column = 2};
	calls[1] = (struct tracemeta_call){.kind = TRACEMETA_INDIRECT, .file = "test.c", .line = 11, .column = 7};
	calls[2] = (struct tracemeta_call){.node = 3,
					   .kind = TRACEMETA_PURE,
					   .callee = "strlen",
					   .function = "in",
					   .file = "a.h",
					   .line = 3,
					   .column = 1};
	calls[3] = (struct tracemeta_call){.node = 9, .kind = TRACEMETA_ASM, .may_leave = true, .no_return = true};
}

void build_trace(struct trace_builder *b, const char *unit)
{
	struct tracemeta_function *f = b->functions;

	memset(b, 0, sizeof *b);
	b->unit = (struct tracemeta_unit){
		.producer = "waymark test", .name = unit, .is_final = true, .coverage_bytes = 40, .function_count = 2};
	for (uint32_t i = 0; i < BUILD_TRACE_NODES; i++)
		b->states[i] = (struct path_state){.has_register = i % 4 == 1, .value = i < 8 ? i : 0 - (uint64_t)i};
	set_calls(b->calls);
	*f = (struct tracemeta_function){.name_key = UINT64_C(0x0807060504030201),
					 .cfg_key = UINT64_C(0x8000000000000009),
					 .is_root = true,
					 .is_tunable = true,
					 .calls = b->calls,
					 .call_count = BUILD_TRACE_CALLS,
					 .function_off = 15,
					 .calls_off = 0,
					 .blocks_off = 5,
					 .node_count = BUILD_TRACE_NODES,
					 .states = b->states};
	set_variants(f);
	b->functions[1] = (struct tracemeta_function){.name_key = 0x10,
						      .cfg_key = 0x20,
						      .is_address_taken = true,
						      .function_off = 39,
						      .calls_off = TRACE_NO_OFFSET,
						      .blocks_off = TRACE_NO_OFFSET,
						      .node_count = 1};
	b->skipped = (struct skipped_function){.name = "h", .reason = "is naked"};
	b->meta.units = &b->unit;
	b->meta.unit_count = 1;
	b->meta.functions = b->functions;
	b->meta.function_count = 2;
	b->meta.skipped = &b->skipped;
	b->meta.skipped_count = 1;
}

void build_point_unit(struct buffer *out, uint64_t key, uint64_t coverage)
{
	buffer_u64(out, UINT64_MAX);
	buffer_u64(out, key);
	buffer_u64(out, coverage);
}

void build_point(struct buffer *out, uint64_t address, enum wm1_point kind, uint32_t function, uint8_t scheme,
		 uint32_t node)
{
	buffer_u64(out, address);
	buffer_u64(out, (uint64_t)function << WM1_POINT_FUNCTION_SHIFT | (uint64_t)kind << WM1_POINT_KIND_SHIFT |
				(uint64_t)scheme << WM1_POINT_SCHEME_SHIFT | node);
}

void build_point_frame(struct buffer *out, uint64_t address, uint32_t function, uint8_t scheme, const char *place)
{
	build_point(out, address, WM1_POINT_FRAME, function, scheme, 0);
	buffer_bytes(out, place, strlen(place) + 1);
}

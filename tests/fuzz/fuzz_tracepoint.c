/* fuzz_tracepoint.c - tracepoints_read, against the metadata of two units that tests/support/trace_builder.c makes. */
#include <stdlib.h>

#include "format/tracepoint.h"
#include "fuzz/fuzz.h"
#include "support/trace_builder.h"

static void read_units(struct tracemeta *m)
{
	struct trace_builder b;
	struct buffer out = {0};
	uint64_t key;

	tracemeta_init(m);
	build_trace(&b, "a.c");
	if (tracemeta_write(&b.meta, &key, &out))
		abort();
	build_trace(&b, "b.c");
	if (tracemeta_write(&b.meta, &key, &out) || tracemeta_read(out.bytes, out.len_bytes, "units", m))
		abort();
	buffer_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tracemeta m;
	struct tracepoints p;
	struct error *err;

	if (!m.unit_count)
		read_units(&m);
	err = tracepoints_read(data, size, "input", &m, &p);
	if (err) {
		error_destroy(err);
		return 0;
	}
	for (size_t i = 0; i < p.count; i++) {
		const struct tracepoint *at = &p.points[i];

		if (!at->address || at->function >= m.function_count || (i && at[-1].address > at->address))
			abort();
		if (at->node >= (at->kind == WM1_POINT_COVERED && at->scheme & WM1_SCHEME_CALLS
					 ? m.functions[at->function].call_count
					 : m.functions[at->function].node_count))
			abort();
	}
	tracepoints_deinit(&p);
	return 0;
}

/*
 * ppp.h - preferential path profiling: compact numbers for a chosen set of paths (Vaswani, Nori, Chilimbi: POPL'07; not
 * Bond and McKinley's "practical path profiling", which has the same initials).
 *
 * One register carries both numbers of the paper:
 *
 *       63          64-bits            0
 *      .-----------.------------------.
 *      |  PPP      | Ball-Larus + 1   |    every edge adds both; sums are modulo 2^64
 *      '-----------'------------------'
 *
 * At the end of a path the top `bits` bits are an index into 2^bits pairs (check, count); check is the whole register of the
 * interesting path with that index, 0 for none. An uninteresting path may have any index, but never that register: its
 * Ball-Larus number is another.
 */
#ifndef WM_CORE_PATHS_PPP_H
#define WM_CORE_PATHS_PPP_H

#include "core/paths/path_number.h"

struct ppp_numbering {
	int64_t *start_weights; /* [start_count], as path_numbering.start_values */
	int64_t *edge_weights;  /* [edge_count] */
	int64_t lowest;         /* smallest sum of weights of an interesting path */
	uint64_t interval;      /* largest - smallest + 1; 0 when there is no interesting path */
	double alpha;           /* interval / number of interesting paths; 0 when there is none */
};

/*
 * The algorithm of figure 10: O(edge_count * count) per order of edges tried. Different interesting paths get different sums.
 * interesting: Ball-Larus numbers, all different, below path_count. Memory is the arena's.
 */
struct error *ppp_number(const struct cfg *g, const struct path_numbering *n, const uint64_t *interesting,
			 uint32_t count, struct arena *arena, struct ppp_numbering *ret);

struct ppp_table {
	unsigned int bits;      /* 2^bits entries */
	uint64_t *start_values; /* packed, for placement_make */
	uint64_t *edge_values;
	uint64_t *checks; /* [2^bits], 0 where there is no interesting path */
};

/*
 * Packs both numbers. bits is the smallest with which the interesting paths' PPP numbers differ modulo 2^bits. ERROR_OVERFLOW when
 * that is more than max_bits or when path_count + 1 does not fit the bits below: the caller takes fewer paths, or does
 * without.
 */
struct error *ppp_pack(const struct cfg *g, const struct path_numbering *n, const struct ppp_numbering *p,
		       const uint64_t *interesting, uint32_t count, unsigned int max_bits, struct arena *arena,
		       struct ppp_table *ret);

/* The Ball-Larus number in a packed register. */
static inline uint64_t ppp_path_of(uint64_t packed, unsigned int bits)
{
	return (bits ? packed & ((UINT64_C(1) << (64 - bits)) - 1) : packed) - 1;
}

#endif

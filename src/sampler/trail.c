/*
 * trail.c - see trail.h for what makes it exact.
 *
 * frames are not written before the walk is done, so that one that cannot be done, or is abandoned, leaves them whole; only the end of a walk
 * writes, and what abandons that makes trail_enter forget them.
 */
#include "sampler/trail.h"

#include <signal.h>
#include <stdatomic.h>

#include "recorder/sys.h"

enum {
	WORD_BYTES = 8,
	ROW_SHIFT = 64 - TRAIL_ROW_BITS,
};

/* The state of a walk: a frame's registers. */
struct state {
	uint64_t pc, sp, rbp;
};

/* Of the stack, in bounds. */
__attribute__((no_sanitize("address"))) static inline uint64_t word_at(uint64_t address)
{
	typedef uint64_t __attribute__((aligned(1), may_alias)) stack_word;

	return *(const stack_word *)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

static inline uint64_t cfa_of(const struct trail_row *row, uint64_t sp, uint64_t rbp)
{
	return (row->kind == TRAIL_ROW_RBP ? rbp : sp) + (uint64_t)(int64_t)row->cfa_offset;
}

static inline uint64_t caller_rbp(const struct trail_row *row, uint64_t cfa, uint64_t rbp)
{
	return row->rbp_words ? word_at(cfa - (uint64_t)row->rbp_words * WORD_BYTES) : rbp;
}

/* ---- images and rows ---- */

static bool is_listed(const struct trail *t, const struct sampler_image *image)
{
	for (uint32_t i = 0; i < t->image_count; i++)
		if (t->images[i] == image)
			return true;
	return false;
}

/* Images that went take all frames with them: other code may be where theirs was. */
static void check_images(struct trail *t)
{
	for (uint32_t i = 0; i < t->image_count; i++)
		if (!sampler_image_is_there(t->images[i])) {
			t->count = t->image_count = 0;
			return;
		}
}

static void list_image(struct trail *t, struct sampler_image *image)
{
	if (is_listed(t, image))
		return;
	/* Images that are needed no more are listed, too. Frames of images that are not listed must not stay. */
	if (t->image_count == TRAIL_IMAGES)
		t->count = t->image_count = 0;
	else
		t->images[t->image_count++] = image;
}

static inline struct trail_row *row_place(struct trail *t, uint64_t pc)
{
	return &t->rows[pc * UINT64_C(0x9e3779b97f4a7c15) >> ROW_SHIFT];
}

static inline bool has_row(const struct trail *t, const struct trail_row *row, uint64_t pc)
{
	return row->pc == pc && (!row->may_go || is_listed(t, row->image));
}

void trail_read_row(struct trail *t, uint64_t pc)
{
	struct trail_row *row = row_place(t, pc);
	struct sampler_image *image = sampler_image_at(pc - 1);
	struct unwind_cache_entry e;

	*row = (struct trail_row){.image = image, .kind = TRAIL_ROW_OTHER};
	/* Code that was made at run time may be another soon: it has no row that stays. */
	if (!image)
		return;
	row->pc = pc;
	row->may_go = !image->stays;
	if (row->may_go)
		list_image(t, image);
	if (!unwind_ordinary_row(&image->table, pc - 1, &e))
		return;
	row->kind = !e.deepest ? TRAIL_ROW_OUTERMOST : e.is_from_rbp ? TRAIL_ROW_RBP : TRAIL_ROW_RSP;
	row->cfa_offset = e.cfa_offset;
	row->rbp_words = e.saved[UNWIND_CACHE_RBP];
}

/* ---- walks ---- */

/* To the caller, by the row. */
enum step {
	STEP_OK,
	STEP_END, /* there is none */
	STEP_NONE,
};

static inline enum step step(const struct trail_row *row, uint64_t high, struct state *s)
{
	uint64_t cfa = cfa_of(row, s->sp, s->rbp), pc;

	if (row->kind == TRAIL_ROW_OUTERMOST)
		return STEP_END;
	if (row->kind == TRAIL_ROW_OTHER || cfa <= s->sp || cfa > high || cfa - s->sp < WORD_BYTES ||
	    cfa - s->sp < (uint64_t)row->rbp_words * WORD_BYTES)
		return STEP_NONE;
	pc = word_at(cfa - WORD_BYTES);
	if (!pc)
		return STEP_END;
	*s = (struct state){pc, cfa, caller_rbp(row, cfa, s->rbp)};
	return STEP_OK;
}

static inline bool is_met(const struct trail_frame *f, const struct state *s)
{
	return f->sp == s->sp && f->row.pc == s->pc && (!f->needs_rbp || f->rbp == s->rbp);
}

/* rbp where the caller of the frame `at` goes on: it is the one at the frame `met`, rbp, or what has been saved last between the two. */
static uint64_t rbp_behind(const struct trail *t, size_t at, size_t met, uint64_t rbp)
{
	for (size_t i = at; i <= met; i++)
		if (t->frames[i].row.rbp_words)
			return caller_rbp(&t->frames[i].row, t->frames[i - 1].sp, 0);
	return rbp;
}

/* How many words there are up to the innermost of the first `count` that is not what it was; 0: all of them are. */
static inline size_t find_changed(const struct trail_word *words, size_t count)
{
	enum {
		AT_ONCE = 4,
	};

	for (const struct trail_word *w = words + count; count >= AT_ONCE; count -= AT_ONCE) {
		w -= AT_ONCE;
		if ((word_at(w[0].address) ^ w[0].value) | (word_at(w[1].address) ^ w[1].value) |
		    (word_at(w[2].address) ^ w[2].value) | (word_at(w[3].address) ^ w[3].value))
			break;
	}
	while (count && word_at(words[count - 1].address) == words[count - 1].value)
		count--;
	return count;
}

/*
 * Follows frames of the last walk outwards from the one before *at, which is met at *s, as long as words are equal. *at: the frames outside
 * of the last one that is. STEP_END: *at is 0, and that frame has no caller; else *s is its caller.
 */
static inline enum step follow(const struct trail *t, uint64_t high, size_t *at, struct state *s)
{
	size_t met = *at - 1, count = find_changed(t->words, t->frames[met].words), last;
	uint64_t cfa;

	if (count) {
		last = t->word_frames[count - 1];
		cfa = t->frames[last - 1].sp;
		*at = last;
		*s = (struct state){word_at(cfa - WORD_BYTES), cfa, rbp_behind(t, last, met, s->rbp)};
		return STEP_OK;
	}
	*at = 0;
	*s = (struct state){t->frames->row.pc, t->frames->sp, rbp_behind(t, 1, met, s->rbp)};
	return step(&t->frames->row, high, s);
}

/* The row of the code at pc; NULL: there is none. */
static inline const struct trail_row *row_of(struct trail *t, uint64_t pc, trail_look_up look_up)
{
	const struct trail_row *row = row_place(t, pc);

	if (has_row(t, row, pc))
		return row;
	look_up(t, pc);
	return has_row(t, row, pc) ? row : NULL;
}

/* The frames [from, to) of the last walk are in this one, in other contexts. */
static size_t take_over(struct trail *t, size_t from, size_t to, size_t fresh)
{
	while (to > from)
		t->fresh[fresh++] = t->frames[--to];
	return fresh;
}

static inline uint32_t add_word(struct trail *t, uint32_t count, size_t frame, uint64_t address, uint64_t value)
{
	t->words[count] = (struct trail_word){address, value};
	t->word_frames[count] = (uint32_t)frame;
	return count + 1;
}

/* Those of the step from the frame `at`, behind the first `count`. How many there are then. */
static inline uint32_t add_words(struct trail *t, size_t at, uint32_t count)
{
	const struct trail_frame *f = &t->frames[at], *caller = f - 1;

	if (!at)
		return 0;
	if (caller->needs_rbp && f->row.rbp_words)
		count = add_word(t, count, at, caller->sp - (uint64_t)f->row.rbp_words * WORD_BYTES, caller->rbp);
	return add_word(t, count, at, caller->sp - WORD_BYTES, caller->row.pc);
}

/* `fresh` frames come in the place of those behind the first `kept`. */
static void settle(struct trail *t, size_t kept, size_t fresh)
{
	uint32_t words = kept ? t->frames[kept - 1].words : 0;
	size_t at = kept;

	while (fresh) {
		struct trail_frame *f = &t->frames[at];

		*f = t->fresh[--fresh];
		f->prefix = 0;
		f->path = trail_path(at ? f[-1].path : 0, f->row.pc);
		__builtin_prefetch(trail_near(t, at, f->path));
		__builtin_prefetch(trail_calls(t, f->path));
		f->needs_rbp = f->row.kind == TRAIL_ROW_RBP || (!f->row.rbp_words && at && f[-1].needs_rbp);
		f->words = words = add_words(t, at, words);
		at++;
	}
	t->kept = kept;
	t->count = at;
}

bool trail_walk(struct trail *t, const struct trail_start *from, trail_look_up look_up)
{
	struct state s = {from->pc, from->sp, from->rbp};
	size_t left, fresh = 0;

	if (t->image_count)
		check_images(t);
	if (t->count && t->frames[0].sp > from->high)
		t->count = 0;
	for (left = t->count; fresh + left < TRAIL_FRAMES;) {
		const struct trail_row *row;
		enum step result;

		while (left && t->frames[left - 1].sp < s.sp)
			left--;
		if (left && is_met(&t->frames[left - 1], &s)) {
			size_t outside = left;

			result = follow(t, from->high, &outside, &s);
			if (result == STEP_END) {
				settle(t, left, fresh);
				return true;
			}
			if (result == STEP_NONE)
				return false;
			fresh = take_over(t, outside, left, fresh);
			left = outside;
			continue;
		}
		row = row_of(t, s.pc, look_up);
		if (!row)
			return false;
		/* The list of images was full, and with it frames were forgotten. */
		if (left > t->count)
			return false;
		t->fresh[fresh++] = (struct trail_frame){.sp = s.sp, .rbp = s.rbp, .row = *row};
		result = step(row, from->high, &s);
		if (result == STEP_END) {
			settle(t, 0, fresh);
			return true;
		}
		if (result == STEP_NONE)
			return false;
	}
	return false;
}

/* ---- who has it ---- */

static bool is_on_alternate(void)
{
	stack_t stack = {.ss_flags = SS_DISABLE};

	wmrt_sys3(SYS_sigaltstack, 0, (long)&stack, 0);
	return stack.ss_flags & SS_ONSTACK;
}

bool trail_enter(struct trail *t, uintptr_t here, uintptr_t low, uintptr_t high)
{
	uintptr_t in_use = __atomic_load_n(&t->in_use, __ATOMIC_RELAXED);

	if (__builtin_expect(in_use != 0, 0)) {
		if (in_use < low || in_use >= high || here <= in_use || is_on_alternate())
			return false;
		trail_reset(t);
	}
	__atomic_store_n(&t->in_use, here, __ATOMIC_RELAXED);
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

void trail_leave(struct trail *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	__atomic_store_n(&t->in_use, 0, __ATOMIC_RELAXED);
}

void trail_reset(struct trail *t)
{
	t->count = t->kept = t->outer = 0;
	t->in_use = 0;
}

/*
 * walk.c - walks by .eh_frame, and replays the calls of the frames in the encoding in force.
 *
 * A frame whose caller is instrumented was entered over a call of the site it returns to; or over tail calls in between, which the
 * stack does not show. Those that pushed have left an entry with the frame's frame_slot. One that did not is the one edge with addend 0
 * into its callee.
 */
#include "agent/context/walk.h"

#include <string.h>

#include "agent/context/coroutine_stacks.h"
#include "agent/threads/threads.h"
#include "agent/program/calls.h"
#include "agent/os/state.h"
#include "agent/code/trampolines.h"
#include "agent/os/memory.h"
#include "agent/threads/stop.h"
#include "waymark/abi.h"

enum {
	MAX_TAILS = 256, /* of one frame */
	MAX_TAIL_FUNCTIONS = 256,
	MAX_FRAMES = 1 << 24,
};

/* Under the agent's lock. */
static struct unwind_cache cache;
static uint32_t *piece; /* edges of one */
static size_t piece_capacity;

/* While the loader unloads, the others are stopped: what it has not yet said is gone stays mapped then. */
static const struct agent_image *image_at(uintptr_t pc)
{
	const struct agent_image *image = agent_image_at(pc);

	return image && agent_is_unloading && !agent_image_is_there(image) ? NULL : image;
}

static bool add_frame(struct walk *w, const struct unwind_regs *regs)
{
	uint32_t number = AGENT_NONE;
	struct walk_frame *frame;

	if (w->count == MAX_FRAMES ||
	    !agent_reserve((void **)&w->frames, &w->capacity, w->count + 1, sizeof *w->frames))
		return false;
	frame = &w->frames[w->count++];
	*frame = (struct walk_frame){
		.pc = regs->pc, .function = AGENT_NONE, .site = AGENT_NONE, .is_interrupted = !regs->is_return_address};
	if (trampoline_find(regs->pc, &number) || regs->is_return_address)
		number = number == AGENT_NONE ? agent_site_returning_to(regs->pc) : number;
	if (number != AGENT_NONE) {
		const struct agent_site *site = agent_site(number);

		/* A thread that was interrupted in a trampoline is in no call: in front of it, or behind it. */
		if (regs->is_return_address)
			frame->site = number;
		/* Of an image that was unloaded: whatever is there now, this leads nowhere. */
		bool is_gone = agent_function_is(site->function, AGENT_FUNCTION_GONE);

		frame->pc = is_gone ? 0 : site->address + site->len_bytes;
		frame->function = is_gone ? AGENT_NONE : site->function;
	} else if (image_at(regs->pc - regs->is_return_address)) {
		frame->function = agent_function_at(regs->pc - regs->is_return_address);
	}
	return true;
}

/* What called it has jumped out of it since. */
static void leave_unloaded_code(struct agent_thread *thread, uintptr_t sp)
{
	uintptr_t low, high;

	if (thread->in_unloaded_code && agent_thread_stack(thread, sp, &low, &high) && thread->in_unloaded_code < sp &&
	    thread->in_unloaded_code >= low)
		thread->in_unloaded_code = 0;
}

bool walk_stack(struct walk *w, const struct unwind_regs *from, struct agent_thread *thread)
{
	struct unwind_regs regs = *from;
	struct unwind_frame left;

	w->count = w->inside = 0;
	w->is_whole = false;
	if (agent_is_unloading && !stop_others())
		return false;
	leave_unloaded_code(thread, from->r[CFI_RSP]);
	while (add_frame(w, &regs)) {
		struct walk_frame *frame = &w->frames[w->count - 1];
		const struct agent_image *image;
		struct unwind_stack stack;
		enum unwind_result result;

		regs.pc = frame->pc; /* of a detour: as if the site itself had called */
		image = image_at(regs.pc - regs.is_return_address);
		if (!agent_thread_stack(thread, regs.r[CFI_RSP], &stack.low, &stack.high)) {
			w->inside = w->inside ? w->inside : w->count;
			return w->count > 1;
		}
		result = unwind_step(image ? &image->table : NULL, &stack, image ? &cache : NULL, &regs, &left);
		if (result != UNWIND_OK) {
			w->is_whole |= result == UNWIND_END || coroutine_is_end(frame->pc);
			w->inside = w->inside ? w->inside : w->count;
			return true;
		}
		frame->slot = left.return_slot;
		if (thread->root && frame->slot == thread->root && !w->inside) {
			w->inside = w->count;
			w->is_whole = true;
		}
		if (thread->in_unloaded_code && frame->slot == thread->in_unloaded_code) {
			w->inside = w->inside ? w->inside : w->count;
			return true;
		}
	}
	return false;
}

/* ---- from frames to a context ---- */

static bool add_entry(struct walk_state *s, uint64_t id, uint64_t frame_slot, uint32_t site)
{
	if (!agent_reserve((void **)&s->entries, &s->capacity, s->count + 1, sizeof *s->entries))
		return false;
	s->entries[s->count++] = (struct agent_entry){.id = id, .frame_slot = frame_slot, .site = site};
	return true;
}

/* A call of what is not instrumented and may call back. */
static struct agent_call *foreign_call(uint32_t site)
{
	agent_for_each_present_call(c, agent_site(site))
		if (agent_call(c)->edge == AGENT_NONE && !agent_call(c)->never_calls_back)
			return agent_call(c);
	return NULL;
}

/* The calls of the site that were seen, all of them or some, are of no-callback functions. */
static bool calls_without_callback(uint32_t site, bool is_all)
{
	bool is_any = false;

	agent_for_each_present_call(c, agent_site(site)) {
		if (!agent_call(c)->never_calls_back && is_all)
			return false;
		is_any |= agent_call(c)->never_calls_back;
	}
	return is_any;
}

/* The tail call at 0 into the function, NULL if its edge at 0 is none. */
static struct agent_call *zero_tail_into(uint32_t function)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	uint32_t node = agent_function(function)->node, first;
	struct agent_call *call;

	if (node >= agent_program.encoder.numbered_functions)
		return NULL;
	first = g->range_start[node];
	if (first == g->range_start[node + 1] || g->ranges[first].edge == CALLGRAPH_DUMMY ||
	    g->ranges[first].first != 0)
		return NULL;
	call = agent_call(agent_program.edge_calls[g->ranges[first].edge]);
	return agent_site_is_tail(agent_site(call->site)) ? call : NULL;
}

static bool add_step(struct walk_chain *c, enum walk_step_kind kind, uint32_t number, uint64_t frame_slot,
		     uint32_t function)
{
	if (!agent_reserve((void **)&c->steps, &c->capacity, c->count + 1, sizeof *c->steps))
		return false;
	c->steps[c->count++] = (struct walk_step){.kind = (uint8_t)kind, .number = number, .frame_slot = frame_slot};
	c->function = function;
	return true;
}

static uint32_t call_number(const struct agent_call *call)
{
	return (uint32_t)(call - agent_program.calls);
}

/* The thread's entries that are older than those of the frame's callees. Keys rise from the inner frames to the outer ones. */
void walk_place_entries(struct walk *w, size_t frame, const struct agent_thread *old)
{
	size_t at = old->top ? (size_t)(old->top - old->base) : 0, count = at;
	uint64_t last = 0;

	for (size_t i = frame; i < w->inside; i++) {
		uint64_t frame_slot = w->frames[i].slot - 8;

		if (frame_slot < last)
			at = count;
		while (at > 1 && old->base[at - 1].frame_slot < frame_slot)
			at--;
		last = frame_slot;
		w->frames[i].entries = at;
	}
}

/* The frame's own entries that a site other than `site` pushed (AGENT_NONE: any); lowest first from *ret on. */
static size_t tails_of(const struct walk_frame *f, uint32_t site, const struct agent_thread *old,
		       const struct agent_entry **ret)
{
	size_t at = f->entries, count = 0;

	*ret = old->base;
	if (!old->base)
		return 0;
	while (at > 1 && old->base[at - 1].frame_slot == f->slot - 8 &&
	       (site == AGENT_NONE || old->base[at - 1].site != agent_site(site)->record)) {
		at--;
		count++;
	}
	*ret = old->base + at;
	return count;
}

/* Tail calls of one frame, innermost first. */
struct tails {
	struct walk_step steps[MAX_TAILS];
	size_t count;
	uint32_t innermost; /* function of the innermost frame that is instrumented; AGENT_NONE: none is */
	uint32_t root;      /* without a site: the function that they lead from */
};

static bool add_tail(struct tails *t, enum walk_step_kind kind, uint32_t number, bool has_gap)
{
	if (t->count == MAX_TAILS)
		return false;
	t->steps[t->count++] = (struct walk_step){.kind = (uint8_t)kind, .number = number, .has_gap = has_gap};
	return true;
}

static bool reserve_piece(void)
{
	return agent_reserve((void **)&piece, &piece_capacity, (size_t)agent_program.encoder.graph.node_count + 1,
			     sizeof *piece);
}

/* The piece of an entry, whose caller is known. */
static bool add_piece(struct tails *t, uint64_t id, uint32_t caller)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	uint32_t count, start;
	struct error *err;

	if (agent_id_is_foreign(id) || !reserve_piece())
		return false;
	err = callgraph_decode(g, agent_function(caller)->node, id, piece, &count, &start);
	if (err) {
		error_destroy(err);
		return false;
	}
	while (count > 0)
		if (!add_tail(t, WALK_CALL, agent_program.edge_calls[piece[--count]], false))
			return false;
	return add_tail(t, WALK_RESUME, agent_program.node_functions[start], false);
}

/*
 * The newest of *left entries says that calls in front of its piece are left out: that piece is what its id says, and the entry below
 * pushed for a call that is not known. The same may be true of that one. *at: its caller.
 */
static bool add_gaps(struct tails *t, const struct agent_entry *entries, size_t *left, uint32_t *at)
{
	while (entries[*left - 1].site & WM1_SITE_ELIDED) {
		const struct agent_entry *below = &entries[*left - 2];
		uint32_t site = *left > 1 ? agent_site_of_record(below->site) : AGENT_NONE;

		if (site == AGENT_NONE || !add_piece(t, entries[*left - 1].id, *at) ||
		    !add_tail(t, WALK_CUT, below->site & ~WM1_SITE_ELIDED, false))
			return false;
		*at = agent_site(site)->function;
		--*left;
	}
	return true;
}

/*
 * What the entry, one of a tail call, was pushed for: where the piece above it starts. That ends at the next entry, or where the thread is.
 * AGENT_NONE: the thread's state does not say so.
 */
static uint32_t pushed_for(const struct agent_thread *old, const struct agent_entry *entry, uint32_t innermost)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	bool is_last = entry + 1 == old->top;
	uint32_t site = is_last ? AGENT_NONE : agent_site_of_record(entry[1].site);
	uint32_t at = site == AGENT_NONE ? innermost : agent_site(site)->function;
	uint64_t id = is_last ? old->id : agent_entry_id(&entry[1]);
	uint32_t count, start;
	struct error *err;

	if ((site == AGENT_NONE) != is_last || !agent_function_is(at, AGENT_FUNCTION_INSTRUMENTED) ||
	    agent_id_is_foreign(id) || !reserve_piece())
		return AGENT_NONE;
	err = callgraph_decode(g, agent_function(at)->node, id, piece, &count, &start);
	if (err) {
		error_destroy(err);
		return AGENT_NONE;
	}
	start = agent_program.node_functions[start];
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one of the thread's */
	return agent_call_tail(entry->site, start) ? start : AGENT_NONE;
}

/*
 * Backwards: what entered the function `at`, when site called and that many tail calls after it have pushed; site AGENT_NONE: tail calls
 * alone, from the function on that foreign code has entered.
 */
static bool find_tails(struct tails *t, uint32_t at, uint32_t site, const struct agent_thread *old,
		       const struct agent_entry *entries, size_t left)
{
	while (left || site != AGENT_NONE) {
		uint32_t start = left ? pushed_for(old, &entries[left - 1], t->innermost) : AGENT_NONE;
		const struct agent_call *call =
			left ? agent_call_tail(entries[left - 1].site, at) : agent_call_to(site, at);
		bool is_entry;

		if (start != AGENT_NONE && start != at)
			call = NULL; /* the site has called it, too, but not here */
		is_entry = left && call;
		if (call && !left)
			return add_tail(t, WALK_CALL, call_number(call), false);
		if (!call)
			call = zero_tail_into(at);
		if (!call ||
		    !add_tail(t, WALK_CALL, call_number(call), is_entry && (entries[left - 1].site & WM1_SITE_ELIDED)))
			return false;
		at = agent_site(call->site)->function;
		if (is_entry && !add_gaps(t, entries, &left, &at))
			return false;
		left -= is_entry;
	}
	t->root = at;
	return true;
}

static bool add_tails(struct walk_chain *c, const struct tails *t, uint64_t frame_slot)
{
	for (size_t i = t->count; i-- > 0;) {
		if (!agent_reserve((void **)&c->steps, &c->capacity, c->count + 1, sizeof *c->steps))
			return false;
		c->steps[c->count] = t->steps[i];
		c->steps[c->count++].frame_slot = frame_slot;
	}
	return true;
}

/* The tail calls that lead from the end of path[0 .. n) to `callee`, depth first: how many ways there are, up to 2. *ret: the first's length. */
static unsigned find_ways(uint32_t callee, const struct agent_call **path, size_t n, const struct agent_call **found,
			  size_t *ret)
{
	const struct agent_call *last = path[n - 1];
	const struct agent_function *f;
	unsigned ways = 0;

	if (last->callee == callee && n > 1) {
		memcpy(found, path, n * sizeof(const struct agent_call *));
		*ret = n;
		return 1;
	}
	if (n == WALK_MAX_TAILS || !agent_function_is(last->callee, AGENT_FUNCTION_INSTRUMENTED))
		return 0;
	f = agent_function(last->callee);
	agent_for_each_site(s, f) {
		if (!agent_site_is_tail(agent_site(s)))
			continue;
		agent_for_each_call(c, agent_site(s)) {
			path[n] = agent_call(c);
			ways += find_ways(callee, path, n + 1, ways ? path : found, ret);
			if (ways > 1)
				return ways;
		}
	}
	return ways;
}

/* The calls from site to callee over tail calls that left nothing, since what they were called from was not known: if one way leads there. */
static size_t find_only_way(uint32_t site, uint32_t callee, const struct agent_call **calls)
{
	const struct agent_call *path[WALK_MAX_TAILS];
	unsigned ways = 0;
	size_t n = 0;

	agent_for_each_call(c, agent_site(site)) {
		path[0] = agent_call(c);
		ways += find_ways(callee, path, 1, ways ? path : calls, &n);
		if (ways > 1)
			break;
	}
	return ways == 1 ? n : 0;
}

bool walk_finds_tails(uint32_t site, uint32_t callee)
{
	const struct agent_call *calls[WALK_MAX_TAILS];

	return find_only_way(site, callee, calls) != 0;
}

/* From the function that the chain is at, over site, to the frame's. */
static bool enter(struct walk_chain *c, uint32_t site, const struct walk_frame *f, const struct agent_thread *old)
{
	const struct agent_call *way[WALK_MAX_TAILS];
	const struct agent_entry *entries;
	size_t left = tails_of(f, site, old, &entries), n;
	struct tails tails;

	tails.count = 0;
	tails.innermost = c->innermost;
	if (find_tails(&tails, f->function, site, old, entries, left)) {
		c->function = f->function;
		return add_tails(c, &tails, f->slot - 8);
	}
	n = find_only_way(site, f->function, way);
	for (size_t i = 0; i < n; i++)
		if (!add_step(c, WALK_CALL, call_number(way[i]), f->slot - 8, way[i]->callee))
			return false;
	return n > 0;
}

/* Foreign code at return_address has entered the frame's function, or one that led to it by tail calls. */
static bool start(struct walk_chain *c, const struct walk_frame *f, uintptr_t return_address,
		  const struct agent_thread *old)
{
	const struct agent_entry *entries;
	size_t left = tails_of(f, AGENT_NONE, old, &entries);
	struct tails tails;

	tails.count = 0;
	tails.innermost = c->innermost;
	/* Where the entry of the root is not hooked, nothing has taken off what earlier tail calls left there. */
	if (!find_tails(&tails, f->function, AGENT_NONE, old, entries, left) ||
	    (left && !agent_function_knows_caller(tails.root, return_address))) {
		tails.count = 0;
		tails.root = f->function;
	}
	if (!add_step(c, WALK_START, tails.root, agent_function_knows_caller(tails.root, return_address), tails.root) ||
	    !add_tails(c, &tails, f->slot - 8))
		return false;
	c->function = f->function;
	return true;
}

/* The tail call of what is not instrumented that pushed the entry. NULL: none did. */
static const struct agent_call *foreign_tail(const struct agent_entry *entry)
{
	uint32_t site = agent_site_of_record(entry->site), record = entry->site & ~WM1_SITE_ELIDED;

	if (site == AGENT_NONE || !agent_site_is_tail(agent_site(site)))
		return NULL;
	agent_for_each_call(c, agent_site(site))
		if (agent_call(c)->edge == AGENT_NONE && agent_call(c)->foreign == record)
			return agent_call(c);
	return NULL;
}

/* The frame is of what a tail call that pushed has led to. *ret_is_so: it is; else nothing was added. */
static bool enter_foreign_tail(struct walk_chain *c, uint32_t site, const struct walk_frame *f,
			       const struct agent_thread *old, bool *ret_is_so)
{
	const struct agent_entry *entries;
	size_t left = tails_of(f, site, old, &entries);
	const struct agent_call *call = left ? foreign_tail(&entries[left - 1]) : NULL;
	struct tails tails;
	uint32_t at;

	*ret_is_so = call != NULL;
	if (!call)
		return true;
	tails.count = 0;
	tails.innermost = c->innermost;
	at = agent_site(call->site)->function;
	if (!add_tail(&tails, WALK_FOREIGN, call_number(call), false) || !add_gaps(&tails, entries, &left, &at) ||
	    !find_tails(&tails, at, site, old, entries, left - 1) || !add_tails(c, &tails, f->slot - 8))
		return false;
	c->function = AGENT_NONE;
	return true;
}

/* What the site pushed last in this frame is for foreign code. */
bool walk_is_foreign_tail(uint32_t site, const struct walk_frame *f, const struct agent_thread *old)
{
	const struct agent_entry *entries;
	size_t left = tails_of(f, site, old, &entries);

	return left && agent_site_of_record(entries[left - 1].site) == site;
}

static bool enter_foreign(struct walk_chain *c, uint32_t site, uint64_t frame_slot)
{
	const struct agent_call *call = foreign_call(site);

	return call && add_step(c, WALK_FOREIGN, call_number(call), frame_slot, AGENT_NONE);
}

/* Ways over tail calls to code that is not instrumented. */
struct tail_search {
	uintptr_t target; /* 0: any no-callback function */
	enum walk_pushes pushes;
	const struct agent_call *path[WALK_MAX_TAILS];
	const struct agent_call **found; /* of the first way */
	size_t count;
	unsigned ways; /* that lead there from different functions; more than one: it is not known which */
	unsigned left; /* functions to look at */
};

static bool is_searched(const struct tail_search *t, const struct agent_call *call)
{
	return !call->is_gone && (t->target ? agent_call_start(call) == t->target : call->never_calls_back);
}

/* Tail calls on from the function; path[0 .. n) leads to it. */
static void search_tails(struct tail_search *t, uint32_t function, size_t n)
{
	const struct agent_function *f = agent_function(function);
	bool is_found = false;

	if (n == WALK_MAX_TAILS || !agent_function_is(function, AGENT_FUNCTION_INSTRUMENTED))
		return;
	if (t->left-- == 0) {
		t->ways = 2;
		return;
	}
	agent_for_each_site(s, f) {
		if (!agent_site_is_tail(agent_site(s)))
			continue;
		agent_for_each_call(c, agent_site(s)) {
			bool is_foreign = agent_call(c)->edge == AGENT_NONE;

			if (t->ways > 1)
				return;
			t->path[n] = agent_call(c);
			if (!is_foreign && (t->pushes == WALK_PUSHES_ANY || !agent_call_pushes(agent_call(c)))) {
				search_tails(t, agent_call(c)->callee, n + 1);
			} else if (is_foreign && is_searched(t, agent_call(c)) && !is_found) {
				is_found = true;
				if (t->ways++ == 0)
					memcpy(t->found, t->path, (t->count = n + 1) * sizeof *t->path);
			}
		}
	}
}

static void search(struct tail_search *t, uint32_t site)
{
	t->left = MAX_TAIL_FUNCTIONS;
	agent_for_each_call(c, agent_site(site)) {
		const struct agent_call *call = t->path[0] = agent_call(c);

		if (t->ways > 1)
			return;
		if (call->edge != AGENT_NONE &&
		    (t->pushes == WALK_PUSHES_ANY || agent_call_pushes(call) == (t->pushes == WALK_PUSHES_FIRST)))
			search_tails(t, call->callee, 1);
	}
}

size_t walk_tail_path(uint32_t site, uintptr_t target, enum walk_pushes pushes, const struct agent_call **path)
{
	struct tail_search t = {.target = target, .pushes = pushes, .found = path};

	search(&t, site);
	return t.ways == 1 ? t.count : 0;
}

bool walk_may_lead(uint32_t site, uintptr_t target, enum walk_pushes pushes)
{
	const struct agent_call *path[WALK_MAX_TAILS];
	struct tail_search t = {.target = target, .pushes = pushes, .found = path};

	search(&t, site);
	if (t.ways == 0 && target) { /* a no-callback function may have gone on to it */
		t.target = 0;
		search(&t, site);
	}
	return t.ways != 0;
}

/* Calls on the way to a tail call of what is not instrumented, the last one. *ret_end: that calls nothing back, nothing inside counts. */
static bool add_tail_path(struct walk_chain *c, const struct agent_call *const *path, size_t n, uint64_t frame_slot,
			  bool *ret_end)
{
	if (!n)
		return false;
	for (size_t i = 0; i + 1 < n; i++)
		if (!add_step(c, WALK_CALL, call_number(path[i]), frame_slot, path[i]->callee))
			return false;
	*ret_end = path[n - 1]->never_calls_back;
	c->no_callback_tail = *ret_end ? path[n - 1]->site : AGENT_NONE;
	return *ret_end || add_step(c, WALK_FOREIGN, call_number(path[n - 1]), frame_slot, AGENT_NONE);
}

/* The site's callee is gone from the stack by a tail call of code that is not instrumented, whose frame this is. */
static bool enter_tail_caller(struct walk_chain *c, uint32_t site, const struct walk_frame *f, uint64_t frame_slot,
			      bool *ret_end)
{
	const struct agent_call *path[WALK_MAX_TAILS];
	size_t n = f->function == AGENT_NONE
			   ? 0
			   : walk_tail_path(site, agent_function(f->function)->start, WALK_PUSHES_ANY, path);

	return add_tail_path(c, path, n, frame_slot, ret_end);
}

enum no_callback_call {
	NO_CALLBACK_NOT,
	NO_CALLBACK_MAYBE,
	NO_CALLBACK_CERTAIN,
};

/*
 * The site calls no-callback functions, and the frame is of one of them, or of what it has come to by a tail call. The frame may also be behind
 * tail calls of the graph: then the site has pushed for them, or it is not known which.
 */
static enum no_callback_call called_without_callback(uint32_t site, const struct walk_frame *f,
						     const struct agent_thread *old)
{
	bool is_lost = old->id >= AGENT_LOST_ID;
	uintptr_t target = f->function == AGENT_NONE ? 0 : agent_function(f->function)->start;
	const struct agent_entry *entries;

	if (calls_without_callback(site, true))
		return NO_CALLBACK_CERTAIN;
	if (!calls_without_callback(site, false) || tails_of(f, AGENT_NONE, old, &entries))
		return NO_CALLBACK_NOT;
	return walk_may_lead(site, target, is_lost ? WALK_PUSHES_ANY : WALK_PUSHES_NONE) ? NO_CALLBACK_MAYBE
											 : NO_CALLBACK_CERTAIN;
}

/* The frame is of a no-callback function that is behind tail calls of what the site calls, or one before it is. */
static bool enter_no_callback(struct walk_chain *c, uint32_t site, const struct walk_frame *f, uint64_t frame_slot,
			      bool *ret_end)
{
	const struct agent_call *path[WALK_MAX_TAILS];

	return enter_tail_caller(c, site, f, frame_slot, ret_end) ||
	       add_tail_path(c, path, walk_tail_path(site, 0, WALK_PUSHES_ANY, path), frame_slot, ret_end);
}

/* The frame outside is of the chain's function, at a site (AGENT_NONE: a signal interrupted it). *ret_end: nothing inside counts. */
static bool step_in(struct walk_chain *c, const struct walk_frame *f, const struct walk_frame *outer,
		    const struct agent_thread *old, bool *ret_end)
{
	bool is_instrumented = agent_function_is(f->function, AGENT_FUNCTION_INSTRUMENTED);
	uint64_t frame_slot = f->slot - 8;
	uint32_t site = outer->site;
	enum no_callback_call kind;
	bool is_tail;

	if (site == AGENT_NONE)
		return !is_instrumented && add_step(c, WALK_SIGNAL, 0, 0, AGENT_NONE);
	kind = is_instrumented ? NO_CALLBACK_NOT : called_without_callback(site, f, old);
	if (kind != NO_CALLBACK_NOT) {
		*ret_end = true;
		return kind == NO_CALLBACK_CERTAIN;
	}
	if (!is_instrumented) {
		bool is_found = enter_foreign_tail(c, site, f, old, &is_tail);

		if (is_tail)
			return is_found;
	}
	if (agent_function_is(f->function, AGENT_FUNCTION_NO_CALLBACK))
		return enter_no_callback(c, site, f, frame_slot, ret_end);
	if (!is_instrumented)
		return enter_foreign(c, site, frame_slot) || enter_tail_caller(c, site, f, frame_slot, ret_end);
	is_tail = walk_is_foreign_tail(site, f, old);
	if (!is_tail && enter(c, site, f, old))
		return true;
	/* By a tail call of foreign code that the site called; not at its entry. */
	return (is_tail || !agent_call_to(site, f->function)) && enter_foreign(c, site, frame_slot) &&
	       add_step(c, WALK_START, f->function, agent_function_knows_caller(f->function, outer->pc), f->function);
}

bool walk_find_chain(struct walk *w, size_t frame, const struct agent_thread *old, struct walk_chain *c)
{
	bool is_end = false;

	c->count = 0;
	c->function = AGENT_NONE;
	if (!w->is_whole)
		return false;
	walk_place_entries(w, frame, old);
	c->innermost = c->no_callback_tail = AGENT_NONE;
	for (size_t i = w->inside; i-- > frame;)
		if (agent_function_is(w->frames[i].function, AGENT_FUNCTION_INSTRUMENTED))
			c->innermost = w->frames[i].function;
	for (size_t i = w->inside; i-- > frame && !is_end;) {
		const struct walk_frame *f = &w->frames[i];

		if (c->function != AGENT_NONE) {
			if (!step_in(c, f, &w->frames[i + 1], old, &is_end))
				return false;
		} else if (agent_function_is(f->function, AGENT_FUNCTION_INSTRUMENTED)) {
			if (!start(c, f, i + 1 < w->inside ? w->frames[i + 1].pc : 0, old))
				return false;
		}
	}
	return true;
}

/* The site, marked where what is between it and the entry below is left out. */
static uint32_t marked(struct walk_state *s, uint32_t site)
{
	uint32_t mark = s->is_behind_gap ? WM1_SITE_ELIDED : 0;

	s->is_behind_gap = false;
	return site | mark;
}

static bool replay_call(struct walk_state *s, const struct agent_call *call, const struct walk_step *step)
{
	const struct callgraph *g = &agent_program.encoder.graph;
	const struct callgraph_edge *edge = &g->edges[call->edge];

	s->function = call->callee;
	if (edge->kind == EDGE_ENCODED && !(step->has_gap && s->is_behind_gap)) {
		s->id += edge->addend;
		return true;
	}
	if (agent_site_is_tail(agent_site(call->site)) && agent_id_is_foreign(s->id))
		return true; /* nor does the call itself push then */
	if (!add_entry(s, s->id + agent_site_addend(agent_site(call->site)), step->frame_slot,
		       marked(s, agent_site(call->site)->record)))
		return false;
	s->id = g->nodes[edge->callee].restart;
	return true;
}

static bool replay_step(struct walk_state *s, const struct walk_step *step, bool is_captured)
{
	const struct agent_call *call = agent_call(step->number);

	switch (step->kind) {
	case WALK_START:
		if (step->frame_slot || is_captured)
			s->id = agent_program.encoder.graph.nodes[agent_function(step->number)->node].restart;
		s->function = step->number;
		return true;
	case WALK_CALL:
		return replay_call(s, call, step);
	case WALK_FOREIGN:
		if (!(agent_site_is_tail(agent_site(call->site)) && agent_id_is_foreign(s->id)) &&
		    !add_entry(s, s->id + agent_site_addend(agent_site(call->site)), step->frame_slot,
			       marked(s, call->foreign)))
			return false;
		break;
	case WALK_CUT:
		return add_entry(s, s->id + agent_site_addend(agent_site(agent_site_of_record(step->number))),
				 step->frame_slot, marked(s, step->number));
	case WALK_RESUME:
		s->id = agent_program.encoder.graph.nodes[agent_function(step->number)->node].restart;
		s->function = step->number;
		s->is_behind_gap = true;
		return true;
	default:
		break;
	}
	s->id = AGENT_FOREIGN_ID;
	s->function = AGENT_NONE;
	return true;
}

bool walk_replay(const struct walk_chain *chain, const struct agent_entry *base, bool is_captured, struct walk_state *s)
{
	s->count = 0;
	s->is_behind_gap = false;
	s->id = AGENT_FOREIGN_ID;
	s->function = AGENT_NONE;
	if (!base || !add_entry(s, 0, UINT64_MAX, 0))
		return false;
	s->entries[0] = *base;
	for (size_t i = 0; i < chain->count; i++)
		if (!replay_step(s, &chain->steps[i], is_captured))
			return false;
	return true;
}

struct unwind_regs walk_thread_regs(const struct thread_record *r, const struct unwind_regs *from)
{
	struct unwind_regs regs = *from;

	if (r->pc_kind == THREAD_PC_SITE)
		regs.pc = agent_site(r->pc_number)->address;
	else if (r->pc_kind == THREAD_PC_FUNCTION)
		regs.pc = agent_function(r->pc_number)->start;
	return regs;
}

void walk_forget(void)
{
	cache.generation++;
}

void walk_strand(const struct unwind_regs *regs, struct agent_thread *thread, uintptr_t low, uintptr_t high)
{
	static struct walk walk;
	const struct walk_frame *last;

	if (!walk_stack(&walk, regs, thread) || walk.count < 2)
		return;
	last = &walk.frames[walk.count - 1];
	if (last->pc >= low && last->pc <= high)
		thread->in_unloaded_code = last[-1].slot;
}

static void aim_returns(const struct walk *w, bool is_program)
{
	for (size_t i = 1; i < w->count; i++) {
		const struct agent_site *site;
		uintptr_t *slot = (uintptr_t *)w->frames[i - 1].slot; /* NOLINT(performance-no-int-to-ptr) */

		if (w->frames[i].site == AGENT_NONE || !slot)
			continue;
		site = agent_site(w->frames[i].site);
		*slot = site->is_at_trampoline && !is_program ? site->trampoline + AGENT_TRAMPOLINE_BACK
							      : site->address + site->len_bytes;
	}
}

void walk_retarget_returns(const struct walk *w)
{
	aim_returns(w, false);
}

void walk_put_back_returns(const struct walk *w)
{
	aim_returns(w, true);
}

void walk_install(const struct walk_state *state, struct agent_thread *thread)
{
	memcpy(thread->base + 1, state->entries + 1, (state->count - 1) * sizeof *state->entries);
	thread->top = thread->base + state->count;
	thread->id = state->id;
}

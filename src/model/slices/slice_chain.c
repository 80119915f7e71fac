/* slice_chain.c - breadth-first over the dependences of instructions, where a step costs as many lines as it enters (slice_chain.h). */
#include "model/slices/slice_chain.h"

#include <stdlib.h>

enum {
	STEPS_MAX = 200000000, /* that searches for stores go through, before they are given up */
	COSTS = 3,             /* a step enters at most two lines: that of a call, and that of what it was given */
};

/* An instruction or argument that was reached. */
struct reached {
	bool is_done;
	uint32_t cost;
	uint32_t line;    /* of the chain's end, SLICE_NO_LINE if there is none yet */
	uint32_t from;    /* number; CODE_NONE: a criterion */
	uint32_t through; /* line of the call in between; SLICE_NO_LINE */
	enum slice_reason reason;
};

/* What links are, from the fewest on. */
enum links {
	LINKS_VALUES,
	LINKS_BRANCHES, /* also control and addresses, and the call where no branch decides */
	LINKS_CALLS,    /* all */
	LINKS
};

struct chain_search {
	struct depends *d;
	const struct code *code;
	const struct slice_lines *lines;
	const struct slice_request *request;
	enum links links;
	struct reached *reached;
	struct function_ids queue[COSTS]; /* by cost, modulo */
	size_t heads[COSTS];
	uint32_t found;         /* number; CODE_NONE */
	uint32_t found_through; /* line of a call that gives a constant */
};

static uint32_t line_of(const struct chain_search *s, uint32_t number)
{
	return number < s->code->instruction_count ? s->lines->line_of[number] : SLICE_NO_LINE;
}

/* Of a criterion that control stands in: where it was to read or write, what a call was given. */
static bool is_link_of_standing(const struct chain_search *s, uint32_t number, const struct dependence *x)
{
	return x->reason != SLICE_MEMORY && (s->code->instructions[number].opcode != LLVMStore || x->is_address);
}

static bool is_link(const struct chain_search *s, uint32_t number, const struct dependence *x, bool is_decided)
{
	bool is_criterion = s->reached[number].from == CODE_NONE;

	if (x->reason == SLICE_CALL)
		return s->links == LINKS_CALLS || (s->links == LINKS_BRANCHES && !is_decided);
	if (x->reason == SLICE_CONTROL)
		return s->links != LINKS_VALUES;
	if (is_criterion && s->request->criteria_stand)
		return is_link_of_standing(s, number, x);
	return s->links != LINKS_VALUES || !x->is_address || is_criterion;
}

static struct error *reach(struct chain_search *s, uint32_t number, const struct reached *how)
{
	struct reached *r = &s->reached[number];

	if (r->is_done || (r->reason && r->cost <= how->cost))
		return NULL;
	*r = *how;
	return function_ids_append(&s->queue[how->cost % COSTS], number);
}

/* A chain that has other lines than the criterion's may end in a beginning. */
static bool is_beginning(const struct chain_search *s, uint32_t number, const struct dependence *x)
{
	const struct reached *r = &s->reached[number];
	uint32_t through = x->through == CODE_NONE ? SLICE_NO_LINE : line_of(s, x->through);

	if (x->on != CODE_NONE || (x->is_address && s->links == LINKS_VALUES))
		return false;
	return r->cost || (through != SLICE_NO_LINE && through != r->line);
}

static struct error *follow(struct chain_search *s, uint32_t number, const struct dependence *x)
{
	const struct reached *from = &s->reached[number];
	struct reached how = {
		.cost = from->cost, .line = from->line, .from = number, .through = SLICE_NO_LINE, .reason = x->reason};
	uint32_t call = x->through == CODE_NONE ? SLICE_NO_LINE : line_of(s, x->through), line = line_of(s, x->on);

	if (call != SLICE_NO_LINE && call != how.line) {
		how.cost++;
		how.line = how.through = call;
	}
	if (line != SLICE_NO_LINE && line != how.line) {
		how.cost++;
		how.line = line;
	}
	return reach(s, x->on, &how);
}

static struct error *expand(struct chain_search *s, uint32_t number)
{
	struct dependence_vec found = {0};
	bool is_decided = false;
	struct error *err = depends_on(s->d, number, &found);

	for (size_t i = 0; i < found.count; i++)
		is_decided |= found.items[i].reason == SLICE_CONTROL;
	for (size_t i = 0; i < found.count && !err && s->found == CODE_NONE; i++) {
		const struct dependence *x = &found.items[i];

		if (!is_link(s, number, x, is_decided))
			continue;
		if (is_beginning(s, number, x)) {
			s->found = number;
			s->found_through = x->through == CODE_NONE ? SLICE_NO_LINE : line_of(s, x->through);
		} else if (x->on != CODE_NONE) {
			err = follow(s, number, x);
		}
	}
	dependence_vec_deinit(&found);
	return err;
}

static struct error *search(struct chain_search *s)
{
	const uint32_t *criteria = s->request->criteria;
	struct error *err = NULL;
	uint32_t cost = 0, empty = 0;

	for (uint32_t i = 0; i < s->request->criterion_count && !err; i++)
		err = reach(s, criteria[i],
			    &(struct reached){.line = line_of(s, criteria[i]),
					      .from = CODE_NONE,
					      .through = SLICE_NO_LINE,
					      .reason = SLICE_CRITERION});
	while (!err && empty < COSTS && s->found == CODE_NONE && s->d->steps < STEPS_MAX) {
		struct function_ids *queue = &s->queue[cost % COSTS];
		size_t *head = &s->heads[cost % COSTS];
		uint32_t number;

		if (*head == queue->count) {
			queue->count = *head = 0;
			cost++;
			empty++;
			continue;
		}
		empty = 0;
		number = queue->items[(*head)++];
		if (s->reached[number].is_done)
			continue;
		s->reached[number].is_done = true;
		err = expand(s, number);
	}
	return err;
}

static struct error *append(struct slice_chain *chain, uint32_t line, enum slice_reason reason)
{
	struct slice_link_vec *links = &chain->links;

	if (line == SLICE_NO_LINE || (links->count && links->items[links->count - 1].line == line))
		return NULL;
	return slice_link_vec_append(links, (struct slice_link){line, reason});
}

/* The way to what was found, from the criterion. */
static struct error *retrace(const struct chain_search *s, struct slice_chain *ret)
{
	struct function_ids way = {0};
	struct error *err = NULL;

	for (uint32_t at = s->found; at != CODE_NONE && !err; at = s->reached[at].from)
		err = function_ids_append(&way, at);
	for (size_t i = way.count; i-- > 0 && !err;) {
		const struct reached *r = &s->reached[way.items[i]];

		err = append(ret, r->through, SLICE_ARGUMENT);
		if (!err)
			err = append(ret, line_of(s, way.items[i]),
				     r->through == SLICE_NO_LINE ? r->reason : SLICE_VALUE);
	}
	if (!err)
		err = append(ret, s->found_through, SLICE_ARGUMENT);
	function_ids_deinit(&way);
	return err;
}

static struct error *try(struct depends *d, const struct slice_lines *l, const struct slice_request *request,
			 enum links links, struct slice_chain *ret)
{
	const struct code *code = d->regions->memory->code;
	struct chain_search s = {
		.d = d, .code = code, .lines = l, .request = request, .links = links, .found = CODE_NONE};
	struct error *err;

	s.reached = calloc((size_t)code->instruction_count + code->argument_count + 1, sizeof *s.reached);
	err = s.reached ? search(&s) : &error_no_memory;
	if (!err && s.found != CODE_NONE)
		err = retrace(&s, ret);
	ret->is_cut = s.found == CODE_NONE && d->steps >= STEPS_MAX;
	for (int i = 0; i < COSTS; i++)
		function_ids_deinit(&s.queue[i]);
	free(s.reached);
	return err;
}

struct error *slice_chain_find(struct depends *d, const struct slice_lines *l, const struct slice_request *request,
			       struct slice_chain *ret)
{
	struct slice_chain chain = {0};
	struct error *err = NULL;

	for (int links = 0; links < LINKS && !err && !chain.links.count && !chain.is_cut; links++)
		err = try(d, l, request, (enum links)links, &chain);
	if (err)
		slice_chain_deinit(&chain);
	else
		*ret = chain;
	return err;
}

void slice_chain_deinit(struct slice_chain *c)
{
	slice_link_vec_deinit(&c->links);
}

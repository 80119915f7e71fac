/*
 * check.c - the client `check`: decodes a point's id and entries, from the outermost call on, and compares the sites with the return addresses that
 * _Unwind_Backtrace of libgcc finds in instrumented functions, and in those of the program between them that nobody has looked at: the context cannot
 * have these. Tail calls are in the context and not on the stack: they are passed over.
 */
#include "agent/clients/check.h"

#include <dlfcn.h>
#include <string.h>
#include <unwind.h>

#include "agent/clients/client.h"
#include "agent/os/state.h"
#include "agent/code/trampolines.h"
#include "agent/code/code.h"
#include "agent/context/decode.h"
#include "agent/os/memory.h"
#include "agent/os/log.h"
#include "waymark/abi.h"

struct check_stats check_stats;

/* Under the agent's lock. */
static struct {
	uintptr_t *returns; /* found, innermost first: of calls in instrumented code */
	size_t return_count, return_capacity;
	size_t sure_count; /* up to the outermost one */
	uintptr_t *decoded;
	size_t decoded_count, decoded_capacity;
	struct decoded context;
	uintptr_t sp;       /* of the innermost frame that counts */
	bool is_inside;     /* it was met */
	bool is_trampoline; /* the last frame was a trampoline's */
	uintptr_t last;     /* pc of the outermost frame */
} check;

/*
 * libgcc's own, whatever the program has in front of them: libunwind has the same names, and code that the agent may change, which cannot
 * run under its lock. Written once, before main.
 */
static struct {
	__typeof(_Unwind_Backtrace) *backtrace;
	__typeof(_Unwind_GetIP) *ip;
	__typeof(_Unwind_GetCFA) *cfa;
} libgcc;

static void look_up(void)
{
	void *handle = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (!handle)
		return;
	libgcc.ip = (__typeof(libgcc.ip))dlsym(handle, "_Unwind_GetIP");
	libgcc.cfa = (__typeof(libgcc.cfa))dlsym(handle, "_Unwind_GetCFA");
	if (libgcc.ip && libgcc.cfa)
		libgcc.backtrace = (__typeof(libgcc.backtrace))dlsym(handle, "_Unwind_Backtrace");
}

static bool add_return(uintptr_t address)
{
	if (!agent_reserve((void **)&check.returns, &check.return_capacity, check.return_count + 1,
			   sizeof *check.returns))
		return false;
	check.returns[check.return_count++] = address;
	return true;
}

static bool is_overlooked(uintptr_t pc)
{
	const struct agent_image *image = agent_image_find(pc);

	return image && image->kind == AGENT_IMAGE_CODE &&
	       agent_function_is(agent_function_at(pc), AGENT_FUNCTION_SEEN);
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *data)
{
	uintptr_t pc = libgcc.ip(context), cfa = libgcc.cfa(context);
	bool was_trampoline = check.is_trampoline;
	uint32_t site;

	(void)data;
	/* The tick's own frames end where the stack pointer is that of the interrupted one, which is on another stack maybe. */
	check.is_inside |= cfa == check.sp;
	if (!check.is_inside || cfa == check.sp) {
		check.is_trampoline = trampoline_find(pc, &site);
		return _URC_NO_REASON;
	}
	if (agent_thread.root && cfa == agent_thread.root + sizeof(uintptr_t))
		return _URC_END_OF_STACK;
	check.last = pc;
	check.is_trampoline = trampoline_find(pc, &site);
	/* A trampoline's frame is followed by that of its caller, with an address 1 less. */
	site = agent_site_returning_to(pc + was_trampoline);
	if (site == AGENT_NONE)
		return !is_overlooked(pc - 1) || add_return(pc) ? _URC_NO_REASON : _URC_END_OF_STACK;
	if (!add_return(agent_site(site)->address))
		return _URC_END_OF_STACK;
	check.sure_count = check.return_count;
	return _URC_NO_REASON;
}

static bool decode(const struct capture_point *point)
{
	check.decoded_count = 0;
	if (!decode_context(point->function, point->id, point->entries, point->count, &check.context) ||
	    !agent_reserve((void **)&check.decoded, &check.decoded_capacity, check.context.count,
			   sizeof *check.decoded))
		return false;
	for (size_t i = 0; i < check.context.count; i++) {
		const struct agent_site *site = agent_site(check.context.calls[i].site);

		if (site->kind < SCAN_TAIL)
			check.decoded[check.decoded_count++] = site->address;
	}
	return true;
}

static void add_address(struct wmrt_text *text, uintptr_t address)
{
	const struct agent_image *image = agent_image_find(address);

	wmrt_text_char(text, ' ');
	wmrt_text_number(text, image ? address - image->bias : address, 16, 1);
}

/* It was called from code that was unloaded: it never returns, and nothing can walk its stack. */
static bool is_in_unloaded_code(void)
{
	for (size_t i = 0; i < check.context.count; i++)
		if (agent_function_is(agent_site(check.context.calls[i].site)->function, AGENT_FUNCTION_GONE) &&
		    agent_site(check.context.calls[i].site)->kind < SCAN_TAIL)
			return true;
	return false;
}

/* While the loader unloads, libgcc's unwinder may meet a table that is just being unmapped. Walking stops the other threads then. */
static bool is_loaded(const struct unwind_regs *regs)
{
	static struct walk walk;

	return !agent_is_unloading || (walk_stack(&walk, regs, &agent_thread) && walk.is_whole);
}

/* One line: where, the calls that the context says and those that the stack says, innermost first. */
static void report(const struct unwind_regs *regs, const struct capture_point *point)
{
	static char line[4096];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: context differs from the stack at");
	add_address(&text, point->address);
	wmrt_text_add(&text, ", pc");
	add_address(&text, regs->pc);
	wmrt_text_add(&text, ", id ");
	wmrt_text_number(&text, point->id, 10, 1);
	wmrt_text_add(&text, " of ");
	wmrt_text_number(&text, agent_program.encoder.graph.nodes[agent_function(point->function)->node].contexts, 10,
			 1);
	wmrt_text_add(&text, ": calls in the context");
	for (size_t i = 0; i < check.decoded_count; i++)
		add_address(&text, check.decoded[i]);
	wmrt_text_add(&text, ", on the stack");
	for (size_t i = 0; i < check.return_count; i++)
		add_address(&text, check.returns[i]);
	if (!wmrt_text_fits(&text))
		text.len = sizeof line - 3;
	log_line(&text);
}

/* What was pushed after the recording was full has no number: such a context is lost, and counted as that. */
static bool is_numbered(const struct capture_point *point)
{
	for (size_t i = 1; i < point->count; i++)
		if (!(point->entries[i].site & ~WM1_SITE_ELIDED))
			return false;
	return true;
}

/* libgcc's unwinder does not know the ends of its own functions (epilogue.h), and would read anywhere. */
static bool is_in_unwinder(uintptr_t pc)
{
	const struct agent_image *image = agent_image_find(pc);

	return image && strstr(image->path, "/libgcc_s");
}

void check_point(const struct unwind_regs *regs, const struct capture_point *point)
{
	bool is_decoded = point->function != AGENT_NONE && decode(point);
	struct code_stub stub;
	uint32_t site;

	if (!libgcc.backtrace || point->function == AGENT_NONE || !is_numbered(point) ||
	    agent_thread.in_unloaded_code || !is_loaded(regs) || (is_decoded && is_in_unloaded_code()) ||
	    is_in_unwinder(regs->pc) || code_find_stub(regs->pc, &stub) || trampoline_find(regs->pc, &site)) {
		check_stats.unchecked++;
		return;
	}
	check.return_count = check.sure_count = 0;
	check.sp = regs->r[CFI_RSP];
	check.is_inside = check.is_trampoline = false;
	libgcc.backtrace(visit, NULL);
	check.return_count = check.sure_count;
	/* The point's own function may be in a call of what is not instrumented. */
	if (check.return_count && point->is_in_call)
		memmove(check.returns, check.returns + 1, --check.return_count * sizeof *check.returns);
	check_stats.checked++;
	if (is_decoded && check.decoded_count == check.return_count &&
	    memcmp(check.decoded, check.returns, check.return_count * sizeof *check.returns) == 0)
		check_stats.agreed++;
	else
		report(regs, point);
}

static void on_sample(const struct agent_sample *sample)
{
	check_point(sample->regs, &sample->point);
}

static void reset(void)
{
	check_stats = (struct check_stats){0};
}

static void publish(struct wmk_header *header)
{
	header->samples_checked = check_stats.checked;
	header->samples_agreed = check_stats.agreed;
	header->samples_unchecked = check_stats.unchecked;
}

static void add_numbers(struct wmrt_text *text)
{
	wmrt_text_add(text, "; ");
	wmrt_text_number(text, check_stats.agreed, 10, 1);
	wmrt_text_add(text, " of ");
	wmrt_text_number(text, check_stats.checked, 10, 1);
	wmrt_text_add(text, " agree with the stack, ");
	wmrt_text_number(text, check_stats.unchecked, 10, 1);
	wmrt_text_add(text, " not compared");
}

const struct agent_client agent_client_check = {
	.logs = true,
	.look_up = look_up,
	.on_sample = on_sample,
	.reset = reset,
	.publish = publish,
	.add_numbers = add_numbers,
};

/*
 * frames.c - threads and their machine frames, by libdwfl's unwinder over our own registers and memory: libdwfl's own
 * reader of cores looks through a list of all that it has read before, for each word (elfutils 0.188), so that deep stacks
 * take quadratic time.
 *
 * A call through a bad pointer leaves no call frame information to go on with: the return address is on top of the stack.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/image/code.h"
#include "snapshot/source/source.h"

enum {
	REG_RAX = 0,
	REG_RBX = 3,
	REG_RSI = 4,
	REG_RDI = 5,
	REG_RSP = 7,
	REG_PC = 16,
};

/* ---- call frame information ---- */

static Dwarf_Frame *frame_rules(const struct snapshot *s, uint32_t module, uint64_t pc)
{
	Dwfl_Module *dwfl = s->modules[module].dwfl;
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	if (!dwfl)
		return NULL;
	cfi = dwfl_module_eh_cfi(dwfl, &bias);
	if (cfi && dwarf_cfi_addrframe(cfi, pc - bias, &frame) == 0)
		return frame;
	cfi = dwfl_module_dwarf_cfi(dwfl, &bias);
	return cfi && dwarf_cfi_addrframe(cfi, pc - bias, &frame) == 0 ? frame : NULL;
}

bool snapshot_cfa_rule(const struct snapshot *s, uint32_t module, uint64_t linked_pc, int *ret_register,
		       int64_t *ret_offset)
{
	Dwarf_Frame *frame = frame_rules(s, module, linked_pc + s->modules[module].bias);
	Dwarf_Op *ops;
	size_t count;
	bool is_simple = false;

	if (frame && dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1) {
		if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
			*ret_register = ops[0].atom - DW_OP_breg0;
			*ret_offset = (int64_t)ops[0].number;
			is_simple = *ret_register < SNAPSHOT_REGISTERS;
		} else if (ops[0].atom == DW_OP_bregx && ops[0].number < SNAPSHOT_REGISTERS) {
			*ret_register = (int)ops[0].number;
			*ret_offset = (int64_t)ops[0].number2;
			is_simple = true;
		}
	}
	free(frame);
	return is_simple;
}

/* No rule at pc says where the caller's rbx is: the function keeps it as it is. */
static bool keeps_rbx(const struct snapshot *s, uint32_t module, uint64_t pc)
{
	Dwarf_Frame *frame = module == UINT32_MAX ? NULL : frame_rules(s, module, pc);
	Dwarf_Op ops_memory[3], *ops;
	size_t count = 1;
	bool is_kept = frame && dwarf_frame_register(frame, REG_RBX, ops_memory, &ops, &count) == 0 && count == 0;

	free(frame);
	return is_kept;
}

/* ---- frames ---- */

VEC_DECLARE(frame_vec, struct snapshot_frame);

struct walk {
	struct snapshot *s;
	uint32_t next; /* thread that is asked for */
	uint32_t frame_limit;
	struct frame_vec frames; /* of the present thread */
	bool is_called;          /* its first frame below is a return address */
	uint64_t kept_pc;        /* where the rules of rbx were looked up last */
	bool is_kept;
	const char *cut;
	struct error *err;
};

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	struct walk *w = arg;
	uint64_t word;

	(void)dwfl;
	if (!snapshot_read(w->s, address, &word, sizeof word))
		return false;
	*ret = word;
	return true;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	struct walk *w = arg;
	struct snapshot_source *source = w->s->source;

	(void)dwfl;
	if (w->next == source->threads.count)
		return 0;
	*thread = &source->threads.items[w->next];
	return source->threads.items[w->next++].tid;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct snapshot_raw_thread *raw = arg;

	dwfl_thread_state_register_pc(thread, raw->registers[REG_PC]);
	return dwfl_thread_state_registers(thread, 0, SNAPSHOT_REGISTERS, raw->registers);
}

/* The frame's CFA is the caller's stack pointer, on this machine; where a signal came in, nobody called. */
static void set_cfa(struct snapshot_frame *inner, const struct snapshot_frame *outer)
{
	if (inner->is_trampoline || !(outer->known & 1u << REG_RSP))
		return;
	inner->cfa = outer->registers[REG_RSP];
	inner->has_cfa = true;
}

static struct error *add_frame(struct walk *w, struct snapshot_frame *frame)
{
	frame->module = snapshot_module_at(w->s, frame->pc - !frame->is_activation);
	if (w->frames.count) {
		struct snapshot_frame *inner = &w->frames.items[w->frames.count - 1];

		/* libdwfl has both the trampoline and what it returns to as activations. */
		frame->is_trampoline = frame->is_activation && !inner->is_trampoline;
		set_cfa(inner, frame);
	}
	return frame_vec_append(&w->frames, *frame);
}

/* elfutils 0.188 takes rax for the register that calls preserve, and not rbx. */
static void mend_registers(struct walk *w, const struct snapshot_frame *inner, struct snapshot_frame *frame)
{
	uint64_t pc = inner->pc - !inner->is_activation;

	frame->known &= ~(1u << REG_RAX);
	if (frame->known & 1u << REG_RBX || !(inner->known & 1u << REG_RBX))
		return;
	if (w->kept_pc != pc)
		w->is_kept = keeps_rbx(w->s, inner->module, pc);
	w->kept_pc = pc;
	if (!w->is_kept)
		return;
	frame->registers[REG_RBX] = inner->registers[REG_RBX];
	frame->known |= 1u << REG_RBX;
}

static int take_frame(Dwfl_Frame *state, void *arg)
{
	struct walk *w = arg;
	struct snapshot_frame frame = {0};
	const struct snapshot_frame *inner = w->frames.count ? &w->frames.items[w->frames.count - 1] : NULL;

	if (w->frame_limit && w->frames.count == w->frame_limit) {
		w->cut = "more frames were not wanted";
		return DWARF_CB_ABORT;
	}
	if (!dwfl_frame_pc(state, &frame.pc, &frame.is_activation))
		return DWARF_CB_ABORT;
	for (unsigned int i = 0; i < SNAPSHOT_REGISTERS; i++) {
		Dwarf_Word value;

		if (dwfl_frame_reg(state, i, &value) == 0) {
			frame.registers[i] = value;
			frame.known |= 1u << i;
		}
	}
	if (w->is_called)
		frame.is_activation = false;
	w->is_called = false;
	if (inner && !frame.is_activation)
		mend_registers(w, inner, &frame);
	if (inner && !frame.is_activation && inner->known & frame.known & 1u << REG_RSP &&
	    frame.registers[REG_RSP] <= inner->registers[REG_RSP]) {
		w->cut = "the stack is damaged: the next frame does not lie behind this one";
		return DWARF_CB_ABORT;
	}
	w->err = add_frame(w, &frame);
	return w->err ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* Nothing can run there: it is not mapped, or data. */
static bool is_no_code(const struct snapshot *s, uint64_t pc)
{
	struct snapshot_region region;

	if (!snapshot_region_at(s, pc, &region))
		return snapshot_module_at(s, pc) == UINT32_MAX;
	return region.is_told && !region.is_executable;
}

/* Takes a frame whose pc is no code off the thread's registers, if it was called from known code. */
static struct error *step_out_of_nowhere(struct walk *w, struct snapshot_raw_thread *raw)
{
	struct snapshot_frame frame = {
		.pc = raw->registers[REG_PC],
		.is_activation = true,
		.known = (1u << SNAPSHOT_REGISTERS) - 1,
	};
	uint64_t caller;

	if (!is_no_code(w->s, frame.pc) || !snapshot_read(w->s, raw->registers[REG_RSP], &caller, sizeof caller) ||
	    snapshot_module_at(w->s, caller - 1) == UINT32_MAX || !snapshot_is_behind_call(w->s, caller))
		return NULL;
	memcpy(frame.registers, raw->registers, sizeof frame.registers);
	raw->registers[REG_RSP] += sizeof caller;
	raw->registers[REG_PC] = caller;
	w->is_called = true;
	return add_frame(w, &frame);
}

/* Where libdwfl gets nothing, the first frame is still known. */
static struct error *add_bare_frame(struct walk *w, const struct snapshot_raw_thread *raw)
{
	struct snapshot_frame frame = {
		.pc = raw->registers[REG_PC],
		.is_activation = true,
		.known = (1u << SNAPSHOT_REGISTERS) - 1,
	};

	memcpy(frame.registers, raw->registers, sizeof frame.registers);
	return add_frame(w, &frame);
}

static struct error *keep_frames(struct walk *w, struct snapshot_thread *thread)
{
	thread->frame_count = (uint32_t)w->frames.count;
	thread->frames = arena_copy(&w->s->arena, w->frames.items, w->frames.count, sizeof *thread->frames);
	if (!thread->frames)
		return &error_no_memory;
	thread->cut = w->cut ? arena_strdup(&w->s->arena, w->cut) : NULL;
	return w->cut && !thread->cut ? &error_no_memory : NULL;
}

static void finish_cfa(struct walk *w)
{
	struct snapshot_frame *last = w->frames.count ? &w->frames.items[w->frames.count - 1] : NULL;
	int reg;
	int64_t off;

	if (!last || last->has_cfa || last->module == UINT32_MAX)
		return;
	if (!snapshot_cfa_rule(w->s, last->module, last->pc - !last->is_activation - w->s->modules[last->module].bias,
			       &reg, &off) ||
	    !(last->known & 1u << reg))
		return;
	last->cfa = last->registers[reg] + (uint64_t)off;
	last->has_cfa = true;
}

/* libdwfl takes the machine from an ELF file; there may be none that is known. libelf does not write to it. */
static Elf *machine_elf(void)
{
	static const Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof header,
	};

	elf_version(EV_CURRENT);
	return elf_memory((char *)(uintptr_t)&header, sizeof header);
}

/* libdwfl takes a frame whose return address cannot be read for the outermost one. */
static bool is_stack_missing(const struct walk *w)
{
	const struct snapshot_frame *last = w->frames.count ? &w->frames.items[w->frames.count - 1] : NULL;
	uint64_t caller;

	return last && last->has_cfa && !snapshot_read(w->s, last->cfa - sizeof caller, &caller, sizeof caller);
}

static struct error *walk_thread(struct walk *w, uint32_t index, bool is_attached)
{
	struct snapshot_source *source = w->s->source;
	struct snapshot_raw_thread *raw = &source->threads.items[index];
	struct error *err;

	w->frames.count = 0;
	w->cut = NULL;
	w->is_called = false;
	err = step_out_of_nowhere(w, raw);
	if (err)
		return err;
	if (!is_attached)
		w->cut = "libdwfl cannot read it";
	else if (dwfl_getthread_frames(w->s->dwfl, raw->tid, take_frame, w) < 0 && !w->cut)
		w->cut = "there is no call frame information for its code, or the stack is not there";
	err = w->err;
	if (!err && !w->frames.count)
		err = add_bare_frame(w, raw);
	if (!err && w->frames.count && w->frames.items[w->frames.count - 1].module == UINT32_MAX && !w->cut)
		w->cut = "its code belongs to no known file";
	finish_cfa(w);
	if (!err && !w->cut && is_stack_missing(w))
		w->cut = w->s->is_live ? "its stack cannot be read" : "its stack is not in the core";
	return err ? err : keep_frames(w, &w->s->threads[index]);
}

/* Between entering the kernel and what it returns: the result then is one of those that the program never sees (ERESTARTSYS to
 * ERESTART_RESTARTBLOCK), or EINTR. */
static void find_system_call(const struct snapshot *s, const struct snapshot_raw_thread *raw,
			     struct snapshot_thread *thread)
{
	static const uint8_t instruction[] = {0x0f, 0x05};
	uint8_t code[sizeof instruction];
	int64_t result = (int64_t)raw->registers[REG_RAX];

	thread->waits_in = -1;
	if (raw->system_call < 0 || !((result >= -516 && result <= -512) || result == -EINTR) ||
	    !snapshot_read(s, raw->registers[REG_PC] - sizeof code, code, sizeof code) ||
	    memcmp(code, instruction, sizeof code) != 0)
		return;
	thread->waits_in = raw->system_call;
	thread->wait_arguments[0] = raw->registers[REG_RDI];
	thread->wait_arguments[1] = raw->registers[REG_RSI];
}

struct error *snapshot_walk(struct snapshot *s, uint32_t frame_limit)
{
	static const Dwfl_Thread_Callbacks callbacks = {
		.next_thread = next_thread,
		.memory_read = read_word,
		.set_initial_registers = set_registers,
	};
	struct snapshot_source *source = s->source;
	struct walk w = {.s = s, .frame_limit = frame_limit};
	struct error *err = NULL;
	bool is_attached;

	source->machine = machine_elf();
	is_attached = source->machine && dwfl_attach_state(s->dwfl, source->machine, s->pid, &callbacks, &w);
	s->threads = arena_calloc(&s->arena, source->threads.count, sizeof *s->threads);
	if (!s->threads)
		return &error_no_memory;
	s->thread_count = (uint32_t)source->threads.count;
	for (uint32_t i = 0; i < s->thread_count && !err; i++) {
		struct snapshot_thread *thread = &s->threads[i];

		thread->tid = source->threads.items[i].tid;
		thread->name = source->threads.items[i].name;
		thread->thread_pointer = source->threads.items[i].thread_pointer;
		thread->is_first = i == 0;
		thread->signal = i == 0 ? s->signal : 0;
		find_system_call(s, &source->threads.items[i], thread);
		w.next = i;
		err = walk_thread(&w, i, is_attached);
	}
	frame_vec_deinit(&w.frames);
	return err;
}

/*
 * walk.c - steps from frame to frame. Where code of an image has no call frame information, the way to its ret (return_path.h) is tried, then
 * the frame pointer.
 *
 * The frame-pointer step needs a word at rbp + 8 that a call precedes and an rbp that lies above the stack pointer. After it only rsp and
 * rbp are known.
 */
#include "sampler/walk/walk.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/instruction.h"
#include "native/maps.h"
#include "sampler/walk/return_path.h"

enum {
	WORD_BYTES = 8,
	CALL_BYTES_MAX = 7,
	SWITCHES_MAX = 32,
	FUNCTION_BYTES_MAX = 64 << 10, /* of code without call frame information */
	ENTRY_BYTES = 64,              /* of the program's entry function, and more */
	FRAME_POINTER_KNOWN = 1 << CFI_RBP | 1 << CFI_RSP,
};

/* A call ends at `code`, in front of which there are so many bytes. */
static bool is_behind_call(const uint8_t *code, size_t before)
{
	if (before >= 5 && code[-5] == 0xe8)
		return true;
	/* call *reg, call *disp(reg) and their kin: ff, then a ModRM byte whose middle bits are 2 */
	for (size_t len = 2; len <= CALL_BYTES_MAX && len <= before; len++)
		if (code[-(ptrdiff_t)len] == 0xff && (code[1 - (ptrdiff_t)len] & 0x38) == 0x10)
			return true;
	return false;
}

/* The code that a direct call in front of that address leads to; at a jump, as in the PLT, nobody says. */
static bool find_callee(const struct eh_text *text, uintptr_t return_address, uintptr_t *ret)
{
	const uint8_t *code = (const uint8_t *)return_address; /* NOLINT(performance-no-int-to-ptr) */
	struct instruction in;
	int32_t displacement;

	if (return_address - text->low < 5 || code[-5] != 0xe8)
		return false;
	memcpy(&displacement, code - sizeof displacement, sizeof displacement);
	*ret = return_address + (uintptr_t)(intptr_t)displacement;
	return *ret >= text->low && *ret < text->high &&
	       instruction_decode((const uint8_t *)*ret, text->high - *ret, *ret,
				  &in) && /* NOLINT(performance-no-int-to-ptr) */
	       in.kind != INSTRUCTION_JUMP;
}

static bool is_behind_call_of(const struct eh_text *text, uintptr_t address)
{
	return is_behind_call((const uint8_t *)address, address - text->low); /* NOLINT(performance-no-int-to-ptr) */
}

/* The image is known for as long as the walk: the thread has frames in it, so that it stays. */
static struct sampler_image *image_at(struct walk *w, uintptr_t address)
{
	struct sampler_image *image;

	for (uint32_t i = 0; i < w->image_count; i++)
		if (sampler_image_has_text(w->images[i], address))
			return w->images[i];
	image = sampler_image_at(address);
	if (image && w->image_count < WALK_IMAGES)
		w->images[w->image_count++] = image;
	return image;
}

/* The text that has the address; NULL: there is no image, or its code was made there at run time. */
static const struct eh_text *text_at(const struct sampler_image *image, uintptr_t address)
{
	return image ? eh_text_of(&image->table.image, address) : NULL;
}

/* Of an address in no text. */
static bool is_made_code(struct walk_code *code, uintptr_t address)
{
	struct maps_range range;

	for (size_t i = 0; i < WALK_CODE_RANGES; i++)
		if (address >= code->ranges[i].low && address < code->ranges[i].high)
			return true;
	if (!maps_find(address, &range) || !range.is_executable)
		return false;
	code->ranges[code->next++ % WALK_CODE_RANGES] = (struct eh_text){range.low, range.high};
	return true;
}

static bool is_return_address(struct walk *w, uintptr_t pc)
{
	const struct eh_text *text = text_at(image_at(w, pc - 1), pc - 1);

	return text ? is_behind_call_of(text, pc) : is_made_code(w->code, pc - 1);
}

/* The same where code in no text has to bear it out, too. */
static bool is_behind_made_call(struct walk *w, uintptr_t pc)
{
	uint8_t bytes[CALL_BYTES_MAX];

	return memory_copy(&w->code->windows, pc - sizeof bytes, bytes, sizeof bytes) == sizeof bytes &&
	       is_behind_call(bytes + sizeof bytes, sizeof bytes);
}

/* The frame may be on another stack than the stack pointer: one that lies above, so that a walk comes to an end. */
static bool load_frame(struct walk *w, const struct unwind_stack *stack, uint64_t rbp, uint64_t *ret_rbp,
		       uint64_t *ret_pc)
{
	struct unwind_stack other = *stack;

	if (rbp >= stack->high && !w->stack_of(w->data, rbp, &other))
		return false;
	return cfi_load(other.low, other.high, rbp, ret_rbp) &&
	       cfi_load(other.low, other.high, rbp + WORD_BYTES, ret_pc) && *ret_pc;
}

/*
 * A goroutine's first function returns to the second instruction of runtime.goexit, nop; call goexit1, which has called nobody, and its caller's
 * frame pointer is 0.
 */
static bool is_goexit(const struct sampler_image *image, const struct unwind_regs *regs)
{
	const uint8_t *code = (const uint8_t *)regs->pc; /* NOLINT(performance-no-int-to-ptr) */

	return image && regs->known >> CFI_RBP & 1 && !regs->r[CFI_RBP] &&
	       eh_text_of(&image->table.image, regs->pc - 1) && eh_text_of(&image->table.image, regs->pc) &&
	       code[-1] == 0x90 && code[0] == 0xe8;
}

static enum unwind_result step_by_frame_pointer(struct walk *w, const struct unwind_stack *stack,
						struct unwind_regs *regs)
{
	uint64_t rbp = regs->r[CFI_RBP], caller_rbp, pc;
	struct unwind_regs caller = {.known = FRAME_POINTER_KNOWN, .is_return_address = true};

	if (!(regs->known >> CFI_RBP & 1) || rbp % WORD_BYTES || rbp < regs->r[CFI_RSP] ||
	    !load_frame(w, stack, rbp, &caller_rbp, &pc))
		return UNWIND_UNKNOWN;
	caller.pc = pc;
	caller.r[CFI_RSP] = rbp + 2 * WORD_BYTES;
	caller.r[CFI_RBP] = caller_rbp;
	if (is_goexit(image_at(w, pc), &caller))
		return UNWIND_END;
	if (!is_return_address(w, pc))
		return UNWIND_UNKNOWN;
	*regs = caller;
	return UNWIND_OK;
}

static bool is_on(const struct unwind_stack *stack, uint64_t sp)
{
	return sp >= stack->low && sp < stack->high;
}

static bool has_data(const struct sampler_image *image, uintptr_t pc)
{
	struct eh_function f;

	return image && eh_find(&image->table, pc, &f);
}

static bool is_described(void *data, uintptr_t pc)
{
	return has_data(image_at(data, pc), pc);
}

/* Made code has come to code that has call frame information, which says where the caller is. */
static bool step_from_jump(struct walk *w, const struct unwind_stack *stack, struct unwind_regs *regs)
{
	const struct sampler_image *image = image_at(w, regs->pc);
	struct unwind_stack other = *stack;
	struct unwind_frame frame;

	if (!is_on(stack, regs->r[CFI_RSP]) && !w->stack_of(w->data, regs->r[CFI_RSP], &other))
		return false;
	return image && unwind_step(&image->table, &other, NULL, regs, &frame) == UNWIND_OK;
}

/*
 * Does the found word bear out the way to it? A call must precede it; of a direct one in code that has no call frame information either, and
 * in the same text, the callee must be near: functions that call something that does not return, and what lies behind it, lead elsewhere
 * (runtime.mcall of Go).
 */
static bool is_caller(struct walk *w, const struct eh_text *text, uintptr_t pc, uintptr_t return_address)
{
	const struct eh_text *other = text_at(image_at(w, return_address - 1), return_address - 1);
	uintptr_t callee;

	if (!other)
		return is_made_code(w->code, return_address - 1) && is_behind_made_call(w, return_address);
	if (!is_behind_call_of(other, return_address))
		return false;
	return other != text || has_data(image_at(w, return_address - 1), return_address - 1) ||
	       !find_callee(text, return_address, &callee) ||
	       (callee > pc ? callee - pc : pc - callee) < FUNCTION_BYTES_MAX;
}

/*
 * What made code returns to is made code that no call precedes: who began this stack has put its address there (a process of Erlang). No frame
 * is below.
 */
static bool is_made_entry(struct walk *w, uintptr_t pc)
{
	return !image_at(w, pc) && is_made_code(w->code, pc) && is_made_code(w->code, pc - 1) &&
	       !is_behind_made_call(w, pc);
}

static enum unwind_result step_by_return_path(struct walk *w, const struct sampler_image *image,
					      const struct unwind_stack *stack, struct unwind_regs *regs)
{
	const struct return_path_code code = {text_at(image, regs->pc), &w->code->windows, is_described, w};
	struct unwind_regs next = *regs;
	enum return_path_end end = return_path_step(&code, stack, &next);

	if (end == RETURN_PATH_NONE || (end == RETURN_PATH_LEAVES && !step_from_jump(w, stack, &next)))
		return UNWIND_UNKNOWN;
	if (code.text && is_goexit(image, &next))
		return UNWIND_END;
	if (!is_caller(w, code.text, regs->pc, next.pc))
		return !code.text && is_made_entry(w, next.pc) ? UNWIND_END : UNWIND_UNKNOWN;
	if (!is_on(stack, next.r[CFI_RSP]) && w->switches++ == SWITCHES_MAX)
		return UNWIND_UNKNOWN;
	*regs = next;
	return UNWIND_OK;
}

/*
 * clang moves what ends a frame to before a branch, and leaves the call frame information behind it: for an instruction or two that names a
 * wrong word. Where the word is 0 or no return address, the way to the ret finds the right one; other words, as where a handler or a coroutine
 * returns to, stand. `was` is the frame that is not at a return address, *regs and `result` are what its call frame information said.
 */
static enum unwind_result correct(struct walk *w, const struct sampler_image *image, const struct unwind_stack *stack,
				  const struct unwind_regs *was, enum unwind_result result, struct unwind_regs *regs,
				  uint32_t *ret_flags)
{
	struct unwind_regs next = *was;

	if (result == UNWIND_OK && is_return_address(w, regs->pc))
		return UNWIND_OK;
	if (step_by_return_path(w, image, stack, &next) == UNWIND_OK) {
		*ret_flags = WALK_RETURN | WALK_GUESSED;
		*regs = next;
		return UNWIND_OK;
	}
	if (result == UNWIND_END || image_at(w, regs->pc) || is_made_code(w->code, regs->pc))
		return result;
	*regs = *was;
	return UNWIND_UNKNOWN;
}

/*
 * Code without call frame information that has no caller: the program's entry function, and one that has set the frame pointer to 0 as the ABI
 * says (3.4.1) before a call behind which there is hlt.
 */
static bool is_outermost(const struct sampler_image *image, const struct unwind_regs *regs)
{
	static const uint8_t hlt = 0xf4;
	uintptr_t entry = getauxval(AT_ENTRY);
	const struct eh_text *text = eh_text_of(&image->table.image, regs->pc);

	if (!text)
		return false;
	if (regs->pc >= entry && regs->pc - entry <= ENTRY_BYTES && return_path_is_straight(text, entry, regs->pc))
		return true;
	return regs->is_return_address && regs->known >> CFI_RBP & 1 && !regs->r[CFI_RBP] &&
	       *(const uint8_t *)regs->pc == hlt; /* NOLINT(performance-no-int-to-ptr) */
}

static enum unwind_result step_by_cfi(struct walk *w, struct sampler_image *image, const struct unwind_stack *stack,
				      struct unwind_regs *regs, uint32_t *ret_flags)
{
	struct unwind_frame frame;
	struct unwind_regs was = *regs;
	enum unwind_result result;

	/* Rows are of this image. */
	if (w->cache)
		w->cache->generation = image->number;
	result = unwind_step(&image->table, stack, w->cache, regs, &frame);
	if (result == UNWIND_OK)
		*ret_flags = (regs->is_return_address ? WALK_RETURN : 0) | (frame.is_signal ? WALK_SIGNAL : 0);
	if (was.is_return_address || result == UNWIND_UNKNOWN ||
	    (result == UNWIND_OK && (!regs->is_return_address || !frame.return_slot)))
		return result;
	return correct(w, image, stack, &was, result, regs, ret_flags);
}

static enum unwind_result step(struct walk *w, struct sampler_image *image, const struct unwind_stack *stack,
			       struct unwind_regs *regs, uint32_t *ret_flags)
{
	enum unwind_result result = image ? step_by_cfi(w, image, stack, regs, ret_flags) : UNWIND_UNKNOWN;

	if (result != UNWIND_UNKNOWN)
		return result;
	if (!has_data(image, regs->pc - regs->is_return_address)) {
		if (image && is_outermost(image, regs))
			return UNWIND_END;
		result = step_by_return_path(w, image, stack, regs);
	}
	if (result != UNWIND_OK) {
		enum unwind_result by_pointer = step_by_frame_pointer(w, stack, regs);

		if (by_pointer != UNWIND_OK)
			return by_pointer == UNWIND_END ? UNWIND_END : result;
	}
	*ret_flags = WALK_RETURN | WALK_GUESSED;
	return UNWIND_OK;
}

enum walk_end walk_stack(struct walk *w, const struct unwind_regs *from)
{
	struct unwind_regs regs = *from;
	struct unwind_stack stack = {0, 0};
	uint32_t flags = 0;

	w->image_count = w->switches = 0;
	memory_forget(&w->code->windows);
	for (w->count = 0; w->count < w->max;) {
		struct sampler_image *image = image_at(w, regs.pc - regs.is_return_address);
		uint64_t sp = regs.r[CFI_RSP];
		enum unwind_result result;

		/* Nobody has called what the handler returns to. */
		if (flags & WALK_SIGNAL && w->count > 1)
			w->count--;
		if (regs.pc - w->stop.low < w->stop.high - w->stop.low) {
			w->stopped = regs;
			w->stopped_flags = flags;
			return WALK_STOPPED;
		}
		w->frames[w->count++] = (struct walk_frame){regs.pc, image, flags};
		if (sp - stack.low >= stack.high - stack.low && !w->stack_of(w->data, sp, &stack))
			return WALK_NO_DATA;
		result = step(w, image, &stack, &regs, &flags);
		if (result != UNWIND_OK)
			return result == UNWIND_END ? WALK_COMPLETE : WALK_NO_DATA;
	}
	return WALK_TOO_DEEP;
}

/* class_code.c - one pass over the instructions for their form, and a walk along the branches for the depth of the stack. */
#include "jvm/c/classes/class_code.h"

#include <string.h>

enum {
	TAG_INTEGER = 3,
	TAG_FLOAT = 4,
	TAG_DOUBLE = 6,
	TAG_STRING = 8,
	TAG_FIELDREF = 9,
	TAG_INTERFACE_METHODREF = 11,
	TAG_METHOD_HANDLE = 15,
	TAG_METHOD_TYPE = 16,
	TAG_DYNAMIC = 17,
	TAG_INVOKE_DYNAMIC = 18,
	OP_LDC = 18,
	OP_LDC_W = 19,
	OP_LDC2_W = 20,
	OP_ILOAD = 21,
	OP_ALOAD = 25,
	OP_ILOAD_0 = 26,
	OP_ALOAD_3 = 45,
	OP_ISTORE = 54,
	OP_ASTORE = 58,
	OP_ISTORE_0 = 59,
	OP_ASTORE_3 = 78,
	OP_IINC = 132,
	OP_IFEQ = 153,
	OP_GOTO = 167,
	OP_JSR = 168,
	OP_RET = 169,
	OP_TABLESWITCH = 170,
	OP_LOOKUPSWITCH = 171,
	OP_IRETURN = 172,
	OP_RETURN = 177,
	OP_GETSTATIC = 178,
	OP_PUTFIELD = 181,
	OP_INVOKEVIRTUAL = 182,
	OP_INVOKESPECIAL = 183,
	OP_INVOKESTATIC = 184,
	OP_INVOKEINTERFACE = 185,
	OP_INVOKEDYNAMIC = 186,
	OP_NEW = 187,
	OP_ANEWARRAY = 189,
	OP_ATHROW = 191,
	OP_CHECKCAST = 192,
	OP_INSTANCEOF = 193,
	OP_WIDE = 196,
	OP_MULTIANEWARRAY = 197,
	OP_IFNULL = 198,
	OP_IFNONNULL = 199,
	OP_GOTO_W = 200,
	OP_JSR_W = 201,
	LONG_TYPE = 1, /* of loads and stores: int, long, float, double, reference */
	DOUBLE_TYPE = 3,
};

/* How many words an instruction leaves more on the stack, by opcode: e for 0, d for -1, f for 1. Of fields, calls and arrays: elsewhere. */
static const char deltas[] = "effffffffggfffggffffgfgfgfffffggggffffggggffff"
			     "dededddddcdcdddddccccddddccccddddbababbbbdcfff"
			     "gggedcdcdcdcdcdcdcdcdcdceeeedddddddcdcdcefefdd"
			     "eeffdedeeebddbbddddddccccccccefedddcdcde";

uint32_t class_tag(const struct class_constants *c, uint32_t number)
{
	return number < c->count && c->at[number] ? c->reader->bytes[c->at[number]] : 0;
}

static uint32_t number_at(const uint8_t *bytes, unsigned int count)
{
	uint32_t ret = 0;

	for (unsigned int i = 0; i < count; i++)
		ret = ret << 8 | bytes[i];
	return ret;
}

/* ---- descriptors ---- */

/* A text of the class; NULL: the constant is none. */
static const uint8_t *text_of(const struct class_constants *c, uint32_t number, uint32_t *len)
{
	const uint8_t *p;

	if (class_tag(c, number) != CLASS_UTF8)
		return NULL;
	p = c->reader->bytes + c->at[number];
	*len = number_at(p + 1, 2);
	return p + 3;
}

/* The type of a reference to a field or a method, or of a dynamic constant. */
static const uint8_t *descriptor_of(const struct class_constants *c, uint32_t number, uint32_t *len)
{
	uint32_t name_and_type = number_at(c->reader->bytes + c->at[number] + 3, 2);

	if (class_tag(c, name_and_type) != CLASS_NAME_AND_TYPE)
		return NULL;
	return text_of(c, number_at(c->reader->bytes + c->at[name_and_type] + 3, 2), len);
}

/* Passes a type, and returns its words; 0 for void. Negative: it is none. */
static int32_t pass_type(const uint8_t *text, uint32_t len, uint32_t *at)
{
	bool is_array = false;

	while (*at < len && text[*at] == '[') {
		is_array = true;
		++*at;
	}
	if (*at >= len)
		return -1;
	switch (text[(*at)++]) {
	case 'V':
		return is_array ? -1 : 0;
	case 'J':
	case 'D':
		return is_array ? 1 : 2;
	case 'L':
		while (*at < len && text[*at] != ';')
			++*at;
		++*at;
		return *at <= len ? 1 : -1;
	default:
		return strchr("BCFISZ", text[*at - 1]) ? 1 : -1;
	}
}

/* The words of a method's arguments and of its result. False: it is no descriptor of a method. */
static bool measure_method(const struct class_constants *c, uint32_t number, int32_t *arguments, int32_t *result)
{
	uint32_t len = 0, at = 1;
	const uint8_t *text = descriptor_of(c, number, &len);

	*arguments = 0;
	if (!text || !len || text[0] != '(')
		return false;
	while (at < len && text[at] != ')') {
		int32_t words = pass_type(text, len, &at);

		if (words <= 0)
			return false;
		*arguments += words;
	}
	at++;
	*result = at < len ? pass_type(text, len, &at) : -1;
	return *result >= 0;
}

static int32_t field_words(const struct class_constants *c, uint32_t number)
{
	uint32_t len = 0, at = 0;
	const uint8_t *text = descriptor_of(c, number, &len);

	return text ? pass_type(text, len, &at) : -1;
}

bool class_is_field_name(const struct class_constants *c, uint32_t number)
{
	uint32_t len = 0;
	const uint8_t *text = text_of(c, number, &len);

	for (uint32_t i = 0; text && i < len; i++)
		if (strchr(".;[/", text[i]))
			return false;
	return len > 0;
}

int32_t class_type_words(const struct class_constants *c, uint32_t number)
{
	uint32_t len = 0, at = 0;
	const uint8_t *text = text_of(c, number, &len);
	int32_t ret = text ? pass_type(text, len, &at) : 0;

	return at == len ? ret : 0;
}

/* ---- form ---- */

static bool is_loadable(uint32_t tag, bool is_wide)
{
	if (is_wide)
		return tag == CLASS_LONG || tag == TAG_DOUBLE || tag == TAG_DYNAMIC;
	return tag == TAG_INTEGER || tag == TAG_FLOAT || tag == TAG_STRING || tag == CLASS_CLASS ||
	       tag == TAG_METHOD_HANDLE || tag == TAG_METHOD_TYPE || tag == TAG_DYNAMIC;
}

static bool is_interface_call(const struct class_constants *c, const uint8_t *p, uint32_t number)
{
	int32_t arguments, result;

	return class_tag(c, number) == TAG_INTERFACE_METHODREF && p[4] == 0 &&
	       measure_method(c, number, &arguments, &result) && p[3] == arguments + 1;
}

/* The constant that an instruction names. */
static bool has_constant(const struct class_constants *c, const uint8_t *p)
{
	uint32_t number = p[0] == OP_LDC ? p[1] : number_at(p + 1, 2), tag = class_tag(c, number);

	switch (p[0]) {
	case OP_LDC:
	case OP_LDC_W:
		return is_loadable(tag, false);
	case OP_LDC2_W:
		return is_loadable(tag, true);
	case OP_INVOKEVIRTUAL:
		return tag == CLASS_METHODREF;
	case OP_INVOKESPECIAL:
	case OP_INVOKESTATIC:
		return tag == CLASS_METHODREF || tag == TAG_INTERFACE_METHODREF;
	case OP_INVOKEINTERFACE:
		return is_interface_call(c, p, number);
	case OP_INVOKEDYNAMIC:
		return tag == TAG_INVOKE_DYNAMIC && p[3] == 0 && p[4] == 0;
	case OP_NEW:
	case OP_ANEWARRAY:
	case OP_CHECKCAST:
	case OP_INSTANCEOF:
	case OP_MULTIANEWARRAY:
		return tag == CLASS_CLASS;
	default:
		return p[0] < OP_GETSTATIC || p[0] > OP_PUTFIELD || tag == TAG_FIELDREF;
	}
}

/* Behind the last local of an instruction; 0: it has none. */
static uint32_t locals_end(const uint8_t *p)
{
	bool is_wide = p[0] == OP_WIDE;
	uint8_t op = is_wide ? p[1] : p[0];
	uint32_t local = is_wide ? number_at(p + 2, 2) : p[1], type = 0;

	if (op >= OP_ILOAD && op <= OP_ALOAD) {
		type = op - OP_ILOAD;
	} else if (op >= OP_ISTORE && op <= OP_ASTORE) {
		type = op - OP_ISTORE;
	} else if (op >= OP_ILOAD_0 && op <= OP_ALOAD_3) {
		type = (op - OP_ILOAD_0) / 4u;
		local = (op - OP_ILOAD_0) % 4u;
	} else if (op >= OP_ISTORE_0 && op <= OP_ASTORE_3) {
		type = (op - OP_ISTORE_0) / 4u;
		local = (op - OP_ISTORE_0) % 4u;
	} else if (op != OP_IINC && op != OP_RET) {
		return 0;
	}
	return local + (type == LONG_TYPE || type == DOUBLE_TYPE ? 2 : 1);
}

static bool is_wide_form(const uint8_t *p)
{
	return p[0] != OP_WIDE || (p[1] >= OP_ILOAD && p[1] <= OP_ALOAD) || (p[1] >= OP_ISTORE && p[1] <= OP_ASTORE) ||
	       p[1] == OP_IINC || p[1] == OP_RET;
}

/* ---- branches ---- */

static bool is_branch(uint8_t op)
{
	return (op >= OP_IFEQ && op <= OP_JSR) || op == OP_IFNULL || op == OP_IFNONNULL;
}

/* Does an instruction come behind it? */
static bool goes_on(uint8_t op)
{
	return op != OP_GOTO && op != OP_GOTO_W && op != OP_TABLESWITCH && op != OP_LOOKUPSWITCH && op != OP_ATHROW &&
	       !(op >= OP_IRETURN && op <= OP_RETURN);
}

/* The place of target i of an instruction. False: it has no such target. */
static bool target(const struct class_code *code, uint32_t at, uint32_t i, uint32_t *ret)
{
	const uint8_t *p = code->bytes + at, *operands = code->bytes + (at & ~UINT32_C(3)) + 4;
	uint32_t count = 1;

	if (is_branch(p[0])) {
		*ret = at + (uint32_t)(int16_t)number_at(p + 1, 2);
	} else if (p[0] == OP_GOTO_W || p[0] == OP_JSR_W) {
		*ret = at + number_at(p + 1, 4);
	} else if (p[0] == OP_TABLESWITCH) {
		count += number_at(operands + 8, 4) - number_at(operands + 4, 4) + 1;
		*ret = i < count ? at + number_at(operands + (i ? 8 + 4 * (size_t)i : 0), 4) : 0;
	} else if (p[0] == OP_LOOKUPSWITCH) {
		count += number_at(operands + 4, 4);
		*ret = i < count ? at + number_at(operands + (i ? 4 + 8 * (size_t)i : 0), 4) : 0;
	} else {
		return false;
	}
	return i < count;
}

static bool are_targets_whole(const struct class_code *code, uint32_t at)
{
	uint32_t to;

	for (uint32_t i = 0; target(code, at, i, &to); i++)
		if (to >= code->len || !code->starts[to])
			return false;
	return true;
}

bool class_code_scan(struct class_code *code, const struct class_constants *c)
{
	uint32_t len;

	for (uint32_t at = 0; at < code->len; at += len) {
		const uint8_t *p = code->bytes + at;

		len = class_instruction_bytes(code->bytes, code->len, at);
		if (!len || !is_wide_form(p) || !has_constant(c, p) || locals_end(p) > code->max_locals)
			return false;
		code->starts[at] = 1;
		code->has_subroutine |=
			p[0] == OP_JSR || p[0] == OP_JSR_W || p[0] == OP_RET || (p[0] == OP_WIDE && p[1] == OP_RET);
	}
	for (uint32_t at = 0; at < code->len; at++)
		if (code->starts[at] && !are_targets_whole(code, at))
			return false;
	return true;
}

/* ---- the stack ---- */

/* How many words an instruction takes from the stack at most before it puts others there, and how many it leaves more. */
static bool measure(const struct class_constants *c, const uint8_t *p, int32_t *delta)
{
	uint32_t number = number_at(p + 1, 2);
	int32_t arguments, words;

	switch (p[0]) {
	case OP_GETSTATIC:
	case OP_GETSTATIC + 1:
	case OP_PUTFIELD - 1:
	case OP_PUTFIELD:
		words = field_words(c, number);
		*delta = ((p[0] - OP_GETSTATIC) % 2 ? -words : words) - (p[0] >= OP_PUTFIELD - 1);
		return words > 0;
	case OP_INVOKEVIRTUAL:
	case OP_INVOKESPECIAL:
	case OP_INVOKESTATIC:
	case OP_INVOKEINTERFACE:
	case OP_INVOKEDYNAMIC:
		if (!measure_method(c, number, &arguments, &words))
			return false;
		*delta = words - arguments - (p[0] != OP_INVOKESTATIC && p[0] != OP_INVOKEDYNAMIC);
		return true;
	case OP_MULTIANEWARRAY:
		*delta = 1 - p[3];
		return true;
	case OP_WIDE:
		*delta = deltas[p[1]] - 'e';
		return true;
	case OP_NEW:
		*delta = 1;
		return true;
	default:
		*delta = p[0] < OP_GETSTATIC ? deltas[p[0]] - 'e'
			 : p[0] == OP_ATHROW || (p[0] > OP_INSTANCEOF && p[0] < OP_WIDE) || p[0] == OP_IFNULL ||
					 p[0] == OP_IFNONNULL
				 ? -1
				 : 0;
		return true;
	}
}

/* False: it was reached with another depth. */
static bool reach(struct class_code *code, uint32_t at, int32_t depth)
{
	if (at >= code->len)
		return false;
	if (code->depths[at] >= 0)
		return code->depths[at] == depth;
	code->depths[at] = depth;
	code->reached[code->reached_count++] = at;
	return true;
}

bool class_code_follow(struct class_code *code, const struct class_constants *c, uint32_t at, int32_t depth)
{
	int32_t most = (int32_t)code->max_stack, delta;

	if (depth > most || !reach(code, at, depth))
		return false;
	while (code->reached_count) {
		uint32_t from = code->reached[--code->reached_count], to;

		if (!measure(c, code->bytes + from, &delta))
			return false;
		depth = code->depths[from] + delta;
		if (depth < 0 || depth > most)
			return false;
		for (uint32_t i = 0; target(code, from, i, &to); i++)
			if (!reach(code, to, depth))
				return false;
		if (goes_on(code->bytes[from]) &&
		    !reach(code, from + class_instruction_bytes(code->bytes, code->len, from), depth))
			return false;
	}
	return true;
}

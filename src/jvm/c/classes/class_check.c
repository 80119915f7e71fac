/* class_check.c - reads all of a class by tables of attributes: how long each is, how often it may be there, and what its numbers name. */
#include "jvm/c/classes/class_check.h"

#include <stdlib.h>
#include <string.h>

#include "jvm/c/classes/class_code.h"
#include "jvm/c/classes/class_reader.h"

enum {
	TAG_UTF8 = CLASS_UTF8,
	SAME_LOCALS_ONE = 64, /* kinds of stack frames, in this order */
	RESERVED = 128,
	SAME_LOCALS_ONE_EXTENDED = 247,
	SAME_EXTENDED = 251,
	FULL = 255,
	VARIABLE_BYTES = 10, /* start, length, name, type, local */
	MOST_VARIABLES = 4096,
	MOST_GENERICS = 1024,
	ITEM_OBJECT = 7,
	ITEM_UNINITIALIZED = 8,
};

/* Where an attribute is. */
enum place {
	OF_FIELD = 1 << 0,
	OF_METHOD = 1 << 1,
	OF_CODE = 1 << 2,
	OF_CLASS = 1 << 3,
	OF_COMPONENT = 1 << 4, /* of a record */
	OF_MEMBER = OF_FIELD | OF_METHOD,
	OF_ALL = OF_MEMBER | OF_CLASS,
};

struct check {
	struct class_reader r;
	struct class_constants constants;
	struct class_code *code; /* the method's whose attributes are read */
	/* Variables of the code, and those that are generic. */
	const uint8_t *variables;
	const uint8_t *generics;
	uint32_t variable_count;
	uint32_t generic_count;
	bool is_wrong;
};

static void check_attributes(struct check *c, enum place place);

static void expect(struct check *c, bool is_right)
{
	c->is_wrong |= !is_right;
}

/* A number of a constant of that kind. */
static void constant(struct check *c, uint32_t tag)
{
	expect(c, class_tag(&c->constants, class_number(&c->r, 2)) == tag);
}

static void constant_or_none(struct check *c, uint32_t tag)
{
	uint32_t number = class_number(&c->r, 2);

	expect(c, !number || class_tag(&c->constants, number) == tag);
}

/* A place in the code where an instruction begins. */
static void instruction(struct check *c, uint32_t at)
{
	expect(c, at < c->code->len && c->code->starts[at]);
}

/* ---- attributes ---- */

static void check_nothing(struct check *c)
{
	(void)c;
}

static void check_text(struct check *c)
{
	constant(c, TAG_UTF8);
}

static void check_number(struct check *c)
{
	expect(c, class_tag(&c->constants, class_number(&c->r, 2)) != 0);
}

static void check_class(struct check *c)
{
	constant(c, CLASS_CLASS);
}

static void check_classes(struct check *c)
{
	for (uint32_t count = class_number(&c->r, 2); count > 0 && !c->r.is_short; count--)
		constant(c, CLASS_CLASS);
}

static void check_enclosing(struct check *c)
{
	constant(c, CLASS_CLASS);
	constant_or_none(c, CLASS_NAME_AND_TYPE);
}

static void check_inner(struct check *c)
{
	for (uint32_t count = class_number(&c->r, 2); count > 0 && !c->r.is_short; count--) {
		constant(c, CLASS_CLASS);
		constant_or_none(c, CLASS_CLASS);
		constant_or_none(c, TAG_UTF8);
		class_skip(&c->r, 2);
	}
}

static void check_bootstraps(struct check *c)
{
	for (uint32_t count = class_number(&c->r, 2); count > 0 && !c->r.is_short; count--) {
		check_number(c);
		for (uint32_t arguments = class_number(&c->r, 2); arguments > 0 && !c->r.is_short; arguments--)
			check_number(c);
	}
}

static void check_record(struct check *c)
{
	for (uint32_t count = class_number(&c->r, 2); count > 0 && !c->r.is_short; count--) {
		constant(c, TAG_UTF8);
		constant(c, TAG_UTF8);
		check_attributes(c, OF_COMPONENT);
	}
}

static void check_parameters(struct check *c)
{
	for (uint32_t count = class_number(&c->r, 1); count > 0 && !c->r.is_short; count--) {
		constant_or_none(c, TAG_UTF8);
		class_skip(&c->r, 2);
	}
}

static void check_lines(struct check *c)
{
	for (uint32_t count = class_number(&c->r, 2); count > 0 && !c->r.is_short; count--) {
		expect(c, class_number(&c->r, 2) < c->code->len);
		class_skip(&c->r, 2);
	}
}

/* Returns how many there are. The types of variables in generic code are no descriptors. */
static uint32_t check_variables(struct check *c, bool is_generic)
{
	uint32_t all = class_number(&c->r, 2);

	for (uint32_t count = all; count > 0 && !c->r.is_short; count--) {
		uint32_t start = class_number(&c->r, 2), end = start + class_number(&c->r, 2);
		uint32_t name = class_number(&c->r, 2), type = class_number(&c->r, 2);
		int32_t words = is_generic ? 1 : class_type_words(&c->constants, type);

		instruction(c, start);
		expect(c, end == c->code->len || (end < c->code->len && c->code->starts[end]));
		expect(c, class_is_field_name(&c->constants, name));
		expect(c, words > 0 && class_tag(&c->constants, type) == TAG_UTF8);
		expect(c, class_number(&c->r, 2) + (uint32_t)words <= c->code->max_locals);
	}
	return all;
}

static void check_plain_variables(struct check *c)
{
	c->variables = c->r.bytes + c->r.off + 2;
	c->variable_count = check_variables(c, false);
}

static void check_generic_variables(struct check *c)
{
	c->generics = c->r.bytes + c->r.off + 2;
	c->generic_count = check_variables(c, true);
}

/* Do both have one place, name and local? */
static bool is_variable(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, 6) == 0 && memcmp(a + 8, b + 8, 2) == 0;
}

/* A generic one is another one, too, and is there once. More than any compiler makes count as damaged. */
static void check_generics(struct check *c)
{
	expect(c, !c->generic_count || (c->generic_count <= MOST_GENERICS && c->variable_count <= MOST_VARIABLES));
	for (uint32_t i = 0; i < c->generic_count && !c->is_wrong; i++) {
		const uint8_t *generic = c->generics + (size_t)i * VARIABLE_BYTES;
		uint32_t k = 0;

		while (k < c->variable_count && !is_variable(generic, c->variables + (size_t)k * VARIABLE_BYTES))
			k++;
		expect(c, k < c->variable_count);
		for (k = 0; k < i; k++)
			expect(c, !is_variable(generic, c->generics + (size_t)k * VARIABLE_BYTES));
	}
}

static void check_items(struct check *c, uint32_t count)
{
	for (; count > 0 && !c->r.is_short; count--) {
		uint32_t kind = class_number(&c->r, 1);

		expect(c, kind <= ITEM_UNINITIALIZED);
		if (kind == ITEM_OBJECT)
			constant(c, CLASS_CLASS);
		else if (kind == ITEM_UNINITIALIZED)
			instruction(c, class_number(&c->r, 2));
	}
}

/* Returns how far behind the frame before it is, less 1. */
static uint32_t check_frame(struct check *c)
{
	uint32_t kind = class_number(&c->r, 1), ret = kind;

	expect(c, kind < RESERVED || kind >= SAME_LOCALS_ONE_EXTENDED);
	if (kind >= SAME_LOCALS_ONE_EXTENDED)
		ret = class_number(&c->r, 2);
	else if (kind >= SAME_LOCALS_ONE)
		ret = kind - SAME_LOCALS_ONE;
	if (kind == FULL) {
		check_items(c, class_number(&c->r, 2));
		check_items(c, class_number(&c->r, 2));
	} else if (kind > SAME_EXTENDED) {
		check_items(c, kind - SAME_EXTENDED);
	} else if ((kind >= SAME_LOCALS_ONE && kind < RESERVED) || kind == SAME_LOCALS_ONE_EXTENDED) {
		check_items(c, 1);
	}
	return ret;
}

static void check_frames(struct check *c)
{
	uint32_t at = UINT32_MAX; /* the first frame has no other before it */

	for (uint32_t count = class_number(&c->r, 2); count > 0 && !c->r.is_short; count--) {
		at += check_frame(c) + 1;
		instruction(c, at);
	}
}

/* ---- code ---- */

/* Their depth is followed when all instructions are known. */
static void check_handlers(struct check *c)
{
	for (uint32_t count = class_number(&c->r, 2); count > 0 && !c->r.is_short; count--) {
		uint32_t start = class_number(&c->r, 2), end = class_number(&c->r, 2), handler = class_number(&c->r, 2);

		instruction(c, start);
		expect(c, start < end && (end == c->code->len || (end < c->code->len && c->code->starts[end])));
		instruction(c, handler);
		constant_or_none(c, CLASS_CLASS);
		if (!c->is_wrong && !c->code->has_subroutine)
			expect(c, class_code_follow(c->code, &c->constants, handler, 1));
	}
}

static void check_body(struct check *c)
{
	struct class_code *code = c->code;

	expect(c, code->bytes && code->starts && code->depths && code->reached && class_code_scan(code, &c->constants));
	if (c->is_wrong)
		return;
	memset(code->depths, 0xff, code->len * sizeof *code->depths);
	if (!code->has_subroutine)
		expect(c, class_code_follow(code, &c->constants, 0, 0));
	if (c->is_wrong)
		return;
	check_handlers(c);
	check_attributes(c, OF_CODE);
	if (!c->r.is_short)
		check_generics(c);
}

static void check_code(struct check *c)
{
	struct class_code code = {.max_stack = class_number(&c->r, 2), .max_locals = class_number(&c->r, 2)};

	code.len = class_number(&c->r, 4);
	code.bytes = c->r.bytes + c->r.off;
	class_skip(&c->r, code.len);
	/* The numbers of handlers and attributes follow, four bytes: what may be read behind a last instruction that has no operands. */
	expect(c, !c->r.is_short && code.len > 0 && code.len < 1 << 16 && c->r.len - c->r.off >= 4);
	if (c->is_wrong)
		return;
	code.starts = calloc(code.len, sizeof *code.starts);
	code.depths = malloc(code.len * sizeof *code.depths);
	code.reached = malloc(code.len * sizeof *code.reached);
	c->code = &code;
	c->variable_count = c->generic_count = 0;
	check_body(c);
	c->code = NULL;
	free(code.starts);
	free(code.depths);
	free(code.reached);
}

/* ---- tables ---- */

struct attribute {
	const char *name;
	void (*check)(struct check *c);
	int places;
	bool is_any_length; /* only how often it is there is checked */
	bool may_repeat;
};

static const struct attribute attributes[] = {
	{"Code", check_code, OF_METHOD, false, false},
	{"ConstantValue", check_number, OF_FIELD, false, false},
	{"Exceptions", check_classes, OF_METHOD, false, false},
	{"MethodParameters", check_parameters, OF_METHOD, false, false},
	{"LineNumberTable", check_lines, OF_CODE, false, true},
	{"LocalVariableTable", check_plain_variables, OF_CODE, false, false},
	{"LocalVariableTypeTable", check_generic_variables, OF_CODE, false, false},
	{"StackMapTable", check_frames, OF_CODE, false, false},
	{"Signature", check_text, OF_ALL | OF_COMPONENT, false, false},
	{"Deprecated", check_nothing, OF_ALL, false, true},
	{"Synthetic", check_nothing, OF_ALL, false, true},
	{"SourceFile", check_text, OF_CLASS, false, false},
	{"SourceDebugExtension", check_nothing, OF_CLASS, true, false},
	{"InnerClasses", check_inner, OF_CLASS, false, false},
	{"EnclosingMethod", check_enclosing, OF_CLASS, false, false},
	{"NestHost", check_class, OF_CLASS, false, false},
	{"NestMembers", check_classes, OF_CLASS, false, false},
	{"PermittedSubclasses", check_classes, OF_CLASS, false, false},
	{"Record", check_record, OF_CLASS, false, false},
	{"BootstrapMethods", check_bootstraps, OF_CLASS, false, false},
	{"AnnotationDefault", check_nothing, OF_METHOD, true, false},
	{"RuntimeVisibleAnnotations", check_nothing, OF_ALL | OF_COMPONENT, true, false},
	{"RuntimeInvisibleAnnotations", check_nothing, OF_ALL | OF_COMPONENT, true, false},
	{"RuntimeVisibleParameterAnnotations", check_nothing, OF_METHOD, true, false},
	{"RuntimeInvisibleParameterAnnotations", check_nothing, OF_METHOD, true, false},
	{"RuntimeVisibleTypeAnnotations", check_nothing, OF_ALL | OF_CODE | OF_COMPONENT, true, false},
	{"RuntimeInvisibleTypeAnnotations", check_nothing, OF_ALL | OF_CODE | OF_COMPONENT, true, false},
};

/* The number of the attribute in the table; the table's length: it is not known, and passed over by all. */
static size_t find_attribute(const struct check *c, uint32_t name, enum place place)
{
	size_t i = 0;

	while (i < sizeof attributes / sizeof *attributes &&
	       (!(attributes[i].places & (int)place) ||
		!class_is_text(&c->r, c->constants.at[name], attributes[i].name)))
		i++;
	return i;
}

/* A writer of classes would give what it does not know in code to the method, where the name may mean something. */
static bool is_misplaced(const struct check *c, uint32_t name)
{
	return find_attribute(c, name, OF_ALL) < sizeof attributes / sizeof *attributes;
}

static void check_attribute(struct check *c, enum place place, uint64_t *seen)
{
	uint32_t name = class_number(&c->r, 2), len = class_number(&c->r, 4);
	size_t end = c->r.off + len, i;

	expect(c, class_tag(&c->constants, name) == TAG_UTF8 && len <= c->r.len - c->r.off);
	if (c->is_wrong)
		return;
	i = find_attribute(c, name, place);
	expect(c, place != OF_CODE || i < sizeof attributes / sizeof *attributes || !is_misplaced(c, name));
	if (i == sizeof attributes / sizeof *attributes || attributes[i].is_any_length)
		class_skip(&c->r, len);
	else
		attributes[i].check(c);
	if (i < sizeof attributes / sizeof *attributes)
		expect(c, attributes[i].may_repeat || !(*seen >> i & 1));
	*seen |= UINT64_C(1) << i;
	expect(c, c->r.off == end);
}

static void check_attributes(struct check *c, enum place place)
{
	uint64_t seen = 0;

	for (uint32_t count = class_number(&c->r, 2); count > 0 && !c->is_wrong && !c->r.is_short; count--)
		check_attribute(c, place, &seen);
}

/* ---- the class ---- */

static void check_members(struct check *c, enum place place)
{
	for (uint32_t count = class_number(&c->r, 2); count > 0 && !c->is_wrong && !c->r.is_short; count--) {
		class_skip(&c->r, 2);
		constant(c, TAG_UTF8);
		constant(c, TAG_UTF8);
		check_attributes(c, place);
	}
}

static void read_constants(struct check *c)
{
	c->constants.count = class_number(&c->r, 2);
	c->constants.at = calloc((size_t)c->constants.count + 1, sizeof *c->constants.at);
	expect(c, c->constants.at);
	for (uint32_t i = 1; i < c->constants.count && !c->is_wrong && !c->r.is_short;) {
		c->constants.at[i] = (uint32_t)c->r.off;
		i += class_skip_constant(&c->r);
	}
}

static void check_all(struct check *c)
{
	class_skip(&c->r, CLASS_HEADER_BYTES);
	read_constants(c);
	if (c->is_wrong || c->r.is_short)
		return;
	class_skip(&c->r, 2);
	constant(c, CLASS_CLASS);
	constant_or_none(c, CLASS_CLASS);
	check_classes(c);
	check_members(c, OF_FIELD);
	check_members(c, OF_METHOD);
	check_attributes(c, OF_CLASS);
}

bool jvm_class_is_whole(const uint8_t *bytes, size_t len)
{
	struct check c = {.r = {.bytes = bytes, .len = len}};

	c.constants.reader = &c.r;
	check_all(&c);
	free(c.constants.at);
	return !c.is_wrong && !c.r.is_short && c.r.off == len;
}

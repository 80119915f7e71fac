/* debug_info.c - operands of the nodes of debug information (debug_info.h). */
#include "analyze/debug_info.h"

#include <stdlib.h>
#include <string.h>

enum {
	TAG_MEMBER = 0x0d, /* DWARF 5, section 7.5.3 */
	TAG_POINTER = 0x0f,
	TAG_REFERENCE = 0x10,
	TAG_TYPEDEF = 0x16,
	TAG_INHERITANCE = 0x1c,
	TAG_CONST = 0x26,
	TAG_VOLATILE = 0x35,
	TAG_RESTRICT = 0x37,
	TAG_RVALUE_REFERENCE = 0x42,
	TAG_ATOMIC = 0x47,
	NESTED_MAX = 32,  /* types of types */
	LISTED_MAX = 12,  /* members in a message */
	OPERANDS_FEW = 8, /* nodes with more are lists */
};

/* Operands of nodes. */
enum {
	SCOPE_OUTER = 1,
	VARIABLE_NAME = 1,
	VARIABLE_TYPE = 3,
	TYPE_NAME = 2,
	TYPE_BASE = 3,
	TYPE_ELEMENTS = 4,
};

static LLVMValueRef operand(LLVMContextRef context, LLVMMetadataRef node, unsigned number)
{
	LLVMValueRef value = LLVMMetadataAsValue(context, node), few[OPERANDS_FEW], *all = few, found = NULL;
	unsigned count = LLVMGetMDNodeNumOperands(value);

	if (number >= count)
		return NULL;
	if (count > OPERANDS_FEW)
		all = calloc(count, sizeof *all);
	if (all) {
		LLVMGetMDNodeOperands(value, all);
		found = all[number];
	}
	if (all != few)
		free(all);
	return found;
}

static LLVMMetadataRef node_at(LLVMContextRef context, LLVMMetadataRef node, unsigned number)
{
	LLVMValueRef value = operand(context, node, number);

	return value ? LLVMValueAsMetadata(value) : NULL;
}

static const char *text_at(LLVMContextRef context, LLVMMetadataRef node, unsigned number)
{
	LLVMValueRef value = operand(context, node, number);
	unsigned len_bytes;
	const char *text = value ? LLVMGetMDString(value, &len_bytes) : NULL;

	return text ? text : "";
}

const char *debug_variable_name(LLVMContextRef context, LLVMMetadataRef variable)
{
	return text_at(context, variable, VARIABLE_NAME);
}

LLVMMetadataRef debug_variable_type(LLVMContextRef context, LLVMMetadataRef variable)
{
	return node_at(context, variable, VARIABLE_TYPE);
}

bool debug_scope_is_in(LLVMContextRef context, LLVMMetadataRef scope, LLVMMetadataRef outer)
{
	while (scope && scope != outer) {
		LLVMMetadataKind kind = LLVMGetMetadataKind(scope);

		if (kind != LLVMDILexicalBlockMetadataKind && kind != LLVMDILexicalBlockFileMetadataKind)
			return false;
		scope = node_at(context, scope, SCOPE_OUTER);
	}
	return scope;
}

/* ---- types ---- */

static bool is_alias(LLVMMetadataRef type)
{
	unsigned tag = LLVMGetDINodeTag(type);

	return tag == TAG_TYPEDEF || tag == TAG_CONST || tag == TAG_VOLATILE || tag == TAG_RESTRICT ||
	       tag == TAG_ATOMIC;
}

LLVMMetadataRef debug_type_plain(LLVMContextRef context, LLVMMetadataRef type)
{
	for (int i = 0; type && i < NESTED_MAX && is_alias(type); i++)
		type = node_at(context, type, TYPE_BASE);
	return type;
}

bool debug_type_is_pointer(LLVMContextRef context, LLVMMetadataRef type, LLVMMetadataRef *ret)
{
	unsigned tag = type ? LLVMGetDINodeTag(type) : 0;

	if (tag != TAG_POINTER && tag != TAG_REFERENCE && tag != TAG_RVALUE_REFERENCE)
		return false;
	*ret = debug_type_plain(context, node_at(context, type, TYPE_BASE));
	return true;
}

uint64_t debug_type_bytes(LLVMContextRef context, LLVMMetadataRef type)
{
	type = debug_type_plain(context, type);
	return type ? (LLVMDITypeGetSizeInBits(type) + 7) / 8 : 0;
}

/* Calls visit for each member, with its place in bits, until it says that it has found what it looks for. */
static bool each_member(LLVMContextRef context, LLVMMetadataRef type, uint64_t offset_bits, int depth,
			bool (*visit)(void *data, const char *name, const struct debug_member *member), void *data)
{
	LLVMMetadataRef elements = type && LLVMGetMetadataKind(type) == LLVMDICompositeTypeMetadataKind
					   ? node_at(context, type, TYPE_ELEMENTS)
					   : NULL;
	unsigned count = elements ? LLVMGetMDNodeNumOperands(LLVMMetadataAsValue(context, elements)) : 0;

	for (unsigned i = 0; i < count && depth < NESTED_MAX; i++) {
		LLVMMetadataRef element = node_at(context, elements, i);
		unsigned tag = element && LLVMGetMetadataKind(element) == LLVMDIDerivedTypeMetadataKind
				       ? LLVMGetDINodeTag(element)
				       : 0;
		struct debug_member member;
		const char *name;

		if (tag != TAG_MEMBER && tag != TAG_INHERITANCE)
			continue;
		name = text_at(context, element, TYPE_NAME);
		member = (struct debug_member){debug_type_plain(context, node_at(context, element, TYPE_BASE)),
					       offset_bits + LLVMDITypeGetOffsetInBits(element),
					       LLVMDITypeGetSizeInBits(element)};
		if (*name ? visit(data, name, &member)
			  : each_member(context, member.type, member.offset_bits, depth + 1, visit, data))
			return true;
	}
	return false;
}

struct search {
	const char *name;
	struct debug_member *found;
};

static bool is_that(void *data, const char *name, const struct debug_member *member)
{
	struct search *s = data;

	if (strcmp(name, s->name) != 0)
		return false;
	*s->found = *member;
	return true;
}

bool debug_type_member(LLVMContextRef context, LLVMMetadataRef type, const char *name, struct debug_member *ret)
{
	return each_member(context, type, 0, 0, is_that, &(struct search){name, ret});
}

struct listing {
	struct arena *arena;
	const char *text;
	unsigned count;
};

static bool list(void *data, const char *name, const struct debug_member *member)
{
	struct listing *l = data;

	(void)member;
	if (l->count++ < LISTED_MAX && l->text)
		l->text = arena_printf(l->arena, "%s%s%s", l->text, *l->text ? ", " : "", name);
	return false;
}

const char *debug_type_members(LLVMContextRef context, LLVMMetadataRef type, struct arena *arena)
{
	struct listing l = {arena, "", 0};

	each_member(context, type, 0, 0, list, &l);
	if (l.text && l.count > LISTED_MAX)
		l.text = arena_printf(arena, "%s and %u more", l.text, l.count - LISTED_MAX);
	return l.text;
}

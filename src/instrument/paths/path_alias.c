/*
 * path_alias.c - states for the optimizer that counters are not the program's memory, with the type-based alias information that
 * clang uses for the same purpose: counters are of a type of their own, beside the type that all else is a part of.
 *
 *      root of the module's types ("Simple C/C++ TBAA")
 *       |-- omnipotent char       what the program loads and stores without a type of its own: may be anything but counters
 *       |    `-- int, pointers, structs, ...
 *       |-- waymark counters      tables
 *       `-- waymark slots         thread-local pointers to them
 *
 * Without it each counter would be a store to anywhere, and nothing that is loaded could stay in a register across it.
 */
#include <string.h>

#include "instrument/paths/path.h"

static LLVMMetadataRef node(const struct path_module *m, LLVMMetadataRef *parts, size_t count)
{
	return LLVMMDNodeInContext2(m->context, parts, count);
}

/* The tag of accesses to a scalar type of that name below the root. */
static LLVMValueRef scalar_tag(const struct path_module *m, LLVMMetadataRef root, const char *name)
{
	LLVMMetadataRef zero = LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(m->context), 0, 0));
	LLVMMetadataRef type_parts[] = {LLVMMDStringInContext2(m->context, name, strlen(name)), root, zero};
	LLVMMetadataRef type = node(m, type_parts, 3);
	LLVMMetadataRef tag_parts[] = {type, type, zero};
	return LLVMMetadataAsValue(m->context, node(m, tag_parts, 3));
}

static bool is_node(LLVMValueRef value)
{
	return value && LLVMIsAMDNode(value);
}

/* Operand i of a metadata node, NULL if there is none. */
static LLVMValueRef part(LLVMValueRef value, unsigned i)
{
	enum {
		MOST = 16
	};
	LLVMValueRef parts[MOST];
	unsigned count = LLVMGetMDNodeNumOperands(value);
	if (i >= count || count > MOST)
		return NULL;
	LLVMGetMDNodeOperands(value, parts);
	return parts[i];
}

/* The root of the types of a tag; NULL when it is not of the usual form. */
static LLVMValueRef root_of(LLVMValueRef tag)
{
	LLVMValueRef type = is_node(tag) ? part(tag, 1) : NULL;
	for (unsigned steps = 0; is_node(type) && steps < 100; steps++) {
		if (LLVMGetMDNodeNumOperands(type) < 2)
			return type;
		type = part(type, 1);
	}
	return NULL;
}

static bool is_access(LLVMValueRef i)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
	return opcode == LLVMLoad || opcode == LLVMStore || LLVMIsAMemIntrinsic(i);
}

static LLVMValueRef find_root(const struct path_module *m, unsigned kind)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				LLVMValueRef tag = is_access(i) ? LLVMGetMetadata(i, kind) : NULL;
				LLVMValueRef root = tag ? root_of(tag) : NULL;
				if (root)
					return root;
			}
	return NULL;
}

void path_alias_init(struct path_module *m)
{
	struct path_alias *a = &m->alias;
	a->kind = LLVMGetMDKindIDInContext(m->context, "tbaa", 4);
	LLVMValueRef found = find_root(m, a->kind);
	LLVMMetadataRef root;
	if (found) {
		root = LLVMValueAsMetadata(found);
	} else {
		const char *name = "Simple C/C++ TBAA";
		root = LLVMMDStringInContext2(m->context, name, strlen(name));
		root = node(m, &root, 1);
	}
	a->program = scalar_tag(m, root, "omnipotent char");
	a->counters = scalar_tag(m, root, "waymark counters");
	a->slots = scalar_tag(m, root, "waymark slots");
}

void path_alias_tag_program(const struct path_module *m, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (is_access(i) && !LLVMGetMetadata(i, m->alias.kind))
				LLVMSetMetadata(i, m->alias.kind, m->alias.program);
}

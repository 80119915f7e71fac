/*
 * vm_structs.h - the tables in which HotSpot says where it has what (vmStructs.hpp), for its serviceability agent.
 *
 * Once, before other threads ask for what is found.
 */
#ifndef WM_JVM_VM_STRUCTS_H
#define WM_JVM_VM_STRUCTS_H

#include <stdbool.h>
#include <stdint.h>

struct JNIInvokeInterface_;

/* Of the virtual machine that this is of. */
struct vm_structs {
	void *library;
	const char *entries;
	/* Where an entry has its parts. */
	uint64_t type_name, field_name, is_static, offset, address, stride;
};

/* False: it has no such tables. */
bool vm_structs_open(const struct JNIInvokeInterface_ **vm, struct vm_structs *ret);
void vm_structs_close(struct vm_structs *s);
/* Where a field is in an object. type: NULL: any that has such a field. False: there is none. */
bool vm_structs_offset(const struct vm_structs *s, const char *type, const char *field, uint64_t *ret);
/* The address of a static field. */
bool vm_structs_static(const struct vm_structs *s, const char *type, const char *field, uint64_t *ret);

#endif

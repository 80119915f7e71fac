/*
 * class_file.h - adds fields and methods to a Java class file. Needs no virtual machine, so it also works before there is one.
 *
 * Layout: the Java Virtual Machine Specification, chapter 4. The bytes may be anything: nothing outside of them is read.
 */
#ifndef WM_JVM_CLASS_FILE_H
#define WM_JVM_CLASS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct class_file_field {
	const char *name;
	const char *descriptor;
	uint16_t access; /* ACC_* */
};

/*
 * A static method from a long to a long, which is that of the same name in the class `target` (with slashes). Compilers of the virtual
 * machine inline it whatever its callers have become.
 */
struct class_file_forward {
	const char *name;
	const char *target;
	uint16_t access;
};

struct class_file_addition {
	const struct class_file_field *fields;
	size_t field_count;
	const struct class_file_forward *forwards;
	size_t forward_count;
};

enum class_file_result {
	CLASS_FILE_OK,
	CLASS_FILE_DAMAGED,
	CLASS_FILE_FULL, /* the constant pool, or the table of fields or methods, has no room */
};

/* How many bytes class_file_add adds. Names and descriptors are at most 65535 bytes long. */
size_t class_file_added_bytes(const struct class_file_addition *addition);

/*
 * Writes the class with the addition, its fields behind and its methods in front of the class's own, to `out`, of len +
 * class_file_added_bytes() bytes. That the class has no member of the same name and descriptor is the caller's concern. On failure what
 * is in `out` means nothing. Thread-safe.
 */
enum class_file_result class_file_add(const uint8_t *bytes, size_t len, const struct class_file_addition *addition,
				      uint8_t *out);

#endif

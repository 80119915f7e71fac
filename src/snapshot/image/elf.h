/*
 * elf.h - what the ELF files of a stopped program say: its sections in memory, symbols, thread-local variables.
 */
#ifndef WM_SNAPSHOT_SNAPSHOT_ELF_H
#define WM_SNAPSHOT_SNAPSHOT_ELF_H

#include "snapshot/snapshot.h"

/* A section that is loaded. */
struct snapshot_section {
	const char *name; /* NULL: damaged */
	uint64_t address; /* in memory */
	uint64_t len_bytes;
	bool is_data; /* that can be written and does not begin as zeros */
};
/* Calls visit for each of a module until it returns false. */
void snapshot_sections_each(const struct snapshot_module *m,
			    bool (*visit)(void *data, const struct snapshot_section *section), void *data);

/* The symbol of the code or data at an address in memory, and how far behind its beginning that is. NULL: none. */
const char *snapshot_symbol_at(const struct snapshot *s, uint64_t address, uint64_t *ret_off);

/* The same of code whose symbol says where it ends. */
struct snapshot_function {
	const char *name;
	uint64_t start, end; /* in memory */
};
bool snapshot_function_at(const struct snapshot *s, uint64_t address, struct snapshot_function *ret);

/* Where a symbol is that the module's file defines, in memory. false: it defines none of the name. */
bool snapshot_symbol_find(const struct snapshot_module *m, const char *name, uint64_t *ret);

/* The thread-local storage that a module's file asks for. */
struct snapshot_tls {
	uint64_t len_bytes;
	uint64_t end; /* of the program's: how far its beginning is below the thread pointer */
};
/* false: it has none, or the file is not there. */
bool snapshot_tls_of(const struct snapshot_module *m, struct snapshot_tls *ret);

/* A thread-local variable that the module's file defines. */
struct snapshot_tls_symbol {
	const char *name; /* NULL: damaged */
	uint64_t off;     /* in the module's storage */
	uint64_t len_bytes;
	bool is_dynamic; /* of the dynamic symbol table */
};
/* Calls visit for each of them until it returns false. */
void snapshot_tls_each(const struct snapshot_module *m,
		       bool (*visit)(void *data, const struct snapshot_tls_symbol *symbol), void *data);

/* From each thread's thread pointer to a variable, which the program has, or which the loader has given a fixed place
 * (initial-exec). */
bool snapshot_tls_find(const struct snapshot *s, const char *name, int64_t *ret);

#endif

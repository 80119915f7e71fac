/*
 * symbols.h - the functions and source lines of an ELF file that nothing of Waymark is in: by its symbols (.symtab, .dynsym,
 * .gnu_debugdata), its DWARF, and those of its separate debug file.
 *
 * The file is found by build id (locate.h). Its debug file is looked for where the user said (`--debug-dir`), then as elfutils
 * does: /usr/lib/debug, .gnu_debuglink, and debuginfod where DEBUGINFOD_URLS names a server. Addresses are bytes from the ELF
 * header in memory. Not thread-safe: debug information is read when it is first needed.
 */
#ifndef WM_OBJECT_SYMBOLS_H
#define WM_OBJECT_SYMBOLS_H

#include "object/call_sites.h"
#include "object/debug_lines.h"
#include "object/find.h"

struct symbols;

/*
 * ERROR_NOT_FOUND: no such file; ERROR_MISMATCH: only another build. has_key is false; the search outlives *ret.
 */
struct error *symbols_open(const struct object_search *search, const struct object_wanted *wanted,
			   struct symbols **ret);
/* NULL is passed over. */
void symbols_close(struct symbols *s);

/*
 * The link name of the function that begins there, without its version (memcpy@@GLIBC_2.14); NULL: no symbol says. Of several a
 * global or weak one, then one with fewer underscores in front, then the first by name.
 */
const char *symbols_function(const struct symbols *s, uint64_t address);
/* The i-th name of a function, by address; *ret_size: of its code, 0: not known. NULL: there are fewer. */
const char *symbols_function_at(const struct symbols *s, size_t i, uint64_t *ret_size);
/*
 * The link name of the function that has the address, for code without call frame information, of which nothing else says where it begins: by the
 * size of its symbol; an assembler's label has none, and reaches up to the next symbol if the file has those of local functions, too.
 */
const char *symbols_around(const struct symbols *s, uint64_t address);
/* The chain of inlined functions and their lines at the instruction (debug_lines_at). They live as long as the symbols. */
struct error *symbols_lines(struct symbols *s, uint64_t address, const struct debug_line **ret, uint32_t *ret_count);
/*
 * Where the function of that link name begins, if only one does: a global or weak one, else a local one. False: none, several, or one that the
 * dynamic linker asks for the function's address (IFUNC).
 */
bool symbols_find(struct symbols *s, const char *name, uint64_t *ret);
/*
 * The calls of the function whose code is at the address, by its debug information (call_sites_at). Addresses in them are the symbols' with
 * symbols_base added.
 */
struct error *symbols_calls(struct symbols *s, uint64_t address, const struct call_sites **ret);
uint64_t symbols_base(const struct symbols *s);
/* After symbols_lines: what the debug information lacks (debug_lines_lost); NULL: nothing. It is the symbols'. */
const struct error *symbols_lost(const struct symbols *s);

#endif

/*
 * demangle.h - names of C++ and Rust functions as their programmers know them.
 */
#ifndef WM_OBJECT_DEMANGLE_H
#define WM_OBJECT_DEMANGLE_H

#include "base/arena.h"

/*
 * The name to show for a symbol: demangled with its parameters when it is mangled, and without the number that the linker
 * put behind a local name (f.llvm.123, f.5) to keep it apart. Lives in the arena (or is name itself). NULL when memory is
 * short.
 */
const char *demangle(struct arena *arena, const char *name);

/*
 * A demangled C++ name without its parameters and with "<...>" for its template arguments: "std::map<...>::find". Lives in the
 * arena (or is name itself). NULL when memory is short.
 */
const char *demangle_brief(struct arena *arena, const char *name);

#endif

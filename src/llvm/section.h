/* section.h - puts bytes into a section of a module's object that is not loaded. */
#ifndef WM_LLVM_SECTION_H
#define WM_LLVM_SECTION_H

#include <llvm-c/Types.h>

#include "base/error.h"
#include "base/vec.h"

struct error *section_add(LLVMModuleRef module, const char *name, const struct buffer *section);

#endif

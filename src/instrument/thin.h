/*
 * thin.h - a pass of the compiler, behind the one that embeds bitcode: without machine code an object costs next to what its bitcode
 * costs. Does nothing to a module whose bitcode is not embedded yet, since the optimizer's pipeline runs in front of that, too.
 */
#ifndef WM_INSTRUMENT_THIN_H
#define WM_INSTRUMENT_THIN_H

#ifdef __cplusplus

namespace llvm
{
class PassBuilder;
}

/* Into the pipeline of a compiler that makes thin objects. */
void thin_object_register(llvm::PassBuilder &builder);

#endif
#endif

/* symbol.h - names of functions of other images, from their dynamic symbols, without the loader's lock. */
#ifndef WM_AGENT_SYMBOL_H
#define WM_AGENT_SYMBOL_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/program/image.h"

enum {
	SYMBOL_MAX = 256,
};

/* The name of the function that starts at that address, of the image's dynamic symbols. NULL: it has none. */
const char *symbol_name(const struct agent_image *image, uintptr_t address);
/* What the image defines under that name, 0: nothing. */
uintptr_t symbol_address(const struct agent_image *image, const char *name);
/* The image refers to that name, and does not define it. */
bool symbol_is_wanted(const struct agent_image *image, const char *name);

#endif

/* symbol.h - names of functions of other images, from their dynamic symbols, without the loader's lock. */
#ifndef WM_AGENT_SYMBOL_H
#define WM_AGENT_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#include "agent/image.h"
#include "agent/symbol_index.h"

enum {
	SYMBOL_MAX = 256,
};

/* The name of the function at that address; image+0xoffset when no symbol is there. Cut to size. Under the agent's lock. */
void symbol_name(uintptr_t address, char *name, size_t size);
/* What the image defines under that name, 0: nothing. */
uintptr_t symbol_address(const struct agent_image *image, const char *name);

#endif

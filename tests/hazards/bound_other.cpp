/* Put before the library by LD_PRELOAD: other functions of the same names; see bound.h. */
#define IMAGE 3
#include "bound_functions.h"

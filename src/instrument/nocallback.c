/*
 * nocallback.c - the external functions a call to which needs no push.
 *
 * A name is listed only if the function (as glibc and musl have it) computes from its arguments alone: it neither calls
 * back, nor allocates, nor is a cancellation point, nor returns twice, nor unwinds. That rules out much that looks harmless:
 * printf (custom conversions, streams), strcoll (allocates), free (may be interposed), read (cancellation runs handlers).
 * A program that defines one of these itself never gets here: its calls are then calls to a known function.
 */
#include <stdlib.h>
#include <string.h>

#include "instrument/nocallback.h"
#include "instrument/contexts/program.h"

// clang-format off
static const char *const leaves[] = {
	/* sorted (strcmp) */
	"__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "__cxa_begin_catch",
	"__cxa_get_exception_ptr", "__cxa_guard_abort", "__errno_location", "__isinf", "__isnan", "__memcpy_chk",
	"__memmove_chk", "__memset_chk", "__signbit", "__signbitf", "__stack_chk_fail", "__stpcpy_chk",
	"__strcat_chk", "__strcpy_chk", "__strncat_chk", "__strncpy_chk", "__tls_get_addr", "abs", "acos", "acosf",
	"acosh", "asin", "asinf", "asinh", "atan", "atan2", "atan2f", "atanf", "atanh", "atof", "atoi", "atol",
	"atoll", "bcmp", "bcopy", "bzero", "cbrt", "ceil", "ceilf", "ceill", "clock", "clock_gettime", "copysign",
	"copysignf", "cos", "cosf", "cosh", "difftime", "div", "erf", "erfc", "exp", "exp2", "exp2f", "expf",
	"explicit_bzero", "expm1", "fabs", "fabsf", "fabsl", "fdim", "ffs", "ffsl", "ffsll", "floor", "floorf",
	"floorl", "fma", "fmax", "fmaxf", "fmin", "fminf", "fmod", "fmodf", "frexp", "frexpl", "getegid", "geteuid",
	"getgid", "getpagesize", "getpid", "getppid", "gettimeofday", "getuid", "htonl", "htons", "hypot", "hypotf",
	"ilogb", "imaxabs", "isalnum", "isalpha", "isascii", "isatty", "isblank", "iscntrl", "isdigit", "isgraph",
	"islower", "isprint", "ispunct", "isspace", "isupper", "iswalnum", "iswalpha", "iswcntrl", "iswctype",
	"iswdigit", "iswgraph", "iswlower", "iswprint", "iswpunct", "iswspace", "iswupper", "iswxdigit", "isxdigit",
	"j0", "j1", "jn", "labs", "ldexp", "ldexpl", "ldiv", "lgamma", "llabs", "lldiv", "llrint", "llround", "log",
	"log10", "log10f", "log1p", "log2", "log2f", "logb", "logf", "lrint", "lrintf", "lround", "memccpy",
	"memchr", "memcmp", "memcpy", "memmem", "memmove", "mempcpy", "memrchr", "memset", "modf", "modff", "nan",
	"nearbyint", "nextafter", "ntohl", "ntohs", "pow", "powf", "powl", "pthread_equal", "pthread_self", "rand_r",
	"rawmemchr", "remainder", "rint", "rintf", "round", "roundf", "scalbln", "scalbn", "sigaddset", "sigdelset",
	"sigemptyset", "sigfillset", "sigismember", "sin", "sincos", "sinf", "sinh", "sqrt", "sqrtf", "sqrtl",
	"stpcpy", "stpncpy", "strcasecmp", "strcasestr", "strcat", "strchr", "strchrnul", "strcmp", "strcpy",
	"strcspn", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strnlen", "strpbrk", "strrchr",
	"strsep", "strspn", "strstr", "strtod", "strtof", "strtoimax", "strtok_r", "strtol", "strtold", "strtoll",
	"strtoul", "strtoull", "strtoumax", "swab", "tan", "tanf", "tanh", "tgamma", "time", "toascii", "tolower",
	"toupper", "towctrans", "towlower", "towupper", "trunc", "truncf", "wcschr", "wcscmp", "wcscpy", "wcslen",
	"wcsncmp", "wcsncpy", "wcsrchr", "wm1_path_enter", "wm1_path_miss", "wm1_task_begin", "wm1_task_end",
	"wmemchr", "wmemcmp", "wmemcpy", "wmemmove", "wmemset", "y0", "y1", "yn",
};
// clang-format on

static int compare_names(const void *key, const void *item)
{
	return strcmp(key, *(const char *const *)item);
}

bool is_nocallback(const char *name)
{
	return bsearch(name, leaves, sizeof leaves / sizeof *leaves, sizeof *leaves, compare_names) != NULL;
}

/* Without an event for allocations these are as harmless: whoever stands in front of them is not called back from. */
static const char *const allocators[] = {
	"aligned_alloc",  "calloc",  "free",         "malloc", "memalign",
	"posix_memalign", "realloc", "reallocarray", "strdup", "strndup",
};

bool is_allocator(const char *name)
{
	return bsearch(name, allocators, sizeof allocators / sizeof *allocators, sizeof *allocators, compare_names) !=
	       NULL;
}

/*
 * no_callback.c - the table of no-callback functions, by name, and what addresses they have in this process.
 *
 * Only what glibc's sources show to call nothing but itself is here. The stdio functions are not: a stream of fopencookie calls the
 * program back, and so do handlers of register_printf_function. malloc and its kin call nothing back; that they capture, with the heap
 * client, is by their return address.
 */
#include "agent/program/no_callback.h"

#include <dlfcn.h>

#include "agent/program/image.h"
#include "agent/program/symbol.h"
#include "agent/os/address_map.h"

static const char *const names[] = {
	"wm1_agent_capture",
	"wm1_agent_token",
	"wm1_agent_event",
	"wm1_agent_task_begin",
	"wm1_agent_task_end",
	"memcpy",
	"memmove",
	"memset",
	"memcmp",
	"memchr",
	"memrchr",
	"rawmemchr",
	"mempcpy",
	"memccpy",
	"memmem",
	"bcopy",
	"bzero",
	"bcmp",
	"strlen",
	"strnlen",
	"strcpy",
	"strncpy",
	"stpcpy",
	"stpncpy",
	"strcat",
	"strncat",
	"strcmp",
	"strncmp",
	"strcasecmp",
	"strncasecmp",
	"strchr",
	"strrchr",
	"strchrnul",
	"index",
	"rindex",
	"strspn",
	"strcspn",
	"strpbrk",
	"strstr",
	"strcasestr",
	"strtok",
	"strtok_r",
	"strsep",
	"strcoll",
	"strxfrm",
	"wcslen",
	"wcscpy",
	"wcscmp",
	"wcsncmp",
	"wmemcpy",
	"wmemset",
	"wmemcmp",
	"wmemchr",
	"wcschr",
	"wcsrchr",
	"wcsncpy",
	"wcscat",
	"__memcpy_chk",
	"__memmove_chk",
	"__memset_chk",
	"__strcpy_chk",
	"__strncpy_chk",
	"__strcat_chk",
	"__stpcpy_chk",
	"__strncat_chk",
	"__mempcpy_chk",
	"__rawmemchr",
	"__ctype_b_loc",
	"__ctype_tolower_loc",
	"__ctype_toupper_loc",
	"__ctype_get_mb_cur_max",
	"tolower",
	"toupper",
	"isalpha",
	"isdigit",
	"isspace",
	"isalnum",
	"isupper",
	"islower",
	"isprint",
	"ispunct",
	"isxdigit",
	"iscntrl",
	"isgraph",
	"iswalpha",
	"iswspace",
	"iswdigit",
	"iswalnum",
	"iswprint",
	"towlower",
	"towupper",
	"strtol",
	"strtoul",
	"strtoll",
	"strtoull",
	"strtod",
	"strtof",
	"strtold",
	"atoi",
	"atol",
	"atof",
	"__isoc23_strtol",
	"abs",
	"labs",
	"div",
	"ldiv",
	"rand",
	"srand",
	"random",
	"srandom",
	"rand_r",
	"drand48",
	"lrand48",
	"mrand48",
	"srand48",
	"getenv",
	"secure_getenv",
	"__errno_location",
	"malloc",
	"calloc",
	"realloc",
	"free",
	"posix_memalign",
	"aligned_alloc",
	"memalign",
	"malloc_usable_size",
	"reallocarray",
	"cfree",
	"time",
	"gettimeofday",
	"clock_gettime",
	"clock",
	"times",
	"getpid",
	"getppid",
	"gettid",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"read",
	"write",
	"pread",
	"pwrite",
	"pread64",
	"pwrite64",
	"readv",
	"writev",
	"open",
	"open64",
	"openat",
	"close",
	"lseek",
	"lseek64",
	"stat",
	"fstat",
	"lstat",
	"stat64",
	"fstat64",
	"lstat64",
	"fstatat",
	"fstatat64",
	"access",
	"faccessat",
	"unlink",
	"rename",
	"mkdir",
	"rmdir",
	"readlink",
	"chdir",
	"fchdir",
	"getcwd",
	"dup",
	"dup2",
	"dup3",
	"pipe",
	"pipe2",
	"fcntl",
	"fcntl64",
	"ioctl",
	"mmap",
	"mmap64",
	"munmap",
	"mprotect",
	"madvise",
	"brk",
	"sbrk",
	"fsync",
	"ftruncate",
	"ftruncate64",
	"getrlimit",
	"setrlimit",
	"getrusage",
	"sched_yield",
	"isatty",
	"umask",
	"chmod",
	"fchmod",
	"utimes",
	"uname",
	"sysconf",
	"pthread_self",
	"__pthread_register_cancel",
	"__pthread_unregister_cancel",
	"pthread_mutex_lock",
	"pthread_mutex_unlock",
	"pthread_mutex_trylock",
	"pthread_mutex_init",
	"pthread_mutex_destroy",
	"pthread_getspecific",
	"pthread_setspecific",
	"pthread_rwlock_rdlock",
	"pthread_rwlock_wrlock",
	"pthread_rwlock_unlock",
	"pthread_cond_signal",
	"pthread_cond_broadcast",
	"pthread_cond_init",
	"pthread_equal",
	"_setjmp",
	"setjmp",
	"sigsetjmp",
	"__sigsetjmp",
	"sigemptyset",
	"sigfillset",
	"sigaddset",
	"sigdelset",
	"sigismember",
	"frexp",
	"frexpl",
	"frexpf",
	"ldexp",
	"ldexpf",
	"ldexpl",
	"modf",
	"modff",
	"scalbn",
	"copysign",
	"fabs",
	"nl_langinfo",
	"localeconv",
	"__cxa_get_globals",
	"__tls_get_addr",
	"mbtowc",
	"wctomb",
	"mbrtowc",
	"wcrtomb",
	"mblen",
	"mbrlen",
	"btowc",
	"wctob",
	"mbsinit",
	"iswctype",
	"wctype",
	"ffs",
	"ffsl",
	"ffsll",
	"htons",
	"htonl",
	"ntohs",
	"ntohl",
	"localtime",
	"localtime_r",
	"gmtime",
	"gmtime_r",
	"mktime",
	"difftime",
	"strftime",
	"strerror",
	"strerror_r",
	"__assert_fail",
	"abort",
	"_exit",
	"vfork",
	"__vfork",
	"_Exit",
	"feof",
	"ferror",
	"fileno",
	"clearerr",
	"feof_unlocked",
	"ferror_unlocked",
	"fileno_unlocked",
	"strdup",
	"strndup",
	"__strdup",
	"getpagesize",
	"sched_getcpu",
	"epoll_wait",
	"epoll_ctl",
	"poll",
	"select",
	"accept",
	"accept4",
	"recv",
	"send",
	"recvfrom",
	"sendto",
	"recvmsg",
	"sendmsg",
	"socket",
	"bind",
	"listen",
	"connect",
	"setsockopt",
	"getsockopt",
	"shutdown",
	"eventfd",
	"nanosleep",
	"usleep",
	"clock_nanosleep",
};

/* With the heap client: those of the table that take memory for the program. */
static const char *const takes_memory[] = {
	"malloc",   "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc",
	"memalign", "strdup", "strndup", "__strdup",     "getcwd",
};

/* Where they are called is the context that the new thread, child or coroutine stands on. */
static const char *const creates[] = {"pthread_create", "thrd_create", "clone", "makecontext"};

/*
 * Of Waymark's runtime, which hands over to the agent: in the agent, in an image of its own or in a program that `waymark cc` has linked.
 * Its names for what it interposes are not those that a program may have functions of.
 */
static const char *const of_runtime[] = {
	"wm1_grow",         "wm1_drop_tails", "wm1_put_back",         "wm1_register",
	"wm1_unregister",   "wm1_path_enter", "wm1_path_miss",        "wm_token",
	"__wrap_sigaction", "__wrap_signal",  "__wrap___sysv_signal", "__wrap_siginterrupt",
	"__wrap__exit",     "wm1_task_begin", "wm1_task_end",
};
static const char *const of_runtime_captures[] = {
	"wm1_capture",           "wm1_event",          "wm_capture",         "wm_event", "wm1_path_residual",
	"__wrap_pthread_create", "__wrap_thrd_create", "__wrap_makecontext",
};

enum value {
	CALLS_NOTHING_BACK = 1,
	CAPTURES,
};
static struct address_map addresses; /* -> enum value */

/*
 * A program may have a function of that name that is its own. It may also have the name for an entry of its PLT, which stands for the
 * library's function where a program that is not position-independent takes the address. False without memory.
 */
static bool add(const char *name, uint32_t value)
{
	void *const places[] = {dlsym(RTLD_DEFAULT, name), dlsym(RTLD_NEXT, name)};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		const struct agent_image *image = places[i] ? agent_image_at((uintptr_t)places[i]) : NULL;

		if (image && image->kind != AGENT_IMAGE_CODE &&
		    !address_map_set(&addresses, (uintptr_t)places[i], value))
			return false;
	}
	return true;
}

bool no_callback_add_heap(bool *ret_is_new)
{
	static bool is_added;

	*ret_is_new = !is_added;
	for (size_t i = 0; !is_added && i < sizeof takes_memory / sizeof *takes_memory; i++)
		if (!add(takes_memory[i], CAPTURES))
			return false;
	is_added = true;
	return true;
}

bool no_callback_init(void)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!add(names[i], CALLS_NOTHING_BACK))
			return false;
	for (size_t i = 0; i < sizeof creates / sizeof *creates; i++)
		if (!add(creates[i], CAPTURES))
			return false;
	return true;
}

static bool add_of(const struct agent_image *image, const char *name, uint32_t value)
{
	uintptr_t address = symbol_address(image, name);

	return !address || address_map_set(&addresses, address, value);
}

bool no_callback_add_runtime(const struct agent_image *image)
{
	if (!symbol_address(image, "wm1_register"))
		return true;
	for (size_t i = 0; i < sizeof of_runtime / sizeof *of_runtime; i++)
		if (!add_of(image, of_runtime[i], CALLS_NOTHING_BACK))
			return false;
	for (size_t i = 0; i < sizeof of_runtime_captures / sizeof *of_runtime_captures; i++)
		if (!add_of(image, of_runtime_captures[i], CAPTURES))
			return false;
	return true;
}

bool no_callback_is_known(uintptr_t address)
{
	uint32_t value;

	return address_map_find(&addresses, address, &value);
}

bool no_callback_captures(uintptr_t address)
{
	uint32_t value;

	return address_map_find(&addresses, address, &value) && value == CAPTURES;
}

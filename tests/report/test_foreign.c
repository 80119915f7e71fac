/*
 * test_foreign.c - the table of foreign functions is found from end to end: it is sorted.
 */
#include "check.h"

#include "model/crash/libc_effects.h"

int main(void)
{
	static const struct {
		const char *name;
		enum foreign_kind kind;
	} some[] = {
		{"_Exit", FOREIGN_ENDS},
		{"_Unwind_Resume", FOREIGN_THROWS},
		{"_ZSt9terminatev", FOREIGN_ENDS},
		{"_ZdaPv", FOREIGN_COMES_BACK},
		{"__assert_fail", FOREIGN_ENDS},
		{"__cxa_throw", FOREIGN_THROWS},
		{"__longjmp_chk", FOREIGN_JUMPS},
		{"_exit", FOREIGN_ENDS},
		{"abort", FOREIGN_ENDS},
		{"calloc", FOREIGN_COMES_BACK},
		{"clone", FOREIGN_VFORKS},
		{"exit", FOREIGN_ENDS},
		{"fopencookie", FOREIGN_STREAMS},
		{"fork", FOREIGN_FORKS},
		{"longjmp", FOREIGN_JUMPS},
		{"printf", FOREIGN_COMES_BACK},
		{"pthread_cancel", FOREIGN_CANCELS},
		{"pthread_create", FOREIGN_STARTS},
		{"pthread_exit", FOREIGN_JUMPS},
		{"pthread_setcanceltype", FOREIGN_CANCELS_ANYWHERE},
		{"setcontext", FOREIGN_JUMPS},
		{"sigaction", FOREIGN_HANDLES},
		{"siglongjmp", FOREIGN_JUMPS},
		{"signal", FOREIGN_HANDLES},
		{"swapcontext", FOREIGN_SWITCHES},
		{"vfork", FOREIGN_VFORKS},
		{"write", FOREIGN_COMES_BACK},
		{"", FOREIGN_UNKNOWN},
		{"exi", FOREIGN_UNKNOWN},
		{"qsort", FOREIGN_UNKNOWN},
		{"zzz", FOREIGN_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		if (!CHECK(foreign_find(some[i].name) == some[i].kind))
			fprintf(stderr, "%s\n", some[i].name);
	return check_status();
}

/* test_library.c - the table of library functions: each row is found by its name, and says what its letters say. */
#include <stdio.h>
#include <string.h>

#include "analyze/library.h"
#include "check.h"

static const struct library_effect *effect(const struct library_function *f, enum library_effect_kind kind)
{
	for (uint32_t i = 0; i < f->count; i++)
		if (f->effects[i].kind == kind)
			return &f->effects[i];
	return NULL;
}

static void test_known(void)
{
	struct library_function f;

	CHECK(!library_find("no_such_function", &f));
	CHECK(!library_find("", &f));
	CHECK(library_find("memcpy", &f) && f.count == 2);
	CHECK(effect(&f, LIBRARY_COPIES)->a == 0 && effect(&f, LIBRARY_COPIES)->b == 1);
	CHECK(effect(&f, LIBRARY_RETURNS)->a == 0);
	CHECK(library_find("strtol", &f));
	CHECK(effect(&f, LIBRARY_POINTS)->a == 1 && effect(&f, LIBRARY_POINTS)->b == 0);
	CHECK(library_find("fgets", &f));
	CHECK(effect(&f, LIBRARY_WRITES)->a == 0 && effect(&f, LIBRARY_WRITES)->b == 1);
	CHECK(library_find("qsort", &f));
	CHECK(effect(&f, LIBRARY_CALLS)->a == 3 && effect(&f, LIBRARY_CALLS)->b == 0 &&
	      effect(&f, LIBRARY_CALLS)->c == 0);
	CHECK(library_find("printf", &f));
	CHECK(effect(&f, LIBRARY_READS) && f.effects[1].a == LIBRARY_VARIABLE);
	CHECK(library_find("vsnprintf", &f) && effect(&f, LIBRARY_LISTS)->a == 3);
	CHECK(library_find("exit", &f) && f.may_not_return && !f.count);
	CHECK(library_find("raise", &f) && f.may_not_return && effect(&f, LIBRARY_RUNS)->a == LIBRARY_SIGNALS);
	CHECK(library_find("signal", &f) && effect(&f, LIBRARY_HANDLES)->a == LIBRARY_SIGNALS &&
	      effect(&f, LIBRARY_HANDLES)->b == 1 && effect(&f, LIBRARY_HANDLER)->b == LIBRARY_NO_ARGUMENT);
	CHECK(library_find("sigaction", &f) && effect(&f, LIBRARY_INSTALLS)->b == 1 &&
	      effect(&f, LIBRARY_HANDLER)->b == 2);
	CHECK(library_find("on_exit", &f) && effect(&f, LIBRARY_HANDLES)->b == 0 &&
	      effect(&f, LIBRARY_HANDLES)->c == 1);
	CHECK(library_find("sigprocmask", &f) && f.may_not_return && effect(&f, LIBRARY_RUNS)->a == LIBRARY_SIGNALS &&
	      effect(&f, LIBRARY_SETS)->a == LIBRARY_SIGNALS && effect(&f, LIBRARY_GETS));
	CHECK(library_find("raise", &f) && effect(&f, LIBRARY_SETS)->a == LIBRARY_PENDING);
	CHECK(library_find("strlen", &f) && !f.may_not_return);
	CHECK(library_find("srand", &f) && effect(&f, LIBRARY_SETS)->a == LIBRARY_RANDOM && !effect(&f, LIBRARY_GETS));
	CHECK(library_find("rand", &f) && effect(&f, LIBRARY_GETS)->a == LIBRARY_RANDOM);
	CHECK(library_find("strtok", &f) && effect(&f, LIBRARY_KEEPS)->a == LIBRARY_TOKENS &&
	      effect(&f, LIBRARY_KEEPS)->b == 0 && effect(&f, LIBRARY_OWN)->a == LIBRARY_TOKENS);
	CHECK(library_find("__ctype_b_loc", &f) && effect(&f, LIBRARY_OWN)->a == LIBRARY_NO_ARGUMENT);
	CHECK(library_find("realloc", &f) && effect(&f, LIBRARY_NEW) &&
	      effect(&f, LIBRARY_COPIES)->a == LIBRARY_NO_ARGUMENT);
}

/* Rows are found by halving the table, so one out of order would be lost. */
static void test_order(void)
{
	const char *last = "";
	uint32_t count = 0;
	const char *name;

	for (; (name = library_name(count)) != NULL; count++) {
		struct library_function f;

		CHECK(strcmp(last, name) < 0);
		CHECK(library_find(name, &f));
		CHECK(f.count <= LIBRARY_EFFECTS_MAX);
		for (uint32_t i = 0; i < f.count; i++)
			CHECK(f.effects[i].kind < LIBRARY_KINDS);
		last = name;
	}
	printf("%u functions\n", count);
	CHECK(count > 400);
}

int main(void)
{
	test_known();
	test_order();
	return check_status();
}

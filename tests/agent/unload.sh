#!/bin/bash
# unload.sh BUILD - reports name the functions of libraries that were unloaded, and of those that were loaded in their place: by the
# allocations that each made.
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
needs gcc

# Each library allocates once in `run` and, each in a function of its own name, more often.
cat >library.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void *NAME(int n)
{
	void *p = malloc(10);
	if (n)
		free(NAME(n - 1));
	return p;
}
__attribute__((noinline)) int run(int n)
{
	void *own = malloc(20);
	free(NAME(n));
	free(own);
	return n + 1;
}
END
cat >program.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static void *was;
static int again;
static __attribute__((noinline)) int call(int (*f)(int), int n)
{
	return f(n) - 1;
}
static int use(const char *path, int n)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*f)(int) = (int (*)(int))dlsym(library, "run");
	again += (void *)f == was;
	was = (void *)f;
	n = call(f, n);
	dlclose(library);
	return n;
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		sum += use("./one.so", 2) + use("./two.so", 3);
	rename("./changed.so", "./one.so");
	for (int i = 0; i < 10; i++)
		sum += use("./one.so", 4);
	return sum != 90 || again < 10;
}
END
for build_id in sha1 none; do
	for name in one two changed; do
		gcc -w -O1 -fPIC -shared -DNAME=in_$name -Wl,--build-id=$build_id library.c -o $name.so || exit 1
	done
	gcc -w -O1 program.c -o program || exit 1
	"$waymark" run -q --heap --encode -o run.wmk ./program || fail "build id $build_id: exit status $?"
	"$waymark" report --format folded --metric allocations run.wmk 2>notes.txt | grep ';run' | sort >got.txt
	for name in one:3 two:4 changed:5; do
		stack='main;use;call;run'
		for ((i = 0; i < ${name#*:}; i++)); do
			stack="$stack;in_${name%:*}"
			echo "$stack;[malloc] 10"
		done
	done | LC_ALL=C sort >want.txt
	grep ';in_' got.txt | LC_ALL=C sort | cmp -s want.txt - || { fail "build id $build_id"; cat got.txt | head -n 20; }
	rm run.wmk
done

# The last of many loads costs what the first did: as many functions, calls and stubs are looked at for what is gone.
cat >many.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, sum = 0;
	for (int i = 0; i < n; i++) {
		void *library = dlopen("./two.so", RTLD_NOW);
		sum += ((int (*)(int))dlsym(library, "run"))(1);
		dlclose(library);
	}
	return sum != 2 * n;
}
END
gcc -w -O1 -o many many.c || exit 1
for n in 200 800; do
	WAYMARK_AGENT=verbose "$waymark" run --heap --encode -o many.wmk ./many $n 2>err.txt || fail "many $n: exit status $?"
	looks[n]=$(sed -n 's/^waymark: functions .* looks \([0-9]*\).*/\1/p' err.txt)
done
[ "${looks[200]:-0}" -gt 0 ] || fail "nothing says how much is looked at: $(head -3 err.txt)"
[ "${looks[800]:-0}" -gt 0 ] || fail "nothing says how much is looked at: $(head -3 err.txt)"
[ "${looks[800]:-0}" -lt $((${looks[200]:-0} * 5)) ] || fail "looks: ${looks[200]} at 200 loads, ${looks[800]} at 800"
finish

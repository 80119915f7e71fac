#!/bin/bash
# unusual.sh BUILD - programs that are started, linked or built in unusual ways, under the agent: their own output and exit status, and either
# the contexts of all that they allocate or one line that says what is not recorded.
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"
needs gcc

# succeeds COMMAND...: exit status 3 and the program's output; standard error in err.txt.
succeeds() {
	local status=0
	timeout 100 "$@" >out.txt 2>err.txt || status=$?
	[ $status = 3 ] || { fail "$*: exit status $status"; head -3 err.txt; }
	[ "$(cat out.txt)" = 300 ] || fail "$*: output $(head -3 out.txt)"
}

# allocated COUNT FUNCTION RECORDING [METRIC]: so many are by main;work;FUNCTION.
allocated() {
	local got
	got=$("$waymark" report --format=folded --metric="${4:-allocations}" "$3" 2>/dev/null | sed -n "s/^main;work;$2;\[.*\] //p")
	[ "${got:-0}" = "$1" ] || fail "$3: ${got:-0} ${4:-allocations} in $2, not $1"
}

cat >program.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) void *leaf(void)
{
	void *volatile block = malloc(40);
	return block;
}
static __attribute__((noinline)) int work(void)
{
	int n = 0;
	for (int i = 0; i < 300; i++) {
		void *block = leaf();
		n += block != NULL;
		free(block);
	}
	return n;
}
static volatile sig_atomic_t handled;
static void on_signal(int sig)
{
	handled += sig == SIGUSR1;
}
int main(void)
{
	if (signal(SIGUSR1, on_signal) != SIG_DFL || raise(SIGUSR1) || handled != 1 || signal(SIGUSR1, SIG_DFL) != on_signal)
		return 1;
	printf("%d\n", work());
	return 3;
}
END
gcc -O1 -g -fno-builtin -o program program.c || exit 1

# The dynamic linker runs the program that it is given: its name and its contexts are the program's.
loader=$(sed -n 's/.*Requesting program interpreter: \(.*\)\]/\1/p' <<<"$(LC_ALL=C readelf -lW program)")
for options in '' '--library-path /nowhere --argv0 other'; do
	# shellcheck disable=SC2086
	succeeds "$waymark" run --heap --encode -o ./ "$loader" $options ./program
	for file in waymark-*.wmk; do
		[[ $file = waymark-program-*.wmk ]] || fail "started by $loader: the recording is $file"
		allocated 300 leaf "$file"
		rm -f "$file"
	done
done
"$waymark" run --sample "$loader" program 2>err.txt && fail "$loader program: was run"
grep -q 'by its path' err.txt || fail "$loader program: $(cat err.txt)"

# An unwinder of the program's own has the names of libgcc's. The agent, which holds its lock, does not call it.
cat >unwinder.c <<'END'
#include <stdlib.h>
int _Unwind_Backtrace(void *visit, void *data) { (void)visit, (void)data; abort(); }
unsigned long _Unwind_GetIP(void *context) { (void)context; abort(); }
unsigned long _Unwind_GetCFA(void *context) { (void)context; abort(); }
END
cat >asks.c <<'END'
#include <stdio.h>
int wm1_agent_check(void) __attribute__((weak));
int _Unwind_Backtrace(void *visit, void *data);
static __attribute__((noinline)) int ask(void)
{
	return wm1_agent_check ? wm1_agent_check() == 1 : 0;
}
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 9)
		_Unwind_Backtrace(NULL, NULL);
	for (int i = 0; i < 300; i++)
		if (!ask())
			return 1;
	puts("300");
	return 3;
}
END
gcc -O1 -shared -fPIC -o libunwinder.so unwinder.c && gcc -O1 -o asks asks.c ./libunwinder.so || exit 1
succeeds "$waymark" run --agent -o asks.wmk ./asks

# The program has functions of its own with names of the C library's. The agent does not call them where it holds its lock.
cat >names.c <<'END'
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
int is_asking;
static void called(void)
{
	if (is_asking)
		abort();
}
void *memcpy(void *to, const void *from, size_t n)
{
	called();
	for (char *t = to; n--;)
		*t++ = *(const char *)from++;
	return to;
}
void *memset(void *to, int byte, size_t n)
{
	called();
	for (char *t = to; n--;)
		*t++ = (char)byte;
	return to;
}
int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;
	called();
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}
int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }
size_t strlen(const char *s)
{
	size_t n = 0;
	called();
	while (s[n])
		n++;
	return n;
}
int strcmp(const char *a, const char *b)
{
	called();
	while (*a && *a == *b)
		a++, b++;
	return *(const unsigned char *)a - *(const unsigned char *)b;
}
int clock_gettime(clockid_t clock, struct timespec *ret) { called(); return (int)syscall(SYS_clock_gettime, clock, ret); }
END
sed 's/static __attribute__((noinline)) void \*leaf/extern int is_asking;\n&/; s/malloc(40);/(is_asking = 1, malloc(40));\n	is_asking = 0;/' program.c >program_names.c
gcc -O1 -fno-builtin -fno-tree-loop-distribute-patterns -w -shared -fPIC -o libnames.so names.c &&
	gcc -O1 -g -fno-builtin -o program_names program_names.c ./libnames.so && gcc -O1 -o asks_names asks.c ./libnames.so || exit 1
succeeds "$waymark" run --heap --encode -o program_names.wmk ./program_names
allocated 300 leaf program_names.wmk
# libgcc's unwinder calls them.
succeeds "$waymark" run --agent -o asks_names.wmk ./asks_names

# Sanitizers whose runtime stands in front of all memory: the agent and the heap client are refused by their name; what the program executes goes on, and says so.
for compiler in gcc clang-19; do
	for kind in address:AddressSanitizer thread:ThreadSanitizer memory:MemorySanitizer leak:LeakSanitizer undefined:; do
		"$compiler" -O1 -g -fno-builtin "-fsanitize=${kind%%:*}" -o sanitized program.c 2>/dev/null || continue
		./sanitized >/dev/null 2>&1
		[ $? = 3 ] || continue # not on this kernel
		name=${kind#*:}
		for option in --agent --heap; do
			if [ -z "$name" ]; then
				succeeds "$waymark" run --events "$option" -o sanitized.wmk ./sanitized
				[ "$option" = --agent ] || allocated 300 leaf sanitized.wmk
				continue
			fi
			"$waymark" run --events "$option" -o sanitized.wmk ./sanitized >out.txt 2>err.txt && fail "$compiler $name: was run"
			grep -q "is built with a sanitizer, $name" err.txt || fail "$compiler $name $option: $(head -3 err.txt)"
			[ ! -s out.txt ] || fail "$compiler $name $option: ran: $(head -3 out.txt)"
			succeeds "$waymark" run --events "$option" -o ./ bash -c './sanitized; exit $?'
			grep -q "^waymark: process [0-9]* is built with a sanitizer, $name: it is not recorded" err.txt ||
				fail "$compiler $name $option, executed: $(head -3 err.txt)"
		done
	done
done

# LeakSanitizer knows what the dynamic linker allocates by the caller of malloc: the heap client must not stand between.
cat >opens.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) static void load(const char *path) { dlopen(path, RTLD_NOW | RTLD_GLOBAL); }
__attribute__((noinline)) static void wipe(void) { char stack[20000]; memset(stack, 1, sizeof stack); __asm__ volatile("" : : "r"(stack) : "memory"); }
int main(void)
{
	load("./libopened.so");
	wipe();
	puts("300");
	return 3;
}
END
echo 'int opened = 7;' >opened.c
gcc -shared -fPIC -o libopened.so opened.c || exit 1
for compiler in gcc clang-19; do
	"$compiler" -O1 -g -w -fsanitize=address -o opens opens.c 2>/dev/null || continue
	./opens >/dev/null 2>&1
	[ $? = 3 ] || continue # not on this kernel
	succeeds "$waymark" run --heap --encode -o ./ bash -c './opens; exit $?'
done

# OCaml's garbage collector must know every return address. A program with its table, as the linker exports it, stands for one.
sed '1i char caml_frametable[1];' program.c >ocaml.c
gcc -O1 -fno-builtin -rdynamic -o ocaml ocaml.c || exit 1
"$waymark" run --agent ./ocaml >out.txt 2>err.txt && fail "an OCaml program was run"
grep -q 'is an OCaml program' err.txt || fail "OCaml: $(head -3 err.txt)"
succeeds "$waymark" run --agent -o ./ bash -c './ocaml; exit $?'
grep -q '^waymark: process [0-9]* is an OCaml program .*: it is not recorded' err.txt || fail "OCaml, executed: $(head -3 err.txt)"

# An allocator in a library of its own, behind the heap client: it is called, not changed.
cat >allocator.c <<'END'
#include <stddef.h>
#include <stdint.h>
#define DEEP __attribute__((noinline))
static _Alignas(16) char pool[1 << 22];
static size_t used;
typedef size_t (*step_fn)(size_t);
DEEP static size_t round_up(size_t n) { __asm__ volatile(""); return (n + 15) & ~(size_t)15; }
DEEP static size_t reserve(size_t n) { size_t at = used; used += round_up(n) + 16; __asm__ volatile(""); return used > sizeof pool ? SIZE_MAX : at; }
static step_fn volatile steps[] = {reserve};
DEEP static void *take(size_t n)
{
	size_t at = steps[0](n);
	if (at == SIZE_MAX)
		return NULL;
	*(size_t *)(pool + at) = n;
	return pool + at + 16;
}
void *malloc(size_t n) { void *block = n < sizeof pool ? take(n) : NULL; __asm__ volatile(""); return block; }
void free(void *block) { (void)block; }
void *calloc(size_t a, size_t b) { return take(a * b); }
void *realloc(void *block, size_t n)
{
	char *moved = take(n), *from = block;
	for (size_t i = 0; moved && from && i < n && i < ((size_t *)block)[-2]; i++) { moved[i] = from[i]; __asm__ volatile(""); }
	return moved;
}
void *aligned_alloc(size_t align, size_t n) { char *block = take(n + align); return block + (-(uintptr_t)block & (align - 1)); }
void *memalign(size_t align, size_t n) { return aligned_alloc(align, n); }
int posix_memalign(void **ret, size_t align, size_t n) { *ret = aligned_alloc(align, n); return 0; }
END
gcc -O1 -g -fno-builtin -shared -fPIC -o liballocator.so allocator.c && gcc -O1 -g -fno-builtin -o own_library program.c ./liballocator.so || exit 1
WAYMARK_AGENT=verbose succeeds "$waymark" run --heap --encode --sample -o own_library.wmk ./own_library
allocated 300 leaf own_library.wmk
# main, work, leaf, and nothing of the allocator.
grep -q '^waymark: functions [1-3] ' err.txt || fail "an allocator in a library is changed: $(grep '^waymark: functions' err.txt)"

# The names of its own that such an allocator has, and its operators: some are other names of others, or only jump there.
cat >>allocator.c <<'END'
void *mallocx(size_t n, int flags) { void *block = take(n + (size_t)flags); __asm__ volatile(""); return block; }
void dallocx(void *block, int flags) { ((size_t *)block)[-1] = (size_t)flags; }
void *rallocx(void *block, size_t n, int flags) { (void)flags; return realloc(block, n); }
size_t xallocx(void *block, size_t n, size_t extra, int flags) { (void)extra; size_t *head = block; head[-1] = (size_t)flags; head[-2] = n; return n; }
void *_Znwm(size_t n) { void *block = n < sizeof pool ? take(n) : NULL; __asm__ volatile(""); return block; }
void *_Znam(size_t n) { return _Znwm(n); }
void _ZdlPv(void *block) { ((size_t *)block)[-1] = 7; __asm__ volatile(""); }
void _ZdaPv(void *block) { _ZdlPv(block); }
void *tc_malloc(size_t n) __attribute__((alias("malloc")));
END
cat >names.c <<'END'
#include <stddef.h>
#include <stdio.h>
void *mallocx(size_t n, int flags);
void dallocx(void *block, int flags);
void *rallocx(void *block, size_t n, int flags);
size_t xallocx(void *block, size_t n, size_t extra, int flags);
void *_Znwm(size_t n);
void *_Znam(size_t n);
void _ZdaPv(void *block);
void *tc_malloc(size_t n);
static __attribute__((noinline)) void work(int i)
{
	void *volatile block = mallocx(32, 0);
	block = rallocx(block, 48, 0);
	xallocx(block, 64, 0, 0);
	if (i % 3)
		dallocx(block, 0);
	block = i % 2 ? _Znam(24) : _Znwm(24);
	_ZdaPv(block);
	block = tc_malloc(16);
}
int main(void)
{
	for (int i = 0; i < 300; i++)
		work(i);
	puts("300");
	return 3;
}
END
gcc -O2 -fno-tree-loop-distribute-patterns -fno-builtin -w -shared -fPIC -Wl,-Bsymbolic -o liballocator.so allocator.c &&
	gcc -O1 -g -fno-builtin -o names names.c ./liballocator.so || exit 1
succeeds "$waymark" run --heap --encode -o names.wmk ./names
grep '^waymark: process' err.txt && fail "an allocator's own names are not recorded"
"$waymark" report --format=folded --metric=allocations names.wmk | sed -n 's/^main;work;//p' | sort >got.txt
printf '%s\n' '[mallocx] 300' '[malloc] 300' '[operator new] 300' '[rallocx] 300' '[xallocx] 300' | sort | cmp - got.txt || { fail names; cat got.txt; }
"$waymark" report --format=folded --metric=live-allocations names.wmk | sed -n 's/^main;work;//p' | sort >got.txt
printf '%s\n' '[malloc] 300' '[xallocx] 100' | sort | cmp - got.txt || { fail "names, live"; cat got.txt; }

# Jumps at an allocator's entries stay while the code of many encodings comes and goes.
awk 'BEGIN {
	print "#include <stdio.h>\nvoid *mallocx(unsigned long n, int flags);\ntypedef void (*step_fn)(int);\nstatic void *volatile block;"
	for (i = 0; i < 600; i++) print "static void f" i "(int n);"
	printf "static step_fn volatile steps[] = {"
	for (i = 0; i < 600; i++) printf "f%d,", i
	print "};"
	for (i = 0; i < 600; i++)
		printf "static __attribute__((noinline)) void f%d(int n) { if (n) { steps[(%d + n * 37) %% 600](n - 1); f%d(n - 1); } else block = mallocx(16, 0); block = block; }\n", i, i, (i * 7 + 1) % 600
	print "int work(void) { for (int i = 0; i < 12000; i++) steps[i % 600](i % 5); return 3; }"
}' >many.c
# In libraries both, so that their stubs are in one area.
echo 'int work(void); int main(void) { return work(); }' >many_main.c
gcc -O1 -g -fno-builtin -fPIC -shared -o libmany.so many.c ./liballocator.so && gcc -O1 -g -o many many_main.c ./libmany.so ./liballocator.so || exit 1
WAYMARK_AGENT=epochs "$waymark" run --heap --encode -o many.wmk ./many >out.txt 2>err.txt
[ $? = 3 ] || fail "many encodings: $(tail -1 err.txt)"
got=$("$waymark" report --format=folded --metric=allocations many.wmk | awk '/\[mallocx\]/ { n += $NF } END { print n }')
[ "$got" = 74400 ] || fail "many encodings: $got allocations"

# An allocator in the program itself; one of them has a function with no room for a jump: one line says so. Others have names of their own.
sed 's/^void free.*/void free(void *block) { if (block) ((size_t *)block)[-1] = 7; }/; /^void \*mallocx/,$d' allocator.c >own.c
cat program.c >>own.c
sed 's/^void free.*/void free(void *block) { (void)block; }/' own.c >own_small.c
sed 's/malloc(40)/je_malloc(40)/; s/static __attribute__((noinline)) void \*leaf/void *je_malloc(size_t n) { return malloc(n); }\n&/' program.c >prefixed.c
for name in own own_small prefixed; do
	gcc -O1 -g -fno-builtin -fno-tree-loop-distribute-patterns -w -o $name $name.c || exit 1
	succeeds "$waymark" run --heap -o $name.wmk ./$name
done
"$waymark" run --heap -o own.wmk ./own >out.txt 2>err.txt
grep 'not recorded' err.txt && fail "a malloc in the program is not recorded"
allocated 300 leaf own.wmk
# One that takes the address of the C library's malloc, which then is an entry of its own PLT (Debian's python3).
cat >address.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static void *(*volatile take)(size_t);
static void (*volatile give)(void *);
int main(void) { take = malloc; give = free; for (int i = 0; i < 300; i++) give(take(40)); puts("300"); return 3; }
END
gcc -O1 -g -fno-pie -no-pie -o address address.c || exit 1
"$waymark" run --heap --encode -o address.wmk ./address >out.txt 2>err.txt
grep 'not recorded' err.txt && fail "an address of malloc is taken for a malloc of the program"
[ "$("$waymark" report --format=folded --metric=allocations address.wmk | awk '$1 == "main;[malloc]" { print $2 }')" = 300 ] || fail address
"$waymark" run --heap -o own_small.wmk ./own_small >out.txt 2>err.txt
grep -q "^waymark: process [0-9]*: the function free of the program's own allocator in .*own_small has no room" err.txt || fail "own_small: $(cat err.txt)"
"$waymark" run --heap --encode -o prefixed.wmk ./prefixed >out.txt 2>err.txt
grep -q 'allocations by je_malloc are not recorded' err.txt || fail "prefixed: $(cat err.txt)"
# jemalloc's own names, which the program does not export.
sed 's/malloc(40)/mallocx(40, 0)/; s/static __attribute__((noinline)) void \*leaf/static void *mallocx(size_t n, int f) { return f + (char *)malloc(n); }\n&/' program.c >inside.c
gcc -O0 -g -fno-builtin -w -o inside inside.c || exit 1
"$waymark" run --heap --encode -o inside.wmk ./inside >out.txt 2>err.txt
grep -q 'allocations by mallocx are not recorded' err.txt || fail "inside: $(cat err.txt)"
grep -qF 'own allocator' err.txt && "$waymark" run --heap --encode -o names.wmk ./names 2>&1 | grep 'own allocator' && fail "names of a library are the program's"

# A library that is opened with RTLD_DEEPBIND looks for malloc in its own scope first.
cat >plugin.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void *inner(void) { void *volatile block = malloc(50); return block; }
static void *(*volatile take)(size_t) = malloc;
#ifdef SIGNAL
void *ssignal(int number) { return take((size_t)number); } /* whose name the agent stands in front of */
#endif
void *plugin_get(int i) { void *volatile block = i % 2 ? inner() : take(50); return block; }
END
cat >plugins.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) void work(void *(*get)(int))
{
	for (int i = 0; i < 300; i++) {
		void *block = get(i);
		if (i < 100)
			free(block);
	}
}
int main(void)
{
	void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_DEEPBIND);
	if (!plugin)
		return 1;
	work((void *(*)(int))dlsym(plugin, "plugin_get"));
	puts("300");
	return 3;
}
END
gcc -O1 -g -fno-builtin -o plugins plugins.c || exit 1
for kind in '' -DSIGNAL; do
	gcc -O1 -g -fno-builtin $kind -shared -fPIC -o plugin.so plugin.c || exit 1
	succeeds "$waymark" run --heap --encode -o plugins.wmk ./plugins
	allocated 150 'plugin_get;inner' plugins.wmk
	allocated 150 plugin_get plugins.wmk
	allocated 100 plugin_get plugins.wmk live-allocations
done

# A namespace of its own: its code is in contexts, its threads and blocks are not recorded, which one line says.
cat >apart.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void *plugin = dlmopen(LM_ID_NEWLM, "./plugin.so", RTLD_NOW);
	void *(*get)(int) = plugin ? (void *(*)(int))dlsym(plugin, "plugin_get") : NULL;
	printf("%d\n", get && get(1) && dlmopen(LM_ID_NEWLM, "./plugin.so", RTLD_NOW));
	return 3;
}
END
gcc -O1 -g -o apart apart.c || exit 1
apart='waymark: process N: a library is in a namespace of its own (dlmopen, plugin.so), with its own C library: threads and allocations of that are not recorded'
for option in --heap --sample '--sample --encode'; do
	# shellcheck disable=SC2086
	"$waymark" run --events -q $option -o apart.wmk ./apart >out.txt 2>err.txt
	[ $? -eq 3 ] && [ "$(cat out.txt)" = 1 ] || fail "apart $option: $(cat out.txt err.txt)"
	[ "$(sed 's/process [0-9]*:/process N:/' err.txt)" = "$apart" ] || fail "apart $option says: $(cat err.txt)"
done
finish

#!/bin/bash
# unusual.sh BUILD - programs that are started, linked or built in unusual ways, under the agent: their own output and exit status, and either
# the contexts of all that they allocate or one line that says what is not recorded.
set -u
waymark=$1/waymark
dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-unusual.XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD
command -v gcc >/dev/null || { echo "gcc is missing"; exit 77; }
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

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
int main(void)
{
	printf("%d\n", work());
	return 3;
}
END
gcc -O1 -g -fno-builtin -o program program.c || exit 1

# The dynamic linker runs the program that it is given: its name and its contexts are the program's.
loader=$(sed -n 's/.*Requesting program interpreter: \(.*\)\]/\1/p' <<<"$(LC_ALL=C readelf -lW program)")
for options in '' '--library-path /nowhere --argv0 other'; do
	# shellcheck disable=SC2086
	succeeds "$waymark" run --heap -o ./ "$loader" $options ./program
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
succeeds "$waymark" run --heap -o program_names.wmk ./program_names
allocated 300 leaf program_names.wmk
# libgcc's unwinder calls them.
succeeds "$waymark" run --agent -o asks_names.wmk ./asks_names

# Sanitizers whose runtime stands in front of all memory: refused by their name; what the program executes goes on, and says so.
for compiler in gcc clang-19; do
	for kind in address:AddressSanitizer thread:ThreadSanitizer memory:MemorySanitizer leak:LeakSanitizer undefined:; do
		"$compiler" -O1 -g -fno-builtin "-fsanitize=${kind%%:*}" -o sanitized program.c 2>/dev/null || continue
		./sanitized >/dev/null 2>&1
		[ $? = 3 ] || continue # not on this kernel
		name=${kind#*:}
		for option in --sample --heap; do
			if [ -z "$name" ]; then
				succeeds "$waymark" run "$option" -o sanitized.wmk ./sanitized
				[ "$option" = --sample ] || allocated 300 leaf sanitized.wmk
				continue
			fi
			"$waymark" run "$option" -o sanitized.wmk ./sanitized >out.txt 2>err.txt && fail "$compiler $name: was run"
			grep -q "is built with $name" err.txt || fail "$compiler $name $option: $(head -3 err.txt)"
			[ ! -s out.txt ] || fail "$compiler $name $option: ran: $(head -3 out.txt)"
			succeeds "$waymark" run "$option" -o ./ bash -c './sanitized; exit $?'
			grep -q "^waymark: process [0-9]* is built with $name: it is not recorded" err.txt ||
				fail "$compiler $name $option, executed: $(head -3 err.txt)"
		done
	done
done

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
void *malloc(size_t n) { void *block = take(n); __asm__ volatile(""); return block; }
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
WAYMARK_AGENT=verbose succeeds "$waymark" run --heap --sample -o own_library.wmk ./own_library
allocated 300 leaf own_library.wmk
# main, work, leaf, and nothing of the allocator.
grep -q '^waymark: functions [1-3] ' err.txt || fail "an allocator in a library is changed: $(grep '^waymark: functions' err.txt)"
[ $failures -eq 0 ]

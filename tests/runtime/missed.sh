#!/bin/sh
# missed.sh WAYMARK - `run --heap` of programs of `waymark cc`, which have no agent: of what the heap client does not see one line says
# so, and nothing is said of what it sees.
set -u
waymark=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# says NAME [TEXT]: the process says that, and nothing else; without TEXT it says nothing.
says() {
	"$waymark" run -q --heap -o "$1.wmk" "./$1" >"$1.out" 2>"$1.err" || fail "$1: status $?"
	if [ $# = 1 ]; then
		[ ! -s "$1.err" ] || fail "$1 says: $(cat "$1.err")"
		return
	fi
	printf 'waymark: process N: allocations by %s\n' "$2" >"$1.want"
	sed 's/^waymark: process [0-9]*:/waymark: process N:/' "$1.err" | cmp -s - "$1.want" || fail "$1 says: $(cat "$1.err")"
}

# counts NAME NUMBER: allocations in the function work.
counts() {
	got=$("$waymark" report --format=folded --metric=allocations "$1.wmk" 2>/dev/null | sed -n 's/^main;work;.* //p')
	[ "${got:-0}" = "$2" ] || fail "$1: ${got:-0} allocations, not $2"
}

cat >pool.h <<'END'
#include <stddef.h>
static _Alignas(16) char pool[1 << 20];
static size_t used;
static void *take(size_t n)
{
	char *ret = pool + used;
	if (n > sizeof pool - 4096 - used)
		return NULL;
	used += (n + 31) & ~(size_t)15;
	*(size_t *)ret = n;
	return ret + 16;
}
void *malloc(size_t n) { return take(n); }
void free(void *block) { (void)block; }
void *calloc(size_t a, size_t b) { return take(a * b); }
void *realloc(void *block, size_t n)
{
	char *moved = take(n), *from = block;
	for (size_t i = 0; moved && from && i < n && i < ((size_t *)block)[-2]; i++)
		moved[i] = from[i];
	return moved;
}
END
cat >allocator.c <<'END'
#include "pool.h"
void *mallocx(size_t n, int flags) { (void)flags; return take(n); }
void *_Znwm(size_t n) { return take(n); }
END
cat >program.c <<'END'
#include <stddef.h>
void *malloc(size_t n);
void *mallocx(size_t n, int flags);
void *_Znwm(size_t n);
__attribute__((noinline)) static void work(void) { for (int i = 0; i < 70; i++) { void *volatile block = TAKE; (void)block; } }
int main(void) { work(); return 0; }
END
cat >deep.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
__attribute__((noinline)) static void work(void) { void *volatile block = malloc(5); free(block); }
int main(void)
{
	void *plugin = dlopen("./plugin.so", RTLD_NOW | FLAGS);
	void *(*get)(void) = plugin ? (void *(*)(void))dlsym(plugin, "get") : NULL;
	work();
	for (int i = 0; get && i < 30; i++)
		free(get());
	return get ? 0 : 1;
}
END
cat >apart.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>
__attribute__((noinline)) static void work(void) { void *volatile block = malloc(5); free(block); }
int main(void)
{
	void *plugin = dlmopen(LM_ID_NEWLM, "./plugin.so", RTLD_NOW);
	void *(*get)(void) = plugin ? (void *(*)(void))dlsym(plugin, "get") : NULL;
	work();
	return get && get() && dlmopen(LM_ID_BASE, NULL, RTLD_NOW) ? 0 : 1;
}
END
echo 'extern void *malloc(unsigned long); void *get(void) { return malloc(50); }' >plugin.c
clang-19 -O1 -fno-builtin -shared -fPIC -o liballocator.so allocator.c && clang-19 -O1 -fno-builtin -shared -fPIC -o plugin.so plugin.c || exit 1
build() {
	name=$1
	shift
	"$waymark" cc -O1 -g -fno-builtin -w "$@" -Wl,-rpath,"$dir" -o "$name" || fail "$name: not built"
}
sed '/^void \*malloc(size_t n);/d; 1i #include "pool.h"' program.c >own.c
build plain '-DTAKE=malloc(16)' program.c
build library '-DTAKE=malloc(16)' program.c ./liballocator.so
build extended '-DTAKE=mallocx(16, 0)' program.c ./liballocator.so
build operators '-DTAKE=_Znwm(16)' program.c ./liballocator.so
build own '-DTAKE=malloc(16)' own.c
build deep -DFLAGS=RTLD_DEEPBIND deep.c
build shallow -DFLAGS=0 deep.c
build apart -D_GNU_SOURCE apart.c

instead='are not recorded; `waymark run --heap --agent` records'
says plain
counts plain 70
says library
counts library 70
says extended "mallocx (liballocator.so) $instead them"
says operators "operator new (liballocator.so) $instead them"
says own "the program's own malloc (own) $instead calls that were not inlined"
says deep "libraries opened with RTLD_DEEPBIND (plugin.so) $instead them"
counts deep 1
"$waymark" report deep.wmk 2>&1 | grep -qF '30 frees were of blocks whose allocation was not recorded' || fail "deep: the report does not say that frees are unknown"
says shallow
counts shallow 1
says apart "libraries in a namespace of their own (plugin.so) are not recorded"
counts apart 1
# A program that is not recorded says nothing.
"$waymark" run -q --heap --no-agent -o none.wmk sh -c 'exec true' >none.out 2>none.err
grep 'are not recorded;' none.err && fail "a shell says: $(cat none.err)"
[ $failures -eq 0 ]

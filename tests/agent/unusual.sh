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
[ $failures -eq 0 ]

#!/bin/bash
# small.sh BUILD - recordings of short programs are small; forked children that soon become other programs leave none, and their parent's says so;
# where exec fails, they go on in one of their own.
. "$(dirname "$0")/../cli/lib.sh"

cat >program.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char *volatile kept;
__attribute__((noinline)) static void take(int n) { while (n--) kept = malloc(100); }
/* program CHILDREN BLOCKS PROGRAM: each child allocates, then becomes PROGRAM; if it cannot, it allocates 7 more. */
int main(int argc, char **argv)
{
	(void)argc;
	for (int i = atoi(argv[1]); i--;) {
		if (!fork()) {
			take(atoi(argv[2]));
			execv(argv[3], (char *[]){argv[3], NULL});
			take(7);
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}
END
cc -O1 -o program program.c || exit 1

# children CASE PROGRAM BLOCKS: three of them, into a folder of that name.
children() {
	mkdir "$1" && expect 0 "$waymark" run -q --heap -o "$1" ./program 3 "$3" "$2"
	expect 0 "$waymark" report "$1"
}

# files CASE COUNT: so many recordings are of the program itself.
files() {
	count=$(ls "$1"/waymark-program-*.wmk | wc -l)
	[ "$count" -eq "$2" ] || fail "$1: $count recordings of the program, not $2"
}

true=$(type -P true)
children replaced "$true" 50
files replaced 1
has out.txt "3 forked children soon became other programs: what they did before is in no recording"
has out.txt " 150 allocations were made by such children"
[ "$(ls replaced | wc -l)" -eq 4 ] || fail "replaced: $(ls replaced)"

# Too much to be left out.
children long "$true" 5000
files long 4
lacks out.txt "soon became other programs"

# The child goes on: what it did before the exec is not recorded, what it does afterwards is.
children failed ./nothing 50
files failed 4
has out.txt "3 forked children soon became other programs"
got=$("$waymark" report --format=folded --metric=allocations failed 2>/dev/null | awk '/;take;/ { s += $NF } END { print s }')
[ "$got" = 21 ] || fail "failed: $got allocations behind the exec, not 21"

# 30 commands: a recording each, of a few pages.
mkdir script
expect 0 "$waymark" run -q --heap -o script bash -c 'for i in $(seq 30); do basename a; done'
count=$(ls script | wc -l)
[ "$count" -eq 32 ] || fail "script: $count files, not 32"
for file in script/waymark-basename-*; do
	size=$(stat -c %s "$file")
	[ "$size" -le 40960 ] || fail "$file has $size bytes"
done
finish

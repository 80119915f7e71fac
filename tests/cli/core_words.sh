#!/bin/bash
# core_words.sh BUILD - the words of outcomes: labels of cases as the source has them, files of places that are elsewhere, columns and a
# note where the source is not there; inlined functions that decide nothing are one row, and no name stands twice in a row.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"

cat >part.h <<'END2'
static inline __attribute__((always_inline)) int twice(int x)
{
	x += sink;
	sink = x;
	return 2 * x;
}
static inline __attribute__((always_inline)) void stop(void)
{
	if (sink)
		abort();
}
END2
cat >words.c <<'END2'
#include <stdlib.h>
enum state { IDLE, OPEN, CLOSED = 7, BROKEN };
static volatile int sink;
#include "part.h"
__attribute__((noinline)) static int cases(enum state s, int c, const char *p)
{
	switch (s) {
	case IDLE:
		sink = 1;
		break;
	case CLOSED:
	case BROKEN: {
		sink = c;
		break;
	}
	case OPEN: sink = 0;
	}
	switch (c) {
	default: sink = 3; break;
	case '+': case -1:
		sink = 2;
		break;
	case 0x20: sink = 4; break;
	}
	switch (*p) {
	case 'a': sink = twice(sink); break;
	case '\n': sink = c; break;
	}
	return sink;
}
__attribute__((noinline)) static void both(int a, int b)
{
	if (a && b)
		sink = twice(a);
	stop();
}
int main(int argc, char **argv)
{
	static const char *const texts[] = {"\n", "\n", "a"};
	static const int values[] = {'+', 32, 5};
	int k = argc > 1 ? atoi(argv[1]) : 0;
	sink = cases(k == 0 ? OPEN : k == 1 ? CLOSED : IDLE, values[k], texts[k]);
	both(argc, k + 1);
	return 0;
}
END2
for stage in 'O0 final' 'O0 source' 'O2 source'; do
	read -r level where <<<"$stage"
	"$waymark" cc --wm=paths --wm-stage="$where" -g "-$level" words.c -o paths || exit 1
	rm -f ./*.wmk
	for k in 0 1 2; do
		WAYMARK_OUT=$k.wmk ./paths $k >/dev/null 2>&1 || true
		expect 0 "$waymark" paths --top all --function cases $k.wmk
		mv out.txt $k.txt
	done
	for label in "case OPEN" "case '+', -1" "case '\\n'"; do
		grep -qF -- "-> $label" 0.txt || fail "$stage: no $label: $(cat 0.txt)"
	done
	for label in "case CLOSED, BROKEN" "case 0x20"; do
		grep -qF -- "-> $label" 1.txt || fail "$stage: no $label: $(cat 1.txt)"
	done
	for label in "case IDLE" "default" "case 'a'"; do
		grep -qF -- "-> $label" 2.txt || fail "$stage: no $label: $(cat 2.txt)"
	done
done
# An optimizer may have moved what stands behind a label: only literals are sure, by their value.
"$waymark" cc --wm=paths --wm-stage=final -g -O2 words.c -o paths || exit 1
WAYMARK_OUT=o2.wmk ./paths 1 >/dev/null 2>&1 || true
expect 0 "$waymark" paths --top all --function cases o2.wmk
lacks out.txt "CLOSED, BROKEN"

# A variable in memory or a call, tested by itself, is true or false, whatever an optimizer made of the branch.
cat >plain.c <<'END2'
#include <stdio.h>
#include <stdlib.h>
int ignore_end;
static volatile int lines;
__attribute__((noinline)) static int next_line(int n) { fflush(stdout); return n < 4 ? n : 0; }
__attribute__((noinline)) static void forward(int n)
{
	while (n-- > 0) {
		int k = next_line(n);
		if (ignore_end || !next_line(n))
			lines++;
		if (k == 3)
			abort();
	}
}
int main(int argc, char **argv) { ignore_end = argc > 1; forward(8); return argv != 0; }
END2
for words in 'ignore_end: false, !next_line(n): true' 'x ignore_end: true'; do
	"$waymark" cc --wm=trace --wm-stage=final -g -O2 plain.c -o plain || exit 1
	core_of plain.core ./plain ${words%%ignore_end*} || exit 1
	expect 0 "$waymark" core ./plain plain.core
	grep -qF -- "-> ignore_end${words#*ignore_end}" out.txt || fail "not said to be ${words#x }: $(cat out.txt)"
	lacks out.txt 'ignore_end: to'
done

# A call in inlined code of another file; the header's function that decided is shown with its file.
"$waymark" cc --wm=trace -g -O0 words.c -o words || exit 1
core_of words.core ./words 1 || exit 1
expect 0 "$waymark" core ./words words.core
has out.txt 'made calls: abort:part.h:10'
has out.txt 'in twice (part.h:3..5)'
grep -qE "^ +[0-9]+  if \(a && b\) +-> a: true, b: true\$" out.txt || fail "operands: $(cat out.txt)"
lacks out.txt note:
[ -z "$(grep -E '^ +in [a-z]+ \(' out.txt | uniq -d)" ] || fail "a name twice in a row: $(cat out.txt)"
# Without the source: columns, and each file that is missing once, in text and JSON.
mkdir moved && mv words.c part.h moved
expect 0 "$waymark" core ./words words.core
has out.txt 'column 6: to column 11, column 11: to line 34'
for file in words.c part.h; do
	[ "$(grep -c "^note: $tmp/$file: No such file or directory: give the directory with --source-dir\$" out.txt)" = 1 ] ||
		fail "$file is not said to be missing, or not once: $(cat out.txt)"
done
expect 0 "$waymark" core --format=json ./words words.core
grep -qF "\"$tmp/words.c: No such file or directory: give the directory with --source-dir\"" out.txt || fail "JSON has no note"
expect 0 "$waymark" core --source-dir moved ./words words.core
has out.txt 'a: true, b: true'
lacks out.txt note:
finish

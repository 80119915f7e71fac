#!/bin/bash
# core.sh BUILD-DIR - `waymark core --slice` of small programs that crash: lines that led there are in the slice; what did not run, or ran in other
# calls than those on the stack, is not. In the programs, a comment says of each line: in, out, or the slice (all, stack) that it is only in.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-core-slice.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
cd "$tmp" || exit 1
failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}

# Numbers of lines with this comment.
marked() { grep -nE "/\* $1 \*/" "$program.c" | cut -d: -f1; }
has() { grep -qE "^ *$1  " slice.txt; }
check() { # WHAT COMMENT...: those are in the slice, others with a comment are not
	local what=$1 line comment
	shift
	for comment in in out stack all; do
		for line in $(marked "$comment"); do
			if [[ " in $* " == *" $comment "* ]]; then
				has "$line" || fail "$program: $what: line $line is not in it: $(sed -n "${line}p" "$program.c")"
			else
				has "$line" && fail "$program: $what: line $line is in it: $(sed -n "${line}p" "$program.c")"
			fi
		done
	done
}
slice() { # OPTIONS...
	"$build/waymark" core "$@" "./$program" "$program.core" >slice.txt 2>slice.err || fail "$program: core $*: $(cat slice.err)"
}
crash() { # ARGUMENTS...: builds and runs $program, and makes all three slices
	"$build/waymark" cc --wm=trace -g ${level:--O0} -pthread "$program.c" -o "$program" && core_of "$program.core" "./$program" "$@" || exit 1
	for of in static stack active; do
		slice --slice ${only:+--slice-of=$of}
		[ "$of" = active ] && check "$of"
		[ "$of" = stack ] && check "$of" stack
		[ "$of" = static ] && check "$of" stack all
	done
}
only=yes

# Calls from elsewhere, branches that did not run, calls on the stack that went another way than others.
program=list
cat >list.c <<'END'
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
static int limit, unused, calls;
static jmp_buf env;
static struct node *make(int value, struct node *next)
{
	struct node *n = malloc(sizeof *n); /* in */
	n->value = value; /* all */
	n->next = next; /* in */
	return n;
}
static int sum(struct node *n, int left)
{
	calls++; /* out */
	if (left) /* in */
		return n->value + sum(n->next, left - 1); /* in */
	return n->value; /* out */
}
static int other(struct node *n)
{
	unused = n->value; /* all */
	return sum(n, unused); /* all */
}
static void fails(int n)
{
	if (n > 5) /* stack */
		longjmp(env, n); /* stack */
}
int main(int argc, char **argv)
{
	struct node *list = NULL; /* in */
	int count = argc > 1 ? atoi(argv[1]) : 3; /* in */
	limit = count + 2; /* in */
	for (int i = 0; i < count; i++) /* in */
		list = make(i, list); /* in */
	if (setjmp(env)) /* stack */
		limit = 1; /* stack */
	else
		fails(count); /* stack */
	if (argc > 2) /* in */
		return other(list); /* all */
	if (argc > 3) /* stack */
		limit = argc; /* stack */
	printf("%d\n", sum(list, limit)); /* in */
	return 0;
}
END
crash 2

# In JSON; sizes; other places.
slice --slice --format=json
python3 - slice.txt <<'E' || fail 'JSON'
import json, sys
slice = json.load(open(sys.argv[1]))
sizes = slice["sizes"]
assert sizes["active"]["lines"] == slice["lines"] == len(slice["files"][0]["lines"])
assert sizes["active"]["lines"] < sizes["stack"]["lines"] < sizes["static"]["lines"] <= slice["lines_with_code"], sizes
assert sizes["active"]["lines"] < sizes["ran"]["lines"], sizes
assert slice["functions_not_known"] == 0
E
exit $failed

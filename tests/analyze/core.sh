#!/bin/bash
# core.sh BUILD-DIR - `waymark core --slice` of small programs that crash: lines that led there are in the slice; what did not run, or ran in other
# calls than those on the stack, is not. In the programs, a comment says of each line: in, out, or the slice (all, stack) that it is only in.
set -u
# shellcheck source=tests/analyze/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"

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
	"$build/waymark" core "$@" "./$program" "$program.core" >whole.txt 2>slice.err || fail "$program: core $*: $(cat slice.err)"
	sed '/^Branches that decided against/,$d' whole.txt >slice.txt
	sed -n '/^Branches that decided against/,$p' whole.txt >omitted.txt
}
crash() { # ARGUMENTS...: builds and runs $program, and makes all three slices
	"$build/waymark" cc --wm=trace -g -O0 -pthread "$program.c" -o "$program" && core_of "$program.core" "./$program" "$@" || exit 1
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
schema_check whole.txt
python3 - slice.txt <<'E' || fail 'JSON'
import json, sys
slice = json.load(open(sys.argv[1]))
sizes = slice["sizes"]
assert sizes["active"]["lines"] == slice["lines"] == len(slice["files"][0]["lines"])
assert sizes["active"]["lines"] < sizes["stack"]["lines"] < sizes["static"]["lines"] <= slice["lines_with_code"], sizes
assert sizes["active"]["lines"] < sizes["ran"]["lines"], sizes
assert slice["functions_not_known"] == 0
E

# In the other order the lines are the same. The first is the criterion, and what decides about it is near.
slice --slice
grep -E '^ *[0-9]+ {2,}' slice.txt | sort >lines.txt
slice --slice --slice-order=nearest
grep -E '^ *[0-9]+ {2,}' slice.txt | sort | cmp - lines.txt || fail 'the lines by order'
slice --slice --slice-order=nearest --format=json
schema_check whole.txt
python3 - slice.txt "$(grep -n 'return n->value + sum' list.c | cut -d: -f1)" "$(grep -n 'if (left)' list.c | cut -d: -f1)" <<'E' || fail 'places'
import json, sys
slice = json.load(open(sys.argv[1]))
lines = {line["place"]: line["line"] for line in slice["files"][0]["lines"]}
assert sorted(lines) == list(range(1, slice["lines"] + 1)), lines
assert lines[1] == int(sys.argv[2]) and int(sys.argv[3]) in (lines[2], lines[3]), lines
E

# Other frames, and lines; what is not there.
slice --slice=3
has "$(grep -n 'limit = count' list.c | cut -d: -f1)" || fail 'frame 3'
slice --slice="list.c:$(marked out | head -1)"
[ "$(grep -c ' <- here$' slice.txt)" -gt 0 ] || fail 'a line'
# A variable of a line: what the line does with others does not matter.
crashes=$(grep -n 'return n->value + sum' list.c | cut -d: -f1)
slice --slice="list.c:$crashes:left"
has "$(grep -n 'limit = count' list.c | cut -d: -f1)" || fail 'a variable: what it depends on'
has "$(grep -n 'return n->value + sum' list.c | cut -d: -f1)" || fail 'a variable: its line'
has "$(grep -n 'n->value = value' list.c | cut -d: -f1)" && fail 'a variable: another one'
slice --slice="list.c:$crashes:n->value"
has "$(grep -n 'n->value = value' list.c | cut -d: -f1)" || fail 'a member: where it is set'
slice --slice="list.c:$crashes:n->value" --format=json
python3 -c 'import json, sys; s = json.load(open("slice.txt")); assert s["criterion"] == sys.argv[1] and s["sizes"]["active"]["lines"] <= s["sizes"]["stack"]["lines"] == s["sizes"]["static"]["lines"]' \
	"list.c:$crashes:n->value" || fail 'a member: JSON'
refused() { # TEXT WHERE
	"$build/waymark" core --slice="$2" ./list list.core >slice.txt 2>slice.err
	[ $? = 1 ] && [ ! -s slice.txt ] && grep -qF "$1" slice.err || fail "--slice=$2: $(cat slice.err)"
}
refused 'a frame (2, of another thread 3.0), FILE:LINE or FILE:LINE:VARIABLE is needed' frames
refused 'there are 1 threads' 2.0
refused 'frames' 99
refused 'no code of list.c:1;' list.c:1
refused "list.c:$crashes: no variable 'lefts'" "list.c:$crashes:lefts"
refused 'no code of a file other.c' other.c:3:left
refused 'did not run' "list.c:$(grep -n 'return other' list.c | cut -d: -f1):list"
refused 'did not run' "list.c:$(grep -n 'return other' list.c | cut -d: -f1)"
"$build/waymark" core --slice --format=lcov ./list list.core >slice.txt 2>&1
[ $? = 2 ] || fail 'LCOV of a slice'

# A store that faults: the address matters, the value does not. Through qsort, and by a handler in the middle of another function.
program=callbacks
cat >callbacks.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
static int *target, kind, order, table[3] = {3, 1, 2};
static int compare(const void *a, const void *b)
{
	if (order) /* in */
		*target = kind; /* in */
	return *(const int *)a - *(const int *)b;
}
static void handle(int number)
{
	(void)number;
	qsort(table, 3, sizeof *table, compare); /* in */
}
static void work(int n)
{
	static int other;
	target = &other; /* stack */
	if (n > 0) /* in */
		target = NULL; /* in */
	raise(SIGUSR1); /* in */
	target = &other; /* all */
}
int main(int argc, char **argv)
{
	(void)argv;
	signal(SIGUSR1, handle);
	kind = argc + 3; /* out */
	order = argc; /* in */
	work(argc); /* in */
	order = 0; /* all */
	return 0;
}
END
only=yes
crash

# A thread that crashes has what others stored at any time; each thread can be asked about.
program=threads
cat >threads.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static int counted, *late;
struct job { int n; int *data; };
static pthread_barrier_t barrier;
static void *work(void *given)
{
	struct job *job = given; /* in */
	counted++; /* out */
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < job->n; i++) /* in */
		job->data[i] = i; /* in */
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	struct job *job = malloc(sizeof *job); /* in */
	int *table = calloc(4, sizeof *table); /* in */
	job->n = argc + 1; /* in */
	job->data = table; /* in */
	late = table; /* out */
	if (argc > 3) /* stack */
		job->n = 3; /* stack */
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, work, job); /* in */
	job->data = argc > 3 ? table : NULL; /* in */
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	(void)argv;
	return 0;
}
END
crash
slice --slice=2.0
has "$(grep -n 'barrier_wait' threads.c | tail -1 | cut -d: -f1)" || has "$(grep -n pthread_join threads.c | cut -d: -f1)" || fail 'thread 2'

# What was omitted and could have mattered: by the branch that decided against it, in a callee, of what a pointer leads to, in this call and not in
# an earlier one. What cannot have mattered is not named.
program=omitted
cat >omitted.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct item { int *data; int n; };
static int skip, unrelated, late, zero;
static int said(int n) { return printf("%d\n", n) > 0; }
static void check(int n)
{
	if (n > 3) /* near */
		skip = said(n);
	if (n > 4) /* far */
		unrelated = said(n);
	if (n > 5) { /* far */
		skip = said(n);
		exit(1);
	}
}
static void choose(struct item *item, int n)
{
	if (n > 5 || /* near */
	    n < 0)
		item->data = said(n) ? &zero : NULL;
}
static void fill(struct item *item)
{
	item->n = 3;
	item->data = &zero;
}
static void step(const struct item *item, int n)
{
	int *p = NULL, rest = 0;
	if (n == 1) /* near */
		p = &zero;
	if (n == 1) /* far */
		rest = 1;
	if (!p)
		p = item->data;
	*p = n;
	if (rest) /* far */
		p = NULL;
}
int main(int argc, char **argv)
{
	struct item item = {NULL, 1};
	check(argc);
	choose(&item, argc);
	if (argc > 6) /* near */
		fill(&item);
	if (argc > 7) /* far */
		item.n = 2;
	if (argc > 8) /* far */
		late = 1;
	late = 0;
	if (argc > 9) /* far */
		puts(argv[1]);
	step(&item, 1);
	if (!skip && !late)
		step(&item, 2);
	if (argc > 10) /* far */
		item.data = &zero;
	return unrelated;
}
END
crash
near() { grep -qE "^ *$1  " omitted.txt; }
for options in -O0 '-O1 --wm-stage=source -fno-inline'; do
	# shellcheck disable=SC2086 # a list of words
	"$build/waymark" cc --wm=trace -g $options omitted.c -o omitted && core_of omitted.core ./omitted || exit 1
	slice --slice
	for line in $(marked near); do
		near "$line" || { [ "$options" != -O0 ] && has "$line"; } || fail "omitted.c $options: line $line is not named: $(sed -n "${line}p" omitted.c)"
	done
	for line in $(marked far); do
		near "$line" && fail "omitted.c $options: line $line is named: $(sed -n "${line}p" omitted.c)"
	done
done


# Computed gotos, exceptions, calls that never return, tail calls: each function is found in the core, whatever was done to it.
cat >ways.cpp <<'END'
#include <csetjmp>
#include <cstdlib>
#include <stdexcept>
static std::jmp_buf env;
static int run(const char *code, int n)
{
	static void *const ops[] = {&&add, &&sub, &&stop, &&jump};
	int value = 0;
	goto *ops[*code & 3];
add:
	value += n;
	code++;
	if (value > 100)
		goto stop;
	goto *ops[*code & 3];
sub:
	value--;
	code++;
	goto *ops[*code & 3];
jump:
	if (setjmp(env))
		return value;
	std::longjmp(env, 1);
stop:
	if (value == 7)
		abort();
	return value;
}
__attribute__((noinline)) static int fails(int n)
{
	if (n > 5)
		throw std::runtime_error("many");
	return n;
}
__attribute__((noinline)) static int tail(int n, const char *s) { return n > 3 ? run(s, n) : fails(n); }
int main(int argc, char **)
{
	char code[] = {0, 0, 1, 2, 0};
	int value = 0;
	if (argc > 5)
		exit(tail(argc, code));
	try {
		value = fails(argc + 7);
	} catch (const std::runtime_error &) {
		value = tail(argc + 3, code);
	}
	return value + run(code, 4);
}
END
for options in -O0 -O2 '-O2 --wm-stage=source'; do
	# shellcheck disable=SC2086 # a list of words
	"$build/waymark" c++ --wm=trace -g $options ways.cpp -o ways && core_of ways.core ./ways || exit 1
	program=ways
	slice --slice --format=json
	grep -q '"functions_not_known": 0' slice.txt || fail "ways.cpp $options: $(grep -o '"functions_not_known": [0-9]*' slice.txt)"
	slice --slice
	for text in 'if (value == 7)' 'value += n;' 'value--;' 'code\[\] ='; do
		has "$(grep -n "$text" ways.cpp | cut -d: -f1)" || [ "$options" = -O2 ] || fail "ways.cpp $options: no '$text'"
	done
done
exit $failed

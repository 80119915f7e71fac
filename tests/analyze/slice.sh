#!/bin/bash
# slice.sh BUILD-DIR - `waymark slice` of the program of examples/crash: the lines that explain its crash are in, each with a reason that is a
# line of the slice; those that cannot matter are out. What the command refuses it refuses in one line.
set -u
# shellcheck source=tests/analyze/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"

cp "$here/../../examples/crash/settings.c" .
# The number of the line with that text.
line_of() { grep -nF "$1" settings.c | head -1 | cut -d: -f1; }
crash=$(line_of 'r->section->values++')

for level in -O0 -O2; do
	"$build/waymark" cc --wm=trace -g $level -fno-inline settings.c -o settings || exit 1
	"$build/waymark" slice settings "settings.c:$crash" >slice.txt || fail "$level: status $?"
	"$build/waymark" slice --format=json -o slice.json settings "settings.c:$crash" || fail "$level: JSON: status $?"
	schema_check slice.json
	python3 - slice.json "$crash" <<-'E' || fail "$level: JSON"
		import json, sys
		slice = json.load(open(sys.argv[1]))
		(file,) = slice["files"]
		lines = {line["line"]: line for line in file["lines"]}
		assert slice["lines"] == len(lines), slice["lines"]
		assert lines[int(sys.argv[2])]["why"] == "criterion"
		assert all(line.get("of_line", int(sys.argv[2])) in lines for line in lines.values())
		assert list(lines) == sorted(lines)
		chain = slice["chain"]
		assert len(chain) > 1 and chain[0] == {"file": file["file"], "line": int(sys.argv[2]), "why": "criterion"}, chain
		assert all(link["line"] in lines and link["line"] != before["line"] for before, link in zip(chain, chain[1:])), chain
	E
	# Who sets r->section, who decides that the line is a value, who reads the line.
	for text in 'r->section = closed->outer' "strchr(line, '=')" 'while (fgets(' 'strncmp(line, "end", 3)' 'set_value(r, line)'; do
		grep -qE "^ *$(line_of "$text")  " slice.txt || fail "$level: '$text' is not in the slice"
	done
	# A message to standard error and a count of comments decide nothing.
	for text in '"line %d: no value' 'r->comments++'; do
		grep -qE "^ *$(line_of "$text")  " slice.txt && fail "$level: '$text' is in the slice"
	done
done

# A function of a library that is called through a pointer calls back: what the callback is given, and what it returns, matters.
cat >sort.c <<'END'
#include <stdlib.h>
static int limit, hit, last;
static volatile int sink;
static int compare(const void *a, const void *b)
{
	sink = last; /* read by the next call */
	last = *(const int *)b; /* kept for it */
	if (*(const int *)b > limit) /* here */
		hit++; /* out */
	return *(const int *)a - *(const int *)b; /* in */
}
static void (*sort)(void *table, size_t count, size_t size, int (*order)(const void *a, const void *b)) = qsort;
int main(int argc, char **argv)
{
	int table[3] = {0, 0, 0};
	(void)argv;
	limit = 2; /* in */
	table[1] = argc; /* in */
	sort(table, 3, sizeof *table, compare); /* in */
	return hit;
}
END
"$build/waymark" cc --wm=trace -g -O0 sort.c -o sort || exit 1
"$build/waymark" slice sort "sort.c:$(grep -n '/\* here' sort.c | cut -d: -f1)" >slice.txt || fail "sort: status $?"
for line in $(grep -n '/\* in \*/' sort.c | cut -d: -f1); do
	grep -qE "^ *$line  " slice.txt || fail "sort: line $line is not in the slice"
done
grep -qE "^ *$(grep -n '/\* out' sort.c | cut -d: -f1)  " slice.txt && fail "sort: a line that nothing reads is in the slice"
# What one call of the callback leaves is there in the next one.
kept=$(grep -n '/\* kept' sort.c | cut -d: -f1) read=$(grep -n '/\* read' sort.c | cut -d: -f1)
"$build/waymark" slice sort "sort.c:$read" >slice.txt && grep -qE "^ *$kept  " slice.txt || fail "sort: what an earlier call left is not in the slice"
"$build/waymark" slice --forward sort "sort.c:$kept" >slice.txt && grep -qE "^ *$read  " slice.txt || fail "sort: a later call is not reached"

# What a function of the library keeps goes to the next one: each printed line has the ones that are marked with its letter, of those with letters.
cat >states.c <<'END'
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile int sink;
int main(int argc, char **argv)
{
	time_t first = 1000;
	time_t second = 5000 * argc; /* T */
	struct tm *one = gmtime(&first); /* T */
	struct tm *two = gmtime(&second); /* T */
	srand((unsigned)argc); /* R */
	char text[] = "a b c";
	text[2] = argv[0][0]; /* K */
	char *token = strtok(text, " "); /* K */
	char *next = strtok(NULL, " "); /* K */
	char *rest = argv[1];
	char *part = strsep(&rest, ","); /* P */
	*part = 'x'; /* P */
	setenv("NAME", argv[2], 1); /* V */
	int option = getopt(argc, argv, "a:"); /* G */
	long number = strtol(argv[3], NULL, 10); /* E */
	int error = errno; /* E */
	sink = *argv[1]; /* ask P */
	sink = one->tm_sec; /* ask T */
	sink = rand(); /* ask R */
	sink = *next; /* ask K */
	sink = *getenv("NAME"); /* ask V */
	sink = optind; /* ask G */
	sink = error; /* ask E */
	return *token + two->tm_sec + option + (int)number;
}
END
"$build/waymark" cc --wm=trace -g -O0 -w states.c -o states || exit 1
for letter in T R K P V G E; do
	at=$(grep -nF "/* ask $letter */" states.c | cut -d: -f1)
	"$build/waymark" slice states "states.c:$at" >states.txt || fail "states $letter: status $?"
	for line in $(grep -nF "/* $letter */" states.c | cut -d: -f1); do
		grep -qE "^ *$line  " states.txt || fail "states.c:$line is not in the slice of line $at ($letter)"
	done
done

# What happened before a longjmp matters behind the setjmp; what would have happened behind it does not.
cat >jumps.c <<'END'
#include <setjmp.h>
#include <stdio.h>
static jmp_buf env;
static int kind;
static void work(int n)
{
	kind = n; /* in */
	if (n > 3) /* in */
		longjmp(env, 1); /* in */
	puts("not so many"); /* out */
}
int main(int argc, char **argv)
{
	if (setjmp(env))
		return kind; /* here */
	work(argc + 3); /* in */
	return 0;
}
END
"$build/waymark" cc --wm=trace -g -O0 jumps.c -o jumps || exit 1
"$build/waymark" slice jumps "jumps.c:$(grep -n '/\* here' jumps.c | cut -d: -f1)" >slice.txt || fail "jumps: status $?"
for line in $(grep -n '/\* in \*/' jumps.c | cut -d: -f1); do
	grep -qE "^ *$line  " slice.txt || fail "jumps: line $line is not in the slice"
done
grep -qE "^ *$(grep -n '/\* out' jumps.c | cut -d: -f1)  " slice.txt && fail "jumps: a line behind longjmp is in the slice"

# Threads: what one stores another may read at any time, and code outside calls what it was given.
cat >threads.c <<'END'
#include <pthread.h>
static _Atomic int limit, seen;
static int own;
static void *worker(void *data)
{
	while (!limit)
		;
	seen = limit * 2; /* here and in for seen */
	return data;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	own = argc; /* out */
	pthread_create(&thread, 0, worker, 0); /* in */
	limit = argc + own; /* in for limit */
	own = 2; /* out */
	while (!seen)
		;
	return seen; /* result */
}
END
"$build/waymark" cc --wm=trace -g -O0 -pthread threads.c -o threads || exit 1
lines_with() { grep -n "/\* .*$1" threads.c | cut -d: -f1; }
"$build/waymark" slice threads "threads.c:$(lines_with here)" >slice.txt || fail "threads: status $?"
for line in $(lines_with 'in \*/') $(lines_with 'in for limit'); do
	grep -qE "^ *$line  " slice.txt || fail "threads: line $line is not in the slice of the worker"
done
"$build/waymark" slice threads "threads.c:$(lines_with result)" >slice.txt || fail "threads: status $?"
for line in $(lines_with 'in \*/') $(lines_with 'in for seen') $(lines_with 'in for limit'); do
	grep -qE "^ *$line  " slice.txt || fail "threads: line $line is not in the slice of the result"
done

# A handler of a signal leaves by a jump: what was stored until then is read where it lands.
cat >handler.c <<'END'
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf environment;
static volatile int count, other;
static void handler(int number)
{
	(void)number;
	siglongjmp(environment, 1); /* in */
}
static void work(int n)
{
	count = n; /* in */
	other = n; /* out */
	count++; /* in */
	raise(SIGUSR1); /* in */
}
int main(int argc, char **argv)
{
	(void)argv;
	signal(SIGUSR1, handler); /* in */
	if (sigsetjmp(environment, 1)) /* in */
		return count; /* here */
	work(argc); /* in */
	return 0;
}
END
"$build/waymark" cc --wm=trace -g -O0 handler.c -o handler || exit 1
"$build/waymark" slice handler "handler.c:$(grep -n '/\* here' handler.c | cut -d: -f1)" >slice.txt || fail "handler: status $?"
for line in $(grep -n '/\* in ' handler.c | cut -d: -f1); do
	grep -qE "^ *$line  " slice.txt || fail "handler: line $line is not in the slice"
done
grep -qE "^ *$(grep -n '/\* out' handler.c | cut -d: -f1)  " slice.txt && fail "handler: what nobody reads is in the slice"

# One that is raised while it is blocked runs where the mask is set again, and waits until then.
cat >blocked.c <<'END'
#include <signal.h>
#include <stdio.h>
static int stored, number, waits;
static void handler(int received)
{
	stored = number + received; /* in */
}
int main(int argc, char **argv)
{
	sigset_t set, before, waiting;
	signal(SIGUSR1, handler); /* in */
	sigemptyset(&set); /* in waits */
	sigaddset(&set, SIGUSR1); /* in waits */
	sigprocmask(SIG_BLOCK, &set, &before); /* in waits */
	if (argc > 1) /* in waits */
		raise(SIGUSR1); /* in waits */
	sigpending(&waiting); /* waits */
	waits = sigismember(&waiting, SIGUSR1);
	number = argc; /* in */
	if (argc > 2) /* in */
		sigprocmask(SIG_SETMASK, &before, NULL); /* in */
	printf("%d\n", stored); /* here */
	printf("%d\n", waits); /* there */
	return 0;
}
END
"$build/waymark" cc --wm=trace -g -O0 blocked.c -o blocked || exit 1
of_blocked() { # MARK COMMENT: lines with the comment are in the slice of the marked one
	local line
	"$build/waymark" slice blocked "blocked.c:$(grep -n "/\* $1" blocked.c | cut -d: -f1)" >slice.txt || fail "blocked: status $?"
	for line in $(grep -nE "/\* ([a-z]+ )?$2" blocked.c | cut -d: -f1); do
		grep -qE "^ *$line  " slice.txt || fail "blocked, $1: line $line is not in the slice"
	done
}
of_blocked here in
of_blocked there waits

# Two calls can reach the same functions. What one function reads another one sets: the call in the loop asks the second function, and then the
# third one, later than it asked the first one, and later than the other call asked them.
cat >group.c <<'END'
#include <stdio.h>
static int first, second, third;
static void show(int x, int y)
{
	first = second;
}
static void keep(int x, int y)
{
	second = third + y;
}
static void set(int x, int y)
{
	third = x;
}
static void (*table[3])(int, int) = {show, keep, set};
int main(int argc, char **argv)
{
	int x = argc + 2; /* in */
	int y = argc + 3; /* in */
	for (int i = 0; i < 3; i++)
		table[2 - i](x, y);
	second = third = 3;
	table[argc % 3](7, 8);
	printf("%d\n", first + second + third); /* here */
	return 0;
}
END
"$build/waymark" cc --wm=trace -g -O0 group.c -o group || exit 1
"$build/waymark" slice group "group.c:$(grep -n '/\* here' group.c | cut -d: -f1)" >slice.txt || fail "group: status $?"
for line in $(grep -n '/\* in ' group.c | cut -d: -f1); do
	grep -qE "^ *$line  " slice.txt || fail "group: line $line is not in the slice"
done

# Code outside calls what it was given with all that it has, also behind the named arguments.
cat >outside.c <<'END'
#include <stdarg.h>
static void take(int count, ...)
{
	va_list all;
	va_start(all, count);
	*va_arg(all, int *) = count; /* in */
	va_end(all);
}
extern void give(void (*call)(int count, ...), int *to);
int main(void)
{
	int number = 0;
	give(take, &number); /* in */
	return number; /* here */
}
END
cat >gives.c <<'END'
void give(void (*call)(int count, ...), int *to) { call(7, to); }
END
gcc -shared -fPIC -o libgives.so gives.c && "$build/waymark" cc --wm=trace -g -O0 outside.c -o outside -L. -lgives || exit 1
"$build/waymark" slice outside "outside.c:$(grep -n '/\* here' outside.c | cut -d: -f1)" >slice.txt || fail "outside: status $?"
for line in $(grep -n '/\* in ' outside.c | cut -d: -f1); do
	grep -qE "^ *$line  " slice.txt || fail "outside: line $line is not in the slice"
done

# A variable: its value alone, where the line begins or behind where the line sets it; one of several of that name by its scope.
cat >variables.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct pair { int a; struct { int b; int c; }; };
static int limit;
__attribute__((used)) int sum(struct pair *p, int size)
{
	static int calls;
	int size_of = size + 1; /* size */
	int gone = abs(p->a);
	calls++; /* calls */
	for (int size = 0; size < p->c; size++) /* loop */
		size_of = size_of * 3 ^ p->b; /* here */
	limit = size_of; /* limit */
	return limit;
}
int main(int argc, char **argv)
{
	struct pair p;
	p.a = argc; /* a */
	p.b = atoi(argv[1]); /* b */
	p.c = atoi(argv[2]); /* c */
	int n = atoi(argv[3]); /* n */
	return sum(&p, n); /* call */
}
END
number_of() { grep -nF "/* $1 */" variables.c | cut -d: -f1; }
variable() { # PROGRAM LINE:VARIABLE IN... - OUT...
	local of=$2 in=1 name program=$1
	"$build/waymark" slice "$1" "variables.c:$of" >slice.txt || fail "$of: status $?"
	shift 2
	for name; do
		[ "$name" = - ] && in=0 && continue
		grep -qE "^ *$(number_of "$name")  " slice.txt
		[ $? = $((1 - in)) ] || fail "$program $of: '$name' is not where it should be ($in)"
	done
}
"$build/waymark" cc --wm=trace -g -O0 variables.c -o variables || exit 1
"$build/waymark" cc --wm=trace -g -O2 -fno-inline variables.c -o optimized || exit 1
used=$(number_of here)
for program in variables optimized; do
	variable $program "$used:p" loop call c - n b a size
	variable $program "$used:p->b" loop call b c - n a size
	variable $program "$(number_of size):size_of" n call - b c a
	variable $program "$(number_of call):p.c" c - n b a
done
variable variables "$used:size" loop call c - n b a size
variable variables "$used:calls" calls loop call c - n b a size
variable variables "$(number_of loop):size" loop call c - n b a size
variable variables "$(number_of limit):limit" limit here size n b c call - a calls

# The shortest chain: the flow of the value from where it begins, not what overwrote it before, nor where it is kept; else branches and calls.
cat >chain.c <<'END'
#include <stdlib.h>
static int kept;
static struct { int old, value; } both;
static int twice(int n)
{
	return n * 2; /* twice */
}
static void keep(int *where, int n)
{
	*where = n; /* keep */
}
static int limited(int n)
{
	if (n > 3) /* if */
		abort(); /* abort */
	return kept; /* kept */
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]); /* n */
	kept = 0; /* overwritten */
	both.old = argc; /* old */
	keep(&both.value, n); /* value */
	kept = twice(both.value); /* call */
	return limited(argc); /* limited */
}
END
"$build/waymark" cc --wm=trace -g -O0 chain.c -o chain || exit 1
chain() { # NAME...: of the lines, from the criterion on
	local of="" name
	for name; do of+=$(grep -nF "/* $name */" chain.c | cut -d: -f1)" "; done
	"$build/waymark" slice --format=json chain "chain.c:${of%% *}" >slice.json || fail "chain of $1: status $?"
	python3 -c 'import json; print(*[link["line"] for link in json.load(open("slice.json"))["chain"]], end=" ")' >chain.txt
	[ "$(cat chain.txt)" = "$of" ] || fail "the chain of '$1' is $(cat chain.txt)and not $of"
}
chain kept call twice call keep value n
chain abort if limited

# Memory that is written in unusual ways: a number that is no pointer, a constant place, a structure and arguments that a call copies.
cat >memory.c <<'END'
#include <stdarg.h>
struct big {
	int a[8];
};
static double total;
static struct big bigs[3];
static int sum(int count, ...)
{
	va_list list;
	int sum = 0;
	va_start(list, count); /* in */
	for (int i = 0; i < count; i++)
		sum += va_arg(list, int); /* in */
	return sum;
}
static int third(struct big b)
{
	return b.a[2]; /* in */
}
int main(int argc, char **argv)
{
	int more = argc + 1; /* in */
	int less = argc - 1; /* out */
	total = 2; /* in */
	bigs[2].a[2] = 7; /* in */
	bigs[2].a[1] = less; /* out */
	return sum(2, 1, more) + third(bigs[argc]) + (int)total; /* here */
}
END
for level in -O0 -O2; do
	"$build/waymark" cc --wm=trace -g $level -fno-inline memory.c -o memory || exit 1
	"$build/waymark" slice memory "memory.c:$(grep -n '/\* here' memory.c | cut -d: -f1)" >slice.txt || fail "memory: status $?"
	for line in $(grep -n '/\* in \*/' memory.c | cut -d: -f1); do
		# At -O2 constants may have no code.
		[ $level = -O2 ] && sed -n "${line}p" memory.c | grep -qE 'total =|more =|va_start|return b' ||
			grep -qE "^ *$line  " slice.txt || fail "memory $level: line $line is not in the slice"
	done
done

# Variable arguments that the library reads by a va_list: here, and in a function that is handed the list; texts that they lead to.
cat >lists.c <<'END'
#include <stdarg.h>
#include <stdio.h>
static char text[64], more[64];
static void put(char *to, const char *format, va_list list)
{
	vsnprintf(to, 64, format, list); /* in */
}
static void handed_on(const char *format, ...)
{
	va_list list;
	va_start(list, format); /* in */
	put(text, format, list); /* in */
	va_end(list);
}
static void direct(const char *format, ...)
{
	va_list list;
	va_start(list, format); /* in */
	vsprintf(more, format, list); /* in */
	va_end(list);
}
int main(int argc, char **argv)
{
	static char name[8];
	int many[8] = {0};
	int one = argc + 1; /* in */
	int late = argc + 3; /* in */
	int not = argc - 1; /* out */
	name[0] = (char)('a' + argc); /* in */
	handed_on("%d %s", one, name); /* in */
	direct("%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, late); /* in */
	many[argc & 7] = not; /* out */
	printf("%d\n", many[0]);
	return text[2] + more[6]; /* here */
}
END
for level in -O0 -O2; do
	"$build/waymark" cc --wm=trace -g $level -fno-inline lists.c -o lists || exit 1
	"$build/waymark" slice lists "lists.c:$(grep -n '/\* here' lists.c | cut -d: -f1)" >slice.txt || fail "lists: status $?"
	for line in $(grep -n '/\* in \*/' lists.c | cut -d: -f1); do
		# At -O2 sums are made where they are passed.
		grep -qE "^ *$line  " slice.txt || { [ $level = -O2 ] && sed -n "${line}p" lists.c | grep -q 'va_start'; } ||
			fail "lists $level: line $line is not in the slice"
	done
	for line in $(grep -n '/\* out \*/' lists.c | cut -d: -f1); do
		! grep -qE "^ *$line  " slice.txt || fail "lists $level: line $line is in the slice"
	done
done

# Forward: through memory and what is returned, not what was overwritten, nor what only runs before.
cat >forward.c <<'END'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
static int kept, other;
static int twice(int n)
{
	return n * 2; /* twice */
}
static int last(int count, ...)
{
	va_list list;
	int n = 0;
	va_start(list, count);
	while (count-- > 0)
		n = va_arg(list, int); /* last */
	va_end(list);
	return n;
}
int main(int argc, char **argv)
{
	int before = atoi(argv[2]); /* before */
	int n = atoi(argv[1]); /* n */
	kept = n; /* kept */
	other = twice(n); /* call */
	kept = before; /* overwritten */
	if (other > 3) /* if */
		puts("large"); /* large */
	printf("%d\n", kept); /* print kept */
	printf("%d\n", last(2, before, n)); /* print last */
	return 0;
}
END
"$build/waymark" cc --wm=trace -g -O0 forward.c -o forward || exit 1
"$build/waymark" slice --forward --format=json forward "forward.c:$(grep -n '/\* n \*/' forward.c | cut -d: -f1)" >slice.json || fail 'forward: status'
lines=$(grep -o '"line": [0-9]*' slice.json | cut -d' ' -f2)
for name in n kept call twice if large last 'print last'; do
	grep -qx "$(grep -nF "/* $name */" forward.c | cut -d: -f1)" <<<"$lines" || fail "'$name' is not in the forward slice"
done
for name in before overwritten 'print kept'; do
	grep -qx "$(grep -nF "/* $name */" forward.c | cut -d: -f1)" <<<"$lines" && fail "'$name' is in the forward slice"
done

# Pages and code flows: their lines are those of the text, also of inlined code.
for level in -O0 -O2; do
	"$build/waymark" cc --wm=trace -g $level settings.c -o settings || exit 1
	for options in "settings.c:$crash" "--forward settings.c:$(line_of 'strchr(line, ')"; do
		for format in text html sarif; do
			# shellcheck disable=SC2086
			"$build/waymark" slice --format=$format -o "slice.$format" settings $options || fail "--format=$format: status $?"
		done
		sed '/^The shortest chain/,/^$/d' slice.text | sed -n 's/^ *\([0-9]*\)  .*/\1/p' | tr '\n' ' ' | sed 's/ $//' >lines.txt
		for format in html sarif; do
			python3 "$here/page.py" "slice.$format" >page.txt || fail "$level $options: $format"
			cmp -s <(cat lines.txt; echo) page.txt || fail "$level $options: lines of $format: $(cat page.txt), not $(cat lines.txt)"
		done
	done
done

# Of recorded runs: what did not run in them is left out, but for functions with an activation that did not end: main.
cat >ran.c <<'END'
#include <stdlib.h>
static int result;
static int large(int n)
{
	return n * 2; /* large */
}
static int small(int n)
{
	int more = 1; /* small */
	if (n < 0) /* negative */
		more = n; /* more */
	return n + more; /* return */
}
static void work(int n)
{
	if (n > 10) /* if */
		result = large(n); /* call large */
	else
		result = small(n); /* call small */
}
static void finish(int n)
{
	if (n > 100) /* huge */
		result++; /* never */
	exit(result); /* exit */
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]); /* n */
	if (argc > 2) /* argc */
		n++; /* main */
	work(n); /* work */
	finish(n);
}
END
ran() { # NAME WMK... - IN... - OUT...: of the slice of that line in these runs
	local files=() name of in=1
	of="ran.c:$(grep -nF "/* $1 */" ran.c | cut -d: -f1)"
	shift
	while [ "$1" != - ]; do
		files+=("--ran=$1")
		shift
	done
	shift
	"$build/waymark" slice "${files[@]}" ran "$of" >slice.txt || fail "ran: $of: status $?"
	for name; do
		[ "$name" = - ] && in=0 && continue
		grep -qE "^ *$(grep -nF "/* $name */" ran.c | cut -d: -f1)  " slice.txt
		[ $? = $((1 - in)) ] || fail "ran ${files[*]} $of: '$name' is not where it should be ($in)"
	done
}
for options in -O0 '-O2 -fno-inline --wm-stage=source'; do
	# shellcheck disable=SC2086
	"$build/waymark" cc --wm=trace,paths -g $options ran.c -o ran || exit 1
	for n in 5 20 -3; do
		rm -f "run$n.wmk"
		WAYMARK_OUT="run$n.wmk" ./ran "$n"
	done
	ran exit run5.wmk - exit n return work main 'call small' - large 'call large' more never
	ran exit run20.wmk - exit n large work main 'call large' - return 'call small' more never
	ran exit run5.wmk run20.wmk - exit n large return - more never
	ran exit run5.wmk run-3.wmk - exit n return negative - large never
	"$build/waymark" slice --ran=run5.wmk ran "ran.c:$(grep -n '/\* large' ran.c | cut -d: -f1)" 2>err && fail 'a line that did not run'
	grep -q 'did not run in what is recorded$' err || fail "a line that did not run: $(cat err)"
done

# One pointer leads to a function of the program, which does not use an argument, and to one of a library, which does.
cat >either.c <<'END'
#include <stdlib.h>
static int first(int number)
{
	(void)number;
	return 1;
}
int main(int argc, char **argv)
{
	int (*number)(int) = argc > 1 ? first : abs;
	int given = argc * 3; /* in */
	return number(given); /* here */
}
END
for level in -O0 -O2; do
	"$build/waymark" cc --wm=trace -g $level -fno-inline either.c -o either || exit 1
	"$build/waymark" slice either "either.c:$(grep -n '/\* here' either.c | cut -d: -f1)" >slice.txt || fail "either: status $?"
	grep -qE "^ *$(grep -n '/\* in' either.c | cut -d: -f1)  " slice.txt || fail "either $level: the argument is not in the slice"
done

# A library calls back code of another library, which keeps what it likes.
cat >counts.c <<'END'
static int calls;
int counted(const void *a, const void *b)
{
	return calls++ % 2 ? 0 : *(const int *)a - *(const int *)b;
}
int (*chosen(void))(const void *, const void *)
{
	return counted;
}
END
cat >counting.c <<'END'
#include <stdlib.h>
int counted(const void *a, const void *b);
int (*chosen(void))(const void *, const void *);
static int table[] = {2, 4, 6, 8};
int main(int argc, char **argv)
{
	int (*order)(const void *, const void *) = ORDER;
	int *hit;
	(void)argv;
	bsearch(&argc, table, 4, sizeof *table, order); /* in */
	hit = bsearch(&argc, table, 4, sizeof *table, order);
	return hit ? *hit : 0; /* here */
}
END
gcc -shared -fPIC -o libcounts.so counts.c || exit 1
for order in counted 'chosen()'; do
	"$build/waymark" cc --wm=trace -g -O0 -DORDER="$order" counting.c -o counting -L. -lcounts || exit 1
	"$build/waymark" slice counting "counting.c:$(grep -n '/\* here' counting.c | cut -d: -f1)" >slice.txt || fail "counting: status $?"
	grep -qE "^ *$(grep -n '/\* in' counting.c | cut -d: -f1)  " slice.txt || fail "counting, $order: the first search is not in the slice"
	"$build/waymark" slice --explain counting "counting.c:$(grep -n '/\* here' counting.c | cut -d: -f1)" | grep -q ' 2 calls  what bsearch calls$' || fail "counting, $order: --explain"
done

# Code outside knows who is called back and with what, and the callback tells it of that again: the analysis must not state it again and again.
cat >endless.c <<'END'
#include <stdlib.h>
void know(void *p);
void *unknown(void);
static int compare(const void *a, const void *b)
{
	know((void *)a);
	know((void *)b);
	return *(const char *)a - *(const char *)b; /* in */
}
int main(void)
{
	int (*order)(const void *, const void *) = (int (*)(const void *, const void *))unknown();
	char *table = unknown();
	know((void *)order);
	know(table);
	know((void *)compare);
	qsort(table, 4, 1, order);
	return table[0] > 1; /* here */
}
END
echo 'void know(void *p) { (void)p; } void *unknown(void) { return 0; }' | gcc -shared -fPIC -o libknows.so -x c - || exit 1
"$build/waymark" cc --wm=trace -g -O0 endless.c -o endless -L. -lknows || exit 1
"$build/waymark" slice endless "endless.c:$(grep -n '/\* here' endless.c | cut -d: -f1)" >slice.txt || fail "endless: status $?"
grep -qE "^ *$(grep -n '/\* in' endless.c | cut -d: -f1)  " slice.txt || fail "endless: the callback is not in the slice"
grep -q 'or fewer' slice.txt && fail "endless: the analysis was given up"

refused() { # STATUS TEXT ARGUMENTS...
	local status=$1 text=$2 got
	shift 2
	"$build/waymark" slice "$@" >out 2>err
	got=$?
	[ $got = "$status" ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -e "$text" err || fail "slice $*: status $got, $(cat err)"
}
refused 1 'the program has no code of settings.c:1' settings settings.c:1
refused 1 'the nearest lines with code are ' settings "settings.c:$((crash + 2))"
refused 1 'no code of a file nothing.c' settings nothing.c:1
refused 1 "no variable 'nothing' is known there; besides globals there are p, size, size_of, gone, size" variables "variables.c:$used:nothing"
refused 1 "no member 'd'; there are a, b, c" variables "variables.c:$used:p->d"
refused 1 'there are no members' variables "variables.c:$used:size.d"
refused 1 'a variable is needed' variables "variables.c:$used:p[2]"
refused 1 'the optimizer kept no value of gone there' optimized "variables.c:$used:gone"
refused 1 'FILE:LINE is needed' settings settings.c
refused 1 'no paths of this build of the program are recorded' --ran=run5.wmk settings "settings.c:$crash"
refused 1 'nothing.wmk' --ran=nothing.wmk ran ran.c:22
refused 1 '--forward begins at a line' --forward variables "variables.c:$used:p"
refused 1 'FILE:LINE is needed' settings settings.c:3:
refused 1 'FILE:LINE is needed' settings settings.c:x
refused 1 '/nowhere' /nowhere settings.c:1
clang-19 -g settings.c -o plain
refused 1 'plain' plain settings.c:1
"$build/waymark" slice settings >out 2>err
[ $? = 2 ] || fail 'without FILE:LINE'
"$build/waymark" slice --explain settings "settings.c:$crash" | grep -q '^Functions that are not known.*: none$' || fail '--explain'
exit $failed

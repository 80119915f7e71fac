#!/bin/bash
# overruns.sh BUILD-DIR - `waymark core --slice` of programs that wrote behind the end of a buffer and crashed later: what was overwritten is told,
# and the line that wrote is the first of the layer. In the programs a comment marks it: overrun.
set -u
# shellcheck source=tests/analyze/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"

marked() { grep -nE "/\* $1 \*/" "$program.c" | cut -d: -f1; }
first() { sed -n 's/^ *\([0-9][0-9]*\)  .*writes .*/\1/p' layer.txt | head -1; }
slice() { # OPTIONS...
	"$build/waymark" core "$@" "./$program" "$program.core" >whole.txt 2>slice.err || fail "$program: core $*: $(cat slice.err)"
	sed -n '/^Writes that may have left their object/,$p' whole.txt >layer.txt
}
crash() { # TEXT [FLAGS...]: the layer has the text, and begins with the line that is marked
	local text=$1
	shift
	"$build/waymark" cc --wm=trace -g -O0 "$@" "$program.c" -o "$program" && core_of "$program.core" "./$program" || exit 1
	slice --slice
	grep -qF "$text" layer.txt || fail "$program: no '$text': $(cat layer.txt)"
	[ "$(first)" = "$(marked overrun)" ] || fail "$program: line $(marked overrun) is not the first: $(cat layer.txt)"
}

# A block of the heap, by a function that is called for two of them.
program=heap
cat >heap.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { const char *text; int count; };
static void fill(char *to, const char *from)
{
	strcpy(to, from); /* overrun */
}
int main(int argc, char **argv)
{
	char *name = malloc(24); /* allocated */
	struct item *item = malloc(sizeof *item);
	char *other = malloc(100);
	(void)argv;
	item->text = "x";
	for (int i = 0; i < argc; i++)
		other[i] = 'n';
	fill(name, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
	printf("%c %c\n", item->text[0], other[0]);
	return 0;
}
END
crash 'item->text, which is 0x4141414141414141, goes on from a text that begins in a block of the heap of 24 bytes: "AAAAAAAA'
grep -q "writes what line $(marked allocated) allocates: as much as it finds" layer.txt || fail "heap: $(cat layer.txt)"
slice --slice --no-values
grep -q AAAA layer.txt && fail 'heap: --no-values shows a text'
# In JSON and SARIF; of a line memory is not asked.
slice --slice --format=json
schema_check whole.txt
python3 - whole.txt "$(marked overrun)" <<'E' || fail 'JSON'
import json, sys
slice = json.load(open(sys.argv[1]))
first = slice["overruns"][0]
assert first["line"] == int(sys.argv[2]) and first["rank"] == "evidence" and first["by"] == "unbounded", first
assert not first["is_in_slice"] and first["allocated"]["line"], first
assert slice["evidence"][0]["kind"] == "text" and slice["evidence"][0]["overwritten"] == "item->text", slice["evidence"]
E
slice --slice --format=sarif
python3 - whole.txt "$(marked overrun)" <<'E' || fail 'SARIF'
import json, sys
(run,) = json.load(open(sys.argv[1]))["runs"]
slice, *writes = run["results"]
assert slice["ruleId"] == "slice" and {w["ruleId"] for w in writes} == {"overrun"} <= {r["id"] for r in run["tool"]["driver"]["rules"]}
assert writes[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == int(sys.argv[2]), writes
assert "goes on from a text" in writes[0]["message"]["text"] and writes[0]["kind"] == "review", writes
E
slice --slice=heap.c:"$(grep -n 'printf' heap.c | cut -d: -f1)"
grep -q 'of a line, memory has no evidence' layer.txt || fail "heap: of a line: $(cat layer.txt)"

# A pointer that can lead to the block, and to an object that its store fits into, is no certain write behind the block.
program=misfit
cat >misfit.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { const char *text; int count; };
struct large { char bytes[64]; int last; };
int main(int argc, char **argv)
{
	char *name = malloc(24);
	struct item *item = malloc(sizeof *item);
	struct large *large = malloc(sizeof *large);
	void *places[3] = {name, large, argv};
	item->text = "x";
	((struct large *)places[argc])->last = argc; /* fits */
	strcpy(name, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"); /* overrun */
	printf("%c\n", item->text[0]);
	return 0;
}
END
crash 'item->text, which is 0x4141414141414141, goes on from a text that begins in a block of the heap of 24 bytes'
grep -q "^ *$(marked fits)  .*a fixed part that is outside, if the pointer leads there" layer.txt || fail "misfit: $(cat layer.txt)"

# A variable of the same frame, by a loop.
program=stack
cat >stack.c <<'END'
#include <stdio.h>
static int length(const char *line)
{
	const char *end = line;
	char name[16];
	int i = 0;
	while (*line)
		name[i++] = *line++; /* overrun */
	return (int)(end[0] + name[0]);
}
int main(int argc, char **argv)
{
	char safe[64];
	(void)argv;
	for (int i = 0; i < argc; i++)
		safe[i] = 's';
	printf("%d\n", length("BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB") + safe[0]);
	return 0;
}
END
crash 'goes on from a text that begins in name of length: "BBBB'

# The frame of a function that has returned: the array is that of a function that is not on the stack.
program=gone
cat >gone.c <<'END'
#include <stdio.h>
#include <string.h>
static __attribute__((noinline)) void copy(const char *text)
{
	char line[8];
	strcpy(line, text); /* overrun */
}
static __attribute__((noinline)) int first(const char *text)
{
	const char *next = text + 1;
	copy("DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD");
	return *next;
}
int main(int argc, char **argv)
{
	printf("%d\n", first(argv[argc - 1]));
	return 0;
}
END
crash 'which is 0x4444444444444444, goes on from a text that begins in'

# One element too many: half of a pointer in the same structure. Memory only says what lies there.
program=one
cat >one.c <<'END'
#include <stdio.h>
struct table { int counts[4]; int *next; };
static struct table table;
static int limit = 4;
static void count(int n)
{
	for (int i = 0; i <= n; i++)
		table.counts[i] = i + 3; /* overrun */
}
int main(int argc, char **argv)
{
	(void)argv;
	table.next = &argc;
	count(limit);
	printf("%d\n", *table.next);
	return 0;
}
END
crash 'is in table'
grep -q 'memory has no evidence of one' layer.txt || fail "one: $(cat layer.txt)"

# A global, and another one in front of it that is not written to in this way.
program=global
cat >global.c <<'END'
#include <stdio.h>
#include <string.h>
char title[16] = "none";
const char *author = "nobody";
char place[16] = "here";
static void set(const char *text)
{
	sprintf(title, "<%s>", text); /* overrun */
}
int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < argc; i++)
		place[i] = 'x';
	set("a very long title of some book");
	printf("%s %c %s\n", title, author[0], place);
	return 0;
}
END
crash 'goes on from a text that begins in title: "<a very long titl"'

# The stack protector; the allocator.
program=canary
cat >canary.c <<'END'
#include <stdio.h>
#include <string.h>
static int copy(const char *text)
{
	char name[16], other[16];
	memcpy(other, "other", 6);
	strcpy(name, text); /* overrun */
	return name[0] + other[0];
}
int main(void)
{
	printf("%d\n", copy("CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC"));
	return 0;
}
END
crash 'the stack protector found the frame of copy overwritten' -fstack-protector-all
program=allocator
cat >allocator.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	int n = argc + 4;
	int *numbers = malloc(n * sizeof *numbers);
	char *text = malloc(40);
	(void)argv;
	for (int i = 0; i < n; i++)
		text[i] = 't';
	for (int i = 0; i < n + 4; i++)
		numbers[i] = -1; /* overrun */
	free(numbers);
	text = realloc(text, 4000);
	printf("%s\n", text);
	return 0;
}
END
crash 'the size behind a block of the heap of 24 bytes was overwritten, it is 0xffffffffffffffff'

# Nothing was overwritten: no line is in the layer as one that memory has evidence of.
program=nothing
cat >nothing.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; int value; };
int main(int argc, char **argv)
{
	struct node *n = malloc(sizeof *n);
	unsigned char kind = (unsigned char)argc;
	static int kinds[256];
	int table[4];
	(void)argv;
	for (int i = 0; i < 4; i++)
		table[i] = argc + i; /* computed */
	kinds[kind] = 1; /* within */
	n->next = NULL;
	printf("%d\n", n->next->value + table[argc] + kinds[1]);
	return 0;
}
END
"$build/waymark" cc --wm=trace -g -O0 nothing.c -o nothing && core_of nothing.core ./nothing || exit 1
slice --slice
grep -q 'memory has no evidence of one' layer.txt || fail "nothing: $(cat layer.txt)"
slice --slice --format=json
schema_check whole.txt
python3 - whole.txt "$(marked computed)" "$(marked within)" <<'E' || fail 'nothing: JSON'
import json, sys
slice = json.load(open(sys.argv[1]))
lines = {x["line"]: x["rank"] for x in slice["overruns"]}
assert int(sys.argv[2]) in lines and int(sys.argv[3]) not in lines, lines
assert "evidence" not in lines.values(), lines
E
exit $failed

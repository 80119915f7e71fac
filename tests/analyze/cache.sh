#!/bin/bash
# cache.sh BUILD-DIR - slices with --cache are those without it, also after files of the cache were damaged; the files are private, are read again, and
# the folder keeps 16 of them. And the coarser analysis: where the finer one may not have its memory, what it finds has all that the finer one has,
# and says so.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-slice-cache.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
cd "$tmp" || exit 1
failed=0
fail() {
	echo "FAIL: $*"
	failed=1
}
waymark=$build/waymark

cp "$here/../../examples/crash/"{settings,list}.c .
for program in settings list; do
	"$waymark" cc --wm=trace -g -O0 $program.c -o $program || exit 1
done
core_of list.core ./list 2 || exit 1
crash=settings.c:$(grep -nF 'r->section->values++' settings.c | cut -d: -f1)

# ---- the cache ----

files() { find "${1:-cache}" -name 'waymark-slice-*.cache'; }
# shellcheck disable=SC2046 # names without blanks
marks() { stat -c "%n %i %s" $(files) | sort; } # what a rename would change

same() { # WHAT COMMAND...: with the cache in ./cache the answer is as without
	local what=$1
	shift
	local plain
	plain=$(tr ' /' '__' <<<"$*").plain
	[ -f "$plain" ] || "$waymark" "$@" >"$plain" || fail "$what: status $?"
	"$waymark" "${@:1:1}" --cache=cache "${@:2}" >cached.txt || fail "$what: status $?"
	cmp -s "$plain" cached.txt || fail "$what: $(diff "$plain" cached.txt | head -n 3)"
}
mkdir cache
for time in first second; do
	marks 2>/dev/null >"$time.marks"
	same "settings, $time time" slice settings "$crash"
	same "settings, $time time, variable" slice settings "$crash:r->section"
	same "settings, $time time, forward" slice --forward settings "$crash"
	for of in static active; do
		same "list, $time time, $of" core --slice --slice-of=$of list list.core
	done
	same "list, $time time, frame" core --slice=1 list list.core
done
marks >third.marks
[ "$(files | wc -l)" = 4 ] || fail "there are $(files | wc -l) files"
cmp -s second.marks third.marks || fail 'files were written again'
# shellcheck disable=SC2046 # names without blanks
[ "$(stat -c %a $(files) | sort -u)" = 600 ] || fail 'files are not private'
[ "$(find cache -type f | wc -l)" = 4 ] || fail 'other files were left'

# Damage: a byte that is another one, a file that was cut, a link, a file that others may write.
rm -rf cache && mkdir cache
same 'new' core --slice=1 list list.core
for file in $(files); do
	size=$(stat -c %s "$file")
	for at in 20 $((size / 3)) $((size / 2)) $((size - 1)); do
		cp "$file" whole
		printf '\x55' | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
		cmp -s "$file" whole && printf '\xaa' | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
		same "damaged at $at" core --slice=1 list list.core
		cmp -s "$file" whole || fail "damaged at $at: it was not written again"
	done
	truncate -s $((size / 2)) "$file"
	same cut core --slice=1 list list.core
	cmp -s "$file" whole || fail 'cut: it was not written again'
done
rm -rf cache && mkdir cache
same 'new' slice settings "$crash"
file=$(files)
mv "$file" elsewhere && ln -s "$PWD/elsewhere" "$file"
same 'a link' slice settings "$crash"
[ -f "$file" ] && [ ! -L "$file" ] || fail 'a link was not replaced'
chmod 666 "$file"
same 'written by others' slice settings "$crash"
[ "$(stat -c %a "$file")" = 600 ] || fail 'a file that others may write was taken'

# Room: those go that were not used for longest, and nothing else.
for i in $(seq 20); do
	touch -d "2001-01-$i" "cache/waymark-slice-$i.cache"
done
touch -d 2000-01-01 cache/mine.cache
same 'room' core --slice list list.core
[ "$(files | wc -l)" = 16 ] && [ -f cache/mine.cache ] && [ -f "$file" ] && [ ! -f cache/waymark-slice-1.cache ] || fail "room: $(ls cache)"

# Beside the program, or the core.
mkdir here && cp settings list.core here
"$waymark" slice --cache here/settings "$crash" >/dev/null || fail "--cache: status $?"
"$waymark" core --slice --cache list here/list.core >/dev/null || fail "--cache: status $?"
[ "$(files here | wc -l)" = 3 ] || fail "beside: $(ls here)"
"$waymark" slice --cache=nowhere settings "$crash" >out.txt 2>err.txt && fail '--cache=nowhere'
[ ! -s out.txt ] && [ "$(wc -l <err.txt)" = 1 ] && grep -q 'nowhere' err.txt || fail "--cache=nowhere: $(cat err.txt)"

# ---- the coarser analysis ----

# Structures that lead to each other, in many functions: more than a megabyte.
awk 'BEGIN {
	count = 120
	print "#include <stdlib.h>\n#include <string.h>\nstruct node { struct node *next, *other; int value; };\nstatic struct node *all[400];"
	print "typedef int act(struct node *, int);\nextern act *const acts[];"
	for (i = 0; i < count; i++) {
		printf "int act%d(struct node *n, int depth)\n{\n", i
		printf "\tstruct node *m = malloc(sizeof *m);\n\tmemset(m, 0, sizeof *m);\n\tm->next = n;\n\tm->other = all[(depth * 7 + %d) %% 400];\n", i
		printf "\tall[%d] = m->other ? m->other->next : m;\n\tm->value = depth + (n ? n->value : 0);\n", i
		printf "\treturn depth > 0 ? acts[(depth * 3 + %d) %% %d](m, depth - 1) : m->value;\n}\n", i, count
	}
	printf "act *const acts[] = {act0"
	for (i = 1; i < count; i++)
		printf ", act%d", i
	print "};\nint main(int argc, char **argv)\n{\n\tint unused = argc * 2;\n\t(void)argv;"
	print "\tint result = acts[argc](NULL, argc); /* here */\n\tif (all[3])\n\t\tresult += all[3]->value; /* value */\n\treturn unused > 100 ? 1 : result;\n}"
}' >large.c
"$waymark" cc --wm=trace -g -O0 large.c -o large || exit 1
at=large.c:$(grep -n '/\* value' large.c | cut -d: -f1)
for memory in 1 1000; do
	for option in '' --forward; do
		# shellcheck disable=SC2086
		"$waymark" slice --memory=$memory $option large "$at" >$memory$option.txt || fail "--memory=$memory: status $?"
		sed '/^The shortest chain/,/^$/d' $memory$option.txt | sed -n 's/^ *\([0-9]*\)  .*/\1/p' | sort >$memory$option.lines
	done
done
for option in '' --forward; do
	grep -q '^  or fewer: a coarser analysis, since .* more than 1 MB' 1$option.txt || fail "--memory=1 $option: $(head -n 3 1$option.txt)"
	grep -q '^  or fewer' 1000$option.txt && fail "--memory=1000 $option: $(head -n 3 1000$option.txt)"
	[ -s 1000$option.lines ] || fail "--memory=1000 $option: no lines"
	missing=$(comm -13 1$option.lines 1000$option.lines)
	[ -z "$missing" ] || fail "lines that the coarser analysis $option misses: $missing"
done
# A slice that may not have its work: fewer lines cannot be in the coarse one.
for option in '' --forward; do
	# shellcheck disable=SC2086
	"$waymark" slice --work=1 $option large "$at" >work$option.txt || fail "--work=1 $option: status $?"
	sed '/^The shortest chain/,/^$/d' work$option.txt | sed -n 's/^ *\([0-9]*\)  .*/\1/p' | sort >work$option.lines
	missing=$(comm -13 work$option.lines 1000$option.lines)
	[ -z "$missing" ] || fail "lines that the coarse slice $option misses: $missing"
done
grep -q '^  or fewer: a coarser analysis, since the slice needs more than 1 million steps' work.txt || fail "--work=1: $(head -n 3 work.txt)"
same '--memory=1, first time' slice --memory=1 large "$at"
same '--memory=1, second time' slice --memory=1 large "$at"
same 'another limit' slice --memory=1000 large "$at"
"$waymark" slice --memory=1 --format=json large "$at" | python3 -c 'import json, sys; assert "1 MB" in json.load(sys.stdin)["coarse"]' || fail 'JSON'
exit $failed

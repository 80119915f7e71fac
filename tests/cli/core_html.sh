#!/bin/bash
# core_html.sh BUILD - `waymark core --format=html`, `--format=lcov`, `--functions`: what is on the page, that its links lead somewhere, that
# it stays small; which lines count as run and as not run.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
cp "$here/core_trace.c" "$here/core_program.c" .

"$waymark" cc --wm=trace -g -O0 core_trace.c -o program || exit 1
core_of program.core ./program || exit 1
expect 0 "$waymark" core --format=html -o page.html ./program program.core
has page.html '<title>Crash of program</title>'
has page.html '<b>SIGSEGV</b> Segmentation fault'
has page.html '<article class="frame" id="t0-0"'
has page.html 'while (item-&gt;key != key) {'
has page.html '<em>is here</em>'
has page.html '>puts:42</a>'
# list_find's last line cannot have run, its loop did.
grep -q -- '-L31" class="n"' page.html || fail "line 31 is not shown as what cannot have run"
grep -q -- '-L29" class="y"' page.html || fail "line 29 is not shown as what ran"
! grep -qE '(src|href)="?(https?:)?//' page.html || fail "the page loads something"
if command -v python3 >/dev/null; then
	cat >links.py <<'END2'
import html.parser, re, sys
class Page(html.parser.HTMLParser):
	void = {"meta", "input", "br"}
	def __init__(self):
		super().__init__()
		self.ids, self.links, self.open = set(), set(), []
	def handle_starttag(self, tag, attributes):
		attributes = dict(attributes)
		if tag not in self.void:
			self.open.append(tag)
		if "id" in attributes:
			assert attributes["id"] not in self.ids, attributes["id"]
			self.ids.add(attributes["id"])
		if attributes.get("href", "").startswith("#"):
			self.links.add(attributes["href"][1:])
		self.links.update(attributes[name] for name in ("data-row", "data-here", "data-owner") if name in attributes)
		for part in attributes.get("data-lines", "").split():
			file, lines = part.split(":")
			self.links.update(file + "-L" + line[:-1] for line in lines.split(","))
	def handle_endtag(self, tag):
		# these may be closed by what follows
		while self.open[-1] != tag and self.open[-1] in ("td", "tr", "li"):
			self.open.pop()
		assert self.open.pop() == tag, tag
page = Page()
page.feed(open(sys.argv[1]).read())
assert not page.open, page.open
print("dead:", sorted(page.links - page.ids))
END2
	python3 links.py page.html >links.txt || fail "page.html is not well-formed"
	has links.txt "dead: []"
fi

# Recursion is folded, source that is not there is no matter.
"$waymark" cc --wm=trace -g -O1 -fno-optimize-sibling-calls core_program.c -o deep || exit 1
core_of deep.core ./deep fault || exit 1
mv core_program.c elsewhere.c
expect 0 "$waymark" core --format=html --frames=all -o deep.html ./deep deep.core
has deep.html 'more rounds of deep'
has deep.html 'The source is not there'
[ "$(wc -c <deep.html)" -lt 200000 ] || fail "the page of a recursion has $(wc -c <deep.html) bytes"
if command -v python3 >/dev/null; then
	python3 links.py deep.html >links.txt || fail "deep.html is not well-formed"
	has links.txt "dead: []"
fi

# LCOV: 1 ran, 0 cannot have run; the rest of the block behind where control is says nothing.
expect 0 "$waymark" core --format=lcov ./program program.core
has out.txt "SF:$tmp/core_trace.c"
has out.txt FNDA:1,list_find
for line in 24 25 26 28 29 38 39 62; do
	has out.txt "DA:$line,1"
done
for line in 31 42 47 48; do
	has out.txt "DA:$line,0"
done
for way in 24,0,0,1 24,0,1,0 25,0,0,1 25,0,1,1 41,0,0,0 41,0,1,1; do
	has out.txt "BRDA:$way"
done
has out.txt BRF:12
has out.txt BRH:10
# Branches that control never came to have no count; of ways that may have been taken nothing is said.
cat >branch.c <<'END2'
#include <stdio.h>
__attribute__((noinline)) static void back(int n)
{
	if (n > 1)
		puts("back");
}
int main(int argc, char **argv)
{
	back(argc);
	if (argc > 100) {
		if (argc > 200)
			puts(argv[0]);
	}
	return *(volatile int *)8;
}
END2
"$waymark" cc --wm=trace='*=pt' -g -O0 branch.c -o branch || exit 1
core_of branch.core ./branch || exit 1
expect 0 "$waymark" core --format=lcov ./branch branch.core
ways=$(grep BRDA out.txt | tr '\n' ' ')
[ "$ways" = "BRDA:10,0,0,0 BRDA:10,0,1,1 BRDA:11,0,0,- BRDA:11,0,1,- " ] || fail "ways of branches: $ways"
has out.txt DA:12,0
has out.txt DA:4,1
lacks out.txt DA:5,
# What is behind a call that was left by longjmp did not run, though its block was entered.
cat >jump.c <<'END2'
#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static volatile int n;
__attribute__((noinline)) static void leave(void)
{
	n++;
	longjmp(place, 1);
}
__attribute__((noinline)) static int work(int k)
{
	n += k;
	leave();
	n -= k;
	return n;
}
int main(void)
{
	if (!setjmp(place))
		n += work(3);
	puts("back");
	*(volatile int *)0 = 1;
	return 0;
}
END2
"$waymark" cc --wm=trace -g -O0 jump.c -o jump || exit 1
core_of jump.core ./jump || exit 1
expect 0 "$waymark" core --format=lcov ./jump jump.core
for line in 7 8 12 13 19 20 21; do
	has out.txt "DA:$line,1"
done
lacks out.txt DA:14,1
lacks out.txt DA:15,1
lacks out.txt DA:23,1

# All functions, in text and JSON.
expect 0 "$waymark" core --functions ./program program.core
has out.txt "Functions: 4 ran, 0 may have run, 0 cannot have run."
grep -qE "^yes +[0-9]+ +0 +[1-9][0-9]*  list_find  $tmp/core_trace.c:20\$" out.txt || fail "no list_find among the functions"
expect 0 "$waymark" core --functions --format=json ./program program.core
grep -qE '"link_name": "list_find".* "activity": "yes", "blocks_activity": "y[ymn]+"' out.txt || fail "no activity in JSON"

clang-19 -g -O1 elsewhere.c -o plain && core_of plain.core ./plain fault || exit 1
refused 1 "nothing of it was traced" "$waymark" core --format=lcov ./plain plain.core
expect 0 "$waymark" core --format=html -o plain.html ./plain plain.core
has plain.html 'Not traced.'

# What stands behind a copy that faults, in its block, did not run for sure: neither in the run nor in this activation.
cp "$here/../trace/copy.c" .
"$waymark" cc --wm=trace -g -O2 copy.c -o copy || exit 1
core_of copy.core ./copy deliver || exit 1
line_of() {
	grep -n -m1 -F "$1" copy.c | cut -d: -f1
}
here_at=$(line_of 'memmove(m->to')
expect 0 "$waymark" core --format=lcov ./copy copy.core
has out.txt "DA:$((here_at - 1)),1"
has out.txt "DA:$here_at,1"
lacks out.txt "DA:$((here_at + 1)),"
expect 0 "$waymark" core --format=html -o copy.html ./copy copy.core
sed -n 's/.*id="t0-1".* data-lines="\([^"]*\)".*/\1/p' copy.html >own.txt
has own.txt "$((here_at - 1))y,${here_at}y,$((here_at + 1))m"
finish

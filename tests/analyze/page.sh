#!/bin/bash
# page.sh BUILD-DIR - pages of slices in a browser: lines outside are dimmed, a click shows what a line depends on and what depends on it, also as a
# layer of a crash's page. Skipped without chromium; page.py checks the data alone.
set -u
command -v chromium >/dev/null || { echo "skipped: there is no chromium"; exit 77; }
# shellcheck source=tests/analyze/lib.sh
. "$(dirname "$0")/lib.sh"

cp "$here/../../examples/crash/settings.c" .
line_of() { grep -nF "$1" settings.c | head -1 | cut -d: -f1; }
crash=$(line_of 'r->section->values++')
stored=$(line_of 'r->section = closed->outer')
printf '[a]\nx=1\nend\ny=2\n' >settings.conf
"$build/waymark" cc --wm=trace -g -O0 settings.c -o settings && core_of settings.core ./settings settings.conf || exit 1

# What the page looks like behind each step, in the title, which --dump-dom shows.
cat >steps.js <<END
const rows = s => [...document.querySelectorAll('tr.' + s)].map(row => row.id.split('-L')[1]).join(' ');
const lists = () => [...document.querySelectorAll('#slice-panel ol:not(.omissions)')].map(ol => [...ol.querySelectorAll('a')].map(a => a.textContent.split(':')[1]).join(' ')).join('; ');
const row = document.querySelector('tr[id\$="-L$stored"]'), said = [];
said.push('in ' + rows('in'), 'dimmed ' + (document.querySelectorAll('tr.out').length > 0), 'chain ' + lists());
row.querySelector('td.s').click();
said.push('asked ' + rows('asked'), 'needed ' + rows('needed'), 'needing ' + rows('needing'), 'lists ' + lists());
document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
said.push('again ' + rows('asked') + rows('needed') + lists());
document.querySelector('#slice-panel input').click();
said.push('dimmed ' + (document.querySelectorAll('tr.out').length > 0));
document.title = said.join('|');
END
look() { # PAGE
	{ sed '$d' "$1"; echo '<script>{'; cat steps.js; echo '}</script></html>'; } >steps.html
	timeout 300 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/browser" --dump-dom "file://$tmp/steps.html" 2>/dev/null |
		grep -o '<title>.*</title>' | sed 's/<[^>]*>//g' | tr '|' '\n' >said.txt
}
browse() { # PAGE
	python3 "$here/page.py" "$1" >lines.txt || fail "$1: data"
	look "$1"
	before=$(line_of 'section->outer = r->section') closed=$(line_of '*closed = r->section')
	cat >expected.txt <<-END
		in $(cat lines.txt)
		dimmed true
		chain $crash $(line_of 'struct reader r = {0}')
		asked $stored
		needed $(line_of 'calloc(1') $(line_of 'if (!closed)') $(line_of 'close_section(r);')
		needing $before $closed $crash
		lists $stored; $(line_of 'calloc(1') $before $closed $(line_of 'if (!closed)') $(line_of 'close_section(r);'); $before $closed $crash
		again $crash $(line_of 'struct reader r = {0}')
		dimmed false
	END
	# What is both needed and needing is marked as one or the other.
	diff <(sed "s/^needed .*/needed/; s/^needing .*/needing/" expected.txt) <(sed "s/^needed .*/needed/; s/^needing .*/needing/" said.txt) ||
		fail "$1 in the browser"
}
"$build/waymark" slice --format=html -o slice.html settings "settings.c:$crash" || fail "slice: status $?"
browse slice.html
"$build/waymark" core --slice --format=html -o core.html settings settings.core || fail "core: status $?"
browse core.html

# Branches that decided against what could have mattered are marked, and are not dimmed.
cp "$here/../../examples/crash/list.c" .
"$build/waymark" cc --wm=trace -g -O0 list.c -o list && core_of list.core ./list 2 || exit 1
"$build/waymark" core --slice --format=html -o list.html list list.core || fail "core: status $?"
cat >steps.js <<'END'
document.title = [...document.querySelectorAll('tr.omitted:not(.out)')].map(row => row.id.split('-L')[1] + ' ' + row.title).join('|') +
  '|' + document.querySelectorAll('#slice-panel ol.omissions li').length;
END
look list.html
[ "$(sed 's/ .*could/ could/' said.txt)" = "$(grep -n 'if (setjmp' list.c | cut -d: -f1) could have set what line $(grep -n 'printf' list.c | tail -1 | cut -d: -f1) reads
$(grep -n 'argc > 3' list.c | cut -d: -f1) could have set what line $(grep -n 'printf' list.c | tail -1 | cut -d: -f1) reads
2" ] || fail "omissions: $(cat said.txt)"

# Writes that may have left their object are marked, with what memory has of evidence.
cat >overrun.c <<'END'
#include <stdio.h>
#include <string.h>
char title[16] = "none";
const char *author = "nobody";
static void set(const char *text)
{
	sprintf(title, "<%s>", text);
}
int main(void)
{
	set("a very long title of some book");
	printf("%s %c\n", title, author[0]);
	return 0;
}
END
"$build/waymark" cc --wm=trace -g -O0 overrun.c -o overrun && core_of overrun.core ./overrun || exit 1
"$build/waymark" core --slice --format=html -o overrun.html overrun overrun.core || fail "core: status $?"
cat >steps.js <<'END'
document.title = [...document.querySelectorAll('tr.overrun:not(.out):not(.in)')].map(row => row.id.split('-L')[1] + ' ' + row.title).join('|') +
  '|' + document.querySelectorAll('#slice-panel ol.overruns li').length + '|' + document.querySelector('#slice-panel ul.evidence').textContent;
END
look overrun.html
[ "$(cat said.txt)" = '7 writes title: as much as it finds
1
author, which is 0x6f7320666f20656c, goes on from a text that begins in title: "&lt;a very long titl"' ] || fail "overruns: $(cat said.txt)"
exit $failed

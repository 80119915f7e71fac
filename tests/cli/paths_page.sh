#!/bin/bash
# paths_page.sh BUILD - the page of `waymark paths` in a browser: what is there when it opens, and that links, paths and the filter bring the
# rest. Skipped without chromium.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
command -v chromium >/dev/null || { echo "skipped: there is no chromium"; exit 77; }

# 300 functions in one file, that main calls; a header with an inlined function that is on their paths.
printf 'static inline int odd(int n)\n{\n\treturn n & 1 ? n : 0;\n}\n' >odd.h
{
	printf '#include "odd.h"\nint sink;\n'
	for i in $(seq 300); do
		printf 'static int f%d(int n)\n{\n\tif (n > %d)\n\t\tsink += odd(n);\n\treturn sink;\n}\n' "$i" "$i"
	done
	printf 'int main(void)\n{\n'
	for i in $(seq 300); do
		printf '\tf%d(150);\n' "$i"
	done
	printf '\treturn 0;\n}\n'
} >many.c
"$waymark" cc --wm=paths -O1 -g many.c -o many && WAYMARK_OUT=many.wmk ./many || fail "many"
expect 0 "$waymark" paths --format=html -o page.html many.wmk

# shown ADDRESS SCRIPT: what the page's title is behind the script, which says(...) things, one a line
shown() {
	{
		printf '<script>const wrong = []; addEventListener("error", e => wrong.push(e.message)); addEventListener("unhandledrejection", e => wrong.push(e.reason));</script>'
		cat page.html
		printf '<script>(async () => { const said = [], says = text => said.push(text);\ntry { await ready;\n%s\n} catch (error) { wrong.push(error); }\ndocument.title = "[" + [...said, ...wrong.map(w => "WRONG " + w)].join("|") + "]"; })();</script>' "$2"
	} >steps.html
	timeout 300 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/browser-data" --window-size=1000,800 --virtual-time-budget=20000 --dump-dom \
		"file://$tmp/steps.html#$1" 2>/dev/null | sed -n 's|.*<title>\[\(.*\)\]</title>.*|\1|p' | tr '|' '\n' | sed 's/&gt;/>/g; s/&lt;/</g; s/&amp;/\&/g' >shown.txt
}
same() {
	diff -u want.txt shown.txt || fail "$1"
}

# At first there is no source, and as many functions as a screen has room for some times; the filter looks at all.
shown '' '
says(document.querySelectorAll("td.s").length + " " + document.querySelectorAll("#functions tbody tr").length);
filter.value = "f29"; await show_all();
const rows = all("#functions tbody tr");
says(rows.length + " " + rows.filter(r => !r.hidden).map(r => r.cells[6].textContent).sort().join(" "));'
printf '0 200\n302 f29 f290 f291 f292 f293 f294 f295 f296 f297 f298 f299\n' >want.txt
same "the first page"

# A link to a function brings the source around it, and no more than what is near.
link=$("$here/../support/unpack_page.py" page.html | grep -o '<tr class="fn" id="fn[0-9]*"><td></td><td></td><td><b>f100<' | grep -oE 'fn[0-9]+')
shown "$link" '
const page = document.querySelector(".page.open"), head = id(location.hash.slice(1));
says(page.querySelector("h1").textContent.split(" ")[0] + " " + head.querySelector("b").textContent);
let row = head.nextElementSibling;
says([1, 2, 3].map(() => { const text = row.cells[1].textContent + " " + row.cells[2].firstChild.textContent.trim(); row = row.nextElementSibling; return text; }).join(", "));
says(document.querySelectorAll("td.s").length < 1000);
const button = head.querySelector(".path"); await pick(button);
says([document.querySelectorAll("tr.on").length > 1, id("bar").classList.contains("open"), /f100: path/.test(id("said").textContent)].join(" "));'
printf 'many.c f100\n static int f100(int n),  {, 1 if (n > 100)\ntrue\ntrue true true\n' >want.txt
same "a function"
finish

#!/bin/sh
# view_page.sh BUILD - the page of `waymark view` in a browser: each view, search, zoom, range, thread and address, with the numbers of
# `waymark report`. Skipped without chromium. WAYMARK_AXE=axe.min.js: also no violation that axe-core finds.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
command -v chromium >/dev/null || { echo "skipped: there is no chromium"; exit 77; }
"$waymark" cc -O1 -g -o prog "$here/convert.c" -pthread || exit 1
expect 0 "$waymark" run --heap -q -o one.wmk ./prog
mkdir pages
expect 0 "$waymark" view --metric=step -o pages/one.html one.wmk

# shown PAGE#ADDRESS SCRIPT: what the page's title is behind the script, which says(...) things, one a line
shown() {
	page=${1%%#*}
	{
		printf '<script>const wrong = []; addEventListener("error", e => wrong.push(e.message)); addEventListener("unhandledrejection", e => wrong.push(e.reason));'
		printf 'console.error = console.warn = (...words) => wrong.push(words.join(" "));</script>'
		cat "$page"
		printf '<script>(async () => { const said = [], says = text => said.push(text);\n'
		printf 'await ready;\n'
		printf '%s\nawait new Promise(done => setTimeout(done, 50)); document.title = "[" + [...said, ...wrong.map(w => "WRONG " + w)].join("|") + "]"; })();</script>' "$2"
	} >steps.html
	timeout 300 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/browser-data" --window-size=1000,800 --virtual-time-budget=20000 --dump-dom \
		"file://$tmp/steps.html#${1#*#}" 2>/dev/null | sed -n 's|.*<title>\[\(.*\)\]</title>.*|\1|p' | tr '|' '\n' | sed 's/&gt;/>/g; s/&lt;/</g; s/&amp;/\&/g' >shown.txt
}
same() {
	diff -u want.txt shown.txt || fail "$1"
}

# The table of functions, by self and by total, and the first callers: those of the report.
expect 0 "$waymark" report --by=function --metric=step --format=json -o table.json one.wmk
python3 -c 'import json
rows = json.load(open("table.json"))["rows"]
for row in sorted((r for r in rows if r["self"] or r["total"]), key=lambda r: (-r["self"], -r["total"], r["name"])): print(row["name"], row["self"], row["total"])
for row in sorted((r for r in rows if r["self"]), key=lambda r: r["name"]): print("caller", row["name"], row["self"])' >want.txt
shown 'pages/one.html#metric=step&view=table' '
for (const row of functionTable(profile, now.self, now.total).sort((a, b) => b.self - a.self || b.total - a.total || (a.name < b.name ? -1 : 1))) says(`${row.name} ${row.self} ${row.total}`);
setView("up");
for (const item of now.tree.root.children) says(`caller ${nameOf(item)} ${item.value}`);'
same "the table and the callers"

# Clicks, keys, search and what the address says of them; and the same page from that address.
steps='
const flat = () => says(`${state.view} ${state.zoom.join(";")} ${state.search} ${get("matched").textContent}`);
flat();
const canvas = get("flame-canvas").getBoundingClientRect(), click = (x, y) => get("flame-canvas").dispatchEvent(new MouseEvent("click", {clientX: canvas.left + x, clientY: canvas.top + y, bubbles: true}));
click(5, 5 + 19); flat();
says(get("detail").textContent.includes(state.zoom.at(-1)));
get("flame").focus();
get("flame").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true}));
get("flame").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true})); flat();
document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true})); flat();
get("search").value = "^dee[p]"; get("search").dispatchEvent(new Event("input")); flat();
get("search").value = "("; get("search").dispatchEvent(new Event("input")); says(get("search").getAttribute("aria-invalid"));
get("search").value = "DEEP"; get("case").checked = true; get("case").dispatchEvent(new Event("change")); says(get("matched").textContent.split(";")[0]);
get("search").value = ""; get("search").dispatchEvent(new Event("input"));
document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "5", bubbles: true}));
says(get("contexts").firstChild.textContent.includes("deep") && !get("panel-contexts").hidden && get("panel-flame").hidden);
document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "4", bubbles: true}));
[...document.querySelectorAll("#table td button")].find(b => b.textContent === "deep").click(); flat();
says(profile.functions[state.fn].name + " " + (now.tree.root.value === now.whole));'
shown 'pages/one.html#metric=step&view=down' "$steps"
cat >want.txt <<'END'
down   
down main;[thread]  
true
down main;[thread];run  
down main;[thread]  
down main;[thread] ^dee[p] 1 functions; 100.0 % of step
true
0 functions
true
function   
deep true
END
same "clicks and keys"
shown 'pages/one.html#metric=step%3Asum&view=function&function=deep&search=keep&from=0&to=1000&thread=0&colours=warm' '
says([profile.metrics[state.metric].name, state.view, profile.functions[state.fn].name, state.search, state.range, state.thread, state.palette].join(" "));
says(decodeURIComponent(location.hash).includes("metric=step:sum"));'
printf 'step:sum function deep keep 0,1000 0 warm\ntrue\n' >want.txt
same "an address"

# A range and a thread: what is inside and outside of each adds up to all.
shown 'pages/one.html#metric=step' '
const all = now.whole, middle = 500, parts = [[0, middle], [middle, 1000]].map(range => { time.set(range); return now.whole; });
says(parts[0] + parts[1] === all && state.range[0] === middle);
says(get("from").value !== "" && /chosen/.test(get("time-note").textContent));
get("all-time").click(); says(state.range === null && now.whole === all);
const threads = profile.head.threads.map((_, n) => { get("thread").value = n; get("thread").dispatchEvent(new Event("change")); return now.whole; });
says(threads.length > 1 && threads.every(v => v > 0 && v < all) && threads.reduce((a, b) => a + b) === all);
get("theme").click(); says(document.documentElement.dataset.theme);
get("help-open").click(); says(get("help").open);'
printf 'true\ntrue\ntrue\ntrue\ndark\ntrue\n' >want.txt
same "a range and threads"

# The live bytes by time: their largest number is that of the heap at its peak, and a range tells what became of them.
expect 0 "$waymark" report --timeline --top all --format=json -o line.json one.wmk
shown 'pages/one.html#metric=live' '
says(Math.max(...time.sums)); time.set([0, 1000]); says(/at most .*; contexts are those of the whole run/.test(get("time-note").textContent) && now.whole > 0);
get("metric").value = profile.metrics.findIndex(m => m.name === "step"); get("metric").dispatchEvent(new Event("change")); says(state.range);'
python3 -c 'import json; print(max(time["high"] for time in json.load(open("line.json"))["processes"][0]["times"]), "true", "", sep="\n")' >want.txt
same "live bytes by time"

# Names that look like HTML stay text, and a link is never a script.
shown 'pages/one.html#metric=bytes' '
profile.functions[profile.functionOf[1]].name = "<img src=x onerror=wrong.push(1)>"; get("link").value = "javascript:wrong.push({line})";
draw(); flame.choose(now.tree.root.children[0]); setView("table"); setView("contexts"); setView("down"); flame.choose(now.tree.root.children[0]);
says(document.images.length + " " + document.querySelectorAll("#detail a").length);'
printf '0 0\n' >want.txt
same "names and links"

# A difference.
cat >change.c <<'END'
#include <waymark.h>
static __attribute__((noinline)) void grows(int n) { wm_event("step", (uint64_t)n); }
static __attribute__((noinline)) void stays(int n) { wm_event("step", (uint64_t)n); }
int main(int argc, char **argv) { (void)argv; stays(1); for (int i = 0; i < argc; i++) grows(1); return 0; }
END
"$waymark" cc -O1 -g -o change change.c || exit 1
expect 0 "$waymark" run --events -q -o old.wmk ./change
expect 0 "$waymark" run --events -q -o new.wmk ./change 1 2
expect 0 "$waymark" diff --metric=step --format=view -o change.html old.wmk new.wmk
shown 'change.html#view=table' '
for (const row of document.querySelectorAll("#table tbody tr")) says([...row.cells].map(c => c.textContent).join(" "));
setView("down"); says(state.palette);'
printf '1 3 +2 grows\n2 4 +2 main\n1 1 0 stays\nchange\n' >want.txt
same "a difference"
mkdir renamed && sed 's/stays/keeps/' change.c >renamed/change.c
"$waymark" cc -O1 -g -o renamed/change renamed/change.c || exit 1
expect 0 "$waymark" run --events -q -o renamed.wmk renamed/change 1 2
expect 0 "$waymark" diff --metric=step --format=view -o change.html old.wmk renamed.wmk
shown 'change.html#view=table' '
says([...document.querySelectorAll("#table tbody tr")].map(row => row.cells[3].textContent).filter(text => text.includes("keeps")).join());'
echo 'keeps (renamed from stays)' >want.txt
same "a renamed function"

if [ -n "${WAYMARK_AXE:-}" ]; then
	for address in view=down view=table view=contexts; do
		{ cat pages/one.html; echo '<script>'; cat "$WAYMARK_AXE"; echo '</script>'; } >axe.html
		for theme in light dark; do
			shown "axe.html#metric=step&$address" "document.documentElement.dataset.theme = '$theme';
const result = await axe.run(); for (const v of result.violations) says(v.id + ': ' + v.nodes.map(n => n.target).join(' '));"
			echo >want.txt
			same "axe-core, $address, $theme"
		done
	done
fi
finish

#!/bin/sh
# make-images.sh - makes the pictures of docs/images/ that show real output again, from a run of scripts/demo.sh, of
# Debian's perl, of examples/residual/run.sh, of examples/crash and of bench/slice.
#
# Needs rsvg-convert (scripts/install-deps.sh bench) and chromium. how-it-works.svg is drawn by hand and not touched.
set -eu
cd "$(dirname "$0")/.."
scripts/demo.sh
build/waymark report build/demo/waymark-*.wmk --format=svg --top=40 --output=build/demo/report.svg
rsvg-convert --width=1400 --background-color=white build/demo/report.svg --output=docs/images/report.png
echo "wrote docs/images/report.png: $(wc -c <docs/images/report.png) bytes"

# Of a program that Waymark did not build, as in docs/agent.md.
mkdir -p build/agent-example
build/waymark run -q --sample -o build/agent-example/perl.wmk perl examples/words.pl /usr/include/*/*.h >/dev/null
build/waymark report build/agent-example/perl.wmk --format=svg --output=build/agent-example/perl.svg
rsvg-convert --width=1400 --background-color=white build/agent-example/perl.svg --output=docs/images/agent.png
echo "wrote docs/images/agent.png: $(wc -c <docs/images/agent.png) bytes"

examples/residual/run.sh
work=build/residual-example
build/waymark paths $work/tested-more.wmk --top=40 --format=html --output=$work/paths.html
# The page with one path picked, and cut to the function that the example is about.
picked=$(grep -o 'id="p[0-9]*-22"[^>]*title="match_address_p:' $work/paths.html | sed 's/^id="\([^"]*\)".*/\1/')
sed -e "s|$PWD/$work/tested/|/usr/src/sed-4.9/|g" -e 's|</style>|.cut { display: none !important }</style>|' -e "/^go();\$/c\\
pick(id('$picked'));\\
let line = 0;\\
for (const row of all('.page.open tr')) {\\
  const is_line = row.id.match(/-L([0-9]+)\$/);\\
  if (is_line) line = +is_line[1];\\
  if (is_line ? line < 829 || line > 900 : !row.textContent.includes('match_address_p')) row.classList.add('cut');\\
}\\
scrollTo(0, 0);" $work/paths.html >$work/cut.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1060,1140 \
	--screenshot=docs/images/paths.png "file://$PWD/$work/cut.html" 2>/dev/null
echo "wrote docs/images/paths.png: $(wc -c <docs/images/paths.png) bytes"

# The page of the crash of docs/tracing.md, of the frame that read the lines. In a directory of its own name, for the names shown.
work=/tmp/waymark-settings
mkdir -p $work
cp examples/crash/* $work
(
	waymark=$PWD/build/waymark
	here=$PWD
	cd $work
	"$waymark" cc --wm=trace -g -O2 -fno-inline settings.c -o settings
	bash -c '. "$0/tests/support/core.sh" && core_of core ./settings crashes.conf' "$here"
	"$waymark" core --format=html ./settings core | sed 's|/tmp/waymark-settings/|/usr/src/settings/|g' >crash.html
)
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1360,800 \
	--screenshot=docs/images/core.png "file://$work/crash.html#t0-1" 2>/dev/null
rm -r $work
echo "wrote docs/images/core.png: $(wc -c <docs/images/core.png) bytes"

# The page of a run of Debian's perl.
build/waymark run --sample -q -o /tmp/waymark-view.wmk perl examples/words.pl /usr/include/*/*.h >/dev/null
build/waymark view --metric=cpu -o /tmp/waymark-view.html /tmp/waymark-view.wmk
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=4000 --window-size=1060,560 \
	--screenshot=docs/images/view.png "file:///tmp/waymark-view.html#metric=cpu&search=%5EPerl_pp_" 2>/dev/null
rm /tmp/waymark-view.wmk /tmp/waymark-view.html
echo "wrote docs/images/view.png: $(wc -c <docs/images/view.png) bytes"

# The page of the crash of docs/slicing.md, with its slice.
bench/slice/run.py -l O2 patch-rename
work=$PWD/build/bench-slice
build/waymark core --slice --format=html "$work/patch-O2/src/patch" "$work/patch-rename-O2.core" |
	sed "s|$work/patch-O2/|/usr/src/patch-2.7.6/|g" >"$work/crash.html"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1360,800 \
	--screenshot=docs/images/slice.png "file://$work/crash.html#t0-1" 2>/dev/null
echo "wrote docs/images/slice.png: $(wc -c <docs/images/slice.png) bytes"

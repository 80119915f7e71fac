#!/bin/bash
# golden.sh BUILD - `waymark paths` and `waymark core` of golden.c print, byte for byte, what is in golden/. UPDATE=1 writes these files
# anew; read their difference before it is committed.
#
# Normalised is what differs from run to run or from machine to machine: the scratch folder, numbers of processes, addresses, build
# ids, the modules and frames of the C library; of pages their styles and scripts are left out. -O0: what clang makes of it is the same in each of its 19.1 releases.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
reads_twice=1
mkdir -p src
cp "$here/golden.c" src

# golden NAME ARGUMENT...: what `waymark ARGUMENT...` prints is the file golden/NAME.
golden() {
	local name=$1 file=$here/golden/$1
	shift
	expect 0 "$waymark" "$@"
	[ ! -s err.txt ] || fail "$name: $(cat err.txt)"
	[ "$name" = "${name%.json}" ] || schema_check out.txt
	if [ "$name" = paths.html ]; then
		"$here/../support/unpack_page.py" out.txt >unpacked.txt && mv unpacked.txt out.txt || fail "$name: cannot be unpacked"
	fi
	sed -E -e '/<style>/,/<\/style>/d' -e '/<script>/,/<\/script>/d' -e '/"path": "(\/usr\/lib|\/lib|\[vdso)/d' \
		-e "s,$tmp,/scratch,g" -e 's/(pid|process|"pid":|"tid":|Thread 1 of 1 \(|thread 1 \() ?[0-9]+/\1 N/g' \
		-e 's/0x[57][0-9a-f]{11}\b/ADDRESS/g' -e 's/\b[0-9a-f]{40}\b/BUILD-ID/g' -e 's/"run": "[0-9a-f]*"/"run": "RUN"/' \
		-e 's/"(frame_count|left_out)": [0-9]+/"\1": N/g' -e 's/^\.\.\. +[0-9]+ more frames?/... N more frames/' \
		-e 's/(Thread 1 <small>)[0-9]+/\1N/' -e '/\b_start\b/d' out.txt >"$name.new"
	if [ -n "${UPDATE:-}" ]; then
		cp "$name.new" "$file"
	elif ! diff "$file" "$name.new" >difference; then
		head -n 20 difference
		fail "$name: another output (<: golden/$name, >: now); UPDATE=1 meson test -C build cli-golden writes it anew"
	fi
}

build() { # NAME WHAT
	"$compiler" cc --wm="$2" -g -O0 -fdebug-compilation-dir=/golden src/golden.c -o "$1" || exit 1
}
sources="--source-dir=/golden=$tmp"

build counted paths
WAYMARK_OUT=golden.wmk ./counted 40 >said.txt || fail "counted: exit status $?"
golden paths.text paths --top=all "$sources" golden.wmk
golden paths-functions.text paths --by=function "$sources" golden.wmk
golden paths.json paths --format=json "$sources" golden.wmk
golden paths.html paths --format=html "$sources" golden.wmk
golden paths.lcov paths --format=lcov "$sources" golden.wmk

build traced contexts,trace
core_of golden.core ./traced 40 crash || exit 1
golden core.text core --frames=5 "$sources" ./traced golden.core
golden core-all.text core --frames=5 --paths=all --full --functions "$sources" ./traced golden.core
golden core.json core --frames=5 --format=json "$sources" ./traced golden.core
golden core.html core --frames=5 --format=html "$sources" ./traced golden.core
golden core.lcov core --frames=5 --format=lcov "$sources" ./traced golden.core
finish

#!/bin/sh
# Runs the pass over each ir/NAME.ll by itself, no link, and compares the code it leaves with the file's CHECK lines.
#
#   run.sh BUILD-DIR [NAME...]      e.g. run.sh build tailcall
#
# Lines a test may have: "; KIND: shared" (the module becomes a shared library), "; PASSES: a,b" (instead of waymark-contexts),
# "; ENV: NAME=VALUE..." (@DIR@ is the directory of the tests), "; ASM..." checks of the machine code.
# The result is verified and must come out of the code generator too. SHOW=1 prints the instrumented module.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
if [ $# -eq 0 ]; then
	for source in "$here"/ir/*.ll; do
		name=${source##*/}
		set -- "$@" "${name%.ll}"
	done
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-ir.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
unset WAYMARK_COLD WAYMARK_TARGETS WAYMARK_LINK_SYMBOLIC WAYMARK_TRACE WAYMARK_TRACE_RULES WAYMARK_TRACE_RING WAYMARK_TRACE_UNITS WAYMARK_LINK_OUTPUT WAYMARK_LINK_KIND WAYMARK_PATHS WAYMARK_PATHS_ARRAY WAYMARK_PATHS_HASH WAYMARK_PATHS_PLAN

failed=0
for name; do
	source=$here/ir/$name.ll
	kind=$(sed -n 's/^; KIND: //p' "$source")
	variables=$(sed -n "s|^; ENV: ||; T; s|@DIR@|$here/ir|; p" "$source")
	passes=$(sed -n 's/^; PASSES: //p' "$source")
	# shellcheck disable=SC2086 # a list of words
	if ! env WAYMARK_LINK_KIND="$kind" $variables opt-19 -load-pass-plugin="$build/src/instrument/waymark-pass.so" \
		-passes="${passes:-waymark-contexts},verify" -S "$source" -o "$tmp/$name.ll" 2>"$tmp/err"; then
		head -n 5 "$tmp/err"
		echo "FAIL $name: the pass fails"
		failed=$((failed + 1))
		continue
	fi
	# The words of the thread's state, and the helpers' calls, by short names; a program's sites from 0.
	sed -e 's/call preserve_mostcc void @wm1\.push_here(i64 \([0-9]*\)).*/PUSH \1/' \
		-e 's/call preserve_mostcc void @wm1\.put_back().*/PUT BACK/' \
		-e 's/call preserve_mostcc void @wm1\.defer_here(i64 \([0-9]*\)).*/DEFER \1/' \
		-e 's/call preserve_mostcc void @wm1\.end_here().*/END DEFERRED/' \
		-e 's/call preserve_mostcc void @wm1\.\([a-z]*\)(i64 \([0-9]*\)).*/\1 ID \2/' \
		-e 's/call preserve_mostcc void @wm1\.\([a-z]*\)\.\([0-9]*\)().*/shared \1 ID \2/' \
		-e 's/getelementptr (i8, ptr @wm1_thread_state, i64 8)/TOP/g' \
		-e 's/getelementptr (i8, ptr @wm1_thread_state, i64 44)/HISTORY/g' -e '/^@wm1_thread_state/!s/@wm1_thread_state/ID/g' \
		-e 's/store volatile i64 0, ptr getelementptr (i8, ptr ID, i64 24).*/FORGET DEFERRED/' "$tmp/$name.ll" >"$tmp/$name.long"
	# What a root does first that sets its id in its own code, is left out.
	sed -z -E 's/[^\n]* = load volatile i64, ptr getelementptr \(i8, ptr ID, i64 24\)[^\n]*\n[^\n]* = icmp eq i64 [^\n]*, 0\n[^\n]*br i1[^\n]*\n\npush[^\n]*\n[^\n]*@wm1.enter_slow\(\)[^\n]*\n[^\n]*\n\nwm1.look.exit[^\n]*\n//g' \
		"$tmp/$name.long" | awk '{
			while (match($0, /107374[0-9][0-9][0-9][0-9]/))
				$0 = substr($0, 1, RSTART - 1) (substr($0, RSTART, RLENGTH) - 1073741824) substr($0, RSTART + RLENGTH)
			print
		}' >"$tmp/$name.short"
	[ -z "${SHOW:-}" ] || cat "$tmp/$name.short"
	if ! FileCheck-19 "$source" <"$tmp/$name.short" 2>"$tmp/err"; then
		head -n 30 "$tmp/err"
		echo "FAIL $name: other code than expected"
		failed=$((failed + 1))
	elif ! llc-19 -O2 -relocation-model=pic "$tmp/$name.ll" -o "$tmp/$name.s" 2>"$tmp/err"; then
		head -n 5 "$tmp/err"
		echo "FAIL $name: the code generator does not take it"
		failed=$((failed + 1))
	elif grep -q '^; ASM' "$source" && ! FileCheck-19 --check-prefix=ASM "$source" <"$tmp/$name.s" 2>"$tmp/err"; then
		head -n 30 "$tmp/err"
		echo "FAIL $name: other machine code than expected"
		failed=$((failed + 1))
	else
		echo "ok   $name"
	fi
done
echo "$failed of $# failed"
[ $failed -eq 0 ]

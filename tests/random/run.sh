#!/bin/sh
# Builds and checks the random programs of the seeds FIRST to LAST.
#
#   run.sh [-b BUILD-DIR] FIRST LAST       e.g. run.sh 1 5000
#
# Of a program with a library each second function of that is replaced, too, by one of the same text in another library (LD_PRELOAD).
# OPTIONS are more options of `waymark cc`. NATIVE=1 builds with plain clang-19 and checks only that each program runs to its end. KEEP=DIR keeps what failed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
[ "${1:-}" = -b ] && { build=$2; shift 2; }
[ $# -eq 2 ] || { echo "usage: $0 [-b BUILD-DIR] FIRST LAST" >&2; exit 2; }
build=$(cd "$build" && pwd)
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-random.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM
common="-g -I$here -w ${OPTIONS:-}"
plain="clang-19 -I$here/../../include"

cd "$tmp"
$plain -O1 -fPIC -shared "$here/foreign.c" -o libforeign.so
if [ -n "${NATIVE:-}" ]; then
	clang-19 -O1 "$here/generate.c" -o generate
	clang-19 -O1 "$here/../hazards/compare.c" -o compare
else
	cp "$build/tests/random/generate" "$build/tests/hazards/compare" .
fi

# shellcheck disable=SC2086 # lists of words
build_one() { # in the seed's directory; $lang $shared $opt
	if [ -n "${NATIVE:-}" ]; then
		[ "$lang" = c ] && cc="$plain" || cc="clang++-19 -I$here/../../include"
	else
		[ "$lang" = c ] && cc="$compiler cc" || cc="$compiler c++"
	fi
	link="-rdynamic -pthread -L.. -lforeign -Wl,-rpath,$tmp"
	if [ "$shared" = 1 ]; then
		$cc $opt $common -I. -fPIC -shared -fsemantic-interposition part1.$lang -L.. -lforeign -o libpart.so &&
			$cc $opt $common -I. -fPIC -shared part1.$lang -Wl,--version-script=../even -L.. -lforeign -o libother.so &&
			$cc $opt $common -I. part0.$lang -L. -lpart $link -Wl,-rpath,"$PWD" -o prog
	else
		$cc $opt $common -I. part0.$lang part1.$lang $link -o prog
	fi
}

run_one() { # in the seed's directory; $shared
	timeout 60 ./prog || return
	[ "$shared" = 0 ] || timeout 60 env LD_PRELOAD=./libother.so ./prog
}

echo '{ global: f*[02468]; leaf*; shadow*; dice; local: *; };' >even
seed=$1 bad=0 lines=0
while [ "$seed" -le "$2" ]; do
	dir=$tmp/$seed
	mkdir "$dir"
	cd "$dir"
	eval "$(../generate "$seed" .)"
	ok=1
	label="seed $seed ($lang shared=$shared $opt)"
	if ! build_one >build.log 2>&1; then
		head -n 5 build.log
		echo "FAIL $label: does not build"
		ok=0
	elif ! run_one >>out.txt 2>err.txt; then
		tail -n 3 err.txt
		echo "FAIL $label: does not run to its end"
		ok=0
	elif [ -n "${NATIVE:-}" ]; then
		echo "ok   $label: $(wc -l <out.txt) lines"
	elif ! reads decoded.txt waymark decode --folded --exe . out.txt 2>decode.err; then
		head -n 3 decode.err
		echo "FAIL $label: waymark decode fails"
		ok=0
	else
		../compare "$label" decoded.txt || ok=0
	fi
	cd "$tmp"
	if [ $ok -eq 0 ]; then
		bad=$((bad + 1))
		[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && cp -a "$dir" "$KEEP/"; }
	fi
	rm -rf "$dir"
	seed=$((seed + 1))
done
echo "$bad of $(($seed - $1)) programs failed"
[ $bad -eq 0 ]

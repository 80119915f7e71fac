#!/bin/sh
# stops.sh BUILD-DIR POINTS PROGRAM... - stops programs at random instructions, and compares the context that their words have there with a
# shadow stack of calls (step_context.c). A program is one of ../hazards, or random=SEED of ../random: with a library, if it has one.
# LEVELS: others than these; SEED: of the stops; UNKNOWN: of how many points of a program the context may be unknown (default: any number). Or PROGRAM is built=FILE[,LIBRARY...], what waymark cc has built at any level, with the words
# of ARGUMENTS, in which files have their whole names.
#
#   stops.sh build 5000 recursion random=7
#   ARGUMENTS=$PWD/test.lua GAP=1000 stops.sh build 500 built=src/lua
set -u
here=$(cd "$(dirname "$0")" && pwd)
origin=$PWD
build=$(cd "$1" && pwd)
points=$2
shift 2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-stops.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export WAYMARK_OUT=/dev/null
failed=0

# build_random SEED LEVEL: ./prog, and libpart.so if it has a library.
build_random() {
	[ -f libforeign.so ] || clang-19 -O1 -fPIC -shared -I"$here/../../include" "$here/../random/foreign.c" -o libforeign.so || return
	mkdir random && eval "$("$build/tests/random/generate" "$1" random)"
	compiler=cc
	[ "$lang" = c ] || compiler=c++
	set -- --wm=contexts "$2" -g -w -I"$here/../random" -Irandom -L. -lforeign -Wl,-rpath,"$tmp" -pthread
	if [ "$shared" = 1 ]; then
		"$build/waymark" "$compiler" -fPIC -shared "random/part1.$lang" "$@" -o libpart.so &&
			"$build/waymark" "$compiler" "random/part0.$lang" "$@" -rdynamic -lpart -o prog
	else
		"$build/waymark" "$compiler" "random/part0.$lang" "random/part1.$lang" "$@" -rdynamic -o prog
	fi
}

build_hazard() {
	source=$(echo "$here/../hazards/$1".c*)
	compiler=cc
	[ "${source%.cpp}" = "$source" ] || compiler=c++
	"$build/waymark" "$compiler" --wm=contexts "$2" -g -w "$source" -pthread -lm -o prog
}

compare() { # IMAGES LABEL SITES...: the first image with the words of ARGUMENTS
	images=$1 label=$2
	shift 2
	if ! "$build/tests/instrument/step_context" "$@" "$points" "${GAP:-10}" "${SEED:-1}" "${STEPS:-3000000}" "$images" "${images%%,*}" ${ARGUMENTS:-} \
		>out 2>err </dev/null; then
		head -n 20 err
		echo "FAIL $label: $(tail -n 1 out)"
		failed=$((failed + 1))
	elif [ -n "${UNKNOWN:-}" ] && [ "$(sed -n 's/.* \([0-9]*\) not known, .*/\1/p' out)" -gt "$UNKNOWN" ]; then
		echo "FAIL $label: more than $UNKNOWN points are not known: $(grep 'not known' out)"
		failed=$((failed + 1))
	else
		echo "ok   $label: $(grep points out)"
		grep '    not known' out
	fi
}

for name; do
	case $name in
	built=*)
		images=$(cd "$origin" && echo "${name#built=}" | tr ',' '\n' | xargs realpath | paste -sd,)
		compare "$images" "$name"
		continue
		;;
	esac
	for level in ${LEVELS:--O0 -O2}; do
		rm -rf prog libpart.so random
		case $name in
		random=*) build_random "${name#random=}" "$level" >log 2>&1 ;;
		*) build_hazard "$name" "$level" >log 2>&1 ;;
		esac
		images=./prog
		sites=
		[ "$level" = -O0 ] && sites=-s
		[ -f libpart.so ] && images=$images,./libpart.so
		if [ ! -f prog ]; then
			head -n 5 log
			echo "FAIL $name $level: not built"
			failed=$((failed + 1))
		else
			ARGUMENTS='' compare "$images" "$name $level" $sites
		fi
	done
done
[ $failed -eq 0 ]

#!/bin/sh
# Builds one hazard program at the given -O levels, runs it and compares each captured context with its shadow stack.
#
#   run.sh BUILD-DIR NAME [LEVEL...]     e.g. run.sh build setjmp O0 O2 O2-inline O2,-static
#
# A level may bring more options, after commas; OPTIONS is for all of them. O2-inline leaves it to the optimizer which functions
# it inlines; O2-cold has all call sites written for size that may be.
# NAME.c or NAME.cpp is the program. Programs of several files have a recipe below. NATIVE=1 builds with plain clang-19 and
# checks only that the program runs and counts lines (its own oracle says nothing then). KEEP=1 keeps the directory. RUN: words for
# `waymark` in front of the program's name, `run --agent`.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
name=$2
shift 2
[ $# -gt 0 ] || set -- O0 O2
# shellcheck source=tests/support/twice.sh
. "$here/../support/twice.sh"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-hazard.XXXXXX")
[ -n "${KEEP:-}" ] && echo "kept: $tmp" || trap 'rm -rf "$tmp"' EXIT INT TERM

if [ -n "${NATIVE:-}" ]; then
	cc="clang-19 -I$here/../../include" cxx="clang++-19 -I$here/../../include"
else
	cc="$compiler cc" cxx="$compiler c++"
fi
plain="clang-19 -I$here/../../include" plainxx="clang++-19 -I$here/../../include"

# shellcheck disable=SC2086 # $cc, $cxx and $opt are lists of words
recipe() { # $opt: the options of this level; makes ./prog in the current directory; may set $status
	case $name in
	assembly) $cc $opt "$here/assembly.c" "$here/assembly_calls.S" -o prog ;;
	foreign)
		gcc -O2 -c "$here/foreign_part.c" -o part.o &&
		$cc $opt -c "$here/foreign_archive.c" -o archive.o &&
		ar rcs libarchive.a archive.o &&
		$cc $opt -c "$here/foreign.c" -o prog.o &&
		$cc $opt prog.o part.o -L. -larchive -o prog
		;;
	selfcalls)
		gcc -O2 -c "$here/selfcalls_foreign.c" -o foreign.o &&
		$cc $opt "$here/selfcalls.c" foreign.o -o prog
		;;
	creators)
		gcc -O2 -c "$here/creators_foreign.c" -o foreign.o &&
		$cc $opt "$here/creators.c" foreign.o -o prog
		;;
	libraries)
		$plain -O2 -fPIC -shared "$here/libraries_plain.c" -o libplain.so &&
		$cc $opt -fPIC -shared "$here/libraries_two.c" -o libtwo.so &&
		$cc $opt -fPIC -fsemantic-interposition -shared "$here/libraries_one.c" -L. -ltwo -o libone.so &&
		$cc $opt "$here/libraries.c" -rdynamic -L. -lone -ltwo -lplain -Wl,-rpath,'$ORIGIN' -o prog
		;;
	plugins)
		$plain -O2 -fPIC -shared "$here/libraries_plain.c" -o libplain.so &&
		$cc $opt -fPIC -shared "$here/plugin_a.c" -o plugin_a.so &&
		$cc $opt -fPIC -shared "$here/plugin_b.c" -o plugin_b.so &&
		$cc $opt "$here/plugins.c" -rdynamic -o prog
		;;
	deepbind)
		$cc $opt -fPIC -shared -DSHADOW_EXTERN "$here/deepbind_plugin.c" -Wl,-z,now -o deep.so &&
		$cc $opt -fPIC -shared -DSHADOW_EXTERN "$here/deepbind_plugin.c" -Wl,-z,lazy,-z,norelro -o lazy.so &&
		$cc $opt -fPIC -shared -DSHADOW_EXTERN "$here/deepbind_plugin.c" -o plain.so &&
		$cc $opt "$here/deepbind.c" -rdynamic -o prog
		;;
	plainprogram)
		$cc $opt -fPIC -shared "$here/embedded_second.c" -o libsecond.so &&
		$cc $opt -fPIC -shared "$here/embedded_first.c" -L. -lsecond -o libfirst.so &&
		$plain -O1 "$here/plainprogram.c" -L. -lfirst -lsecond -Wl,-rpath,"$PWD" -o prog
		;;
	interposed)
		$cc $opt -fPIC -shared "$here/interposed_other.c" -o libother.so &&
		$cc $opt -fPIC -shared "$here/interposed_library.c" -o liblibrary.so &&
		$cc $opt "$here/interposed.c" -rdynamic -L. -llibrary -Wl,-rpath,'$ORIGIN' -o prog
		;;
	bound)
		$cxx $opt -fPIC -shared "$here/bound_library.cpp" -o liblibrary.so &&
		$cxx $opt -fPIC -shared "$here/bound_other.cpp" -L. -llibrary -o libother.so &&
		$plainxx -O1 -DPLAIN -fPIC -shared "$here/bound_other.cpp" -L. -llibrary -o libplain.so &&
		$cxx $opt "$here/bound.cpp" -rdynamic -L. -llibrary -Wl,-rpath,'$ORIGIN' -o prog
		;;
	tasks_loop) $cc $opt "$here/tasks_loop.c" -levent_core -o prog ;;
	initorder) $cxx $opt "$here/initorder.cpp" "$here/initorder_other.cpp" -o prog ;;
	atexit) status=7; $cc $opt "$here/atexit.c" -o prog ;;
	quickexit) status=5; $cc $opt "$here/quickexit.c" -o prog ;;
	terminate) status=3; $cxx $opt "$here/terminate.cpp" -o prog ;;
	*)
		if [ -f "$here/$name.cpp" ]; then
			$cxx $opt "$here/$name.cpp" -o prog
		else
			$cc $opt "$here/$name.c" -o prog
		fi
		;;
	esac
}

failed=0
for level; do
	mkdir "$tmp/$level"
	cd "$tmp/$level"
	status=0 actual=0
	case $level in
	*-inline) opt="-${level%-inline} -DFREE_INLINING" ;;
	*-cold) opt=-$(echo "${level%-cold}" | tr , ' ') ;;
	*) opt=-$(echo "$level" | tr , ' ') ;;
	esac
	opt="$opt ${OPTIONS:-}"
	case $level in *-cold) export WAYMARK_COLD=all ;; *) unset WAYMARK_COLD ;; esac
	if ! recipe >build.log 2>&1; then
		grep -E 'error|undefined|not valid' build.log | head -n 4 || tail -n 4 build.log
		echo "FAIL $name -$level: does not build"
		failed=1
		continue
	fi
	# shellcheck disable=SC2086
	${RUN:+"$compiler"} ${RUN:-} ./prog >>out.txt 2>err.txt || actual=$?
	if [ $actual -ne $status ]; then
		tail -n 5 err.txt
		echo "FAIL $name -$level: exit status $actual, not $status"
		failed=1
		continue
	fi
	if [ -n "${NATIVE:-}" ]; then
		echo "ok   $name -$level: $(wc -l <out.txt) lines"
		continue
	fi
	if ! reads decoded.txt waymark decode --folded --exe . out.txt 2>decode.err; then
		head -n 3 decode.err
		echo "FAIL $name -$level: waymark decode fails"
		failed=1
		continue
	fi
	"$build/tests/hazards/compare" "$name -$level" decoded.txt || failed=1
done
exit $failed

#!/bin/bash
# core_bound.sh BUILD - `waymark core` where the program has taken over a function of its library: what is between them is no frame, and
# the calling context goes through it. A thread that stops in it, at each of its instructions, has the right context or none.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
export WAYMARK_OUT=/dev/null

frames() { # of out.txt, innermost first
	sed -n 's/^#[0-9]* *\([a-z_.0-9]*\).*/\1/p' out.txt | tr '\n' ' '
}

for level in -O0 -O2; do
	"$compiler" cc --wm=contexts,trace -g "$level" -fPIC -shared "$here/core_bound_library.c" -o libbound.so &&
		clang-19 -I"$here/../../include" -g "$level" -DREPLACES "$here/core_bound.c" -L. -lbound -Wl,-rpath,"$PWD" -rdynamic -o plain &&
		"$compiler" cc --wm=contexts,trace -g "$level" -DREPLACES "$here/core_bound.c" -L. -lbound -Wl,-rpath,"$PWD" -rdynamic -o ours ||
		exit 1
	for way in 'plain 3' 'plain 4' 'ours 3' 'ours 4'; do
		# shellcheck disable=SC2086 # two words
		core_of program.core ./$way || exit 1
		expect 0 "$waymark" core ./"${way% *}" program.core
		tail=
		[ "${way#* }" = 3 ] || tail=';leaves'
		case $way in
		plain*) want="visit;entry;middle$tail" ;;
		ours*) want="main;visit;visited;entry;middle$tail;replaced;fault" ;;
		esac
		has out.txt "      context $want"
		lacks out.txt 'calling context is not known'
		lacks out.txt 'wm1.call'
		[ "$level" = -O2 ] && gone= || gone=${tail:+leaves }
		case $(frames) in
		"fault replaced ${gone}middle entry visited visit main "*) ;;
		*) fail "$level $way: the frames are $(frames)" ;;
		esac
	done
	# Without symbols the frame between them is one of no name.
	cp libbound.so whole.so
	strip --strip-all -o libbound.so whole.so
	core_of program.core ./ours 3 || exit 1
	expect 0 "$waymark" core --exe whole.so ./ours program.core
	has out.txt '      context main;visit;visited;entry;middle;replaced;fault'
	mv whole.so libbound.so
done

# step PROGRAM ARGUMENT: a core at each instruction of ours on the way from the library into replaced and, where that is another's, back.
step() {
	rm -f at.*.core
	cat >steps <<-'END'
		set $count = 0
		define all
			while $pc >= (long)&'wm1.push_here' && $pc < (long)&'wm1.call.replaced' + 48
				eval "generate-core-file at.%d.core", $count
				set $count = $count + 1
				stepi
			end
		end
		break main
		run
		delete
		tbreak *(long)&'wm1.call.replaced'
		continue
		all
		finish
		all
	END
	gdb -q -nx -batch -iex 'set auto-load off' -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /none' -ex 'set startup-with-shell off' -x steps \
		--args "$@" >steps.out 2>&1 </dev/null
	[ -s at.1.core ] || { cat steps.out; fail "$*: no cores"; }
	told=0
	for core in at.*.core; do
		expect 0 "$waymark" core "$1" "$core"
		if grep -q '^ *context ' out.txt; then
			told=$((told + 1))
			has out.txt '      context main;visit;visited;entry;middle;leaves'
		else
			has out.txt 'its calling context is not known: middle '
		fi
	done
	echo "$*: $(echo at.*.core | wc -w) instructions, a context at $told"
}
"$compiler" cc --wm=contexts,trace -g -O2 "$here/core_bound.c" -L. -lbound -Wl,-rpath,"$PWD" -rdynamic -o none || exit 1
step ./none 2
[ "$told" -ge 3 ] || fail "$told contexts before a function of the library's own"
step ./ours 2
[ "$told" -ge 20 ] || fail "$told contexts on the way to another image's function"
finish

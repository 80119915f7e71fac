#!/bin/bash
# core_positions.sh BUILD - calling contexts of a core wherever in a function its thread has stopped: the same as the program's text
# says. gdb's own frames, which the pass has no part in, say that the program stopped there.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
export WAYMARK_OUT=/dev/null

# stopped CONTEXT FUNCTION...: the context that is told, and gdb's innermost frames.
stopped() {
	local context=$1 n=0 function
	shift
	expect 0 "$waymark" core --frames 8 ./positions stop.core
	has out.txt "      context $context"
	[ "$(grep -c '      context ' out.txt)" = 1 ] || fail "$context: more than one context"
	grep -qxF "      context $context" out.txt || fail "not $context: $(grep '      context ' out.txt)"
	lacks out.txt "calling context is not known"
	gdb -q -nx -batch -iex 'set debug-file-directory /none' -ex bt ./positions stop.core 2>/dev/null | grep '^#' >frames.txt
	for function; do
		grep -qE "^#$n .*\<$function \(" frames.txt || fail "$context: frame $n is not $function: $(cat frames.txt)"
		n=$((n + 1))
	done
}

for flags in -O0 '-O2 -fcf-protection'; do
	# shellcheck disable=SC2086
	"$compiler" cc --wm=contexts -g $flags -DPART -c "$here/core_positions.c" -o part.o &&
		"$compiler" cc --wm=contexts -g $flags "$here/core_positions.c" part.o -o positions || exit 1
	for way in one two three; do
		for at in 1 2; do
			core_of stop.core ./positions $way $at || exit 1
			stopped "main;$way;block" block $way main
		done
	done
	for way in one two three; do
		core_of stop.core ./positions $way 3 || exit 1
		expect 0 "$waymark" core --frames 8 ./positions stop.core
		has out.txt "      context main;$way;block"
	done
	for way in four five; do
		core_of stop.core ./positions $way 1 || exit 1
		stopped "main;$way;pushing" pushing $way main
	done
	core_of stop.core ./positions steps || exit 1
	if [[ $flags = -O2* ]]; then
		stopped 'main;add;subtract;add;last_step' last_step main
	else
		expect 0 "$waymark" core --frames 8 ./positions stop.core
		has out.txt "      context main;add;subtract;add;last_step"
	fi
	# Known where the function has pushed; elsewhere it is said that the history does not tell.
	for at in 0 1 12 25 39; do
		core_of stop.core ./positions again $at || exit 1
		expect 0 "$waymark" core --frames 8 ./positions stop.core
		grep -qxF "      context main;again ($((41 - at)) times)" out.txt || has out.txt "the history does not tell"
	done
	core_of stop.core ./positions twin 1 || exit 1
	stopped 'main;twin' twin main
	core_of stop.core ./positions twin 0 || exit 1
	stopped 'main;other_part;twin' twin other_part main
	core_of stop.core ./positions twice || exit 1
	stopped 'main;other_part;twice;twin' twin twice other_part main

	# In the code that sets the number for callers from outside: calls from inside enter behind it.
	offsets=0
	[[ $flags = *cf-protection* ]] && offsets='0 4'
	for offset in $offsets; do
		CORE_GDB="break *compare+$offset" core_of stop.core ./positions sort || exit 1
		stopped 'main;[qsort];compare' compare
	done
done
finish

#!/bin/bash
# core_trace.sh BUILD - `waymark core` of traced programs: the last paths of each frame in text and JSON, coverage, schemes
# chosen at start-up, separate debug files, static and position-dependent programs.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/schema.sh
. "$here/../support/schema.sh"
reads_twice=1
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"
cp "$here/core_trace.c" .

# shown LINE...: each LINE, a regular expression, is in out.txt, in this order.
shown() {
	local line from=1 at
	for line; do
		at=$(tail -n "+$from" out.txt | grep -n -m 1 -E -- "^ *$line\$" | cut -d: -f1)
		if [ -z "$at" ]; then
			fail "no line ${line@Q} from line $from on"
			cat out.txt
			return
		fi
		from=$((from + at))
	done
}

# The 5 items have the keys 4 to 0: the ring has all five rounds of list_find's loop.
find_steps() {
	shown '#0 +list_find  .*core_trace.c:24:.*' 'path 1 of 5' '24 .*' '25 .* -> false' '28 .*' '29 .*' \
		'24 .* -> back to line 24' 'path 2 of 5; after a round of the loop' '26 .*' \
		'path 5 of 5; after a round of the loop' '24 .* -> true' '25 .* -> false' '28 .*' '29 .*' \
		'24 .* -> back to line 24' 'then, in progress; after a round of the loop' '24 .* -> is here'
}

"$compiler" cc --wm=trace -g -O0 core_trace.c -o program || exit 1
core_of program.core ./program || exit 1
expect 0 "$waymark" core --paths all ./program program.core
find_steps
# walk at depth 0 went through its loop three times, those above called themselves.
shown '#1 +walk  .*core_trace.c:45:.*' 'path 1 of 1' '.* -> into the loop at line 43' \
	'round of the loop, once or more' '43 .*' '44 .*' '43 .* -> back to line 43' 'then, in progress; .*' '43 .* -> false' '45 .* -> is here' \
	'made calls: weigh:44, list_find:45' 'not made: walk:39, puts:42' \
	'#2 +walk  .*core_trace.c:39:.*' 'in progress' '38 .* -> true' '39 .* -> is here' 'made calls: walk:39' \
	'not made: puts:42, weigh:44, list_find:45' '#3 +walk .*' 'in progress' '#4 +main .*' 'path 1 of 1' '.*' \
	'round of the loop, once or more' '.*' 'then, in progress; .*' '55 .* -> false' '62 .* -> is here'
lacks out.txt note:
# Only the newest ones by default.
expect 0 "$waymark" core ./program program.core
lacks out.txt "path 3 of 5"
has out.txt "path 4 of 5"

# The same after the optimizer, with the paths of its code.
"$compiler" cc --wm=trace -g -O2 core_trace.c -o fast || exit 1
core_of fast.core ./fast || exit 1
expect 0 "$waymark" core --paths all ./fast fast.core
shown '#0 +list_find  .*core_trace.c:24:.*' 'path 4 of 4; .*' 'then, in progress; .*' '25 .*' '29 .*' '24 .* -> is here' \
	'#[0-9] +walk .*' 'in progress' '39 .* -> is here' 'made calls: walk:39' '#. +main .*'

# JSON has the same steps, with blocks and edges.
expect 0 "$waymark" core --format=json ./program program.core
cp out.txt core.json
schema_check core.json
if command -v python3 >/dev/null; then
	python3 - core.json >facts.txt <<'END' || fail "core.json is no JSON"
import json, sys
core = json.load(open(sys.argv[1]))
frame = core["threads"][0]["frames"][0]
print(frame["name"], frame["trace"], frame["ended"], frame["position"], len(frame["paths"]))
print([p["complete"] for p in frame["paths"]], frame["paths"][-1]["blocks"][-1] == frame["blocks"][0])
print([s["line"] for s in frame["paths"][2]["steps"]])
walk = core["threads"][0]["frames"][2]
function = [f for f in core["functions"] if f["id"] == walk["function_id"]][0]
print(function["name"], function["calls"][walk["call"]]["callee"], walk["calls_used"], function["calls_used"])
END
	has facts.txt "list_find whole 5 points 6"
	has facts.txt "[True, True, True, True, True, False] True"
	has facts.txt "[24, 25, 28, 29, 24]"
	has facts.txt "walk walk [True, False, False, False] [True, False, True, True]"
fi

# A ring of two; coverage of blocks.
"$compiler" cc '--wm=trace=*=stmt+pt' --wm-trace-paths=2 -g -O0 core_trace.c -o small || exit 1
core_of small.core ./small || exit 1
expect 0 "$waymark" core --paths all ./small small.core
lacks out.txt "path 3 of 5"
shown '#0 +list_find .*' 'path 4 of 5; .*' 'path 5 of 5; .*' 'then, in progress; .*' '24 .* -> is here' \
	'ran [0-9]+ of its [0-9]+ blocks'

# Schemes chosen when the program starts.
"$compiler" cc '--wm=trace=list_find=none|pt;*=none|cc' -g -O1 core_trace.c -o tuned || exit 1
core_of off.core ./tuned || exit 1
expect 0 "$waymark" core ./tuned off.core
shown '#0 +list_find .*' '#[0-9] +walk .*' '#. +main .*' \
	'Paths were off in 1 frame: waymark tune PROGRAM --from CORE turns them on for the next run.'
lacks out.txt "is here"
WAYMARK_SCHEME='list_find=pt;*=cc' core_of on.core ./tuned || exit 1
expect 0 "$waymark" core ./tuned on.core
shown '#0 +list_find .*' 'then, in progress; .*' '.* -> is here' '#[0-9] +walk .*' 'made calls: .*walk:39.*' '#. +main .*' \
	'made calls: .*'
lacks out.txt "were off"

# Stripped: nothing to tell; with the debug file all of it.
llvm-objcopy-19 --only-keep-debug program program.debug
llvm-strip-19 program -o stripped
expect 0 "$waymark" core ./stripped program.core
has out.txt "note: ./stripped: has no .debug_waymark_trace"
lacks out.txt "is here"
expect 0 "$waymark" core --paths all --exe program.debug ./stripped program.core
find_steps
llvm-objcopy-19 --add-gnu-debuglink=program.debug stripped
expect 0 "$waymark" core --paths all ./stripped program.core
find_steps

for kind in -static -no-pie; do
	"$compiler" cc --wm=trace -g -O0 "$kind" core_trace.c -o "fixed$kind" || exit 1
	core_of "fixed$kind.core" "./fixed$kind" || exit 1
	expect 0 "$waymark" core --paths all "./fixed$kind" "fixed$kind.core"
	find_steps
done

# Calling contexts, when the program has them: with what left by a tail call, which the stack does not have.
for level in -O0 -O2; do
	"$compiler" cc --wm=contexts,trace -g "$level" "$here/core_context.c" -o contexts -pthread || exit 1
	for way in recurse thread signal; do
		WAYMARK_OUT=/dev/null core_of "$way.core" ./contexts "$way" || exit 1
		expect 0 "$waymark" core --frames 8 ./contexts "$way.core"
		case $way in
		recurse) want='main;recurse (501 times);[qsort];compare;tailer;inner' ;;
		thread) want='main;[thread];work;recurse (4 times);[qsort];compare;tailer;inner' ;;
		signal) want='[signal];handle;tailer;inner' ;;
		esac
		has out.txt "      context $want"
		lacks out.txt "calling context is not known"
	done
done

# A library; frames without a fixed size; a signal handler; a stack that overflows. Nothing is lost, at both stages.
for stage in final source; do
	for level in -O0 -O2; do
		flags="--wm=trace --wm-stage=$stage -g $level"
		# shellcheck disable=SC2086
		"$compiler" cc $flags -fPIC -shared "$here/core_trace_library.c" -o libtraced.so &&
			"$compiler" cc $flags "$here/core_trace_user.c" ./libtraced.so -o user || exit 1
		core_of library.core ./user || exit 1
		expect 0 "$waymark" core ./user library.core
		lacks out.txt "is lost"
		shown '#3 +same .*' '16 .* -> is here' '#[0-9] +library_add .*' '.* -> is here' '#.* handle .*' '.* -> is here' \
			'#.*<a signal came in>' '#.* main .*' '.* -> is here'
		core_of overflow.core ./user overflow || exit 1
		expect 0 "$waymark" core --frames 8 ./user overflow.core
		lacks out.txt "is lost"
		shown '#0 +overflow .*' '#1 +overflow .*' 'in progress' '.* -> is here' \
			'\.\.\.  [0-9,]+ more rounds of overflow \(#[23] to #[0-9]+; --frames=all\)' '#[0-9]+ +overflow .*'
	done
done
finish

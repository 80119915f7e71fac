#!/bin/bash
# Traced real programs die in the middle of their work, and `waymark core` tells all of what it has to tell of each core.
#
#   crash.sh [-b BUILD-DIR] [-w WORK-DIR] [-n CRASHES] [-s SCHEME] PROGRAM...
#
# PROGRAM: those of ../../bench/trace/programs.sh, built as there, with *=SCHEME (cc+pt, stmt+pt; default: cc+pt) at -O2, or at -O0 when
# SCHEME ends in -O0. Each works on its input and gets a SIGSEGV (crash_at.c) after 1/n, 2/n, ... of two thirds of the CPU time that
# all of it takes (n = CRASHES, default 5): the time varies. Of each core: text, JSON and HTML are made without a word on stderr; the position of
# each traced frame is known, by its points or the call in progress, its path is not lost and ends at the frame's line, and
# coverage and what can have run do not contradict the paths.
# Exit status 77: no source can be had here, or gdb may not trace.
set -eu

self=$(cd "$(dirname "$0")" && pwd)
here=$self/../../bench/trace
# shellcheck source=work.sh
. "$self/work.sh"
crashes=5 scheme=cc+pt
while getopts "${work_options}n:s:" option; do
	case $option in
	n) crashes=$OPTARG ;;
	s) scheme=$OPTARG ;;
	*) work_option "$option" ;;
	esac
done
shift $((OPTIND - 1))
open_work waymark-crash
export LC_ALL=C
# shellcheck source=../../bench/trace/programs.sh
. "$here/programs.sh"
# shellcheck source=../support/core.sh
. "$self/../support/core.sh"
clang-19 -O1 -shared -fPIC "$self/crash_at.c" -o "$out.crash_at.so"

check() { # JSON: prints what is wrong, then a line of counts
	python3 - "$1" <<'END_OF_CHECK'
import json, sys

core = json.load(open(sys.argv[1]))
functions = {f["id"]: f for f in core["functions"]}
frames = traced = paths = 0
is_bad = bool(core["notes"]) or core["signal_name"] != "SEGV"
if is_bad:
    print("signal", core["signal_name"], "notes:", core["notes"])


def wrong(frame, *what):
    global is_bad
    is_bad = True
    print("frame", frame["number"], frame["name"], frame["pc"], *what)


def check_paths(frame, line):
    function = functions[frame["function_id"]]
    used, activity = frame.get("blocks_used"), function.get("blocks_activity")
    last = frame["paths"][-1]
    if not last["current"]:
        wrong(frame, "no path is in progress")
        return
    if last["steps"] and line and not frame["interrupted"] and last["steps"][-1]["line"] != line:
        wrong(frame, "is at line", line, "and its path at", last["steps"][-1]["line"])
    for path in frame["paths"]:
        for block in path["blocks"]:
            if activity and activity[block] == "n":
                wrong(frame, "block", block, "is on a path and cannot have run")
            if used and not used[block] and block not in frame["blocks"]:
                wrong(frame, "block", block, "is on a path and is not covered")


for thread in core["threads"]:
    if thread["cut"]:
        is_bad = True
        print("stack is cut:", thread["cut"])
    innermost = None  # of the functions that share a machine frame
    for frame in thread["frames"]:
        frames += 1
        if not innermost or innermost["cfa"] != frame["cfa"]:
            innermost = frame
        if "function_id" not in frame or not frame.get("scheme"):
            continue
        traced += 1
        if frame["position"] not in ("points", "call"):
            wrong(frame, "position is", frame["position"])
        elif len(frame["blocks"]) != 1:
            wrong(frame, "may be in blocks", frame["blocks"])
        if frame["scheme"] >= 4 and frame["trace"] not in ("whole", "last"):
            wrong(frame, "trace is", frame["trace"], frame.get("why", ""))
        elif frame["scheme"] >= 4:
            paths += len(frame["paths"])
            check_paths(frame, innermost["line"])
print(f"{len(core['threads'])} threads, {frames} frames, {traced} traced, {paths} paths")
sys.exit(is_bad)
END_OF_CHECK
}

failed=0
for program; do
	build_traced "$program" "$scheme" || { failed=1; continue; }
	size=small
	case $program in bc | flex | ccrypt | gzip | sed) size=full ;; esac # CPU time ends at ticks of the kernel
	set -f
	# shellcheck disable=SC2207
	command=($(command_of "$program" "$scheme" $size))
	set +f
	input=$(input_of "$program" $size)
	TIMEFORMAT=%U+%S
	microseconds=$({ time "${command[@]}" <"$input" >"$out.output" 2>&1; } 2>&1 | awk -F+ '{ print int(($1 + $2) * 1e6) }')
	cores=0
	for ((crash = 1; crash <= crashes; crash++)); do
		at=$((microseconds * crash * 2 / 3 / crashes))
		name="$program ($scheme), SIGSEGV after $((at / 1000)) of $((microseconds / 1000)) ms"
		printf '#!/bin/sh\nCRASH_AT=%s LD_PRELOAD=%q exec %s <%q >%q 2>&1\n' $at "$out.crash_at.so" "$(printf '%q ' "${command[@]}")" \
			"$input" "$out.output" >"$out.run"
		if ! core_of "$out.core" /bin/sh "$out.run" >"$out.said"; then
			grep -q 'exited normally' "$out.said" && echo "     $name: it had ended by then" && continue
			cat "$out.said"
			failed=1
			continue
		fi
		cores=$((cores + 1))
		said=
		for format in text json html; do
			"$waymark" core --format=$format --paths=all -o "$out.$format" "${command[0]}" "$out.core" >"$out.said" 2>&1 ||
				said="waymark core --format=$format fails"
			said="$said$(cat "$out.said")"
		done
		if counts=$(check "$out.json") && [ -z "$said" ]; then
			echo "ok   $name: $counts"
		else
			echo "FAIL $name: $said"
			echo "$counts"
			failed=1
		fi
	done
	[ $cores -gt 0 ] || { echo "FAIL $program: no core"; failed=1; }
	rm -rf "${out:?}"/*
done
exit $failed

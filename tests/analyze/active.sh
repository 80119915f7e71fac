#!/bin/bash
# active.sh BUILD-DIR [FIRST-SEED [COUNT]] - slices of stopped random programs, restricted by what ran, miss nothing: whatever lines outside of
# the slice compute instead, the program stops with the same value.
#
# The oracle is the program itself, as in random.sh; but noise makes no branch go a way that it did not go in the run: what did not run is
# no reason for anything. In the calls that are on the stack, these are the ways of that call. That slices are not everything, and smaller than
# those of all code, is checked over all programs together.
set -u
# shellcheck source=tests/analyze/lib.sh
. "$(dirname "$0")/lib.sh"
first=${2:-1} count=${3:-5}
pid=
# shellcheck disable=SC2317 # called at the end
leave() {
	[ -n "$pid" ] && kill -9 "$pid" 2>/dev/null
}
# What is known of what ran, from most to nothing; one of them for each program.
schemes=('*=cc+pt' '*=stmt+pt' '*=cc+pt;last=none' '*=fc' '*=stmt' '*=cc+pt' 'f0=none;*=stmt+pt')
slices=0 lines_in=0 lines_of=0 changed=0 static=0 stack=0 active=0

# differs SEED LINE...: the value that the program stops with, with that noise on these lines, is another one.
differs() {
	NOISE=$1 timeout 20 ./mutant "${@:2}" | grep '^stops with' >noise.out
	! cmp -s noise.out plain.out
}
differs_somehow() { # LINE...
	local noise
	for noise in 7 8 9 10; do
		differs $noise "$@" && return
	done
	return 1
}

size_of() { # NAME
	grep -o "\"$1\": {\"lines\": [0-9]*" slice.json | grep -o '[0-9]*$'
}

# Stopped where it sleeps; *slice.json* of that.
slice_program() {
	mkfifo said
	./program >said &
	pid=$!
	grep -q '^stops' said
	"$build/waymark" core --slice --format=json -p "$pid" ./program >slice.json 2>slice.err
	status=$?
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	pid=
	rm said
	return $status
}

check_program() { # SEED
	local all in out line is_seen=no
	all=$(grep -nE '[VPQ]\(' program.c | grep -v '#define' | cut -d: -f1)
	in=$(python3 -c 'import json; print(*(line["line"] for file in json.load(open("slice.json"))["files"] for line in file["lines"]), sep="\n")')
	mapfile -t out < <(comm -23 <(echo "$all" | sort) <(echo "$in" | sort) | sort -n)
	slices=$((slices + 1))
	lines_of=$((lines_of + $(echo "$all" | wc -l)))
	lines_in=$((lines_in + $(echo "$all" | wc -l) - ${#out[@]}))
	static=$((static + $(size_of static))) stack=$((stack + $(size_of stack))) active=$((active + $(size_of active)))
	[ "$(size_of active)" -le "$(size_of stack)" ] && [ "$(size_of stack)" -le "$(size_of static)" ] ||
		fail "seed $1: sizes $(grep '"sizes"' slice.json)"
	for line in "${out[@]}"; do
		differs 7 "$line" && echo "  by line $line alone: $(sed -n "${line}p" program.c)" && is_seen=yes
	done
	if [ ${#out[@]} -gt 0 ] && { [ $is_seen = yes ] || differs_somehow "${out[@]}"; }; then
		fail "seed $1: the program stops with another value when lines outside of its slice change"
	fi
	# shellcheck disable=SC2046 # a list of lines
	differs_somehow $(comm -12 <(echo "$all" | sort) <(echo "$in" | sort)) && changed=$((changed + 1))
}

for ((seed = first; seed < first + count; seed++)); do
	python3 "$here/random_program.py" "$seed" stops >program.c
	clang-19 -O1 -w -DMUTATE program.c -o mutant || { fail "seed $seed: does not build"; continue; }
	rm -f ways
	timeout 20 ./mutant | grep '^stops with' >plain.out || continue # it returns before
	"$build/waymark" cc "--wm=trace=${schemes[seed % ${#schemes[@]}]}" -g -O0 -w program.c -o program || { fail "seed $seed: does not build"; continue; }
	if slice_program; then
		check_program "$seed"
	elif grep -q 'Operation not permitted' slice.err; then
		echo 'SKIP: processes cannot be read here'
		exit 77
	else
		fail "seed $seed: $(cat slice.err)"
	fi
done
echo "seeds $first to $((seed - 1)): $slices slices of $active lines (of the stack $stack, of all code $static); noise in them was seen $changed times"
[ "$slices" -gt 0 ] && [ $((2 * changed)) -ge "$slices" ] && [ $((100 * lines_in)) -lt $((80 * lines_of)) ] && [ "$active" -lt "$static" ] ||
	fail "too few slices, too large ones, or noise that nobody sees"
exit $failed

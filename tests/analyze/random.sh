#!/bin/bash
# random.sh BUILD-DIR [FIRST-SEED [COUNT]] - slices of random programs miss nothing: whatever lines outside of the slice of watch() compute
# instead, watch() sees the same values in the same order. Forward: where a line computes something else and watch() sees other values for it, that
# watch() is in the line's forward slice.
#
# The oracle is the program itself, built by another compiler, with the lines outside of a slice made to compute noise: all of them at once,
# then halves of them. That the slices are not everything is checked over all programs together.
set -u
# shellcheck source=tests/analyze/lib.sh
. "$(dirname "$0")/lib.sh"
first=${2:-1} count=${3:-12}
forward=0 watches=0 reached=0 reached_by_noise=0 slices=0 variables=0 lines_in=0 lines_of=0 changed=0

# differs WHERE LINE...: the values of that watch() with noise on these lines, compared with those of the plain run.
differs() {
	local where=$1
	shift
	timeout 20 ./mutant "$@" | grep "^$where " >noise.out
	! cmp -s noise.out "plain.$where"
}

# Every second program is asked for the variable that is watched, where it is one.
criterion_of() { # SEED LINE
	local value
	value=$(sed -n "$2s/.*watch([0-9]*, \(.*\));.*/\1/p" program.c)
	if [ $(($1 % 2)) = 0 ] && [[ $value =~ ^[a-z0-9]*(->[a-z]+)*$ && ! $value =~ ^[0-9] ]]; then
		echo "program.c:$2:$value"
	else
		echo "program.c:$2"
	fi
}

check_watch() { # SEED LINE WHERE
	local all in out some criterion
	criterion=$(criterion_of "$1" "$2")
	[[ $criterion = *:*:* ]] && variables=$((variables + 1))
	"$build/waymark" slice --format=json program "$criterion" >slice.json || { fail "seed $1: no slice of $criterion"; return; }
	grep "^$3 " plain.out >"plain.$3"
	all=$(grep -nE '[VPQ]\(' program.c | grep -v '#define' | cut -d: -f1)
	in=$(grep -o '"line": [0-9]*' slice.json | cut -d' ' -f2)
	mapfile -t out < <(comm -23 <(echo "$all" | sort) <(echo "$in" | sort) | sort -n)
	slices=$((slices + 1))
	lines_of=$((lines_of + $(echo "$all" | wc -l)))
	lines_in=$((lines_in + $(echo "$all" | wc -l) - ${#out[@]}))
	if [ ${#out[@]} -gt 0 ] && differs "$3" "${out[@]}"; then
		for some in "${out[@]}"; do
			differs "$3" "$some" && echo "  by line $some alone: $(sed -n "${some}p" program.c)"
		done
		fail "seed $1: watch($3) in line $2 sees other values when lines outside of the slice of $criterion change"
	fi
	# Noise in the slice is mostly seen.
	# shellcheck disable=SC2086
	differs "$3" $(comm -12 <(echo "$all" | sort) <(echo "$in" | sort)) && changed=$((changed + 1))
}

# The watches whose values differ when that line alone computes noise are in its forward slice.
check_line() { # SEED LINE
	local where line
	if ! "$build/waymark" slice --forward --format=json program "program.c:$2" >slice.json 2>err; then
		grep -q 'the program has no code of' err && return # nothing calls the function
		fail "seed $1: no forward slice of line $2: $(cat err)"
		return
	fi
	timeout 20 ./mutant "$2" >noise.out
	forward=$((forward + 1))
	grep -o '"line": [0-9]*' slice.json | cut -d' ' -f2 >in.txt
	while IFS=: read -r line where; do
		watches=$((watches + 1))
		grep -qx "$line" in.txt && reached=$((reached + 1))
		cmp -s <(grep "^$where " plain.out) <(grep "^$where " noise.out) && continue
		reached_by_noise=$((reached_by_noise + 1))
		grep -qx "$line" in.txt ||
			fail "seed $1: a change of line $2 reaches watch($where) in line $line, which is not in its forward slice"
	done < <(sed -n 's/.*\twatch(\([0-9]*\),.*/\1/p' program.c | while read -r w; do echo "$(grep -n "	watch($w," program.c | cut -d: -f1):$w"; done)
}

for ((seed = first; seed < first + count; seed++)); do
	python3 "$here/random_program.py" "$seed" >program.c
	"$build/waymark" cc --wm=trace='*=fc' -g -O0 -w program.c -o program && clang-19 -O1 -w -DMUTATE program.c -o mutant ||
		{ fail "seed $seed: does not build"; continue; }
	timeout 20 ./mutant >plain.out
	while IFS=: read -r line text; do
		where=${text#*watch(} where=${where%%,*}
		grep -q "^$where " plain.out && check_watch "$seed" "$line" "$where"
	done < <(grep -n '	watch([0-9]' program.c)
	for line in $(grep -nE '[VPQ]\(' program.c | grep -v '#define' | cut -d: -f1 | awk -v seed="$seed" '(NR + seed) % 12 == 0' | head -4); do
		check_line "$seed" "$line"
	done
done
echo "$forward forward slices, $((100 * reached / (watches + 1))) % of the watches in them; noise reached $((100 * reached_by_noise / (watches + 1))) %"
[ "$forward" -gt 0 ] && [ "$reached_by_noise" -gt 0 ] && [ $((100 * reached)) -lt $((90 * watches)) ] ||
	fail "no forward slices, too large ones, or noise that reaches nothing"
echo "seeds $first to $((seed - 1)): $slices slices, $variables of variables, $((100 * lines_in / (lines_of + 1))) % of the lines in them; noise there was seen $changed times"
[ "$slices" -gt 0 ] && [ "$variables" -gt 0 ] && [ $((2 * changed)) -gt "$slices" ] && [ $((100 * lines_in)) -lt $((90 * lines_of)) ] ||
	fail "too few slices, too large ones, or noise that nobody sees"
exit $failed

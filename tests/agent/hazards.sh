#!/bin/bash
# hazards.sh - programs that skip or interrupt calls, built by plain compilers, with and without the agent: same output and exit status, and
# each point at which the program asks agrees with its stack.
#	hazards.sh AGENT SOURCES WORK [PROGRAM...]
# HAZARDS_AGENT: options of the agent (WAYMARK_AGENT), beside those of a line "hazards.sh: agent OPTIONS" of the program. Without it a
# program runs once more for each of its lines "hazards.sh: again OPTIONS...": with `epochs` there are new encodings all the time, with `check`
# each sample agrees, too. Of the program, lines "hazards.sh: entered N": the agent is entered at most so often; "hazards.sh: link FLAGS": the
# linker gets them for it and its libraries.
set -u
agent=$1 sources=$2 work=$3
shift 3
programs=${*:-$(cd "$sources" && ls ./*.c ./*.cpp)}
status=0
count=0
# shellcheck source=tests/support/compile.sh
. "$(dirname "$0")/../support/compile.sh"
[ -r "$agent" ] || { echo "$agent is not there"; exit 1; }
mkdir -p "$work"

declare -A libraries # that are made

# compiler options program: and its libraries, $out.N.so, where a line "hazards.sh: libraries N..." says that it has some
build() {
	local out="$work/${3%.*}" numbers number link flags kept

	link=$(sed -n 's/.*hazards.sh: link //p' "$sources/$3")
	numbers=$(sed -n 's/.*hazards.sh: libraries //p' "$sources/$3")
	flags=${2/-no-pie/} flags=${flags//-O?/}
	for number in $numbers; do
		# Optimized, for tail calls; from 3 on at an address of their own. Made once for all levels of the program.
		kept=$out.$number.$1${flags// /}.so
		# shellcheck disable=SC2046,SC2086
		[ -n "${libraries[$kept]-}" ] ||
			compile "$1" "$kept" $flags -O2 -g -fPIC -shared -DLIBRARY="$number" "$sources/$3" $link \
				$([ "$number" -lt 3 ] || echo -Wl,-Ttext-segment=0x6f0000000000) || return
		libraries[$kept]=1
		cp "$kept" "$out.$number.so"
	done
	# shellcheck disable=SC2046,SC2086
	compile "$1" "$out" $2 -g -pthread $([ -z "$numbers" ] || echo -rdynamic) "$sources/$3" $link
}

# compiler options program, then options of the agent: the program that was built runs under it, as it did without
under_agent() {
	local name=${3%.*} agent_options=$4 got result most entered
	local out="$work/$name"

	most=$(sed -n 's/.*hazards.sh: entered //p' "$sources/$3")
	rm -f "$out.probes"
	(
		export WAYMARK_AGENT=$agent_options LD_BIND_NOW=1 WAYMARK_OUT="$out.wmk" PROBES="$out.probes" LD_PRELOAD="$agent"
		exec "$out" >"$out.agent" 2>"$out.agent.err"
	)
	got=$?
	result=$(cat "$out.probes" 2>/dev/null)
	count=$((count + 1))
	if [ $got != $want ] || ! cmp -s "$out.plain" "$out.agent" || ! [[ $result =~ ^agreed\ [1-9][0-9]*\ unknown\ 0\ differed\ 0$ ]] ||
		grep -q '^waymark: context differs' "$out.agent.err"; then
		echo "$name, $1 $2, agent $agent_options: exit status $got, without the agent $want; $result"
		head -5 "$out.agent.err"
		status=1
	fi
	[ -n "$most" ] || return
	entered=$(sed -n 's/.* entered \([0-9]*\) .*/\1/p' "$out.agent.err" | tail -1)
	if [ "${entered:-$((most + 1))}" -gt "$most" ]; then
		echo "$name, $1 $2: entered the agent ${entered:-?} times, more than $most"
		status=1
	fi
}

# compiler options program
compare() {
	local out="$work/${3%.*}" options again want

	if ! build "$1" "$2" "$3"; then
		status=1
		return
	fi
	"$out" >"$out.plain" 2>"$out.plain.err"
	want=$?
	options=$(sed -n 's/.*hazards.sh: agent //p' "$sources/$3")
	under_agent "$1" "$2" "$3" "${HAZARDS_AGENT:-}${options:+,$options}"
	[ -z "${HAZARDS_AGENT:-}" ] || return
	for again in $(sed -n 's/.*hazards.sh: again //p' "$sources/$3"); do
		under_agent "$1" "$2" "$3" "$again${options:+,$options}"
	done
}

for program in $programs; do
	program=${program#./}
	compilers="gcc clang-19"
	[ "${program##*.}" = cpp ] && compilers="g++ clang++-19"
	for compiler in $compilers; do
		command -v "$compiler" >/dev/null || continue
		for options in "-O0" "-O2" "-O2 -fcf-protection=full" "-O1 -no-pie" "-O2 -fno-plt"; do
			compare "$compiler" "$options" "$program"
		done
	done
done
[ $count -gt 0 ] || exit 77
echo "$count programs"
exit $status

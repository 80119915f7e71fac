#!/bin/bash
# under.sh AGENT GENERATE random FIRST LAST - the random programs of these seeds, each built in one of many ways, under the agent.
# under.sh AGENT GENERATE hazards NAME...   - hazard programs of one file, each built in several ways.
#
# Programs are built by plain compilers. At each of their check points the agent compares the context with libgcc's walk of the stack
# (stub/waymark.h): all must agree, and what a program prints, and its exit status, must be as natively. Of random programs one context in
# ten may be not known. No timer is involved.
# ALL=1 builds each program in every way. KEEP=DIR keeps what failed. STATUS=1 prints every program.
set -u

here=$(cd "$(dirname "$0")" && pwd)
agent=$(realpath "$1") generate=$(realpath "$2") what=$3
shift 3
lang='' shared=0 # of the random program at hand, from generate
tmp=$(mktemp -d "${TMPDIR:-/tmp}/waymark-under.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

compilers=
! command -v gcc >/dev/null || ! command -v g++ >/dev/null || compilers="gcc:g++"
! command -v clang-19 >/dev/null || compilers="$compilers clang-19:clang++-19"
[ -n "$compilers" ] || { echo "neither gcc nor clang-19 is there"; exit 77; }
ways=()
for level in -O2 -O0 -O1 -O3; do
	for more in '' '-fcf-protection=full' '-fcf-protection=none -fomit-frame-pointer' '-fno-plt' '-fno-omit-frame-pointer' '-no-pie -fno-pie'; do
		for pair in $compilers; do
			ways+=("$pair $level $more")
		done
	done
done
ways+=("${compilers%% *} -O2 -fno-ipa-ra" "${compilers%% *} -Os")
bad=0 runs=0 points=0
most_unknown=0 # percent of those that agree
[ "$what" != random ] || most_unknown=10

# run_both LABEL PROGRAM STATUS IS_REPEATABLE: in the program's folder
run_both() {
	local status=0 native=0 reason='' n unknown
	timeout 60 "$2" >>native.out 2>native.err || native=$?
	LD_PRELOAD=$agent WAYMARK_AGENT=check WAYMARK_OUT=$PWD/out.wmk timeout 20 "$2" >>agent.out 2>agent.err || status=$?
	grep -v '^waymark:' agent.err >agent.said
	n=$(grep -c '^agrees' agent.out) unknown=$(grep -c '^unknown' agent.out)
	if [ $native -ne "$3" ]; then
		reason="natively its exit status is $native"
	elif [ $status -ne $native ]; then
		reason="exit status $status, natively $native: $(tail -n 1 agent.err)"
	elif [ $((n + unknown)) -ne "$(grep -c . agent.out)" ] || [ $((unknown * 100)) -gt $((n * most_unknown)) ]; then
		reason="$(grep -c '^DIFFERS' agent.out) differ, $(grep -c '^unknown' agent.out) are not known, $n agree"
	elif [ "$4" = 1 ] && ! cmp -s <(sort native.out) <(sed 's/^unknown\t/agrees\t/' agent.out | sort); then
		reason="prints something else"
	elif ! cmp -s native.err agent.said; then
		reason="prints other errors: $(tail -n 1 agent.said)"
	fi
	runs=$((runs + 1)) points=$((points + n))
	if [ -n "$reason" ]; then
		echo "FAIL $1: $reason"
		grep -m 1 differs agent.err | cut -c 1-300
		bad=$((bad + 1))
		[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && cp -a "$PWD" "$KEEP/"; }
	elif [ -n "${STATUS:-}" ]; then
		echo "ok   $1: $n points, $unknown not known"
	fi
}

# shellcheck disable=SC2086 # lists of words
build_random() { # WAY; $lang $shared
	set -- $1
	local pair=$1 cc
	shift
	[ "$lang" = c ] && cc=${pair%:*} || cc=${pair#*:}
	local common="-w -g -D_GNU_SOURCE -I$here/stub -I$here/../random -I." link="-rdynamic -pthread -L$tmp -lforeign -Wl,-rpath,$tmp"
	if [ "$shared" = 1 ]; then
		$cc "$@" $common -fPIC -shared part1.$lang -L$tmp -lforeign -o libpart.so &&
			$cc "$@" $common part0.$lang -L. -lpart $link -Wl,-rpath,"$PWD" -o prog
	else
		$cc "$@" $common part0.$lang part1.$lang $link -o prog
	fi
}

one_random() { # SEED WAY
	local dir=$tmp/seed$1.$runs
	mkdir "$dir"
	cd "$dir" || exit 1
	eval "$("$generate" "$1" .)"
	if ! build_random "${ways[$2]}" >build.log 2>&1; then
		echo "FAIL seed $1 (${ways[$2]}): does not build: $(head -n 1 build.log)"
		bad=$((bad + 1))
	else
		run_both "seed $1 ($lang shared=$shared ${ways[$2]})" ./prog 0 $((1 - $(grep -c 'volatile int ticks' part0.*)))
	fi
	cd "$tmp" && rm -rf "$dir"
}

one_hazard() { # NAME WAY
	local dir=$tmp/$1.$runs source=$here/../hazards/$1.c status=0 pair rest
	[ -f "$source" ] || source=$here/../hazards/$1.cpp
	case $1 in atexit) status=7 ;; quickexit) status=5 ;; terminate) status=3 ;; esac
	mkdir "$dir"
	cd "$dir" || exit 1
	pair=${ways[$2]%% *} rest=${ways[$2]#* }
	case $source in *.cpp) pair=${pair#*:} ;; *) pair=${pair%:*} ;; esac
	# shellcheck disable=SC2086 # lists of words
	if ! $pair $rest -w -g -D_GNU_SOURCE -pthread -I"$here/stub" "$source" -o prog -lm >build.log 2>&1; then
		echo "FAIL $1 (${ways[$2]}): does not build: $(grep -m 1 error build.log)"
		bad=$((bad + 1))
	else
		run_both "$1 (${ways[$2]})" ./prog $status 1
	fi
	cd "$tmp" && rm -rf "$dir"
}

case $what in
random)
	gcc -w -O2 -fPIC -shared "$here/../random/foreign.c" -o "$tmp/libforeign.so"
	for ((seed = $1; seed <= $2; seed++)); do
		if [ -n "${ALL:-}" ]; then
			for ((way = 0; way < ${#ways[@]}; way++)); do one_random $seed $way; done
		else
			one_random $seed $((seed * 7 % ${#ways[@]}))
		fi
	done
	;;
hazards)
	number=0
	for name; do
		for ((way = 0; way < ${#ways[@]}; way++)); do
			if [ -n "${ALL:-}" ] || [ $(((way + number) % 7)) -eq 0 ]; then one_hazard "$name" $way; fi
		done
		number=$((number + 1))
	done
	;;
esac
echo "$bad of $runs programs failed, $points points agree"
[ $bad -eq 0 ]

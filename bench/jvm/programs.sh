#!/bin/bash
# Runs real Java programs plainly and under the agent, and compares what they do and each context with a walk of the stack.
#
#   bench/jvm/programs.sh [-b BUILD-DIR] [-j JDK] [-w DIR] [-e "OPTIONS;OPTIONS"] [-c FACTOR] [-v "JVM-OPTIONS"] [PROGRAM...]
#
# The programs are twins of DaCapo's from Debian's packages (common.sh; drivers/ has what each does). Of each program and each string of the
# agent's options (by default one, the empty one) a row: same output and exit status under the agent, and under the agent that compares
# every Nth entry of a method; N; captures compared, those that differed; CPU seconds plainly, under the agent and with comparisons. -c
# multiplies N: 10 compares a tenth. With another JDK than 17 leave out ecj and javac, whose work is javac 17 itself. Differences and other
# messages of the agent are in DIR/PROGRAM.[OPTIONS.]check.err. Ends with 1 when a program behaves otherwise, a context differs or nothing
# was compared.
# Needs: scripts/install-deps.sh bench-jvm
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
dir='' jdk='' encodings='' factor=1 jvm=''
while getopts b:c:e:j:v:w: name; do
	case $name in
	b) build=$OPTARG ;;
	c) factor=$OPTARG ;;
	e) encodings=$OPTARG ;;
	j) jdk=$OPTARG ;;
	v) jvm=$OPTARG ;;
	w) dir=$OPTARG ;;
	*) sed -n '4p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
. "$here/common.sh"
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $all_programs
begin

# A comparison takes as long as the stack is deep: N makes 10 to 40 seconds of it.
entries() { # PROGRAM
	case $1 in
	javac) echo 20011 ;;
	ecj | rhino) echo 5003 ;;
	jython) echo 2003 ;;
	tomcat) echo 53 ;;
	batik) echo 11 ;;
	*) echo 503 ;;
	esac
}

# run RESULT JVM-OPTION...: the prepared program. What it writes goes to RESULT.out and .err, its CPU seconds to .time.
TIMEFORMAT='%U %S'
run() {
	local result=$dir/$1 status=0
	shift
	rm -rf "$dir/scratch" "$dir/run.wmk"
	# shellcheck disable=SC2086
	{ time WAYMARK_OUT=$dir/run.wmk timeout -k 1 300 "$jdk/bin/java" $jvm "$@" "${command[@]}" "$dir/scratch" 1 \
		>"$result.out" 2>"$result.err" || status=$?; } 2>"$result.time"
	echo "status $status" >>"$result.out"
}

# same PLAIN OTHER: both behaved alike, but for what the agent says.
same() {
	cmp -s "$dir/$1.out" "$dir/$2.out" && cmp -s "$dir/$1.err" <(grep -av '^waymark: ' "$dir/$2.err")
}

cpu() { awk '{ printf "%.2f", $1 + $2 }' "$dir/$1.time"; }

failed=0 total=0 wrong=0 unknown=0
printf '%-10s %-16s %-4s %6s %9s %8s %6s %8s %8s %8s\n' program options same every compared differed lost plain agent check
for program; do
	prepare "$program" || { printf '%-10s left out: %s\n' "$program" "$why"; continue; }
	run "$program.plain"
	grep -qx 'status 0' "$dir/$program.plain.out" || { echo "$program fails plainly: $(tail -n 1 "$dir/$program.plain.err")"; failed=1; }
	for option in "${options[@]}"; do
		every=$(($(entries "$program") * factor)) at=$program.${option:+${option//[^a-z0-9]/-}.}
		run "${at}agent" "-agentpath:$agent${option:+=$option}"
		run "${at}check" "-agentpath:$agent=${option:+$option,}check=$every"
		alike=yes
		same "$program.plain" "${at}agent" && same "$program.plain" "${at}check" || { alike=NO failed=1; }
		read -r agreed differed lost < <(awk '/^waymark: [0-9]+ captures agreed with the stack, [0-9]+ differed/ { a += $2; d += $8; l += $10 }
			END { print a + 0, d + 0, l + 0 }' "$dir/${at}check.err")
		[ "$differed" = 0 ] && [ "$agreed" -gt 0 ] || failed=1
		total=$((total + agreed + differed)) wrong=$((wrong + differed)) unknown=$((unknown + lost))
		printf '%-10s %-16s %-4s %6d %9d %8d %6d %8s %8s %8s\n' "$program" "${option:--}" $alike $every $((agreed + differed)) "$differed" "$lost" \
			"$(cpu "$program.plain")" "$(cpu "${at}agent")" "$(cpu "${at}check")"
		[ "$differed" = 0 ] || grep -a '^waymark: ' "$dir/${at}check.err" | cut -c 1-300 | awk '!seen[$0]++ && ++lines <= 5'
	done
done
echo "compared $total captures, $wrong differed, $unknown were lost"
exit $failed

#!/bin/bash
# Runs Debian's own binaries, unmodified, natively and under the agent, and compares what they do (work.sh).
#
#   bench/agent/programs.sh [-b BUILD-DIR] [-o AGENT-OPTIONS] [-w DIR] [PROGRAM...]
#
# Of each program a row: same output and exit status; samples that agree with libgcc's walk of the stack, of those compared, and those
# whose context is unknown; functions that are instrumented, edges, epochs, the largest id (of several processes the sums, the largest);
# CPU seconds natively and under the agent, and their ratio. Contexts that differ from the stack, and other things that the agent says,
# are in DIR/PROGRAM.log. Ends with 1 when a program behaves otherwise or a context differs.
# Needs: scripts/install-deps.sh bench
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
options=check,verbose,sample=997
dir=
while getopts b:o:w: name; do
	case $name in
	b) build=$OPTARG ;;
	o) options=$OPTARG ;;
	w) dir=$OPTARG ;;
	*) sed -n '4p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
agent=$(cd "$build" && pwd)/src/agent/libwaymark-agent.so
[ -f "$agent" ] || { echo "$agent is not built" >&2; exit 2; }
[ $# -gt 0 ] || set -- lua5.4 sqlite3 perl python3 gawk mujs duk tcc gnugo cc1 x264 povray xz pigz cmake bash gzip bzip2 zstd git make vim
if [ -z "$dir" ]; then
	dir=$(mktemp -d "${TMPDIR:-/tmp}/waymark-agent.XXXXXX")
	trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
[ -f "$dir/inputs/Makefile" ] || "$here/work.sh" inputs "$dir/inputs"
TIMEFORMAT='%U %S'

# run PROGRAM KIND [WITH]: what it writes goes to PROGRAM.KIND.out, to standard error to .err, its CPU seconds to .time
run() {
	local at=$dir/$1.$2 status=0
	rm -rf "$dir/scratch"
	mkdir "$dir/scratch"
	{ time WITH=$3 timeout 300 "$here/work.sh" "$1" "$dir/inputs" "$dir/scratch" >"$at.out" 2>"$at.err" || status=$?; } 2>"$at.time"
	echo "status $status" >>"$at.out"
	[ $status -ne 77 ]
}

failed=0
printf '%-8s %-5s %9s %9s %7s %6s %6s %6s %9s %7s %7s %6s\n' \
	program same agree compared unknown funcs edges epochs 'max id' native agent ratio
for program; do
	run "$program" native 'env LD_BIND_NOW=1' || { echo "$program: $(tail -n 1 "$dir/$program.native.err")"; continue; }
	run "$program" agent "env LD_BIND_NOW=1 LD_PRELOAD=$agent WAYMARK_AGENT=$options WAYMARK_OUT=$dir/$program.wmk"
	grep -a '^waymark:' "$dir/$program.agent.err" >"$dir/$program.log" || true
	same=yes
	cmp -s "$dir/$program.native.out" "$dir/$program.agent.out" &&
		cmp -s "$dir/$program.native.err" <(grep -av '^waymark:' "$dir/$program.agent.err") || same=NO
	awk -v program="$program" -v same=$same -v native="$(cat "$dir/$program.native.time")" -v agent="$(cat "$dir/$program.agent.time")" '
		/ samples, / { unknown += $4; agree += $10; compared += $12 }
		/: functions / { functions += $3; edges += $13; epochs += $15; if ($18 > most) most = $18 }
		/context differs/ { differ++ }
		END {
			split(native, n); split(agent, a); before = n[1] + n[2]; after = a[1] + a[2]
			printf "%-8s %-5s %9d %9d %7d %6d %6d %6d %9s %7.2f %7.2f %6.2f\n", program, same, agree, compared, unknown, functions,
				edges, epochs, most + 0, before, after, before ? after / before : 0
			exit same == "NO" || differ > 0 || agree != compared
		}' "$dir/$program.log" || failed=1
	[ $same = yes ] || tail -n 2 "$dir/$program.agent.out" "$dir/$program.agent.err" | cut -c 1-200
done
exit $failed

#!/bin/bash
# all.sh BUILD-DIR [FIRST LAST] - has every program of this folder crash in every configuration, and compares what `waymark core`
# tells with the record; then the random programs of the seeds FIRST to LAST (1 to 60), in some configurations each; then the
# hazards. About 30 minutes; prints what differs, and how many were the same.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
read -r -d '' -a configurations <<'END'
O0,pt O0,cc+pt,apart O0,stmt+pt O1,cc+pt O1,stmt+pt,apart O2,pt,apart O2,cc+pt,apart O2,stmt+pt O3,stmt+pt,apart Os,cc+pt,apart
O2,cc,apart O2,fc+cc,apart O2,stmt,apart O2,fc O2,none O2,pt,apart,ring=1 O2,pt,apart,ring=64 O2,cc+pt,static O1,pt,nopie,apart O2,stmt+pt,pic
O2,stmt+pt,apart,strip O2,pt,apart,gc O2,none|cc+pt,apart,set=cc+pt O0,fc|pt|stmt+pt,set=stmt+pt O2,none|stmt+pt,set=none
O2,none|stmt+pt,apart,tune=stmt+pt O2,cc+pt,contexts,apart O1,fc+cc+pt,apart O2,fc+cc+pt,source O0,stmt+pt,source,apart O2,cc+pt,source,apart O2,stmt+pt,source O1,pt,source,apart,strip
END
read -r -d '' -a together <<'END'
O0,pt O0,cc+pt O1,stmt+pt O2,pt O2,cc+pt O2,stmt+pt O3,stmt+pt Os,cc+pt O2,cc O2,pt,ring=1 O2,cc+pt,static O1,pt,nopie O2,stmt+pt,strip
O2,none|cc+pt,set=cc+pt O2,cc+pt,source O0,stmt+pt,source
END
read -r -d '' -a killed <<'END'
O2,stmt+pt,kill=0 O2,cc+pt,apart,kill=0 O0,stmt+pt,apart,kill=0 O1,cc+pt,kill=0 O3,pt,apart,kill=0 Os,stmt+pt,apart,kill=0
O2,stmt+pt,source,kill=0 O2,cc+pt,source,apart,kill=0 O0,stmt+pt,source,apart,kill=0 O2,pt,apart,ring=64,kill=0 O1,stmt,apart,kill=0 O2,none|stmt+pt,apart,set=stmt+pt,kill=0 O0,pt,kill=0
END
export LINES_MAX=3
# shellcheck source=tests/support/count.sh
. "$here/../support/count.sh"

if [ $# -lt 2 ]; then
	set -- "$1" 1 60
	for file in "$here"/*.c "$here"/*.cpp; do
		name=$(basename "$file")
		case $name in
		record* | kill.c | *_part.c) ;;
		dispatch.c | queue.c | hang.c | deadlock.c | overflow.c) count "$here/run.sh" "$build" "${name%.*}" "${together[@]}" ;;
		library.c) count "$here/run.sh" "$build" library "${configurations[@]/*static/O2,pt}" ;;
		*) count "$here/run.sh" "$build" "${name%.*}" "${configurations[@]}" ;;
		esac
	done
	for file in "$here"/same/*.c*; do
		name=trace/same/$(basename "${file%.*}")
		for options in "" "-static" "-fPIE -static-pie" "-fcf-protection -fpatchable-function-entry=8,4" "-fno-plt -mno-red-zone" "-pg" "-fsanitize=address"; do
			# Runs before the sanitizer has started, and before mcount can be called: lld's output crashes without us, too.
			[[ $name = *resolver && ($options = *address || $options = -pg) ]] && continue
			for kind in "=*=stmt+pt" "=*=none|fc|cc|fc+cc|stmt|pt|fc+pt|cc+pt|fc+cc+pt|stmt+pt" "=*=stmt+pt|none --wm-stage=source"; do
				count "$here/same.sh" "$build" "--wm=trace$kind $options" "$name"
			done
		done
	done
	for file in "$here"/../paths/*.c*; do
		name=$(basename "$file")
		case $name in
		trace.c | *_pass.cpp | dump.c | generate_flow.c | *_part.c | *_other.c* | through* | asmgoto.c | plugins.c | storm.c | endless.c) ;;
		*)
			count "$here/same.sh" "$build" "--wm=trace=*=stmt+pt" "paths/${name%.*}"
			count "$here/same.sh" "$build" "--wm=contexts,trace=*=none|cc+pt" "paths/${name%.*}"
			;;
		esac
	done
	# Contexts of the hazards are what their own stacks say, whichever body of a function runs.
	for file in "$here"/../hazards/*.c*; do
		name=$(basename "$file")
		levels=(O0 O2) schemes=('*=none' '*=cc+pt' '[a-m]*=fc')
		case $name in
		compare.c | *_*) continue ;;
		exported.c) levels=('O0,-rdynamic' 'O2,-rdynamic') schemes=('*=none') ;; # looks names up, which other bodies do not export
		esac
		for scheme in "${schemes[@]}"; do
			OPTIONS='--wm=contexts,trace=*=none|cc+pt|fc' WAYMARK_SCHEME=$scheme count "$here/../hazards/run.sh" "$build" "${name%.*}" "${levels[@]}"
		done
	done
fi
for ((seed = $2; seed <= $3; seed++)); do
	i=$((seed % (${#killed[@]} - 1)))
	count "$here/run.sh" "$build" "random=$seed" "${killed[i]}" "${killed[i + 1]}"
	count "$here/same.sh" "$build" "--wm=trace=*=stmt+pt" "random=$seed"
done
counted

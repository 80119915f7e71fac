# Sourced by run.sh and activity.sh: the programs of ../paths/programs.sh, traced in many ways, and points where they crash.
#
# The caller has opened work as there, and sets here to this folder. A build is $work/PROGRAM-VARIANT; variants of which the name
# ends in -O0 are compiled and linked without optimization; those that begin with source- are traced when they are compiled, all others at
# the end. $work/PROGRAM-cores.VARIANT has cores. With layouts=N, N builds more with functions in other orders are beside each program
# (bench-cc.sh).
# shellcheck shell=bash

trace_dir=$here
here=$here/../paths
# shellcheck source=../paths/programs.sh
. "$here/programs.sh"
traced='ccrypt flex grep gzip sed bc sqlite3 gnugo perl'

cp "$trace_dir/bench-cc.sh" "$work/bin/bench-cc"

level_of() { case $1 in *-O0) echo -O0 ;; esac } # VARIANT

# What a variant is traced with; nothing: it is clang's own.
rules_of() { # PROGRAM VARIANT
	local variant=${2%-O0}
	variant=${variant#source-}
	case $variant in
	lto) ;;
	none | fc | cc | fc+cc | stmt | pt | fc+pt | cc+pt | fc+cc+pt | stmt+pt) echo "*=$variant" ;;
	fixed) cat "$work/$1-failing${2#fixed}.rules" ;;
	tuned) echo '*=cc|cc+pt' ;;
	off) echo '*=none|cc+pt' ;;
	all) echo '*=none|fc|cc|fc+cc|stmt|pt|fc+pt|cc+pt|fc+cc+pt|stmt+pt' ;;
	*) echo "$trace_dir: unknown variant $2" >&2; return 1 ;;
	esac
}

program_of() { # PROGRAM VARIANT: the file
	local command
	command=$(command_of "$1" "$2" small)
	echo "${command%% *}"
}

link_again() { # PROGRAM DIR FILE
	local make=(make -C "$2" -j "$jobs")
	rm -f "$3"
	case $1 in
	bc) "${make[@]}" -C bc bc ;;
	flex | ccrypt) "${make[@]}" -C src "$1" ;;
	gawk | gzip | perl | sqlite3) "${make[@]}" "$1" ;;
	*) "${make[@]}" all ;;
	esac
}

tune_layouts() { # PROGRAM-FILE RULES-FILE
	local file
	for file in "$1".[0-9]*; do
		[ ! -f "$file" ] || "$waymark" tune "$file" --set "$(sed 's/;\*=cc$//' "$2")" >"$out.errors" || return
	done
}

# lto and lto-O0 are compiled; the traced ones are the same bitcode, linked again: it is the final code that is traced.
build_traced() { # PROGRAM VARIANT
	local dir=$work/$1-$2 level rules source program is_linked_again=''
	level=$(level_of "$2")
	local -x BENCH_CC='clang-19 -gline-tables-only -gdwarf-4 -fdebug-info-for-profiling -flto -fuse-ld=lld' BENCH_CC_LAST=$level
	case $2 in fixed*) build_traced "$1" "tuned$level" || return ;; esac # finds out what fails
	rules=$(rules_of "$1" "$2") || return
	program=$(program_of "$1" "$2")
	if [ -f "$dir/.built" ] && { [ "${layouts:-0}" = 0 ] || [ -f "$program.$layouts" ]; }; then
		[ -n "$rules" ] || return 0
		[ "$dir/.built" -nt "$build/src/instrument/waymark-pass.so" ] && [ "$dir/.built" -nt "$waymark" ] && return
	fi
	if [ "${2#source-}" != "$2" ]; then
		rm -rf "$dir"
		BENCH_CC="$waymark cc -gline-tables-only -gdwarf-4 --wm=trace=$rules --wm-stage=source"
	elif [ -n "$rules" ]; then
		build_traced "$1" "lto$level" || return
		BENCH_CC="$waymark cc -gline-tables-only -gdwarf-4 --wm=trace=$rules"
		rm -rf "$dir"
		is_linked_again=1
	fi
	{
		if [ -n "$is_linked_again" ]; then
			cp -a "$work/$1-lto$level" "$dir" && rm -f "$dir/.built" "$program".[0-9]*
		elif [ ! -f "$dir/.built" ]; then
			rm -rf "$dir"
			source=$("$here/../../scripts/fetch-source.sh" "$(package_of "$1")") && cp -a "$source" "$dir" &&
				configure_cache=$work/$1.cache "compile_$1" "$dir" bench-cc -O2 && touch "$dir/.built"
		fi && { [ -z "$is_linked_again" ] && [ "${layouts:-0}" = 0 ] || BENCH_LAYOUTS=${layouts:-0} link_again "$1" "$dir" "$program"; }
	} >"$dir.log" 2>&1 || { { tail -n 20 "$dir.log"; echo "$1 $2: does not build, see $dir.log"; } >&2; return 1; }
	touch "$dir/.built"
	rm -rf "${out:?}"/*
	case $2 in
	tuned*)
		make_cores "$1" "$2" || return
		# shellcheck disable=SC2046 # names without blanks
		"$waymark" tune "$program" $(cores_of "$1" "$2" | sed 's/^/--from /') >"$out.errors" || return
		"$waymark" tune "$program" --list | awk '$3 == "cc+pt" { printf "%s=cc+pt;", $1 } END { print "*=cc" }' >"$work/$1-failing$level.rules"
		tune_layouts "$program" "$work/$1-failing$level.rules"
		;;
	esac
}

# Where programs crash: five points for each program and level of optimization, chosen once from what the program does with its
# small input (callgrind's counts of calls, in the build `none`). The program's functions that ran are sorted by name, without
# main and exits. Numbers x(n + 1) = (x(n) * 1103515245 + 12345) mod 2^31, x(0) = 1, divided by 65536, choose in turn: modulo the
# number of functions the function, which is not chosen again, then modulo the number of its calls (1000 at most) the call. The
# crash is at the first instruction of that call, so it is the same moment in each variant. gdb counts and writes the core.
points_of() { # PROGRAM LEVEL: makes the file $work/PROGRAM-pointsLEVEL, lines NUMBER FUNCTION CALL
	local points=$work/$1-points$2
	[ ! -s "$points" ] || return 0
	build_traced "$1" "none$2" || return
	(
		set -f
		# shellcheck disable=SC2046 # commands without blanks inside words
		valgrind --tool=callgrind --compress-strings=no --callgrind-out-file="$points.calls" \
			$(command_of "$1" "none$2" small) <"$(input_of "$1" small)" >"$out.output" 2>"$out.errors"
	) || [ $? -eq 1 ] || return
	# A function is chosen by its name: not if there are several.
	nm --defined-only "$(program_of "$1" "none$2")" | awk '$2 ~ /[tT]/ { print $3 }' | sort | uniq -u >"$points.functions"
	awk '
		NR == FNR { is_own[$1] = 1; next }
		sub(/^cfn=/, "") { callee = $0 }
		sub(/^calls=/, "") { if (callee in is_own && callee !~ /^(_.*|main|.*exit.*|deregister_tm_clones|register_tm_clones)$/) calls[callee] += $1 }
		END { for (f in calls) print f, calls[f] }' "$points.functions" "$points.calls" | sort |
		awk '
		function next_number() { x = (x * 1103515245 + 12345) % 2147483648; return int(x / 65536) }
		{ name[NR] = $1; calls[NR] = $2 > 1000 ? 1000 : $2 }
		END {
			x = 1
			for (number = 1; number <= 5 && number <= NR; ) {
				f = next_number() % NR + 1
				if (!(f in is_chosen)) print number++, name[f], next_number() % calls[f] + 1
				is_chosen[f] = 1
			}
		}' >"$points"
}

cores_of() { find "$work/$1-cores.$2" -name '[0-9]' | sort; } # PROGRAM VARIANT

make_cores() { # PROGRAM VARIANT: cores are $work/PROGRAM-cores.VARIANT/NUMBER, as many as can be had
	local cores=$work/$1-cores.$2 number function call status=0
	points_of "$1" "$(level_of "$2")" && build_traced "$1" "$2" || return
	mkdir -p "$cores"
	while read -r number function call; do
		[ ! "$cores/$number" -nt "$work/$1-$2/.built" ] || continue
		rm -f "$cores/$number"
		set -f
		# shellcheck disable=SC2046 # commands without blanks inside words
		set -- "$1" "$2" $(command_of "$1" "$2" small)
		set +f
		DEBUGINFOD_URLS='' gdb -q -nx -batch -iex 'set auto-load off' \
			-ex "starti $(printf '%q ' "${@:4}") <$(input_of "$1" small) >$out.output 2>&1" \
			-ex "break *&'$function'" -ex "ignore 1 $((call - 1))" -ex continue -ex "generate-core-file $cores/$number" -ex kill \
			"$3" </dev/null >"$cores/$number.log" 2>&1
		[ -s "$cores/$number" ] || { tail -n 3 "$cores/$number.log"; echo "no core of $1 $2 at call $call of $function"; status=1; } >&2
	done <"$work/$1-points$(level_of "$2")"
	return $status
}

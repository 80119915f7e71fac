#!/bin/bash
# The compiler that programs are built with here: $BENCH_CC ARGUMENTS $BENCH_CC_LAST. When it links FILE and BENCH_LAYOUTS=N is set,
# FILE.1 to FILE.N are the same program with its functions in other orders. Where a loop comes to lie is worth up to 7 % of a
# short program's time, and any change of any function moves all that follow: one build alone says little of a change.
set -uf

file='' is_link=1 last=''
for word; do
	[ "$last" != -o ] || file=$word
	case $word in -c | -E | -S | -shared) is_link='' ;; esac
	last=$word
done
# shellcheck disable=SC2206 # lists of words
compiler=($BENCH_CC) final=($BENCH_CC_LAST)
[ -n "$is_link" ] && [ -n "$file" ] && [ "${BENCH_LAYOUTS:-0}" -gt 0 ] || exec "${compiler[@]}" "$@" "${final[@]}"

is_compiled() { # FILE: a source, bitcode or an archive of it
	local magic
	case $1 in
	*.c) return ;;
	*.o) magic=$(od -An -N4 -tx1 "$1") ;;
	*.a) magic=$(ar p "$1" "$(ar t "$1" | head -n 1)" | od -An -N4 -tx1) ;;
	*) return 1 ;;
	esac
	[ "$magic" = ' 42 43 c0 de' ]
}

# Optimized once: the other orders are links of the object file that this gives.
"${compiler[@]}" "$@" "${final[@]}" -Wl,--lto-obj-path="$file.lto.o" || exit
objects=("$file.lto.o") last=''
for word; do
	if [ "$word" != -o ] && [ "$last" != -o ] && ! { [ -f "$word" ] && is_compiled "$word"; }; then
		objects+=("$word")
	fi
	last=$word
done
for ((seed = 1; seed <= BENCH_LAYOUTS; seed++)); do
	"${compiler[@]}" "${objects[@]}" "${final[@]}" -Wl,--shuffle-sections='.text*'="$seed" -o "$file.$seed" || exit
done
rm "$file.lto.o"

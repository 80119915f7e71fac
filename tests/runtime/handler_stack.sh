#!/bin/sh
# handler_stack.sh WAYMARK SOURCE-DIR - what a handler is the first one to call of waymark.h needs 2 kB of its stack at most: a stack of SIGSTKSZ, 8 kB, holds
# the frame of the signal, too, with all vector registers, and the loader would write these once more if it had to bind a function there.
set -u
waymark=$(realpath "$1")
source=$(realpath "$2")/handler_stack.c
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
unset WAYMARK_OUT WAYMARK_LIMIT LD_PRELOAD
failures=0

for options in '' '--wm-no-recorder' '-rdynamic' '-static'; do
	# shellcheck disable=SC2086 # a list
	"$waymark" cc -O2 -pthread -Wl,-z,lazy $options "$source" -o program || exit 1
	for arguments in capture token event 'capture thread' 'event thread'; do
		# shellcheck disable=SC2086
		bytes=$(./program $arguments) || bytes="exit status $?"
		case $bytes in
		[1-9]*) [ "$bytes" -le 2048 ] && continue ;;
		esac
		echo "FAIL: $arguments ($options): $bytes, more than 2048 bytes"
		failures=$((failures + 1))
	done
done
[ $failures = 0 ]

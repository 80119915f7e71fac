#!/bin/sh
# What run.sh has dash do: functions, patterns, arithmetic, positional parameters.
#
#   work-dash.sh ROUNDS
parity() {
	case $1 in
	*[13579]) kind=odd ;;
	*) kind=even ;;
	esac
	join $kind "$1"
}

join() {
	text="$text${1%d}"
	[ ${#text} -gt 80 ] && text=
	sum=$(($2 * 3 + ${#text}))
}

i=0 text='' sum=0
while [ "$i" -lt "$1" ]; do
	parity "$i"
	i=$((i + 1))
	for k in a b c; do set -- "$1" "$k" "$sum" "$i"; done
done
echo "$sum $text"

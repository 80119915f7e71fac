#!/bin/bash
# addr-regex-plus.sh SED - the test that sed's own suite lacks: ranges from a regular expression to so many lines after it
# (/x/,+N), and to the next line whose number is a multiple (/x/,~N).
set -eu
sed=$1
expect() { # SCRIPT LINES
	local got
	got=$(seq 12 | $sed -n "$1" | paste -sd ' ')
	[ "$got" = "$2" ] || { echo "sed -n '$1': $got; expected: $2"; exit 1; }
}
expect '/^3$/,+2p' '3 4 5'
expect '/^3$/,+0p' '3'
expect '/[39]/,+1p' '3 4 9 10'
expect '/[34]/,+1p' '3 4'
expect '/^11$/,+5p' '11 12'
expect '/^5$/,~4p' '5 6 7 8'

#!/bin/bash
# Compiles C files preprocessed beforehand, so that no macros are left: X.c becomes .flat/X.c, without line marks, then an object.
#
#   flat-cc.sh COMPILER ARGUMENT...        anything but one `-c X.c` goes to COMPILER as it is; so do configure's tests
set -eu

compiler=$1
shift
compile='' file=''
for argument; do
	case $argument in
	-c) compile=1 ;;
	*.c) file=$argument ;;
	esac
done
[ -n "$compile" ] && [ -n "$file" ] && [[ ${file##*/} != conftest* ]] || exec "$compiler" "$@"

flat=$(dirname "$file")/.flat/${file##*/}
mkdir -p "${flat%/*}"
preprocess=() rest=() value=''
for argument; do
	if [ -n "$value" ]; then
		rest+=("$argument")
		value=
		continue
	fi
	case $argument in
	-c | *.c) preprocess+=("$argument") ;;
	-M[FTQ]) rest+=("$argument") && value=1 ;;
	-M*) rest+=("$argument") ;;
	*) preprocess+=("$argument") && rest+=("$argument") ;;
	esac
done
# The output is last, so an earlier -o does not matter.
clang-19 '-D_Noreturn=__attribute__((__noreturn__))' -w "${preprocess[@]}" -E -P -o "$flat"
exec "$compiler" -w "${rest[@]}" -c "$flat"

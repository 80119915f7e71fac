#!/bin/bash
# steps.sh SOURCE-DIR WORK-DIR LIBRARY - builds the programs of shapes in many ways and runs each: unwound after every instruction of
# its own and some of its libraries' (step.h). LEVELS: of optimization, for both compilers.
set -eu
sources=$1 work=$2 library=$3
mkdir -p "$work"

run() {
	local every=$1 arguments=$2 compiler=$3 source=$4
	shift 4
	"$compiler" "$@" -g -D_GNU_SOURCE -I"$sources/.." "$sources/$source" "$library" -o "$work/program"
	echo "$compiler $source $*"
	STEP_EVERY=$every "$work/program" $arguments
}

# The libraries' code is the same each time: once in full is enough.
run 1 library gcc shapes.c -O2
for compiler in gcc clang-19; do
	levels='-O0 -O2'
	[ $compiler = gcc ] || levels='-O1 -O3'
	for level in ${LEVELS-$levels}; do
		run 61 "" $compiler shapes.c $level
	done
	run 61 "" $compiler shapes.c -O2 -fno-omit-frame-pointer -fcf-protection
	run 61 "" $compiler shapes.c -O1 -fno-pie -no-pie -fomit-frame-pointer
	run 61 "" $compiler shapes.c -Os -fno-plt -fno-asynchronous-unwind-tables -funwind-tables -ffunction-sections
done
for level in -O0 -O2; do
	run 61 "" g++ shapes_exceptions.cpp $level
	run 61 "" clang++-19 shapes_exceptions.cpp $level
done
run 31 library g++ shapes_exceptions.cpp -O3 -fno-omit-frame-pointer

#!/bin/sh
# code.sh BUILD - what code_records.c records of code, in the reports of its files. The stacks are written out here from its graphs.
. "$(dirname "$0")/../cli/lib.sh"

# record CASE STATUS [SETTING]: runs the case; its file is CASE.PID.wmk, a child's has a greater number.
record() {
	mkdir "$1" || exit 1
	status=0
	env WAYMARK_OUT="$1/%p.wmk" ${3:+"$3"} "$build/tests/runtime/code_records" "$1" >out.txt 2>err.txt || status=$?
	[ $status -eq "$2" ] || fail "$1: exit status $status: $(cat out.txt err.txt)"
}

# stacks FILE: the report's stacks, with the sums of values, are those of standard input.
stacks() {
	sort >want.txt
	expect 0 "$waymark" report --format=folded --metric=hit:sum "$1"
	sed -E 's/(.*) ([0-9]+)$/\2 \1/' out.txt | sort >got.txt
	cmp -s got.txt want.txt || fail "$1: $(diff got.txt want.txt)"
}

epoch_1() { # VALUE
	echo "$1 a;c"
	echo "$(($1 * 2)) a;b;c"
}

later() { # VALUE NAME
	echo "$1 a;b;c;$2"
	echo "$(($1 * 2)) a;c;$2"
	echo "$(($1 * 4)) a;b;c;$2;b;c;$2"
}

record two 0
{ epoch_1 33; later 4 d; } | stacks two/*.wmk
expect 0 "$waymark" report two/*.wmk
lacks out.txt "lost"

record early 0
{ epoch_1 1; later 4 d; } | stacks early/*.wmk

record quiet 0
[ -z "$(ls quiet)" ] || fail "quiet: a file of a process that captured nothing"

record killed 137
{ epoch_1 1; echo "28 [unknown]"; } | stacks killed/*.wmk
has err.txt "epoch 2: how calls were encoded in it was not recorded"

# Two files: the child's is the one whose parent_run is not 0.
for order in child parent early; do
	record fork_$order 0
	for file in fork_$order/*.wmk; do
		parent=$(od -An -tx8 -j24 -N8 "$file" | tr -d ' ')
		is_child=$("$waymark" report --format=folded "$file" | grep -c of_child)
		echo "$is_child" >>fork_$order/children
		[ $order = early ] || [ "$is_child" -eq 0 ] || [ "$parent" != 0000000000000000 ] ||
			fail "fork_$order: the child's file names no parent"
		case $is_child-$order in
		0-early) { epoch_1 80000; later 10000 of_parent; } | stacks "$file" ;;
		0-*) { epoch_1 80033; later 10000 of_parent; later 4 d; } | stacks "$file" ;;
		*) { epoch_1 800; later 100 of_child; } | stacks "$file" ;;
		esac
	done
	[ "$(sort fork_$order/children | tr '\n' ' ')" = "0 3 " ] || fail "fork_$order: $(cat fork_$order/children)"
done

record chain 0
stack=$(seq -s ';' 0 4999 | sed 's/[0-9][0-9]*/f&/g')
for file in chain/*.wmk; do
	sum=$("$waymark" report --format=folded --metric=hit:sum "$file" | sed 's/.* //')
	echo "$sum" >>chain/sums
	echo "$sum $stack" | stacks "$file"
done
[ "$(sort chain/sums | tr '\n' ' ')" = "1 2 " ] || fail "chain: $(cat chain/sums)"

# A unit each of strings, images, functions, sites, three of the first epoch, events; those left are not enough for the second one.
record limit_late 0 WAYMARK_LIMIT=$((24 * 4096))
{ epoch_1 1; echo "4 [unknown]"; } | stacks limit_late/*.wmk
has err.txt "records of code were lost, and all later ones"
has err.txt "WAYMARK_LIMIT"
has err.txt "epoch 2: how calls were encoded in it was not recorded"
# Memory before the file is limited, too: what filled it finds no room beside the file's own chunks.
record limit_early 0 WAYMARK_LIMIT=$((24 * 4096))
expect 0 "$waymark" report limit_early/*.wmk
has out.txt "records of code were lost, and all later ones"
has out.txt "WAYMARK_LIMIT"
lacks out.txt "a;c"
finish

# shellcheck shell=bash
# attach_lib.sh - for tests of `waymark attach`, after lib.sh: programs of attach/ that run until they are told to end, and a look at what is
# left in them. $sources: this directory.
pids=()
trap '[ ${#pids[@]} -eq 0 ] || kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT INT TERM
trap '' PIPE
needs gcc g++

gcc -w -O2 -I "$sources/../../include" -o tool "$sources/attach/tool.c" || exit 1
gcc -w -O2 -o work "$sources/attach/work.c" || exit 1
gcc -w -O2 -pthread -o threads "$sources/attach/threads.c" || exit 1
gcc -w -O2 -pthread -o heap "$sources/attach/heap.c" || exit 1
g++ -w -O2 -o throw "$sources/attach/throw.cpp" || exit 1

sleep 100 &
pids=($!)
./tool can $! || { echo "processes cannot be traced here"; exit 77; }
kill -9 $! && wait $! 2>/dev/null
pids=()

# begin PROGRAM ARGUMENT...: runs it until it is ready; its number is in $pid, its input is descriptor 9
begin() {
	local i program=$1
	shift
	rm -f input flag out.txt
	mkfifo input
	"./$program" "$@" "$dir/flag" <input >out.txt 2>err.txt &
	pid=$!
	pids=("$pid")
	exec 9>input
	for ((i = 0; i < 3000; i++)); do
		grep -qs ready out.txt && return 0
		sleep 0.01
	done
	fail "$program $*: never ready"
	return 1
}

# attach_with LABEL SAMPLES OPTION...: in with these options, so many samples into LABEL.wmk, out. What the detach says is in said.txt.
attach_with() {
	local label=$1 samples=$2 file=$dir/$1.wmk
	shift 2
	patient timeout 200 "$waymark" attach -q "$@" -o "$file" "$pid" 2>said.txt || { fail "$label: attach"; cat said.txt; return 1; }
	[ "$samples" -eq 0 ] || ./tool samples "$file" "$samples" || fail "$label: samples"
	patient timeout 200 "$waymark" attach --detach "$pid" 2>said.txt || { fail "$label: detach"; cat said.txt; return 1; }
	./tool text "$pid" || fail "$label: code is not as it was"
}

# folded LABEL: its stacks, into folded.txt
folded() {
	"$waymark" report --format folded --metric cpu "$dir/$1.wmk" >folded.txt 2>&1 || fail "$1: report"
}

wants() {
	grep -q "$2" folded.txt || { fail "$1: no $2"; head -20 folded.txt; }
}

# end_program LABEL STATUS LINES: lets it end. What it wrote to standard error is in err.txt.
end_program() {
	local status
	touch flag
	echo x >&9 2>/dev/null # a program that slept may have ended
	exec 9>&-
	wait "$pid"
	status=$?
	pids=()
	[ $status -eq "$2" ] || fail "$1: exit status $status"
	printf "ready\n%s0 failures\n" "$3" | cmp - out.txt || { fail "$1: its output"; cat out.txt; }
}

# is_in NUMBER: it waits in that system call, or has been there
is_in() {
	local i
	for ((i = 0; i < 3000; i++)); do
		grep -qs failures out.txt && return 0
		[ "$(cut -d' ' -f1 "/proc/$pid/syscall")" = "$1" ] && return 0
		sleep 0.01
	done
	return 1
}

# ---- attach/heap.c, which allocates in known contexts. $heap_late: where a thread stands that begins meanwhile ----

# step NAME: it takes it
step() {
	local i
	echo "$1" >&9
	for ((i = 0; i < 3000; i++)); do
		grep -qsx "$1" out.txt && return 0
		sleep 0.01
	done
	fail "heap: never $1"
	return 1
}

# What one thread of it allocates while the agent is there: context below run, allocations, bytes, bytes that live on.
heap_counts() {
	local below
	echo "meets_old;[realloc] 30 150000 150000"
	for below in recurse{,\;recurse{,\;recurse{,\;recurse}}}; do
		echo "keeps;$below;leaf;[malloc] 25 2500 2500"
	done
	echo "passes;leaf;[malloc] 1000 16000 0"
	echo "by_pointer;[malloc] 10 330 0"
	echo "by_library;strdup;[malloc] 10 150 0"
	echo "all_kinds;[calloc] 1 15 0"
	echo "all_kinds;[realloc] 3 200111 0"
	echo "all_kinds;[reallocarray] 1 70 0"
	echo "all_kinds;leaf;[malloc] 2 25 0"
	echo "all_kinds;[posix_memalign] 2 2001 0"
	echo "all_kinds;[aligned_alloc] 1 512 0"
	echo "all_kinds;[valloc] 1 3 0"
	echo "all_kinds;[pvalloc] 1 4 0"
}

# What all threads of it do: three that were there before, the first one, and one that begins meanwhile.
heap_all() {
	heap_counts | awk '{ print "[thread];worker;run;while_there;" $1, 3 * $2, 3 * $3, 3 * $4
		print "main;take_step;run;while_there;" $1, $2, $3, $4 }'
	echo "$heap_late;shortly;leaf;[malloc] 1000 17000 0"
}

# check_heap LABEL: the recording has those, and what the C library takes for a thread that it makes
check_heap() {
	local metric column=1
	for metric in allocations bytes live; do
		column=$((column + 1))
		heap_all | awk -v c=$column '$c > 0 { print $1, $c }' | sort >wanted.txt
		"$waymark" report --format folded --metric $metric "$dir/$1.wmk" 2>folded.txt | grep -v ';pthread_create;' | sort >got.txt
		grep -qF '[lost]' got.txt && fail "$1: lost contexts"
		grep -v '^#' got.txt | diff wanted.txt - || fail "$1: $metric"
	done
	"$waymark" report "$dir/$1.wmk" >text.txt 2>&1
	grep -q '280 frees were of blocks whose allocation was not recorded' text.txt || fail "$1: frees of blocks from before"
	grep -q 'when the agent left, none of them counted as leaked' text.txt || fail "$1: how it ended"
}

# visit_heap LABEL OPTION...: before, while and after the agent is there
visit_heap() {
	local label=$1
	shift
	step "before-$label" || return
	patient timeout 200 "$waymark" attach -q "$@" -o "$dir/$label.wmk" "$pid" 2>said.txt || { fail "$label: attach"; cat said.txt; return 1; }
	step "while-$label"
	patient timeout 200 "$waymark" attach --detach "$pid" 2>said.txt || { fail "$label: detach"; cat said.txt; return 1; }
	./tool text "$pid" || fail "$label: code is not as it was"
	step "after-$label"
}

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

# shellcheck shell=bash
# core.sh - cores for tests: `core_of CORE COMMAND...` runs the command until a signal is about to kill it, or until it
# traps (raise(SIGTRAP)), and has gdb write its core at that point.
#
# Not the kernel's own dumps: where these go, and whether there are any, is up to core_pattern and limits of the machine, which
# a container shares with its host. gdb needs ptrace only. Address space randomization stays as it is, so that programs are
# loaded where they are in real life. Their standard input is the file CORE_INPUT, if that is set. Exit status 77: gdb may not trace here.
core_of() {
	local core=$1
	shift
	rm -f "$core"
	DEBUGINFOD_URLS='' gdb -q -nx -batch -data-directory /none -iex 'set auto-load off' -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /none' \
		-ex 'set disable-randomization off' -ex 'set startup-with-shell off' -ex 'set print thread-events off' \
		-ex 'handle SIGUSR1 SIGUSR2 SIGALRM SIGCHLD nostop noprint pass' ${CORE_GDB:+-ex "$CORE_GDB"} \
		-ex run -ex "generate-core-file $core" -ex kill --args "$@" >"$core.gdb" 2>&1 <"${CORE_INPUT:-/dev/null}"
	[ -s "$core" ] && return
	if grep -q 'ptrace: Operation not permitted' "$core.gdb"; then
		echo "SKIP: programs cannot be traced here (ptrace is not permitted)"
		exit 77
	fi
	echo "FAIL: gdb wrote no core of $*:"
	cat "$core.gdb"
	return 1
}

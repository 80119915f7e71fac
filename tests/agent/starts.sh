#!/bin/bash
# starts.sh BUILD - where the agent cannot start, one line says so and why, and so do the report and the end of the run; programs that are
# started without it are named.
set -u
cc=$(command -v gcc || command -v clang-19) || { echo "neither gcc nor clang-19 is there"; exit 77; }
# shellcheck source=tests/agent/lib.sh
. "$(dirname "$0")/lib.sh"

# run STATUS ARGUMENT...: waymark run, what is said in err.txt
run() {
	want=$1
	shift
	status=0
	"$waymark" run --events "$@" >out.txt 2>err.txt || status=$?
	[ $status -eq "$want" ] || { fail "$*: status $status"; cat err.txt; }
}

cat >alloc.c <<'END'
#include <stdlib.h>
int main(void)
{
	void *volatile block = malloc(100);

	free(block);
	return 3;
}
END
"$cc" -O1 -g alloc.c -o alloc || exit 1
run 3 --heap --encode -o good.wmk ./alloc
lacks err.txt "did not start"
"$waymark" report good.wmk >report.txt
lacks report.txt "did not start"

# ---- too little address space ----
room='the agent did not start: the limit on address space is too low (ulimit -v)'
(ulimit -v 300000 && run 3 --heap --check -o space.wmk ./alloc && [ $failures -eq 0 ]) || failures=$((failures + 1))
has err.txt "waymark: the agent did not start in process"
has err.txt "waymark run: 1 process recorded no contexts: $room"
for format in text json; do
	"$waymark" report --format=$format space.wmk >report.txt
	has report.txt "space.wmk: $room"
done
(ulimit -v 300000 && run 3 --sample --encode -o none.wmk ./alloc && [ $failures -eq 0 ]) || failures=$((failures + 1))
has err.txt "alloc recorded nothing: $room"

# ---- no signal can be queued ----
(ulimit -i 0 && run 3 --sample --heap --encode -o timer.wmk ./alloc && [ $failures -eq 0 ]) || failures=$((failures + 1))
has err.txt "the kernel gives no timer (ulimit -i): no samples are taken"

# ---- a program that does not begin as those of C do ----
cat >own.c <<'END'
#include <stdlib.h>
__attribute__((force_align_arg_pointer)) void _start(void)
{
	void *volatile block = malloc(100);

	free(block);
	exit(4);
}
END
begun='the agent did not start: main was not called through the C library, as Go programs do not'
if "$cc" -nostartfiles own.c -o own; then
	run 4 ./own
	has err.txt "own recorded nothing: $begun"
	run 4 --heap --encode -o own.wmk ./own
	has err.txt "own.wmk has no contexts: $begun"
	"$waymark" report own.wmk >report.txt
	has report.txt "own.wmk: $begun"
fi

# ---- programs that are started without it ----
cat >starter.c <<'END'
#include <spawn.h>
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* starter HOW PROGRAM: its status. */
int main(int argc, char **argv)
{
	char *arguments[] = {argv[argc - 1], NULL}, *empty[] = {NULL};
	const char *how = argv[1], *program = argv[argc - 1];
	int status = 0;
	pid_t pid = 0;

	if (strcmp(how, "spawn") == 0 && posix_spawn(&pid, program, NULL, NULL, arguments, environ) != 0)
		return 99;
	if (strcmp(how, "spawnp-empty") == 0 && posix_spawnp(&pid, program, NULL, NULL, arguments, empty) != 0)
		return 99;
	if (strcmp(how, "vfork") == 0 && (pid = vfork()) == 0) {
		execv(program, arguments);
		_exit(98);
	}
	if (strcmp(how, "fork") == 0 && (pid = fork()) == 0) {
		execvp(program, arguments);
		_exit(98);
	}
	if (strcmp(how, "list") == 0 && (pid = fork()) == 0) {
		execl(program, program, "a", "b", NULL);
		_exit(98);
	}
	if (strcmp(how, "listp") == 0 && (pid = vfork()) == 0) {
		execlp(program, program, "a", NULL);
		_exit(98);
	}
	if (strcmp(how, "list-empty") == 0 && (pid = fork()) == 0) {
		execle(program, program, "a", "b", "c", NULL, empty);
		_exit(98);
	}
	if (strcmp(how, "fork-empty") == 0 && (pid = fork()) == 0) {
		execve(program, arguments, empty);
		_exit(98);
	}
	free(malloc(10));
	return pid && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}
END
"$cc" -O1 starter.c -o starter || exit 1
started() { # STATUS LINE HOW PROGRAM
	want_line=$2
	run "$1" --heap --encode -o start.wmk ./starter "$3" "$4"
	has err.txt "waymark run: 1 started program is not recorded, $want_line"
	"$waymark" report start.wmk >report.txt
	has report.txt "start.wmk: 1 program that it started is not recorded"
	rm -f start*.wmk*
}
if "$cc" -static alloc.c -o fixed 2>/dev/null; then
	for how in spawn vfork fork list listp; do
		started 3 "./fixed: it is linked statically" $how ./fixed
	done
	PATH=$dir:$PATH started 3 "$dir/fixed: it is linked statically" fork fixed
	run 3 -q ./starter spawn ./fixed
	lacks err.txt "not recorded"
fi
started 3 "./alloc: its environment has no LD_PRELOAD" fork-empty ./alloc
started 3 "./alloc: its environment has no LD_PRELOAD" list-empty ./alloc
PATH=$dir:$PATH started 3 "$dir/alloc: its environment has no LD_PRELOAD" spawnp-empty alloc
for how in spawn vfork fork; do
	run 3 --heap --encode -o start.wmk ./starter $how ./alloc
	lacks err.txt "not recorded"
	[ "$(grep -c 'wrote start' err.txt)" -eq 2 ] || { fail "$how: not both recordings"; cat err.txt; }
	rm -f start*.wmk*
done
# The loader of another C library gets no agent, which it would fail on. The loader's name is all that is another here; what the program
# was preloaded with otherwise stays.
cat >libc.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	const char *list = getenv("LD_PRELOAD");

	for (int i = 1; i < argc; i++)
		printf("%s,", argv[i]);
	printf("%s\n", !list ? "none" : strstr(list, "libwaymark-") ? "all" : strrchr(list, '/') + 1);
	return 5;
}
END
ln -s /lib64/ld-linux-x86-64.so.2 ld-musl-x86_64.so.1
echo 'int other;' | "$cc" -shared -fPIC -x c - -o other.so || exit 1
if "$cc" libc.c -o libc "-Wl,--dynamic-linker=$dir/ld-musl-x86_64.so.1" && [ -e ld-musl-x86_64.so.1 ]; then
	for how in spawn vfork fork list listp; do
		started 5 "./libc: it is linked with another C library than glibc" $how ./libc
		grep -q '^\(a,\)\?\(b,\)\?none$' out.txt || fail "$how: another C library gets: $(cat out.txt)"
	done
	LD_PRELOAD=$dir/other.so started 5 "./libc: it is linked with another C library than glibc" spawn ./libc
	[ "$(cat out.txt)" = other.so ] || fail "LD_PRELOAD of the user: $(cat out.txt)"
fi
for how in list listp; do
	"$cc" libc.c -o plain
	run 5 ./starter $how ./plain
	[ "$(cat out.txt)" = "$([ $how = list ] && echo a,b,all || echo a,all)" ] || fail "$how: arguments: $(cat out.txt)"
done
run 98 --heap --encode -o start.wmk ./starter fork nosuch
lacks err.txt "not recorded"

# ---- options of the environment, without `waymark run` ----
WAYMARK_AGENT=wal WAYMARK_OUT=$dir/wal.wmk LD_PRELOAD=$build/src/agent/libwaymark-agent.so ./alloc 2>err.txt
has err.txt "waymark: WAYMARK_AGENT: unknown option wal; known are sample=HZ, check, heap, wall, verbose, epochs"
finish

#!/bin/bash
# damage.sh BUILD JDK SOURCES - a recording that another process truncates costs its records, and not the virtual machine, whose own
# handler gets the faults of Java programs; under -Xcheck:jni nothing is in front of that, and it hands faults on.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Truncated
timeout -k 1 60 "$waymark" run -q --alloc=1000 -o ./ "$jdk/bin/java" -cp classes Truncated >out.txt 2>err.txt || fail "status $?"
printf 'truncated 1\nInternalError\n' | cmp -s - out.txt || { cat out.txt; fail "output"; }
timeout -k 1 60 "$jdk/bin/java" "${quick[@]}" -Xcheck:jni "-agentpath:$agent" -cp classes Truncated >out.txt 2>&1 || fail "-Xcheck:jni: status $?"
! grep 'SIGBUS handler modified' out.txt || fail "-Xcheck:jni: a handler in front of the virtual machine's"
for option in -Xcheck:jni -XX:+CheckJNICalls; do
	rm -f ./*.wmk
	timeout -k 1 60 "$waymark" run -q --alloc=1000 -o ./ "$jdk/bin/java" "${quick[@]}" $option -cp classes Truncated >out.txt 2>err.txt ||
		fail "$option under waymark run: status $?"
	printf 'truncated 1\nInternalError\n' | cmp -s - out.txt || { cat out.txt; fail "$option: output"; }
	grep 'handler modified' err.txt && fail "$option: a handler in front of the virtual machine's"
done
# A SIGBUS that is not the recording's ends it all the same.
printf 'class Killed { public static void main(String[] a) throws Exception { new ProcessBuilder("kill", "-BUS", "" + ProcessHandle.current().pid()).inheritIO().start().waitFor(); Thread.sleep(30000); } }\n' >Killed.java
javac -d classes Killed.java || exit 1
ulimit -c 0
timeout -k 1 60 "$waymark" run -q --alloc=1000 -o ./ "$jdk/bin/java" "${quick[@]}" -Xcheck:jni -cp classes Killed >out.txt 2>err.txt
status=$?
[ $status = 135 ] || fail "a SIGBUS that was sent: status $status"
grep -q 'outside of the recording ends the virtual machine' err.txt || fail "a SIGBUS that was sent: $(head -n 3 err.txt)"
[ "$failures" = 0 ]

#!/bin/bash
# damage.sh BUILD JDK SOURCES - a recording that another process truncates costs its records, and not the virtual machine, whose own
# handler gets the faults of Java programs; under -Xcheck:jni nothing is in front of that.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

"$jdk/bin/javac" -d classes "$sources/Truncated.java" || exit 1
timeout -k 1 60 "$waymark" run -q --alloc=1000 -o ./ "$jdk/bin/java" -cp classes Truncated >out.txt 2>err.txt || fail "status $?"
printf 'truncated 1\nInternalError\n' | cmp -s - out.txt || { cat out.txt; fail "output"; }
timeout -k 1 60 "$jdk/bin/java" -Xcheck:jni "-agentpath:$agent" -cp classes Truncated >out.txt 2>&1 || fail "-Xcheck:jni: status $?"
! grep 'SIGBUS handler modified' out.txt || fail "-Xcheck:jni: a handler in front of the virtual machine's"
[ "$failures" = 0 ]

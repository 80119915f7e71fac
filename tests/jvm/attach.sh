#!/bin/bash
# attach.sh BUILD JDK SOURCES - a program in C that has a virtual machine: contexts of threads that attach begin at [thread], each time anew,
# and are exact through calls from C to Java and back, and through exceptions.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

compiled Attached
flags=(-I "$jdk/include" -I "$jdk/include/linux" -pthread)
"${CC:-cc}" "${flags[@]}" -o attach "$sources/attach.c" -L "$jdk/lib/server" -ljvm "-Wl,-rpath,$jdk/lib/server" || exit 1
"${CC:-cc}" "${flags[@]}" -shared -fPIC -o library.so "$sources/attach_library.c" || exit 1

# What an attachment records: times and context. The thread that made the virtual machine does the same once, without [thread].
cat >once.txt <<'END'
2 Attached.inner
4 Attached.work;Attached.outer;Attached.inner
2 Attached.work;Attached.outer;Attached.outer;Attached.thrower;Attached.inner
2 Attached.work;Attached.outer;Attached.thrower;Attached.inner
1 Attached.work;Attached.thrower;Attached.inner
4 Attached.work;Attached.outer
2 Attached.work;Attached.outer
2 Attached.work;Attached.outer;Attached.outer
END
{
	awk '{ print $2, $1; print "[thread];" $2, 12 * $1 }' once.txt # 3 threads, 4 times each
	echo 'Attached.load;Attached.inner 1'
	echo 'Attached.load;[java.lang.System.load];Attached.inner 1'
} | sort >wanted.txt

for encoder in fast lucce; do
	WAYMARK_OUT=$dir/run.wmk timeout -k 1 60 ./attach "$agent=check,encoder=$encoder" classes "$dir/library.so" >out.txt 2>err.txt ||
		fail "$encoder: status $?"
	[ "$(cat err.txt)" = "waymark: $(awk '{ sum += $2 } END { print sum }' wanted.txt) captures agreed with the stack, 0 differed" ] ||
		{ head -n 5 err.txt; fail "$encoder: check"; }
	for metric in inner returned caught; do
		"$waymark" report --format folded --metric "$metric" run.wmk || fail "$encoder: report of $metric"
	done | sort >folded.txt
	diff wanted.txt folded.txt || fail "$encoder: contexts"
done
[ "$failures" = 0 ]

#!/bin/bash
# attaching.sh BUILD JDK SOURCES - `waymark attach` to virtual machines that run: events of each client are exact in each of three recordings,
# what the program prints and its status are those of a run without, and each refusal is one line. As another user, and in a container's
# namespaces, where that is permitted.
# shellcheck source=tests/jvm/setup.sh
. "$3/setup.sh"

java=$jdk/bin/java
compiled Attachable
mkfifo in

# begin COMMAND...: starts the program, whose number is $pid, and waits until it is ready
begin() {
	"$@" <in >out.txt 2>err.txt &
	pid=$!
	exec 3>in
	wait_for 1 ready
}

# wait_for N LINE: until the program has printed the line N times
wait_for() {
	while [ "$(grep -cx "$2" out.txt)" -lt "$1" ]; do
		kill -0 "$pid" 2>/dev/null || { fail "the program has ended: $(cat err.txt)"; exit 1; }
		sleep 0.01
	done
}

# tell COMMAND [NUMBER]: and waits until it is done
tell() {
	local before
	before=$(grep -cx "$1" out.txt)
	echo "$*" >&3
	wait_for $((before + 1)) "$1"
}

# end WHAT: the program ends by itself, with its status
end() {
	exec 3>&-
	wait "$pid"
	[ $? = 3 ] || fail "$1: status"
	grep -v '^WARNING: ' err.txt >other.txt # Java 21 and later warn of agents that are loaded later
	[ ! -s other.txt ] || fail "$1: it has said $(head -n 3 other.txt)"
}

# Of a thread that runs, allocations are events from its next buffer on, which it gets after a collection, and behind a random number of bytes,
# half a megabyte on average.
attach() {
	timeout 30 "$waymark" attach "$@" "$pid" >attach.txt 2>&1 || fail "attach $*: $(cat attach.txt)"
	tell collect
	tell warm
}
detach() { timeout 30 "$waymark" attach --detach "$pid" >attach.txt 2>&1 || fail "detach: $(cat attach.txt)"; }

# refused WORDS OPTION...: attaching fails with one line that has the words
refused() {
	local words=$1
	shift
	timeout 30 "$waymark" attach "$@" "$pid" >attach.txt 2>&1
	[ $? = 1 ] || fail "attach $*: is not refused"
	[ "$(wc -l <attach.txt)" = 1 ] && grep -q -e "$words" attach.txt || fail "attach $*: $(cat attach.txt)"
}

# recorded FILE METRIC EXPECTED: lines of the report, those of the program's own methods
recorded() {
	"$waymark" report --format=folded --metric="$2" "$1" >folded.txt 2>report.txt || fail "report: $(cat report.txt)"
	grep -E 'Attachable\.(allocate|enter);[^;]* ' folded.txt | sed 's/;java.lang.Thread.runWith;/;/' >own.txt # of Java 21 and later
	[ "$(cat own.txt)" = "$3" ] || fail "$1, $2: $(head -n 20 own.txt)"
}

# sampled FILE: what the threads that were there did is what samples have, and not much more than once
sampled() {
	"$waymark" report --format=folded --metric=cpu "$1" >folded.txt 2>report.txt || fail "report: $(cat report.txt)"
	awk -v file="$1" '
	/;Attachable\.work;Attachable\.lambda\$main\$[0-9]+;Attachable\.burn/ { sum += $NF }
	END {
		if (sum >= 300e6 && sum <= 500e6)
			exit
		print file ": of 400 ms there are samples of " sum / 1e6 " ms"
		exit 1
	}' folded.txt || fail "$(grep -c . folded.txt) contexts: $(head -n 5 folded.txt)"
}

work=';java.lang.Thread.run;Attachable.work;Attachable.lambda$main$0;Attachable.deeper;Attachable.deeper;Attachable.deeper;Attachable.deeper'
allocated="[thread]$work;Attachable.allocate;[byte[]]"
contended='[thread];java.lang.Thread.run;Attachable.enter;[java.lang.Object]'

# ---- each client, three times, and together ----

begin "$java" -cp classes Attachable notes.txt
tell allocate 10
for turn in 1 2 3; do
	attach --alloc=0 -o "$dir/alloc$turn.wmk"
	refused 'attached already' --alloc
	tell allocate $((100 * turn))
	detach
	tell allocate 50
	recorded "alloc$turn.wmk" alloc "$allocated $((100 * turn))"
	attach --contention -o "$dir/contention$turn.wmk"
	tell contend "$turn"
	tell allocate 20
	detach
	tell contend 1
	recorded "contention$turn.wmk" contention "$contended $turn"
	refused 'is not attached' --detach
	attach -o "$dir/sample$turn.wmk"
	tell burn 400
	detach
	tell burn 400
	sampled "sample$turn.wmk"
done
attach --heap --contention -o "$dir/both.wmk"
tell allocate 7
tell contend 2
detach
recorded both.wmk alloc "$allocated 7"
recorded both.wmk contention "$contended 2"
# Of the 16 arrays of 1 MB that `warm` makes one is left, the last one, in each recording: each stands for itself.
for turn in 1 2; do
	attach --live=1 --alloc=1048576 -o "$dir/live$turn.wmk"
	detach
	"$waymark" report --format=folded --metric=retained "live$turn.wmk" 2>report.txt | grep 'Attachable.warm' | sed 's/.* //' >own.txt
	[ "$(cat own.txt)" = 1 ] || fail "live$turn: $(cat report.txt own.txt)"
done
timeout 30 "$waymark" attach -q --contention -o "$dir/none.wmk" "$pid" || fail "none" # and nobody tells the program anything
detach
grep -q 'there was no event' attach.txt || fail "none: $(cat attach.txt)"
refused 'from the start only' --encode
refused 'from the start only' --check
refused 'at its start only' --exceptions
refused 'at its start only' --alloc --exceptions
refused 'is not attached' --detach
refused 'cannot write files to' --alloc -o "$dir/missing/a.wmk"
attach --alloc -o "$dir/last.wmk"
tell allocate 1000
end "attached at its end"
"$waymark" report last.wmk >/dev/null || fail "the recording of a program that ended attached"
cp out.txt attached.txt

# ---- the same without ----

begin "$java" -cp classes Attachable notes.txt
tail -n +2 attached.txt | while read -r command; do echo "$command 1"; done >&3
wait_for "$(grep -cx allocate attached.txt)" allocate
end "without"
cmp attached.txt out.txt || fail "it prints something else when it is attached to"

# ---- options of the virtual machine ----

begin "$java" -Xrs -cp classes Attachable notes.txt
attach --alloc=0 -o "$dir/xrs.wmk"
tell allocate 5
detach
recorded xrs.wmk alloc "$allocated 5"
end "-Xrs"

echo '-XX:+DisableAttachMechanism' >arguments
for option in -XX:+DisableAttachMechanism "-XX:+PerfDisableSharedMem -XX:+DisableAttachMechanism" @arguments "-Xrs -XX:+DisableAttachMechanism"; do
	# shellcheck disable=SC2086
	begin "$java" $option -cp classes Attachable notes.txt
	refused "DisableAttachMechanism" --alloc
	refused 'is not attached' --detach
	end "$option"
done

begin env JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism "$java" -XX:-UsePerfData -cp classes Attachable notes.txt
refused "DisableAttachMechanism" --alloc
exec 3>&-
wait "$pid"
[ "$(grep -vc 'Picked up' err.txt)" = 0 ] || fail "JAVA_TOOL_OPTIONS: $(cat err.txt)"

if "$java" -XX:+PrintFlagsFinal -version 2>/dev/null | grep -q EnableDynamicAgentLoading; then
	begin "$java" -XX:-EnableDynamicAgentLoading -cp classes Attachable notes.txt
	refused "EnableDynamicAgentLoading" --alloc
	end "-XX:-EnableDynamicAgentLoading"
fi

begin "$java" "-agentpath:$agent=alloc=0" -cp classes Attachable notes.txt
refused 'recorded from there' --alloc
refused 'recorded from there' --detach
end "with the agent from its start"

# ---- a virtual machine that does not answer; commands that are killed ----

begin "$java" -cp classes Attachable notes.txt
kill -STOP "$pid"
refused 'is stopped' --alloc
kill -CONT "$pid"
# Its thread that takes SIGQUIT is held: it goes on behind the command, and prints no dump of its threads.
cc -o held "$sources/held.c" || exit 1
mkfifo release
for thread in /proc/"$pid"/task/*; do
	grep -qx 'Signal Dispatch' "$thread/comm" && dispatcher=${thread##*/}
done
./held "$dispatcher" <release >held.txt &
holder=$!
exec 4>release
while [ ! -s held.txt ] && kill -0 $holder 2>/dev/null; do sleep 0.01; done
if grep -qx held held.txt; then
	refused 'does not answer' --alloc
	refused 'does not answer' --alloc
	exec 4>&-
	wait $holder
	attach --alloc=0 -o "$dir/held.wmk"
	tell allocate 3
	detach
	recorded held.wmk alloc "$allocated 3"
	! grep -q 'thread dump' out.txt || fail "a command that gave up has made the virtual machine print its threads"
	[ ! -e "/tmp/.attach_pid$pid" ] || fail "/tmp/.attach_pid$pid was left behind"
else
	echo "not tested: a thread that is held, which is not permitted"
	exec 4>&-
	wait $holder
fi
for ((i = 0; i < 20; i++)); do
	"$waymark" attach -q --alloc=0 -o "$dir/killed.wmk" "$pid" >attach.txt 2>&1 &
	command=$!
	for ((k = 0; k < i * 200; k++)); do :; done
	kill -KILL "$command" 2>/dev/null
	wait "$command" 2>/dev/null
	tell allocate 1
	timeout 30 "$waymark" attach -q --detach "$pid" >attach.txt 2>&1
done
attach --alloc=0 -o "$dir/after.wmk"
tell allocate 9
detach
recorded after.wmk alloc "$allocated 9"
for left in /tmp/.waymark-attach-*; do
	[ ! -e "$left" ] || fail "$left was left behind"
done
end "killed commands"

# ---- other users and namespaces ----

sleep 1000 &
pid=$!
refused 'no virtual machine of HotSpot' --alloc
kill "$pid"
if [ "$(id -u)" != 0 ]; then
	echo "not tested: other users and namespaces, which need root"
	exit $((failures != 0))
fi
chmod 755 "$dir"
mkdir -m 777 theirs
begin setpriv --reuid=65534 --regid=65534 --clear-groups "$java" -cp classes Attachable theirs/notes.txt
attach --alloc=0 -o "$dir/theirs/user.wmk"
tell allocate 11
detach
recorded theirs/user.wmk alloc "$allocated 11"
[ "$(stat -c %u theirs/user.wmk)" = 65534 ] || fail "whose is the recording?"
refused 'cannot write files to' --alloc -o "$dir/x.wmk"
end "another user"

inside() {
	mount -t tmpfs tmpfs /mnt && cp -r classes /mnt/ && mount -t tmpfs tmpfs "$1" && mount -t tmpfs tmpfs /tmp && chmod 1777 /tmp /mnt &&
		cd /mnt && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$2" -cp classes Attachable notes.txt
}
export -f inside
if ! unshare --mount --pid --fork true 2>/dev/null; then
	echo "not tested: namespaces, which are not permitted"
	exit $((failures != 0))
fi
begin unshare --mount --pid --fork --mount-proc bash -c 'inside "$@"' inside "$build" "$java"
outer=$pid
pid=$(pgrep -P "$outer")
attach --alloc=0 -o /mnt/%p.wmk
tell allocate 12
detach
grep -q "/proc/$pid/root/mnt/1.wmk" attach.txt || fail "where is the recording? $(cat attach.txt)"
recorded "/proc/$pid/root/mnt/1.wmk" alloc "$allocated 12"
attach --contention -o /mnt/second.wmk
tell contend 4
detach
recorded "/proc/$pid/root/mnt/second.wmk" contention "$contended 4"
! compgen -G "/proc/$pid/root/tmp/.waymark*" || fail "something was left behind in its /tmp"
pid=$outer
end "in other namespaces"
[ "$failures" = 0 ]

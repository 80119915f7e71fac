#!/bin/sh
# run.sh BUILD - waymark run: status, signals, standard streams, places, refusals.
. "$(dirname "$0")/lib.sh"
cc_program prog
unset WAYMARK_OUT

expect 7 "$waymark" run --events ./prog exit 7
has err.txt "recorded nothing"
expect 7 "$waymark" run --events -q ./prog exit 7
[ ! -s err.txt ] || fail "--quiet: $(cat err.txt)"
expect 0 "$waymark" run --events ./prog --version
lacks out.txt "waymark 0"
echo hello | "$waymark" run --events -q ./prog cat | grep -qx hello || fail "standard input"
for number in 15 9 6; do
	status=0
	sh -c '"$0" run --events -q ./prog kill "$1"; exit $?' "$waymark" $number >/dev/null 2>&1 || status=$?
	[ $status -eq $((128 + number)) ] || fail "signal $number: status $status"
done

# A signal sent to waymark reaches the program, and its death is ours.
mkfifo ready
"$waymark" run --events -q ./prog wait >ready 2>err.txt &
pid=$!
read -r line <ready
[ "$line" = ready ] || fail "wait: $line"
kill -TERM $pid
status=0
wait $pid || status=$?
[ $status -eq 143 ] || fail "SIGTERM is not passed on: $status"

mkdir 'a dir'
expect 0 "$waymark" run --events -o 'a dir' ./prog
ls 'a dir'/waymark-prog-*.wmk >/dev/null || fail "-o DIR"
has err.txt "wrote a dir/waymark-prog-"
expect 0 "$waymark" run --events -o 'a dir/%e-x.wmk' ./prog
[ -e 'a dir/prog-x.wmk' ] || fail "-o PATTERN"
mkdir '100%p'
expect 0 "$waymark" run --events -o '100%p' ./prog
ls '100%p'/waymark-prog-*.wmk >/dev/null || fail "a directory with a percent sign"
WAYMARK_OUT="$tmp/a dir/env.wmk" expect 0 "$waymark" run --events ./prog
[ -e 'a dir/env.wmk' ] || fail "WAYMARK_OUT"

# Recordings of earlier runs are not opened: the time of the last access stays what it was. Where reading does not change it, nobody knows.
mkdir earlier
expect 0 "$waymark" run --events -q -o earlier ./prog event 1
old=$(echo earlier/*.wmk)
touch -a -d '2 days ago' "$old"
cat "$old" >read.txt
if [ "$(stat -c %X "$old")" -gt $(($(date +%s) - 86400)) ]; then
	touch -a -d '2 days ago' "$old"
	touch mark
	until touch probe && [ -n "$(find probe -newer mark)" ]; do :; done # by the clock of the file system
	expect 0 "$waymark" run --events -o earlier ./prog event 2
	has err.txt "wrote earlier/waymark-prog-"
	[ "$(stat -c %X "$old")" -lt $(($(date +%s) - 86400)) ] || fail "an earlier recording was opened"
fi

# -o FILE gets this run, whatever was there; the earlier recording becomes FILE.old. The value of its event names the run.
value_of() { "$waymark" report --format=events "$1" | cut -d ' ' -f 4; }
expect 0 "$waymark" run --events -o one.wmk ./prog event 11
expect 0 "$waymark" run --events -q -o one.wmk ./prog event 22
[ ! -s err.txt ] || fail "-q -o FILE says: $(cat err.txt)"
[ "$(value_of one.wmk)" = 22 ] || fail "-o FILE: not the second run's"
[ "$(value_of one.wmk.old)" = 11 ] || fail "-o FILE: the first run is not kept as .old"
expect 0 "$waymark" run --events -o "$tmp/one.wmk" ./prog event 33
has err.txt "$tmp/one.wmk of an earlier run is now $tmp/one.wmk.old"
has err.txt "wrote $tmp/one.wmk"
[ "$(value_of one.wmk)-$(value_of one.wmk.old)" = 33-22 ] || fail "-o FILE: not the third run's"
[ ! -e one.1.wmk ] || fail "-o FILE: one.1.wmk"
expect 0 "$waymark" run --events -o 'per%%cent.dat' ./prog event 1
expect 0 "$waymark" run --events -o 'per%%cent.dat' ./prog event 2
has err.txt "wrote per%cent.dat"
[ "$(value_of per%cent.dat)-$(value_of per%cent.dat.old)" = 2-1 ] || fail "-o FILE with a percent sign, without .wmk"
# Names of patterns and of WAYMARK_OUT are numbered, and that is said with -q too.
expect 0 "$waymark" run --events -q -o '%e.wmk' ./prog event 1
[ ! -s err.txt ] || fail "-q -o PATTERN says: $(cat err.txt)"
expect 0 "$waymark" run --events -q -o '%e.wmk' ./prog event 2
[ "$(cat err.txt)" = "waymark run: wrote prog.1.wmk: prog.wmk is of an earlier run" ] || fail "-q -o PATTERN: $(cat err.txt)"
[ "$(value_of prog.wmk)-$(value_of prog.1.wmk)" = 1-2 ] || fail "-o PATTERN: not both"
WAYMARK_OUT=one.wmk expect 0 "$waymark" run --events -q ./prog event 44
[ "$(cat err.txt)" = "waymark run: wrote one.1.wmk: one.wmk is of an earlier run" ] || fail "-q, WAYMARK_OUT: $(cat err.txt)"
# What is no recording stays.
echo precious >notes
refused 1 "notes: exists and is no recording; choose another name with -o" "$waymark" run --events -o notes ./prog event 1
[ "$(cat notes)" = precious ] || fail "-o NOTES: they are gone"
refused 127 "nosuch: no such program" "$waymark" run --events -o one.wmk nosuch
[ "$(value_of one.wmk)" = 33 ] || fail "a program that is not there moves the recording"

refused 127 "nosuch: no such program in PATH; give its path, as in ./nosuch" "$waymark" run --events nosuch
refused 127 "./nosuch: No such file or directory" "$waymark" run --events ./nosuch
refused 126 ".: is not a file that can be run" "$waymark" run --events ./.
echo text >text
refused 126 "text/x: Not a directory" "$waymark" run --events text/x
refused 126 "text: cannot be run: Permission denied" "$waymark" run --events ./text
chmod +x text
refused 126 "text: cannot be run: Exec format error" "$waymark" run --events ./text
refused 1 "nodir/x.wmk: files cannot be written there: No such file or directory" "$waymark" run --events -o nodir/x.wmk ./prog
refused 1 "text/x.wmk: text is not a directory" "$waymark" run --events -o text/x.wmk ./prog
refused 1 "/proc/: files cannot be written there; choose another place with -o" "$waymark" run --events -o /proc/ ./prog
if [ -e "$build/src/runtime/libwaymark-heap.so" ]; then
	if clang-19 -static -x c - -o static 2>/dev/null <<'END'
int main(void) { return 0; }
END
	then
		refused 1 "static: is linked statically: --heap works on dynamically linked programs" \
			"$waymark" run --heap --no-agent ./static
	fi
	refused 1 "text: this is no ELF file" "$waymark" run --heap ./text
	expect 3 "$waymark" run --heap ./prog exit 3
	printf '#!/bin/sh\nexec ./prog exit 4\n' >script
	chmod +x script
	expect 4 "$waymark" run -q --heap --no-agent ./script
fi

# The agent: what it gets, in a place of our own with a library in its stead that says so.
for hz in 0 x 1x '' -1 100001; do
	refused 2 "--sample=$hz: a number from 1 to 100000 is needed" "$waymark" run --sample=$hz ./prog
done
cc=$(command -v gcc || command -v clang-19)
echo 'int main(void) { return 5; }' >plain.c
mkdir -p inst/bin
cp "$waymark" inst/bin/waymark
installed=$tmp/inst/bin/waymark
refused 1 "waymark-pass.so; build or install Waymark as a whole" "$installed" run --events ./prog
libdir=$("$installed" run --events ./prog 2>&1 | sed -n 's|.* nor \(.*\)/waymark-pass.so;.*|\1|p')
mkdir -p "inst/bin/$libdir"
touch "inst/bin/$libdir/waymark-pass.so"
agent=$tmp/inst/bin/$libdir/libwaymark-agent.so
sampler=$tmp/inst/bin/$libdir/libwaymark-sample.so
heap=$tmp/inst/bin/$libdir/libwaymark-heap.so
if "$cc" plain.c -o plain; then
	refused 1 "libwaymark-agent.so: the agent is not there" "$installed" run --events ./plain
	expect 5 "$installed" run -q --no-agent ./plain
	refused 1 "--sample needs the agent, which --no-agent keeps away" "$installed" run --no-agent --sample ./plain
	expect 0 "$installed" run --events ./prog
	cat >agent.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static const char *value(const char *name) { return getenv(name) ? getenv(name) : "(none)"; }
__attribute__((constructor)) static void start(void)
{
	fprintf(stderr, "agent [%s] now %s preload %s\n", value("WAYMARK_AGENT"), value("LD_BIND_NOW"), value("LD_PRELOAD"));
}
END
	"$cc" -shared -fPIC agent.c -o "$agent" && echo 'int unused;' | "$cc" -shared -fPIC -x c - -o "$heap" || fail "no stand-ins"
	# Samples alone need the sampler and no agent.
	refused 1 "libwaymark-sample.so: the sampler is not there" "$installed" run --sample ./plain
	sed 's/agent \[/sampler [/; s/WAYMARK_AGENT/WAYMARK_SAMPLE/' agent.c | "$cc" -shared -fPIC -x c - -o "$sampler" || fail "no stand-in"
	expect 5 "$installed" run -q --sample=50 ./plain
	has err.txt "sampler [50] now (none) preload $sampler"
	lacks err.txt "agent ["
	expect 5 "$installed" run --events -q ./plain
	has err.txt "agent [] now 1 preload $agent"
	lacks err.txt "sampler ["
	lacks err.txt "$heap"
	for options in '--sample --encode:sample=997' '--encode --sample=50:sample=50' --check:sample=997,check '--heap --encode:heap' \
		'--heap --check --sample=7:sample=7,check,heap'; do
		# shellcheck disable=SC2086
		expect 5 "$installed" run --events -q ${options%%:*} ./plain
		has err.txt "agent [${options#*:}] now 1"
	done
	has err.txt "preload $agent:$heap"
	# Allocations are walked, too, but for a program with an allocator of its own.
	for options in --heap:0 '--heap --sample=50:50' '--heap --wall=20:0,wall=20'; do
		# shellcheck disable=SC2086
		expect 5 "$installed" run --events -q ${options%%:*} ./plain
		has err.txt "sampler [${options#*:}] now (none) preload $sampler:$heap"
		lacks err.txt "agent ["
	done
	WAYMARK_AGENT=verbose expect 5 "$installed" run --events -q ./plain
	has err.txt "agent [verbose] now 1"
	WAYMARK_AGENT=sample=3,wall expect 5 "$installed" run -q --encode --sample=50 ./plain
	has err.txt "agent [sample=50,sample=3,wall] now 1"
	echo 'int other;' | "$cc" -shared -fPIC -x c - -o other.so
	LD_PRELOAD=$tmp/other.so expect 5 "$installed" run -q --heap --encode ./plain
	has err.txt "preload $agent:$heap:$tmp/other.so"
	LD_PRELOAD=$tmp/other.so expect 5 "$installed" run --events -q ./plain
	has err.txt "preload $agent:$tmp/other.so"
	expect 5 "$installed" run --events ./plain
	has err.txt "plain recorded nothing: the agent did not come into it"
	# None for what was built with it, but where only the agent does what is asked for; none when it is not wanted.
	cp prog stripped && strip stripped
	for options in '' --heap; do
		# shellcheck disable=SC2086
		expect 3 "$installed" run --events -q $options ./prog exit 3
		lacks err.txt "agent ["
		# shellcheck disable=SC2086
		expect 3 "$installed" run --events -q $options ./stripped exit 3
		lacks err.txt "agent ["
	done
	for options in --sample '--sample --heap'; do
		# shellcheck disable=SC2086
		expect 3 "$installed" run --events -q $options ./prog exit 3
		has err.txt "sampler [997] now (none)"
		lacks err.txt "agent ["
	done
	for options in '--sample --encode:sample=997' --check:sample=997,check --agent: '--agent --heap:heap'; do
		# shellcheck disable=SC2086
		expect 3 "$installed" run --events -q ${options%%:*} ./prog exit 3
		has err.txt "agent [${options#*:}] now 1"
	done
	echo 'void wm1_register(void) {} int main(void) { return 5; }' | "$cc" -rdynamic -x c - -o old || fail "no stand-in"
	expect 5 "$installed" run --events -q ./old
	lacks err.txt "agent ["
	refused 1 "old: was built with an earlier waymark cc: build it again for --agent" "$installed" run --agent ./old
	refused 1 "--agent needs the agent, which --no-agent keeps away" "$installed" run --no-agent --agent ./prog
	expect 5 "$installed" run -q --no-agent ./plain
	lacks err.txt "agent ["
	# Scripts: their interpreter.
	for line in "#!$tmp/plain" "#! $tmp/plain -x"; do
		echo "$line" >script
		chmod +x script
		expect 5 "$installed" run -q --sample --encode ./script
		has err.txt "agent [sample=997]"
		expect 5 "$installed" run -q --sample ./script
		has err.txt "sampler [997]"
		lacks err.txt "agent ["
	done
	printf '#!%s\n' "$tmp/prog" >script
	expect 0 "$installed" run --events -q ./script
	lacks err.txt "agent ["
	expect 0 "$installed" run -q --sample ./script
	has err.txt "sampler [997]"
	lacks err.txt "agent ["
	printf '#!/nosuch/interpreter\n' >script
	refused 126 "script: cannot be run: No such file or directory" "$installed" run --events ./script
	# What the loader takes no library into.
	cp plain setuid && chmod u+s setuid
	refused 1 "setuid: is set-user-ID: the loader does not take the agent into it; --no-agent runs it without" \
		"$installed" run --events ./setuid
	cp plain setgid && chmod g+s setgid
	refused 1 "setgid: is set-group-ID" "$installed" run --sample ./setgid
	cp plain capable
	if setcap cap_net_raw+ep capable 2>/dev/null; then
		refused 1 "capable: has file capabilities: the loader does not take the agent into it" "$installed" run --events ./capable
	fi
	if "$cc" -static plain.c -o static 2>/dev/null; then
		refused 1 "static: is linked statically: the agent works on dynamically linked programs" "$installed" run --events ./static
		expect 5 "$installed" run -q --no-agent ./static
		echo "#!$tmp/static" >script
		refused 1 "$tmp/static: is linked statically" "$installed" run --events ./script
	fi
	# The machine of an ELF header is its 19th byte, the class its 5th: aarch64, 32 bits.
	cp plain other && printf '\267' | dd of=other bs=1 seek=18 conv=notrunc status=none
	refused 1 "other: is no x86-64 program: the agent works on those only" "$installed" run --events ./other
	refused 126 "other: cannot be run: Exec format error" "$installed" run --no-agent ./other
	# A program of 32 bits, as far as its header says.
	cp plain narrow && printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc status=none
	printf '\003' | dd of=narrow bs=1 seek=18 conv=notrunc status=none
	refused 1 "narrow: is no x86-64 program: the agent works on those only" "$installed" run --events ./narrow
fi
finish

#!/bin/sh
# convert.sh BUILD - recordings in other tools' formats, read by readers of our own (convert.py) and by the tools where they are here; and
# other tools' profiles, which must say the same afterwards.
. "$(dirname "$0")/lib.sh"
"$waymark" cc -O1 -g -o prog "$here/convert.c" -pthread || exit 1
expect 0 "$waymark" run --heap -o one.wmk ./prog
heap="bytes allocations live live-allocations"
for metric in $heap step step:sum; do
	expect 0 "$waymark" report --format=folded --metric=$metric -o "want.$metric" one.wmk
done

# compare FORMAT FILE METRIC...
compare() {
	format=$1
	file=$2
	shift 2
	python3 "$here/convert.py" "$format" "$file" want "$@" || fail "$format: $file differs"
}

expect 0 "$waymark" convert -o one.pb.gz one.wmk
compare pprof one.pb.gz $heap step step:sum
expect 0 "$waymark" convert -o one.callgrind one.wmk
compare callgrind one.callgrind $heap step step:sum
expect 0 "$waymark" convert -o one.dhat.json one.wmk
compare dhat one.dhat.json bytes allocations
expect 0 "$waymark" report --format=dhat --metric=live -o live.dhat.json one.wmk
compare dhat live.dhat.json live live-allocations
has live.dhat.json "\"te\": $(awk '{ sum += $NF } END { print sum }' want.bytes),"
for metric in bytes step step:sum; do
	expect 0 "$waymark" report --format=firefox --metric=$metric -o $metric.firefox.json one.wmk
	compare firefox $metric.firefox.json $metric
	expect 0 "$waymark" report --format=perf-script --metric=$metric -o $metric.perf one.wmk
	compare perf-script $metric.perf $metric
done
expect 0 "$waymark" convert -o one.trace.json one.wmk
compare chrome one.trace.json step
has one.trace.json '"ph": "C"'
expect 0 "$waymark" convert -o one.massif one.wmk
expect 0 "$waymark" convert -o one.view.html one.wmk
compare view one.view.html $heap step step:sum
expect 0 "$waymark" report --format=massif --metric=live -o live.massif one.wmk
for metric in peak live; do
	file=one.massif
	[ $metric = peak ] || file=live.massif
	expect 0 "$waymark" report --format=folded --metric=$metric one.wmk
	has $file "mem_heap_B=$(awk '{ sum += $NF } END { print sum }' out.txt)"
	has $file "time_unit: ms"
	if command -v ms_print >/dev/null; then
		expect 0 ms_print --threshold=0 $file
		has out.txt "100.00%"
		has out.txt "keep ("
	fi
done
has one.massif "heap_tree=peak"
refused 1 "massif shows bytes of the heap" "$waymark" report --format=massif --metric=step one.wmk
refused 1 "dhat shows the heap" "$waymark" report --format=dhat --metric=step one.wmk

# Their own tools read them.
if command -v go >/dev/null && go tool -n pprof >/dev/null 2>&1; then
	for metric in bytes step; do
		HOME=$tmp expect 0 go tool pprof -top -unit=auto -sample_index=$metric one.pb.gz
		has out.txt "deep"
		has out.txt "File: prog"
	done
	HOME=$tmp expect 0 go tool pprof -proto -output=again.pb.gz one.pb.gz
	expect 0 "$waymark" convert --to=pprof -o back.pb.gz again.pb.gz
	compare pprof back.pb.gz $heap step step:sum
fi
if command -v callgrind_annotate >/dev/null; then
	expect 0 callgrind_annotate --threshold=100 one.callgrind
	has out.txt "deep"
	has out.txt "PROGRAM TOTALS"
fi

# And back: what was read is what was written.
expect 0 "$waymark" convert -o back.callgrind one.pb.gz
compare callgrind back.callgrind $heap step step:sum
for metric in bytes step step:sum; do
	expect 0 "$waymark" convert -o back.folded $metric.perf
	cp back.folded back.txt
	expect 0 "$waymark" report --metric=$metric:sum --format=folded $metric.perf
	cmp out.txt want.$metric || fail "perf-script and back: $metric"
	expect 0 "$waymark" convert --to=folded -o - want.$metric
	cmp out.txt want.$metric || fail "folded and back: $metric"
done
gunzip -c one.pb.gz >plain.pprof
expect 0 "$waymark" convert --to=pprof -o back.pb.gz plain.pprof
compare pprof back.pb.gz $heap step step:sum
# A recording and other tools' profiles add up.
expect 0 "$waymark" report --format=folded --metric=bytes one.wmk one.pb.gz
awk '{ $NF *= 2; print }' want.bytes >twice.txt
cmp out.txt twice.txt || fail "a recording and its profile do not add up"
expect 0 "$waymark" report --format=folded --metric=bytes one.pb.gz one.wmk
cmp out.txt twice.txt || fail "a profile and its recording do not add up"
expect 0 "$waymark" report want.step
has out.txt "want.step: folded stacks"

# What perf itself writes.
cat >perf.txt <<'END'
# captured on: now
prog one 12/13 [001] 5.000001:     250000 cpu-clock:pppH: 
	    55d0c0ffee11 leaf+0x1f (/tmp/prog)
	    55d0c0ffee22 std::map<int, int (*)(char)>::find (const)+0x3 (/tmp/prog) (inlined)
	    7f0000000001 [unknown] (/usr/lib/libx.so.6 (deleted))
	           0 main+0x0 ([unknown])

prog 12 6.5: cycles:u:
	    ffffffff81000000 do_syscall_64 ([kernel.kallsyms])

prog 12 6.500001:          1 cpu-clock:pppH:
END
expect 0 "$waymark" report --format=folded --metric=cpu-clock:pppH perf.txt
has out.txt "main;[libx.so.6 (deleted)];std::map<int, int (*)(char)>::find (const);leaf 1"
[ "$(wc -l <out.txt)" -eq 2 ] || fail "a sample without a stack is lost: $(cat out.txt)"
expect 0 "$waymark" report perf.txt
has out.txt "perf.txt: text of perf script"
has out.txt "cycles:u"

# Damage is said, in one line.
refused 2 "its name says no format" "$waymark" convert -o one.bin one.wmk
refused 2 "no such format" "$waymark" convert --to=nope -o one.bin one.wmk
refused 2 "-o FILE is needed" "$waymark" convert one.wmk
refused 2 "a recording or a profile is needed" "$waymark" convert -o one.svg
printf 'main;f 1\nmain;g\n' >bad.folded
refused 1 "bad.folded:2: a stack and a number" "$waymark" convert --to=folded -o - bad.folded
head -c 200 one.pb.gz >cut.pb.gz
refused 1 "cut.pb.gz: damaged" "$waymark" convert --to=folded -o - cut.pb.gz
printf 'main;f 1\n' | gzip >text.pb.gz
refused 1 "text.pb.gz: damaged: no profile of pprof" "$waymark" convert --to=folded -o - text.pb.gz
head -c 30000000 /dev/zero | gzip >bomb.pb.gz
refused 1 "which no profile does" "$waymark" convert --to=folded -o - bomb.pb.gz
exit $((failures > 0))

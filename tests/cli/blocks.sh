#!/bin/sh
# blocks.sh BUILD - what `waymark report` says of sizes, life times and lost blocks is what a program counts itself: compiled contexts, walks of the
# stack and the agent's, and the same from an archive and a merged file.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
[ -e "$build/src/runtime/libwaymark-heap.so" ] || { echo "skipped: no heap client"; exit 77; }

cat >compare.py <<'END'
"""compare.py NAME IS-LOST-TOLD: what `waymark report` says of functions, in NAME.*.json, with what the program printed into NAME.txt."""
import json
import sys

name, is_told = sys.argv[1], sys.argv[2] == "1"
wanted, got = [], []
for function in ("brief", "queue", "keep", "lose"):
    sizes, lives = (json.load(open(f"{name}.{function}.{what}.json", encoding="utf-8")) for what in ("sizes", "lifetimes"))
    got += [f"{function} size {c['least']} {c['blocks']} {c['bytes']}" for c in sizes["classes"]]
    got += [f"{function} life {c['least']} {c['blocks']}" for c in lives["classes"]]
    lost = [int(open(f"{name}.{function}.{metric}", encoding="utf-8").read() or 0) for metric in ("lost-allocations", "lost")]
    got.append(f"{function} live {lives['not_freed']} lost {lost[0]} {lost[1]}")
    for one in sizes, lives:
        assert sum(c["blocks"] for c in one["classes"]) == sum(c["blocks"] for part in one["contexts"] for c in part["classes"])
wanted = open(f"{name}.txt", encoding="utf-8").read().splitlines()
if not is_told:
    wanted = [line.split(" lost ")[0] + " lost 0 0" if " lost " in line else line for line in wanted]
if got != wanted:
    sys.exit("\n".join(f"{a} / {b}" for a, b in zip(got, wanted) if a != b) or f"{len(got)} lines, not {len(wanted)}")
END

# look NAME FILE: what compare.py reads
look() {
	for function in brief queue keep lose; do
		for what in sizes lifetimes; do
			expect 0 "$waymark" report --$what --function="$function" --format=json -o "$1.$function.$what.json" "$2"
		done
		for metric in lost-allocations lost; do
			expect 0 "$waymark" report --format=folded --metric=$metric --function="$function" "$2"
			awk '{ sum += $NF } END { print sum + 0 }' out.txt >"$1.$function.$metric"
		done
	done
}

# check NAME RECORDING IS-TOLD
check() {
	look "$1" "$2"
	python3 compare.py "$1" "$3" >compared.txt 2>&1 || fail "$1: $2: $(cat compared.txt)"
}

# recorded NAME PROGRAM ARGUMENTS, OPTIONS in $options
recorded() {
	name=$1
	shift
	# shellcheck disable=SC2086
	expect 0 "$waymark" run -q --leaks $options -o "$name.wmk" "$@"
	cp out.txt "$name.txt"
}

options=
"$waymark" cc -O1 -g -fno-builtin "$here/blocks.c" -o built -pthread || exit 1
recorded compiled ./built
check compiled compiled.wmk 1
has_plain=
if command -v gcc >/dev/null && [ -e "$build/src/sampler/libwaymark-sample.so" ]; then # a sanitizer build has no sampler
	gcc -O1 -g -fno-builtin "$here/blocks.c" -o plain -pthread || exit 1
	has_plain=1
	recorded walked ./plain
	check walked walked.wmk 1
	options=--encode
	recorded encoded ./plain
	check encoded encoded.wmk 1
	options=
fi

# With a thread that runs it is not told, and said so.
recorded thread ./built thread
check thread thread.wmk 0
expect 0 "$waymark" report thread.wmk
has out.txt "heap: which blocks are lost is not told: other threads were running"
expect 0 "$waymark" report compiled.wmk
lacks out.txt "is not told"

# An archive and a merged file have the same numbers; of two recordings, twice as many.
cp compiled.txt archived.txt
expect 0 "$waymark" archive -o archived.wmka compiled.wmk
check archived archived.wmka 1
expect 0 "$waymark" archive -o again.wmka archived.wmka
check archived again.wmka 1
recorded other ./built
expect 0 "$waymark" merge -o merged.wmk compiled.wmk other.wmk
awk '{ for (i = 3; i <= NF; i++) if ($i + 0 == $i && !(i == 3 && $2 != "live")) $i *= 2; print }' compiled.txt >merged.txt
check merged merged.wmk 1
expect 0 "$waymark" merge -o merged_again.wmk merged.wmk
check merged merged_again.wmk 1

# Text.
expect 0 "$waymark" report --sizes --function=lose compiled.wmk
grep -qE '^ +64 to 127 +2 +28.6 % +200 +1.3 %  #+$' out.txt || fail "--sizes: $(cat out.txt)"
expect 0 "$waymark" report --sizes --function=queue compiled.wmk
has out.txt "60 allocations: 60 of 128 to 255"
expect 0 "$waymark" report --lifetimes --function=brief compiled.wmk
has out.txt "100 allocations, median life time 0: 100 of 0"
lacks out.txt "life:"
expect 0 "$waymark" report --format=folded --metric=life:0 --function=brief compiled.wmk
has out.txt "main;brief;add;[malloc] 100"
expect 0 "$waymark" report --format=folded --metric=size:32-63:bytes --function=keep compiled.wmk
has out.txt "main;keep;add;[malloc] 500"
refused 2 "--leaks needs every allocation" "$waymark" run --leaks --heap=512 ./built
refused 2 "give one of " "$waymark" report --sizes --lifetimes compiled.wmk
refused 2 "--format=folded has no tables and no trees" "$waymark" report --sizes --format=folded compiled.wmk

# Where allocations are sampled, sizes are estimates, and life times are not known.
if [ -n "$has_plain" ]; then
	expect 0 "$waymark" run -q --heap=1 -o sampled.wmk ./plain
	expect 0 "$waymark" report --sizes --function=keep sampled.wmk
	grep -qE '^ +32 to 63 +~10 +100.0 % +~500 +100.0 %  #+$' out.txt || fail "--heap=1 --sizes: $(cat out.txt)"
	expect 0 "$waymark" report --lifetimes sampled.wmk
	has out.txt "life times are not known, since allocations were sampled"
fi
finish

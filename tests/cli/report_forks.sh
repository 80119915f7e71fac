#!/bin/sh
# report_forks.sh BUILD - the heap of a process and its forked children, each allocation counted once, and how processes end. The
# numbers are those that report_forks.c says.
. "$(dirname "$0")/lib.sh"
if [ ! -e "$build/src/runtime/libwaymark-heap.so" ]; then
	echo "no heap client in this build"
	exit 77
fi
"$waymark" cc -O1 -g "$here/report_forks.c" -o prog || exit 1
cc_program ends

# totals FILE...: "name total" of each metric, and for each file its end and what it inherited, sorted.
totals() {
	expect 0 "$waymark" report --format=json -o out.json "$@"
	python3 - <<'END' >got.txt
import json
r = json.load(open("out.json"))
for m in r["metrics"]:
    print(m["name"], m["total"])
for f in sorted(r["files"], key=lambda f: f["path"]):
    print(f["end"], f["inherited_allocations"], f["inherited_bytes"], f["inherited_live_bytes"], f["heap_live_bytes"])
END
}

same() {
	cat >want.txt
	cmp -s got.txt want.txt || fail "$1: $(diff want.txt got.txt)"
}

# The six children ran one after the other: their recordings in the order in which they were made.
mkdir out
WAYMARK_OUT=out expect 0 "$waymark" run --heap ./prog
python3 - <<'END' || exit 1
import glob, os, struct
def start(path):
    return struct.unpack_from("<Q", open(path, "rb").read(56), 48)
for i, path in enumerate(sorted(glob.glob("out/*.wmk"), key=start)):
    os.rename(path, "%d.wmk" % i)
END
[ -e 6.wmk ] && [ ! -e 7.wmk ] || fail "not seven recordings: $(ls)"

# bytes: 1,000,300 + 3000; 10 + 20 + 30 + 40 + 50 and 5 * 7; 5. leaked: not the 50 of the child that was killed.
totals ?.wmk
same "all" <<'END'
bytes 1003490
allocations 14
live 1003155
live-allocations 8
peak 7005040
leaked 1003105
temporary 6
inherited 6001850
inherited-live 6001200
_exit 0 0 0 1003000
exit 2 1000300 1000300 1000310
_exit 2 1000300 1000000 1000020
_exit 2 1000300 1000300 1000330
_exit 2 1000300 1000000 1000040
unknown 2 1000300 1000300 1000350
_exit 3 1000350 1000300 1000305
END
totals 0.wmk
same "the parent" <<'END'
bytes 1003300
allocations 3
live 1003000
live-allocations 2
peak 1003000
leaked 1003000
temporary 1
_exit 0 0 0 1003000
END
totals 2.wmk
same "a child" <<'END'
bytes 27
allocations 2
live 20
live-allocations 1
peak 1000327
leaked 20
temporary 1
inherited 1000300
inherited-live 1000000
_exit 2 1000300 1000000 1000020
END
expect 0 "$waymark" report 2.wmk
has out.txt "ended through _exit() or quick_exit()"
has out.txt "inherited when it was forked: 1,000,300 bytes in 2 allocations, 1,000,000 of the bytes not freed by it;"
has out.txt "which is not among these"
expect 0 "$waymark" report 5.wmk 2.wmk 0.wmk
has out.txt "their allocation is counted in 0.wmk"
has out.txt "was killed or replaced, or runs unseen"
# By context: what the children got in `early` is theirs only as inherited.
expect 0 "$waymark" report --format=folded --metric=bytes --function early ?.wmk
echo "main;early;[malloc] 1000300" >want.txt
cmp -s out.txt want.txt || fail "bytes of early: $(cat out.txt)"
expect 0 "$waymark" report --format=folded --metric=leaked --function own ?.wmk
printf '%s\n' "main;own;[malloc] 3000" "main;child;own;[malloc] 100" "main;child;grandchild;own;[malloc] 5" | sort >want.txt
sort out.txt | cmp -s - want.txt || fail "leaked of own: $(cat out.txt)"

# A process that runs is seen to run, and not to once it is killed.
mkfifo ready
"$waymark" run --heap -o running.wmk ./ends wait >ready 2>/dev/null &
read -r line <ready
[ "$line" = ready ] || fail "says: $line"
expect 0 "$waymark" report running.wmk
has out.txt "still runs"
expect 0 "$waymark" report --format=json running.wmk
kill -KILL "$(python3 -c 'import json; print(json.load(open("out.txt"))["files"][0]["pid"])')"
wait $! 2>/dev/null
expect 0 "$waymark" report running.wmk
has out.txt "was killed or replaced, or runs unseen"
finish

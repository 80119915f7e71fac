#!/bin/bash
# core.sh BUILD - `waymark core`: plain stacks as text and JSON, of cores and processes; options; what it refuses.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/support/core.sh
. "$here/../support/core.sh"

clang-19 -g -O1 -fno-optimize-sibling-calls -fuse-ld=lld -Wl,--build-id "$here/core_program.c" -o program || exit 1
core_of program.core ./program fault || exit 1

expect 0 "$waymark" core ./program program.core
has out.txt "$tmp/program (process "
has out.txt "): stopped by SIGSEGV (Segmentation fault) at address 0x10"
has out.txt "Thread 1 of 1 ("
grep -qE '^#0 +load  .*core_program.c:11:[0-9]+  inlined into #1$' out.txt || fail "no #0 load"
grep -qE '^#1 +stop  .*core_program.c:22:' out.txt || fail "no #1 stop"
has out.txt "...  297 more rounds of deep (#5 to #301; --frames=all)"
grep -qE '^#306 +_start  in ' out.txt || fail "no #306 _start"
[ "$(grep -c '^#' out.txt)" = 10 ] || fail "$(grep -c '^#' out.txt) frames are shown"
has out.txt "note: ./program: has no .debug_waymark_trace"

expect 0 "$waymark" core --frames 8 ./program program.core
[ "$(grep -c '^#' out.txt)" = 7 ] || fail "$(grep -c '^#' out.txt) frames are shown of 8"
has out.txt "...  297 more rounds of deep (#5 to #301; --frames=all)"
has out.txt "...  3 more frames (--frames=all)"
expect 0 "$waymark" core --frames all ./program program.core
[ "$(grep -c '^#' out.txt)" = 307 ] || fail "$(grep -c '^#' out.txt) frames are shown of all"
lacks out.txt "more frames"
lacks out.txt "more rounds"

# A core says itself what it is of.
expect 0 "$waymark" core program.core
has out.txt "$tmp/program (process "
grep -qE '^#0 +load  .*core_program.c:11:' out.txt || fail "no #0 load of a core alone"

expect 0 "$waymark" core --format=json -o core.json ./program program.core
if command -v python3 >/dev/null; then
	python3 - core.json >names.txt <<'END' || fail "core.json is no JSON"
import json, sys
core = json.load(open(sys.argv[1]))
print(core["signal"], core["signal_name"], core["fault_address"], len(core["threads"]), core["live"])
frames = core["threads"][0]["frames"]
print(core["threads"][0]["frame_count"], core["threads"][0]["left_out"], len(frames))
print([(f["name"], f["line"], f["inlined"]) for f in frames[:3]])
print(core["modules"][frames[0]["module"]]["traced"])
END
	has names.txt "11 SEGV 0x10 1 False"
	has names.txt "307 107 200"
	has names.txt "[('load', 11, True), ('stop', 22, False), ('deep', 27, False)]"
fi

# Cut off before the stack, which is the last of it: the frame that registers tell is left, and why there are no more.
"$build/tests/snapshot/cut_core" program.core half.core "$(($(stat -c %s program.core) / 2))"
expect 0 "$waymark" core ./program half.core
has out.txt "the stack goes on, but cannot be followed: its stack is not in the core"
has out.txt "note: half.core: is cut off: "
expect 0 "$waymark" core ./program program.core
lacks out.txt "cannot be followed"

# Packed, as systemd-coredump stores them: unpacked where no file is left, and read as far as it goes where it is cut off.
mkdir room
expect 0 "$waymark" core ./program program.core
cp out.txt plain.txt
for packer in zstd lz4 xz; do
	if ! command -v $packer >/dev/null; then
		echo "not tested, $packer is not installed: cores that it has packed"
		continue
	fi
	$packer -q -c program.core >packed || fail "$packer"
	expect 0 env "TMPDIR=$tmp/room" "$waymark" core ./program packed
	cmp plain.txt out.txt || fail "$packer: the report differs"
	expect 0 env "TMPDIR=$tmp/room" "$waymark" core packed
	has out.txt "): stopped by SIGSEGV (Segmentation fault) at address 0x10"
	"$build/tests/snapshot/cut_core" program.core notes_first.core "$(stat -c %s program.core)"
	case $packer in lz4) lz4 -q -B4 -c notes_first.core ;; *) $packer -q -c notes_first.core ;; esac >packed_notes_first
	head -c $(($(stat -c %s packed_notes_first) / 2)) packed_notes_first >half
	expect 0 env "TMPDIR=$tmp/room" "$waymark" core ./program half
	has out.txt "note: half: ends early or is damaged: what could be unpacked of it is read"
	head -c 20 packed >stub
	refused 1 "stub: is damaged: nothing of it can be unpacked" env "TMPDIR=$tmp/room" "$waymark" core ./program stub
	# Behind the core there is more, and in place of a core something else.
	{ cat program.core && head -c 100000000 /dev/zero; } | $packer -q -c >surplus
	expect 0 env "TMPDIR=$tmp/room" "$waymark" core ./program surplus
	tail -n +2 plain.txt | cmp - <(tail -n +2 out.txt) || fail "$packer: more behind the core"
	head -c 100000000 /dev/zero | $packer -q -c >other
	refused 1 "other: what is packed in it is no core dump" env "TMPDIR=$tmp/room" "$waymark" core ./program other
	refused 1 "cannot be unpacked under $tmp/none (TMPDIR names another place)" env "TMPDIR=$tmp/none" "$waymark" core ./program packed
	[ -z "$(ls room)" ] || fail "$packer: left $(ls room)"
done
printf '\037\213\010rest' >gzipped
refused 1 "gzipped: is compressed: unpack it first (gzip -d)" "$waymark" core ./program gzipped

# A process goes on afterwards.
mkfifo ready
./program wait >ready &
pid=$!
read -r _ <ready
expect 0 "$waymark" core -p $pid
has out.txt "): stopped while it ran"
grep -qE '^#[0-9]+ +stop  .*core_program.c:(18|20):' out.txt || fail "no stop in the process"
expect 0 "$waymark" core --pid=$pid --frames=3 ./program
grep -qE '^\.\.\.  [0-9]+ more frames' out.txt || fail "3 frames of the process are all"
expect 0 "$waymark" core --pid=$pid --frames=3 --format=json ./program
has out.txt '"left_out": 304'
# gcore writes a core of it, and it goes on, too.
gcore -o hung $pid >gcore.txt 2>&1 || fail "gcore: $(cat gcore.txt)"
expect 0 "$waymark" core ./program hung.$pid
has out.txt "): written while it ran"
grep -qE '^#[0-9]+ +stop  ' out.txt || fail "no stop in the core of gcore"
kill -0 $pid || fail "the process did not survive"
kill $pid
wait $pid 2>/dev/null
refused 1 "process $pid: there is no such process" "$waymark" core -p $pid

# Without a core: coredumpctl, here one of our own. The real one tells about the core on standard output, also with -q.
mkdir bin
cat >bin/coredumpctl <<END
#!/bin/sh
echo "           PID: 1 (program)"
if [ "\$4 \$5" != "dump $tmp/program" ]; then
	echo "Some warning." >&2
	echo "No match found." >&2
	exit 1
fi
cp "$tmp/program.core" "\$3"
END
chmod +x bin/coredumpctl
expect 0 env "PATH=$tmp/bin:$PATH" "TMPDIR=$tmp" "$waymark" core ./program
has out.txt "): stopped by SIGSEGV"
lacks out.txt "PID: 1"
[ -z "$(find . -name 'waymark-core.*')" ] || fail "the core of coredumpctl was left"
cp program other
refused 1 "coredumpctl has no core of $tmp/other (No match found): name one" env "PATH=$tmp/bin:$PATH" "$waymark" core ./other
printf '#!/bin/sh\nyes "No room for the core" | head -n 1000 >&2\nexit 1\n' >bin/coredumpctl
refused 1 "(No room for the core): name one" env "PATH=$tmp/bin:$PATH" "$waymark" core ./program
printf '#!/bin/sh\nexit 1\n' >bin/coredumpctl
refused 1 "coredumpctl has no core of $tmp/program: name one" env "PATH=$tmp/bin:$PATH" "$waymark" core ./program
rm bin/coredumpctl
refused 1 "coredumpctl is not there" env "PATH=$tmp/bin" "$waymark" core ./program

refused 1 "missing: No such file or directory" "$waymark" core ./program missing
refused 1 "missing: No such file or directory" "$waymark" core ./missing program.core
refused 1 "missing: No such file or directory" "$waymark" core ./missing
refused 1 "this is no core dump but a program or a shared library" "$waymark" core ./program ./program
refused 1 "this is no core dump (no ELF file)" "$waymark" core ./program "$here/core.sh"
refused 2 "a program is needed, and its core" "$waymark" core
refused 2 "one argument too many" "$waymark" core ./program program.core more
refused 2 "one argument too many" "$waymark" core -p 1 ./program more
refused 2 "--format xml: no such format" "$waymark" core --format=xml ./program program.core
refused 2 "--frames" "$waymark" core --frames=none ./program program.core
refused 2 "--pid" "$waymark" core -p abc
finish

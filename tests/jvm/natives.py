#!/usr/bin/env python3
"""natives.py CHANGES EVENTS RECORDING [POINTS] - compares samples of Natives with the shadow stack that its library has kept.

CHANGES is what Natives has printed, EVENTS the report's list. A sample in the library must have the shadow's functions above the Java methods that have
called it, and between these the native ones that have called Java; one that was taken while the shadow changes may have either. The shares of the functions are known: with POINTS they differ by at most
so many percentage points. Threads of the virtual machine must have whole stacks.
Exit status 3: all is right, but there are too few samples to say so.
"""

import re
import sys

from shadow import Shadow, read_samples

TOO_FEW = 3  # exit status: there are not enough samples
SHARES = {"f": 20, "g": 30, "h": 50}
# Of the virtual machine's functions that call Java there are some between d and Natives.back. All of that is left out where it is not proven.
UP = r"Natives\.up;(?:Java_Natives_up;c;d;(?:[^;]*(?:JNIEnv_|jni_|JavaCalls::|os::|Thread)[^;]*;)+)?Natives\.back;"
JAVA = re.compile(r"^Natives\.main;((?:" + UP + r")*)Natives\.f(;Java_Natives_f)?(;|$)")
ZLIB = re.compile(r"java\.util\.zip\.Deflater\.deflateBytesBytes;Java_java_util_zip_Deflater_deflateBytesBytes;.*deflate")
MACHINE = re.compile(r"^(\[thread\];)?(\[(GC |C1|C2|G1|VM)[^];]*\])(;|$)(.*)")


def main():
    changes_path, events_path, recording = sys.argv[1:4]
    points = float(sys.argv[4]) if len(sys.argv) > 4 else None
    with open(changes_path, encoding="ascii") as f:
        lines = [line.split(" ", 1) for line in f]
    shadow = Shadow([line[1] for line in lines], recording)
    used = dict.fromkeys(SHARES, 0)
    bad = agreed = unknown = zlib = 0
    left_out = between = 0
    machine = {}
    levels = set()
    for time, thread, _, ns, context in read_samples(events_path):
        of_machine = MACHINE.match(context)
        # In a stub, which has no call frame information, a thread is its name alone.
        if of_machine and of_machine.group(5):
            whole, all_of = machine.get(of_machine.group(2), (0, 0))
            machine[of_machine.group(2)] = (whole + of_machine.group(5).startswith("thread_native_entry"), all_of + 1)
        zlib += bool(ZLIB.search(context))
        if thread != lines[0][0]:
            continue
        possible = shadow.places_at(time)
        java = JAVA.match(context)
        native = ";".join(name for name in context[java.end():].split(";") if name in SHARES) if java else ""
        if native:
            left_out += context.count("Natives.up;Natives.back;")
            between += context.count(";d;")
            native = f"{java.group(1).count('Natives.back;')}:{native}"
            levels.add(native[0])
        if java and native in possible:
            agreed += native != ""
            if native:
                used[native[-1]] += ns
        elif "" in possible and not native:
            pass
        elif re.match(r"^\[[^;]*\](;|$)", context) or "[no unwind data]" in context:
            unknown += 1
        else:
            print(f"{time}: {context}, the shadow is {' or '.join(sorted(possible))}")
            bad += 1
    total = sum(used.values())
    shares = {name: 100 * used[name] / total for name in used} if total else {}
    print(f"agreed {agreed} differed {bad} unknown {unknown} zlib {zlib} between {between} left out {left_out}", " ".join(f"{n} {s:.1f}" for n, s in shares.items()),
          " ".join(f"{name} {whole} of {all_of}" for name, (whole, all_of) in sorted(machine.items())))
    if bad or unknown * 50 > max(agreed, 50):
        sys.exit(1)
    if agreed < 50 or not zlib:
        sys.exit(TOO_FEW)
    if left_out * 20 > between:
        sys.exit("native frames between Java ones are left out")
    if levels != set("0123"):
        sys.exit(f"levels {levels}")
    if any(whole < all_of for whole, all_of in machine.values()) or not machine:
        sys.exit("threads of the virtual machine without a whole stack")
    if points is not None and any(abs(shares[name] - SHARES[name]) > points for name in SHARES):
        sys.exit("shares")


if __name__ == "__main__":
    main()

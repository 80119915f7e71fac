#!/usr/bin/env python3
"""natives.py CHANGES EVENTS RECORDING [POINTS] - compares samples of Natives with the shadow stack that its library has kept.

CHANGES is what Natives has printed, EVENTS the report's list. A sample in the library must have the shadow's functions above the Java methods that have
called it; one that was taken while the shadow changes may have either. The shares of the functions are known: with POINTS they differ by at most
so many percentage points. Threads of the virtual machine must have whole stacks.
"""

import re
import struct
import sys

DAY_NS = 86400 * 10**9
SHARES = {"f": 20, "g": 30, "h": 50}
JAVA = re.compile(r"^Natives\.main;(Natives\.up;Natives\.back;)?Natives\.f(;Java_Natives_f)?(;|$)")
ZLIB = re.compile(r"java\.util\.zip\.Deflater\.deflateBytesBytes;Java_java_util_zip_Deflater_deflateBytesBytes;.*deflate")
MACHINE = re.compile(r"^(\[thread\];)?(\[(GC |C1|C2|G1|VM)[^];]*\])(;|$)(.*)")


def day_ns(text):
    hours, minutes, seconds = re.search(r"T(\d+):(\d+):([\d.]+)Z", text).groups()
    whole, part = seconds.split(".")
    return (int(hours) * 3600 + int(minutes) * 60 + int(whole)) * 10**9 + int(part)


def read_changes(path, recording):
    with open(recording, "rb") as f:
        realtime, monotonic = struct.unpack_from("<QQ", f.read(64), 48)
    changes = []
    thread = None
    with open(path, encoding="ascii") as f:
        for line in f:
            thread, before, behind, *stack = line.split()
            shift = realtime - monotonic
            changes.append((int(before) + shift, int(behind) + shift, stack[0] if stack else ""))
    return thread, changes, realtime - realtime % DAY_NS


def shadow_at(changes, time):
    """The stacks that the library may have at that time."""
    low, high = 0, len(changes)
    while low < high:
        middle = (low + high) // 2
        if changes[middle][0] <= time:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return {""}
    possible = {changes[low - 1][2]}
    if time <= changes[low - 1][1]:
        possible.add(changes[low - 2][2] if low > 1 else "")
    return possible


def main():
    changes_path, events_path, recording = sys.argv[1:4]
    points = float(sys.argv[4]) if len(sys.argv) > 4 else None
    thread, changes, day = read_changes(changes_path, recording)
    used = dict.fromkeys(SHARES, 0)
    bad = agreed = unknown = zlib = 0
    machine = {}
    with open(events_path, encoding="utf-8") as f:
        for line in f:
            part = line.rstrip("\n").split(" ", 4)
            if line.startswith("#") or part[2] != "samples":
                continue
            context = part[4]
            of_machine = MACHINE.match(context)
            if of_machine:
                name = of_machine.group(2)
                whole, all_of = machine.get(name, (0, 0))
                machine[name] = (whole + bool(re.match("thread_native_entry", of_machine.group(5))), all_of + 1)
            if ZLIB.search(context):
                zlib += 1
            if part[1].split(":")[0] != thread:
                continue
            possible = shadow_at(changes, day + day_ns(part[0]))
            java = JAVA.match(context)
            native = ";".join(name for name in context[java.end():].split(";") if name in SHARES) if java else ""
            if java and native in possible:
                agreed += native != ""
                if native:
                    used[native[-1]] += int(part[3])
            elif "" in possible and not native:
                pass
            elif re.match(r"^\[[^;]*\](;|$)", context) or "[no unwind data]" in context:
                unknown += 1
            else:
                print(f"{part[0]}: {context}, the shadow is {' or '.join(sorted(possible))}")
                bad += 1
    total = sum(used.values())
    shares = {name: 100 * used[name] / total for name in used} if total else {}
    print(f"agreed {agreed} differed {bad} unknown {unknown} zlib {zlib}", " ".join(f"{n} {s:.1f}" for n, s in shares.items()),
          " ".join(f"{name} {whole} of {all_of}" for name, (whole, all_of) in sorted(machine.items())))
    if bad or agreed < 50 or unknown * 50 > agreed or not zlib:
        sys.exit(1)
    if any(whole < all_of for whole, all_of in machine.values()) or not machine:
        sys.exit("threads of the virtual machine without a whole stack")
    if points is not None and any(abs(shares[name] - SHARES[name]) > points for name in SHARES):
        sys.exit("shares")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""cfi.py FILE... - at each instruction of each function named wm1.*, .eh_frame has the CFA where the instructions before it put the stack.

What the helpers of contexts push is followed through their jumps, as objdump prints them; the CFA is what readelf reads. Both are
independent of the assembler that has written the unwind information."""
import re
import subprocess
import sys

UNKNOWN = None


def printed(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def functions_of(file):
    """Name to the instructions of it: address, operation, operands."""
    functions, current = {}, None
    for line in printed("objdump", "-d", "--no-show-raw-insn", file).splitlines():
        if match := re.fullmatch(r"[0-9a-f]+ <(.*)>:", line):
            name = match[1]
            current = functions.setdefault(name, []) if name.startswith("wm1.") else None
        elif current is not None and (match := re.match(r" *([0-9a-f]+):\t(?:cs )?(\w+) *([^#<]*)", line)):
            current.append((int(match[1], 16), match[2], match[3].strip()))
    return functions


def rows_of(file):
    """Rows of all tables: first address, end, register, offset."""
    rows, end = [], 0
    for line in printed("readelf", "--wide", "--debug-dump=frames-interp", file).splitlines():
        if match := re.search(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)", line):
            end = int(match[2], 16)
            rows.append([int(match[1], 16), end, "rsp", 8])  # where there is no row, that of the CIE
        elif " CIE " in line:
            end = 0
        elif end and (match := re.match(r"([0-9a-f]{16}) (\w+)\+(\d+) ", line)):
            start = int(match[1], 16)
            if rows[-1][0] == start:
                rows.pop()
            else:
                rows[-1][1] = start
            rows.append([start, end, match[2], int(match[3])])
    return rows


def after(operation, operands, state):
    """state: bytes from rsp and from rbp to the CFA."""
    rsp, rbp = state
    if operation == "push":
        return (rsp + 8, rbp)
    if operation == "pop":
        return (rsp - 8, UNKNOWN if operands == "%rbp" else rbp)
    if operation == "leave":
        return (rbp - 8, UNKNOWN)
    if (operation, operands) == ("mov", "%rsp,%rbp"):
        return (rsp, rsp)
    if match := re.fullmatch(r"\$(-?0x[0-9a-f]+),%rsp", operands):
        number = int(match[1], 16)
        number -= (number >> 63) << 64
        if operation in ("add", "sub"):
            return (rsp + (number if operation == "sub" else -number), rbp)
        assert operation == "and", operation
        return (UNKNOWN, rbp)
    if match := re.fullmatch(r"(-?0x[0-9a-f]+)\(%rsp\),%rsp", operands):
        return (rsp - int(match[1], 16), rbp)
    assert not operands.endswith(",%rsp"), (operation, operands)
    return state


def check(file):
    rows, wrong, count = rows_of(file), 0, 0
    for name, instructions in functions_of(file).items():
        ends = {address: index for index, (address, _, _) in enumerate(instructions)}
        states, work = {}, [(0, (8, UNKNOWN))]
        while work:
            index, state = work.pop()
            if index >= len(instructions) or index in states:
                continue
            states[index] = state
            _, operation, operands = instructions[index]
            state = after(operation, operands, state)
            if operation.startswith("j") and re.fullmatch("[0-9a-f]+", operands):
                if int(operands, 16) in ends:
                    work.append((ends[int(operands, 16)], state))
            if operation not in ("ret", "jmp", "ud2", "int3"):
                work.append((index + 1, state))
        for index, (rsp, rbp) in sorted(states.items()):
            address, operation, operands = instructions[index]
            row = next((r for r in rows if r[0] <= address < r[1]), None)
            count += 1
            wanted = {"rsp": rsp, "rbp": rbp}
            if not row or wanted.get(row[2]) != row[3]:
                print(f"FAIL {file}: {name}: {address:x} {operation} {operands}: the CFA is {row and row[2:]}, not {wanted}")
                wrong += 1
    print(f"{file}: {count} instructions, {wrong} wrong")
    return wrong == 0 and count > 0


if __name__ == "__main__":
    sys.exit(0 if all([check(file) for file in sys.argv[1:]]) else 1)

"""compare_values.py - compares the values that `waymark core --format=json` says with those that gdb reads from the same core.

    gdb -batch -ex 'python options = "CORE.json LEAST"' -x compare_values.py PROGRAM CORE

Every value that is said to be known must be gdb's, to the letter; formatted here once more from what gdb has. LEAST: how many must be
compared. gdb takes registers that calls do not keep for kept ones in outer frames, so it may know more, and wrongly; what it
does not know must not be known.
"""
import json

STRING, ELEMENTS, MEMBERS, DEPTH, TEXT = 64, 8, 12, 3, 400
CHARS = ("char", "signed char", "unsigned char", "char8_t")
ESCAPES = {7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v", 27: "\\e", 92: "\\\\"}


def escaped(byte, quote):
    if byte in ESCAPES:
        return ESCAPES[byte]
    if byte == ord(quote):
        return "\\" + quote
    return chr(byte) if 0x20 <= byte < 0x7f else f"\\{byte:03o}"


def string(data, is_cut):
    return '"' + "".join(escaped(b, '"') for b in data) + ('"...' if is_cut else '"')


def is_char(type_):
    type_ = type_.strip_typedefs().unqualified()
    return type_.code == gdb.TYPE_CODE_INT and type_.sizeof == 1 and type_.name in CHARS or \
        type_.code == gdb.TYPE_CODE_CHAR and type_.sizeof == 1


def text_at(address):
    data = b""
    while len(data) <= STRING:
        byte = bytes(gdb.selected_inferior().read_memory(address + len(data), 1))
        if byte == b"\0":
            return string(data, False)
        data += byte
    return string(data[:STRING], True)


def unqualified(name):
    depth, start = 0, 0
    for i, c in enumerate(name):
        depth += (c == "<") - (c == ">")
        if not depth and name.startswith("::", i):
            start = i + 2
    return name[start:]


class Format:
    def __init__(self):
        self.text = ""

    def add(self, text):
        self.text += text

    def pointer(self, value, type_):
        address = int(value)
        target = type_.target().strip_typedefs()
        if not address:
            self.add("NULL")
        elif target.code == gdb.TYPE_CODE_FUNC:
            name = gdb.execute(f"info symbol {address}", to_string=True).split(" in section")[0]
            is_named = "No symbol" not in name and " + " not in name
            self.add(f"{address:#x} <{name.split('(')[0].strip()}>" if is_named else f"{address:#x}")
        elif is_char(target):
            try:
                self.add(text_at(address))
            except gdb.MemoryError:
                self.add(f"{address:#x} <not in the core>")
        else:
            self.add(f"{address:#x}")

    def array(self, value, type_, depth):
        low, high = type_.range()
        count = high - low + 1
        if count > 0 and is_char(type_.target()):
            data = bytes(int(value[i]) & 0xff for i in range(min(count, STRING)))
            end = data.find(b"\0")
            self.add(string(data if end < 0 else data[:end], end < 0 and count > STRING))
            return
        self.add("{")
        for i in range(count):
            if i == ELEMENTS or len(self.text) > TEXT or depth == DEPTH or \
                    type_.target().strip_typedefs().code == gdb.TYPE_CODE_ARRAY:
                self.add((", " if i else "") + "...")
                break
            self.add(", " if i else "")
            self.value(value[i], depth + 1)
        self.add("}")

    def struct(self, value, type_, depth):
        self.add("{")
        shown = 0
        fields = type_.fields()
        if depth == DEPTH or not fields and type_.sizeof in (0, 1) and "incomplete" in str(value):
            self.add("...}")
            return
        for field in fields:
            if not hasattr(field, "bitpos") or field.artificial or (field.name or "").startswith("_vptr"):
                continue
            self.add(", " if shown else "")
            if shown == MEMBERS or len(self.text) > TEXT:
                self.add("...")
                break
            shown += 1
            if field.is_base_class:
                self.add(f"<{unqualified(field.name)}> = ")
            elif field.name:
                self.add(f"{field.name} = ")
            self.value(value[field], depth + 1, field.bitsize > 0)
        self.add("}")

    def value(self, value, depth=0, is_bits=False):
        type_ = value.type.strip_typedefs()
        code = type_.code
        if code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            if depth < DEPTH:
                self.value(value.referenced_value(), depth + 1)
            else:
                self.add(f"{int(value.address):#x}")
        elif code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            self.struct(value, type_, depth)
        elif code == gdb.TYPE_CODE_ARRAY:
            self.array(value, type_, depth)
        elif value.is_optimized_out:
            self.add("<optimized out>")
        elif code == gdb.TYPE_CODE_PTR:
            self.pointer(value, type_)
        elif code == gdb.TYPE_CODE_BOOL:
            self.add("true" if int(value) else "false")
        elif code == gdb.TYPE_CODE_ENUM:
            names = [f.name for f in type_.fields() if f.enumval == int(value)]
            self.add(names[0].split("::")[-1] if names else str(int(value)))
        elif code == gdb.TYPE_CODE_FLT:
            self.add(f"%.{ {4: 9, 8: 17, 16: 18}[type_.sizeof]}g" % float(value) if type_.sizeof < 16 else str(value))
        else:
            self.add(str(int(value)))
            if is_char(type_):
                byte = int(value) & 0xff
                self.add(" '" + ("\\000" if not byte else escaped(byte, "'")) + "'")


def formatted(value):
    f = Format()
    f.value(value)
    return f.text


def main():
    path, least = options.split()[:2]
    with open(path, encoding="utf-8") as file:
        core = json.load(file)
    compared, problems = 0, []
    for thread in core["threads"]:
        for candidate in gdb.selected_inferior().threads():
            if candidate.ptid[1] == thread["tid"]:
                candidate.switch()
        frame, number = gdb.newest_frame(), 0
        for said in thread["frames"]:
            while frame and number < said["number"]:
                frame, number = frame.older(), number + 1
            if not frame:
                break
            if frame.pc() != int(said["pc"], 16):
                break  # gdb has lost its way: by the name of the frame nothing is to be compared any more
            frame.select()
            for value in said.get("arguments", []) + said.get("values", []):
                if not value["known"]:
                    continue
                where = f"thread {thread['tid']}, frame {number} ({said['name']}): {value['name']}"
                try:
                    found = formatted(gdb.parse_and_eval(value["name"]))
                except gdb.error as error:
                    found = f"({error})"
                compared += 1
                if found != value["value"]:
                    problems.append(f"{where} is {value['value']}, gdb has {found}")
    for problem in problems[:12]:
        print(problem)
    if compared < int(least):
        problems.append("")
        print(f"only {compared} values are known, of {least} that must be")
    print(f"{compared} values compared" if not problems else f"FAIL: {len(problems)} of {compared} differ")


main()

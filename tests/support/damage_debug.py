"""damage_debug.py PROGRAM OUTPUT SEED - a copy of an ELF file with some bytes of its debug information changed: of entries, types,
expressions and lists of locations. The rest, and so its build id, is as it was."""
import random
import struct
import sys

WANTED = (b".debug_info", b".debug_abbrev", b".debug_loclists", b".debug_loc", b".debug_addr", b".debug_rnglists",
          b".debug_str_offsets", b".debug_line")


def sections(data):
    start, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, start + i * size) for i in range(count)]
    for header in headers:
        at = headers[names][4] + header[0]
        yield data[at:data.index(b"\0", at)], header[4], header[5]


def main():
    program, output, seed = sys.argv[1:4]
    with open(program, "rb") as file:
        data = bytearray(file.read())
    dice = random.Random(int(seed))
    found = [(off, size) for name, off, size in sections(data) if name in WANTED and size]
    off, size = dice.choice(found)
    for _ in range(dice.choice((1, 4, 40))):
        at = off + dice.randrange(size)
        data[at] = dice.choice((0, 0xff, dice.randrange(256), data[at] ^ 1 << dice.randrange(8)))
    with open(output, "wb") as file:
        file.write(data)


main()

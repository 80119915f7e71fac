#!/usr/bin/env python3
"""embed.py OUT.c HEADER FILE... - writes C source that defines the text of each FILE as a constant: flame.js is flame_js, which
HEADER declares. The comment that a file begins with stays out. In a style sheet (.css), a line that begins with a tab goes on
with the one before it."""
import os
import re
import sys


def text_of(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\A/\*.*?\*/\n+", "", file.read(), flags=re.DOTALL)
    text = re.sub(r"\A<!--.*?-->\n+", "", text, flags=re.DOTALL)
    return text.replace("\n\t", "") if path.endswith(".css") else text


def literal(line):
    """One line as a string of C; what is not ASCII in octal, which ends after three digits."""
    out = ""
    for byte in line.encode("utf-8"):
        char = chr(byte)
        if char in '"\\':
            out += "\\" + char
        elif char == "\n":
            out += "\\n"
        elif char == "?":  # no trigraphs
            out += "\\?"
        else:
            out += char if " " <= char <= "~" else f"\\{byte:03o}"
    return f'"{out}"'


out, header, *files = sys.argv[1:]
with open(out, "w", encoding="utf-8") as source:
    source.write(f'/* Made by {os.path.basename(__file__)}. */\n#include "{header}"\n')
    for path in files:
        name = os.path.basename(path).replace(".", "_")
        lines = "".join(f"\n\t{literal(line)}" for line in text_of(path).splitlines(keepends=True))
        source.write(f"\nconst char {name}[] ={lines};\n")

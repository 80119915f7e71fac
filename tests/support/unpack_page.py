#!/usr/bin/env python3
"""unpack_page.py PAGE.html - prints the page with the parts that its script puts in (src/report/page_parts.h) in their places."""
import base64
import gzip
import re
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    page = f.read()
packed = re.compile(r'<script type="text/plain" class="parts">(.*?)</script>\n', re.S)
chunks = [gzip.decompress(base64.b64decode(text)).decode("utf-8").split("\f") for text in packed.findall(page)]


def place(match):
    chunk, number = map(int, match[2].split(":"))
    part = chunks[chunk][number]
    if match[1] == "button":
        return match[0].replace(f' data-part="{match[2]}"', "") + f"<table>\n{part}</table>"
    return match[0].replace("></table>", f">\n{part}</table>").replace(f' data-part="{match[2]}"', "")


sys.stdout.write(re.sub(r'<(table|button)[^>]* data-part="(\d+:\d+)"[^>]*>(?:</table>)?', place, packed.sub("", page)))

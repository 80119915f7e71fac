#!/usr/bin/env python3
"""film.py FRAMES - writes a film (YUV4MPEG2, 176x144) of patterns that move, for x264."""
import sys

WIDTH, HEIGHT = 176, 144
out = sys.stdout.buffer
out.write(b"YUV4MPEG2 W%d H%d F25:1 Ip C420\n" % (WIDTH, HEIGHT))
for t in range(int(sys.argv[1])):
    out.write(b"FRAME\n")
    out.write(bytes((x * 3 + t * 5 ^ y * 2 + (x * y * t >> 7)) & 255 for y in range(HEIGHT) for x in range(WIDTH)))
    out.write(bytes((x + y + t) & 255 for _ in range(2) for y in range(HEIGHT // 2) for x in range(WIDTH // 2)))

"""words.py FILE... - what words.pl does, for Jython: hashes, regular expressions, a comparison of its own, recursion."""
from __future__ import print_function
import re
import sys


def distance(a, b):
    if not a or not b:
        return len(a) or len(b)
    if a[0] == b[0]:
        return distance(a[1:], b[1:])
    return 1 + distance(a[1:], b[1:])


def count(paths):
    seen = {}
    for path in paths:
        for line in open(path):
            for word in re.findall("[A-Za-z]{3,}", line):
                word = word.lower()
                seen[word] = seen.get(word, 0) + 1
    return seen


def main(paths):
    seen = count(paths)
    words = sorted(seen, key=lambda word: (-seen[word], word))
    for word in words[:10]:
        others = [w for w in words[:300] if w != word and len(w) == len(word)]
        near = sorted(others, key=lambda w: (distance(word, w), w))[:1]
        print("%7d %s (near: %s)" % (seen[word], word, near[0] if near else "none"))


main(sys.argv[1:])

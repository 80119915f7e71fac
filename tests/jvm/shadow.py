"""shadow.py - what a program says of itself, and when, beside the samples of it: each sample has a time, and at that time the program was in one place."""

import re
import struct

DAY_NS = 86400 * 10**9


def day_ns(text):
    hours, minutes, seconds = re.search(r"T(\d+):(\d+):([\d.]+)Z", text).groups()
    whole, part = seconds.split(".")
    return (int(hours) * 3600 + int(minutes) * 60 + int(whole)) * 10**9 + int(part)


class Shadow:
    """Changes, a line each: BEFORE BEHIND PLACE, nanoseconds of CLOCK_MONOTONIC around the change; without PLACE: it is in none from then on."""

    def __init__(self, lines, recording):
        with open(recording, "rb") as f:
            realtime, monotonic = struct.unpack_from("<QQ", f.read(64), 48)
        self.start = realtime
        self.changes = []
        for line in lines:
            before, behind, *place = line.split()
            shift = realtime - monotonic
            self.changes.append((int(before) + shift, int(behind) + shift, place[0] if place else ""))

    def places_at(self, time):
        """Where the program may be at a time of a list of events: in one place, or while that changes in one of two."""
        time_ns = self.start - self.start % DAY_NS + day_ns(time)
        if time_ns < self.start:
            time_ns += DAY_NS
        low, high = 0, len(self.changes)
        while low < high:
            middle = (low + high) // 2
            if self.changes[middle][0] <= time_ns:
                low = middle + 1
            else:
                high = middle
        if low == 0:
            return {""}
        places = {self.changes[low - 1][2]}
        if time_ns <= self.changes[low - 1][1]:
            places.add(self.changes[low - 2][2] if low > 1 else "")
        return places


def read_samples(path):
    """The samples of a list of events: time, number and name of the thread, nanoseconds, context."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            part = line.rstrip("\n").split(" ", 4)
            if not line.startswith("#") and part[2] == "samples":
                thread, _, name = part[1].partition(":")
                yield part[0], thread, name, int(part[3]), part[4]

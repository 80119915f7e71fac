#!/usr/bin/env python3
"""sampled.py CHANGES EVENTS RECORDING POINTS - are the samples of Sampled where the program was at their time?

CHANGES is what Sampled has printed of its parts, EVENTS the report's list. A sample in another part is an error. The shares of the parts by stacks differ from
those by what the program says, of the same samples, by at most POINTS: so neither chance nor the load of the machine is in them.
"""

import re
import sys

from shadow import Shadow, read_samples


def main():
    changes_path, events_path, recording, points = *sys.argv[1:4], float(sys.argv[4])
    with open(changes_path, encoding="ascii") as f:
        shadow = Shadow([line[7:] for line in f if line.startswith("change ")], recording)
    said, found = {}, {}
    bad = count = 0
    for time, _, name, ns, context in read_samples(events_path):
        places = shadow.places_at(time)
        if name != "main" or len(places) > 1 or places == {""}:
            continue
        place = places.pop()
        part = re.match(r"Sampled\.main;Sampled\.([a-z]+)", context)
        count += 1
        said[place] = said.get(place, 0) + ns
        if part:
            found[part.group(1)] = found.get(part.group(1), 0) + ns
        if part and part.group(1) != place:
            print(f"{time}: {context}, the program was in {place}")
            bad += 1
    if not found:
        sys.exit("no samples")
    differences = {p: 100 * found.get(p, 0) / sum(found.values()) - 100 * said[p] / sum(said.values()) for p in said}
    print(f"{count} samples, elsewhere {bad}, without a part {100 - 100 * sum(found.values()) / sum(said.values()):.2f} %,",
          " ".join(f"{p} {100 * said[p] / sum(said.values()):.1f}{d:+.2f}" for p, d in sorted(differences.items())))
    if bad or any(abs(d) > points for d in differences.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()

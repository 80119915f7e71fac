# Reads what VirtualWaiting has printed, and the folded `wall` and `off-cpu` of it, with metric=wall before each: virtual threads of each kind have the time that
# they have been there, those that wait at [parked], the one that runs at its own method alone.

metric == "" {
	there[$1] = $2
	next
}

match($0, /;VirtualWaiting\.[a-z]+/) {
	name = substr($0, RSTART + 16, RLENGTH - 16)
	sum[metric, name] += $NF / 1e6
	if (/\[parked\] [0-9]+$/)
		parked[metric, name] += $NF / 1e6
}

END {
	for (name in there) {
		wall = sum["wall", name]
		off = parked["off-cpu", name]
		if (wall < there[name] * 0.6 || wall > there[name] * 1.05 + 200) {
			print name ": " wall + 0 " of " there[name] " ms"
			bad = 1
		}
		if (name == "runs" ? parked["wall", name] + off : off < there[name] * 0.6 || off > wall + 200) {
			print name ": off-cpu " off + 0 ", parked " parked["wall", name] + 0 " of " there[name] " ms"
			bad = 1
		}
	}
	exit bad || !length(there)
}

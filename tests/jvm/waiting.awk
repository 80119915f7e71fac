# Reads what Waiting has printed, and the folded `wall` and `off-cpu` of it, with -v metric=wall before each: each thread has the time that it has been
# there, less the time between the last look and its end, at the stack of its wait; and off-cpu has that of those that wait alone.

BEGIN {
	stack["main"] = "^Waiting.main;java.lang.Thread.sleep[^\\[]*;\\[sleeping\\]$"
	stack["sleeps"] = "Waiting.sleeps;java.lang.Thread.sleep[^\\[]*;\\[sleeping\\]$"
	stack["parks"] = "Waiting.parks;java.util.concurrent.locks.LockSupport.park;jdk.internal.misc.Unsafe.park;\\[parked\\]$"
	stack["waits"] = "Waiting.waits;(java.lang.Object.wait0?;)+\\[waiting\\]$"
	stack["blocks"] = "Waiting.blocks;\\[blocked\\]$"
	stack["runs"] = "Waiting.runs$"
}

metric == "" {
	there[$1] = $2
	next
}

{
	ns = $NF
	sub(/ [0-9]+$/, "")
	for (name in stack)
		if ($0 ~ stack[name])
			sum[metric, name] += ns / 1e6
	if ($0 ~ /Waiting.runs;?.*\[/) {
		print "waits where it runs: " $0
		bad = 1
	}
}

END {
	for (name in stack) {
		wall = sum["wall", name]
		off = sum["off-cpu", name]
		# A thread may wait for a processor before it does what it does.
		if (!there[name] || wall < there[name] * 0.6 || wall > there[name] * 1.05 + 50) {
			print name ": " wall + 0 " of " there[name] + 0 " ms"
			bad = 1
		}
		if (name == "runs" ? off : off < there[name] * 0.6 || off > wall + 150) {
			print name ": off-cpu " off + 0 " of " there[name] + 0 " ms"
			bad = 1
		}
	}
	exit bad
}

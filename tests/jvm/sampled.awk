# Reads what Sampled has printed, and the folded samples of it: each stack is one that the program can have, a part that has used much has samples,
# and few samples have no stack.

# The Java frames and labels of frames that have native ones above them.
function without_native(frames,    part, n, i, ret) {
	n = split(frames, part, ";")
	for (i = 1; i <= n && part[i] ~ /^(Sampled|java|jdk|sun)[./]|^\[.*\]$/; i++)
		ret = ret (i > 1 ? ";" : "") part[i]
	return ret
}

$1 == "change" {
	next
}

FNR == NR {
	used[$1] = $2
	all_used += $2
	next
}

{
	ns = $NF
	stack = $0
	sub(/ [0-9]+$/, "", stack)
}

# Threads of the virtual machine.
stack ~ /^(\[thread\];)?\[[^;]*\](;|$)/ && stack !~ /^(\[thread\];)?\[(no_class_load|unknown_Java|not_walkable_|unknown_state|deoptimization|unknown)/ {
	next
}

{
	java += ns
}

stack ~ /^(\[thread\];)?\[[^;]*\](;|$)/ {
	unknown += ns
	next
}

# What a part may call.
stack ~ /^Sampled.main;Sampled\.[a-z]+/ {
	part = stack
	sub(/^Sampled.main;Sampled\./, "", part)
	below = part
	sub(/;.*/, "", part)
	sub(/^[a-z]+;?/, "", below)
	if (!(part in used)) {
		print "no part: " stack
		bad = 1
	}
	sum[part] += ns
	below = without_native(below)
	# A class is loaded where it is used first.
	sub(/java\.lang\.ClassLoader\.loadClass.*/, "", below)
	sub(/\[[^];]*\]$/, "", below)
	if ((part == "copies" && below !~ /^(java.lang.System.arraycopy)?;?$/) || (part == "fills" && below !~ /^(java.util.Arrays.fill)?;?$/) ||
	    (part == "sines" && below !~ /^(java.lang.(Math|StrictMath|FdLibm)[^;]*;?)*$/) ||
	    (part == "recursions" && below !~ /^(Sampled.fib;?)*$/) || (part == "interfaces" && below !~ /^(Sampled.lambda[^;]*;?)?$/) ||
	    (part == "unloads" && below ~ /Sampled\.(copies|fills|sines|fib|main)/)) {
		print "no such stack: " stack
		bad = 1
	}
}

END {
	for (part in used) {
		if (used[part] > all_used / 10 && !sum[part]) {
			print part ": " sum[part] + 0 " of " used[part]
			bad = 1
		}
	}
	# Most of a short run is interpreted.
	if (unknown > java / 10 || !java) {
		print "without a stack: " unknown + 0 " of " java + 0
		bad = 1
	}
	exit bad
}

# Makes lines "CHAIN NUMBER SUM" of what `waymark report --top all` prints: frames with their lines, outermost first, the number of events
# and the sum of their values. Of foreign calls only the innermost is kept, and of a thread nothing that has started it.

function keep()
{
	if (chain != "") {
		numbers[chain] += number
		sums[chain] += sum
	}
	chain = ""
}

/^[0-9,]+ [a-z]+ \(/ {
	number = $1
	sum = $6
	gsub(/,/, "", number)
	gsub(/,/, "", sum)
	chain = ""
	is_whole = 0
}

$1 ~ /^#[0-9]+$/ {
	frame = $2
	if ($3 == "at") {
		line = $4
		sub(/.*:/, ":", line)
		frame = frame line
	}
	if (frame == "[thread]")
		is_whole = 1
	if (!is_whole && (frame !~ /^\[/ || chain == ""))
		chain = frame (chain == "" ? "" : ";" chain)
}

/^$/ {
	keep()
}

END {
	keep()
	for (chain in numbers)
		print chain, numbers[chain], sums[chain]
}

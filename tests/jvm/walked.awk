# Makes lines "STACK NUMBER SUM" of what `waymark report --top all` prints: all frames with their lines, outermost first, without roots.

function keep()
{
	if (chain != "")
		print chain, number, sum
	chain = ""
}

/^[0-9,]+ [a-z]+ \(/ {
	number = $1
	sum = $6
	gsub(/,/, "", number)
	gsub(/,/, "", sum)
}

$1 ~ /^#[0-9]+$/ && $2 !~ /^\[/ {
	frame = $2
	if ($3 == "at" && $4 ~ /:[0-9]+$/) {
		sub(/.*:/, ":", $4)
		frame = frame $4
	}
	chain = frame (chain == "" ? "" : ";" chain)
}

/^$/ {
	keep()
}

END {
	keep()
}

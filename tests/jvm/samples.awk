# Reads what Spinning has printed, and the folded samples of it: each thread has those of its own chain and no others, and no more time
# than it has used.

FNR == NR {
	used[$1] = $2
	next
}

function wrong(why)
{
	print why ": " $0
	bad = 1
}

# Who has started the thread is not of interest.
{
	sub(/^[^ ]*\[thread\];/, "[thread];")
	depth = gsub(/;Spinning\.right/, "")
}

# The methods that use the time: below their whole chain. In brackets they are only about to be called.
/;Spinning\.(spin|turn)[; ]/ {
	is_left = /^\[thread\];Spinning\.lambda\$main\$0;Spinning\.left;Spinning\.spin [0-9]+$/ && depth == 0
	is_right = /^\[thread\];Spinning\.lambda\$main\$1;Spinning\.turn [0-9]+$/ && depth == 41
	if (!is_left && !is_right)
		wrong("another chain")
	found[is_left ? "left" : "right"] = 1
}

# Around them.
/Spinning\.left/ && !/^\[thread\];Spinning\.lambda\$main\$0;Spinning\.left(;Spinning\.spin|;\[[^;]*\])? [0-9]+$/ {
	wrong("not of left")
}

depth && !/^\[thread\];Spinning\.lambda\$main\$1(;Spinning\.turn|;\[[^;]*\])? [0-9]+$/ {
	wrong("not of right")
}

/Spinning\.left/ {
	sum["left"] += $NF
}

depth {
	sum["right"] += $NF
}

END {
	for (name in used)
		if (!found[name] || sum[name] > used[name]) {
			print name ": " sum[name] + 0 " of " used[name]
			bad = 1
		}
	exit bad || length(used) != 2
}

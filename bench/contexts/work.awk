# What run.sh has mawk do: fields, arrays, patterns, a function that calls itself.
function repeat(s, n) { return n <= 0 ? s : repeat(s substr(s, 1, 1), n - 1) }
{
	for (i = 1; i <= NF; i++) {
		count[$i]++
		if ($i ~ /^[a-z_]+\(/) calls++
		gsub(/[0-9]+/, "#", $i)
	}
	total += length(repeat($1, 5))
}
END {
	for (word in count) most = most < count[word] ? count[word] : most
	print calls, most, total
}

# Lines of C: words are counted, numbers added up, definitions collected and sorted.
{
	for (i = 1; i <= NF; i++)
		words[$i]++
	lengths[length($0) % 64] += NF
}
/^#define/ && NF > 2 {
	name = toupper(substr($2, 1, 12))
	if (match($3, /^0x[0-9a-fA-F]+$/))
		hexadecimal++
	else if ($3 ~ /^[0-9]+$/)
		sum += $3
	gsub(/_/, "-", name)
	names[name] = names[name] + 1
}
END {
	for (w in words)
		if (words[w] > 50) {
			common++
			total += words[w] * length(w)
		}
	n = asorti(names, sorted)
	for (i = 1; i <= 64; i++)
		line = line sprintf("%d:%s ", lengths[i - 1], sorted[i])
	print common, total, sum, hexadecimal, n, line
}

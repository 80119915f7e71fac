# Counts what same.awk and lines.awk compare; prints the first differences and "agreed N differed M".

function compare(decoded, wanted)
{
	if (decoded == wanted)
		agreed++
	else if (differed++ < 3)
		print "decoded " decoded "\nwanted  " wanted
}

END {
	print "agreed " agreed + 0 " differed " differed + 0
}

# Reads what `waymark decode` makes of the lines "point TOKEN STACK" of Hazards.java, and compares frame 1, which is at a line of
# Hazards.java, with the last of STACK. Prints the first differences and "agreed N differed M".

/^point / {
	wanted = $NF
	sub(/.*;/, "", wanted)
}

$1 == "#1" {
	decoded = $2 " " $4
	sub(/:/, " Hazards.java:", wanted)
	if (decoded == wanted)
		agreed++
	else if (differed++ < 3)
		print "decoded " decoded "\nwanted  " wanted
}

END {
	print "agreed " agreed + 0 " differed " differed + 0
}

# Reads what `waymark decode` makes of the lines "point TOKEN STACK" of Hazards.java, and compares frame 1, which is at a line of
# Hazards.java, with the last of STACK.

/^point / {
	wanted = $NF
	sub(/.*;/, "", wanted)
}

$1 == "#1" {
	decoded = $2 " " $4
	sub(/:/, " Hazards.java:", wanted)
	compare(decoded, wanted)
}

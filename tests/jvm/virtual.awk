# Reads what `waymark decode --folded` makes of the lines "point TOKEN STACK" of Virtual.java, and compares each decoded stack with STACK,
# which is the program's. Foreign frames are in brackets, and so is [thread], which is compared.

/^point / {
	count = split($2, frames, ";")
	decoded = ""
	# The last one is the method that prints the line.
	for (i = 1; i < count; i++)
		if (frames[i] ~ /^(Virtual|\[thread\])/)
			decoded = decoded ";" frames[i]
	compare(decoded, $3)
}

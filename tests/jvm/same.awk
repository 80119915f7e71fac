# Reads what `waymark decode --folded` makes of the lines "point TOKEN STACK" of Hazards.java, and compares each decoded stack with STACK,
# whose frames have lines. Only methods of Hazards are compared: foreign frames are in brackets, $Proxy classes are the JDK's.

/^point / {
	count = split($2, frames, ";")
	decoded = ""
	# Behind [thread], if it is there, is what StackWalker sees. The last one is the method that prints the line.
	for (first = count; first > 1 && frames[first] != "[thread]"; first--)
		;
	for (i = first; i < count; i++)
		if (frames[i] ~ /^Hazards/)
			decoded = decoded ";" frames[i]
	wanted = ";" $3
	gsub(/:[0-9]+/, "", wanted)
	compare(decoded, wanted)
}

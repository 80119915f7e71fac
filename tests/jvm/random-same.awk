# random-same.awk LINES FOLDED: reads what `waymark decode` and then `waymark decode --folded` make of the points of random programs, and
# compares each decoded stack, class.method:line, with the shadow stack behind it, and both decoded ones with each other.
#
# A class loader is called at any line of the frame below it. That line is -1 on the shadow stack.
# Behind [thread] is what the thread itself has called.
#
# Only frames of the programs (p1., p2., ...) are compared. Lines that 10 divides have methods that the compiler added; lambdas and
# anonymous classes have no numbers on the shadow stack; proxies are the JDK's.

function plain_name(name)
{
	gsub(/\$[0-9]+/, "$", name)
	return name
}

function is_compared(name)
{
	return name ~ /^p[0-9]+\./ && name !~ /\$Proxy/
}

# A frame, or as many as are repeated before it: from the last one on, to frame `number`.
function add_frame(number, name, line,    period, i)
{
	if (repeats) {
		period = (number - count) / repeats
		for (i = 0; i < period * repeats; i++) {
			names[count + i] = names[count + i - period]
			lines[count + i] = lines[count + i - period]
		}
		count += period * repeats
		repeats = 0
	}
	names[count] = name
	lines[count++] = line
}

# The point that was read last is whole.
function end_point(    i, decoded, all, is_below_loader)
{
	if (!points)
		return
	for (i = 0; i < count && names[i] != "[thread]"; i++) {
		if (!is_compared(names[i]))
			continue
		all = ";" names[i] all
		if (is_below_loader || lines[i] % 10 > 0)
			decoded = ";" plain_name(names[i]) ":" (is_below_loader ? -1 : lines[i]) decoded
		is_below_loader = names[i] ~ /\.Loader\.loadClass$/
	}
	compare(repeats ? "frames without an end" : decoded, ";" wanted)
	whole[points] = all
}

FNR == 1 {
	file++
}

file == 1 && /^(point|loose) / {
	end_point()
	points++
	count = repeats = 0
	wanted = $NF
}

file == 1 && $1 ~ /^#[0-9]+$/ {
	add_frame(substr($1, 2) + 0, $2, $3 == "at" ? substr($4, index($4, ":") + 1) : 0)
}

file == 1 && / times more$/ {
	repeats = $(NF - 2)
}

file == 2 && /^(point|loose) / {
	if (!folded++)
		end_point()
	parts = split($2, frames, ";")
	decoded = ""
	for (first = parts; first > 1 && frames[first] != "[thread]"; first--)
		;
	for (i = first; i <= parts; i++)
		if (is_compared(frames[i]))
			decoded = decoded ";" frames[i]
	compare(decoded, whole[folded])
}

# joined.awk - reads what `waymark decode --folded` makes of the points of Joined.java, and compares each decoded stack with the path behind
# it. Frames of foreign code, [name], are not in the path.
$1 == "point" {
	gsub(/;\[java[^];]*\]/, "", $2)
	compare($2, $3)
}

# Lines of C: words are swapped, comments are marked, pairs of lines are joined and taken apart again.
s/([a-z]+)_([a-z]+)/\2_\1/2g
/^#define/{
	s/[0-9]+/<&>/
	y/abc/xyz/
}
/^$/d
/\/\*/,/\*\//s/^/| /
/[;{]$/{
	h
	G
	s/(.)\n(.*)/\1 \2/
}
s/([^a-z])int([^a-z])/\1INT\2/g

# The most frequent words of some files and of words like them: hashes, regular expressions, a comparison of its own, recursion.
use strict;
use warnings;

my %seen;

sub distance {
	my ($a, $b) = @_;
	return length $a || length $b unless length $a && length $b;
	return distance(substr($a, 1), substr($b, 1)) if substr($a, 0, 1) eq substr($b, 0, 1);
	return 1 + distance(substr($a, 1), substr($b, 1));
}

while (my $line = <>) {
	$seen{lc $_}++ for $line =~ /([A-Za-z]{3,})/g;
}
my @words = sort { $seen{$b} <=> $seen{$a} || $a cmp $b } keys %seen;
for my $word (@words[0 .. 9]) {
	my ($near) = sort { distance($word, $a) <=> distance($word, $b) || $a cmp $b } grep { $_ ne $word && length == length $word } @words[0 .. 299];
	printf "%7d %s (near: %s)\n", $seen{$word}, $word, $near // 'none';
}

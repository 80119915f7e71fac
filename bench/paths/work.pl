# Lines of C: words are counted, identifiers taken apart, definitions sorted.
use strict;
my (%words, %names, @lengths, $sum);
while (my $line = <>) {
	$words{$1}++ while $line =~ /(\w+)/g;
	$lengths[length($line) % 64] += ($line =~ tr/;//);
	if ($line =~ /^#define\s+(\w+)\s+(0x[0-9a-f]+|\d+)/i) {
		push @{$names{join '-', map { ucfirst lc } split /_/, $1}}, $2 =~ /^0x/ ? hex substr $2, 0, 9 : $2;
	}
	$line =~ s/\b(int|char|long)\b/<$1>/g;
	$sum += length $line;
}
my @common = sort { $words{$b} <=> $words{$a} || $a cmp $b } grep { $words{$_} > 20 } keys %words;
my @sorted = map { "$_=" . join ',', sort { $a <=> $b } @{$names{$_}} } sort keys %names;
printf "%d %d %d %s %s %s\n", $sum, scalar @common, scalar @sorted, "@common[0 .. 9]", "@sorted[0 .. 9]", "@lengths[0 .. 9]";

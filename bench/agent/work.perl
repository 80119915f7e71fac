# Words of a text: hashes, regular expressions, sorting with a comparison of its own, closures, methods, die and eval.
use strict;
package Counter;
sub new { my ($class, %arg) = @_; return bless {seen => {}, %arg}, $class }
sub add { my ($self, $word) = @_; die "short\n" if length $word < $self->{least}; return ++$self->{seen}{lc $word} }
sub top { my ($self, $n) = @_; my $seen = $self->{seen}; my @words = sort { $seen->{$b} <=> $seen->{$a} || $a cmp $b } keys %$seen;
	return @words[0 .. $n - 1] }
package main;
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
my $counter = Counter->new(least => 3);
my ($short, $lines, $numbers) = (0, 0, 0);
my $most = $ARGV[1] // 80000;
open my $in, '<', $ARGV[0] or die;
while (<$in>) {
	last if ++$lines > $most;
	eval { $counter->add($1) } or $short++ while /(\w+)/g;
	$numbers += hex $1 while /0x([0-9a-f]{1,6})\b/gi;
	s/(\w+)\s*\((.*?)\)/call($1, $2)/e;
}
sub call { my ($name, $arguments) = @_; return join ',', $name, map { ucfirst } split /,\s*/, $arguments }
printf "%d lines, %d short, %d\n", $lines, $short, $numbers;
print "$_ $counter->{seen}{$_}\n" for $counter->top(20);
print fib(23), "\n", join(' ', map { $_->(7) } map { my $n = $_; sub { $_[0] * $n } } 1 .. 10), "\n";
printf "%s\n", join ' ', sort { $a <=> $b } map { ($_ * 7919) % 1009 } 1 .. 200;

# Work for python3: words of text that it makes itself are counted, sorted and searched; classes, generators, exceptions and big numbers.
import sys


class Shape:
    def __init__(self, size):
        self.size = size

    def area(self):
        return self.size * self.size

    def __lt__(self, other):
        return self.area() < other.area()


class Circle(Shape):
    def area(self):
        if not self.size % 7:
            raise ValueError(self.size)
        return 3 * super().area()


def words(count):
    number = 12345
    for _ in range(count):
        number = (number * 1103515245 + 12345) & 0x7FFFFFFF
        yield "".join(chr(97 + (number >> k) % 11) for k in range(3, 3 + number % 9))


def count(rounds):
    seen = {}
    for word in words(3000 * rounds):
        seen[word] = seen.get(word, 0) + 1
    return sorted(seen.items(), key=lambda item: (-item[1], item[0]))[:3]


def shapes(rounds):
    failed, areas = 0, []
    for n in range(2000 * rounds):
        try:
            areas.append((Circle if n & 1 else Shape)(n % 97).area())
        except ValueError:
            failed += 1
    return failed, sum(areas), max(Shape(n % 31) for n in range(500)).size


def queens(n, row=0, columns=(), up=(), down=()):
    if row == n:
        return 1
    return sum(queens(n, row + 1, columns + (c,), up + (row + c,), down + (row - c,)) for c in range(n)
               if c not in columns and row + c not in up and row - c not in down)


def primes(most):
    sieve = bytearray([1]) * (most + 1)
    for n in range(2, int(most**0.5) + 1):
        if sieve[n]:
            sieve[n * n::n] = bytes(len(sieve[n * n::n]))
    return sum(sieve) - 2


def main():
    rounds = int(sys.argv[1])
    print(count(rounds), shapes(rounds), queens(6), primes(20000 * rounds), len(str(3 ** (4000 * rounds))) if rounds < 2 else "")
    source = "def f(x):\n    return [y for y in range(x) if y % 3]\n" * (20 * rounds)
    names = {}
    exec(compile(source, "made", "exec"), names)
    print(sum(names["f"](1000)), "%s %r %d" % ("text", source[:9], rounds), "a,b,,c".split(","))


main()

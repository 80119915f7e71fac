/* Functions of more than 2^8, 2^16 and 2^32 paths: registers and rings of two, four and eight bytes. Made so that each test counts.
 * The last has more than 2^44, and is split; and bits, not bytes, tell in which of its blocks it was, of more than 256. */
static volatile unsigned dice = 1;
static volatile int sink;
static int *volatile bad;

static inline unsigned roll(void)
{
	dice = dice * 1103515245 + 12345;
	return dice >> 16 & 1;
}

#define TWO(n)             \
	if (roll())        \
		sink += n; \
	else               \
		sink ^= n;
#define FOUR(n) TWO(n) TWO(n + 1)
#define SIXTEEN(n) FOUR(n) FOUR(n + 2)
#define BYTE(n) SIXTEEN(n) SIXTEEN(n + 4)
#define LONG(n) BYTE(n) BYTE(n + 8) BYTE(n + 16) BYTE(n + 24)

__attribute__((noinline)) static int two(int rounds, int (*next)(int))
{
	for (int i = 0; i < rounds; i++) {
		BYTE(1) FOUR(9) if (i == 5 && next) sink += next(i);
		FOUR(9)
	}
	return sink;
}

__attribute__((noinline)) static int four(int rounds, int (*next)(int))
{
	for (int i = 0; i < rounds; i++) {
		BYTE(1) BYTE(9) FOUR(17) if (i == 5 && next) sink += next(i);
		FOUR(17)
	}
	return sink;
}

__attribute__((noinline)) static int eight(int rounds, int (*next)(int))
{
	for (int i = 0; i < rounds; i++) {
		BYTE(1) BYTE(9) BYTE(17) BYTE(25) FOUR(33) if (i == 5 && next) sink += next(i);
		BYTE(33) FOUR(41)
	}
	return sink;
}

__attribute__((noinline)) static int split(int rounds, int (*next)(int))
{
	for (int i = 0; i < rounds; i++) {
		LONG(1) LONG(33) LONG(65) FOUR(97) if (i == 5 && next) sink += next(i);
		LONG(97) LONG(129) FOUR(161)
	}
	return sink;
}

__attribute__((noinline)) static int fault(int n)
{
	return n > 3 ? bad[n] : sink;
}

static int to_split(int n)
{
	return split(n + 3, fault);
}
static int to_eight(int n)
{
	return eight(n + 2, to_split);
}
static int to_four(int n)
{
	return four(n + 7, to_eight);
}

int main(void)
{
	two(3, 0);
	four(4, 0);
	eight(2, 0);
	split(1, 0);
	return two(20, to_four);
}

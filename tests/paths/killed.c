/* killed.c - SIGKILL while it loops, from itself, so that where is known: status 137. */
#include <signal.h>
#include <unistd.h>

static volatile unsigned sum;

static void step(unsigned n)
{
	if (n % 3 == 0)
		sum += n;
	else if (n % 5 == 0)
		sum ^= n;
	if (n == 100000)
		kill(getpid(), SIGKILL);
}

__attribute__((noreturn)) static void forever(void)
{
	for (unsigned n = 0;; n++)
		step(n);
}

int main(void)
{
	forever();
}

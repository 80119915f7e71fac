/* A signal's handler crashes, on a stack of its own, in the middle of a loop. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static char *volatile message;
static volatile int ticks;

__attribute__((noinline)) static int length(const char *text)
{
	int n = 0;

	while (text[n])
		n++;
	return n;
}

static void on_signal(int number)
{
	if (ticks++ < 3 && number == SIGUSR2)
		return;
	ticks += length(message);
}

__attribute__((noinline)) static int work(int rounds)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		if (i % 3 == 1)
			sum += i;
		if (i % 4 == 2)
			raise(SIGUSR2);
		sum ^= i;
	}
	return sum;
}

int main(void)
{
	static char stack[1 << 16];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR2, &action, NULL);
	return work(40);
}

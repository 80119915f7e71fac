/* threads.c - eight threads in the same functions at once: exact, whoever is in between; and thousands of short ones. */
#include <pthread.h>
#include <stdio.h>

enum {
	THREADS = 8,
	ROUNDS = 20000,
	SHORT = 2000,
};

__attribute__((noinline)) static unsigned step(unsigned state)
{
	state = state * 1664525u + 1013904223u;
	if (state & 1u << 20)
		state ^= 0x55;
	if (state & 1u << 21)
		state += 3;
	if (state & 1u << 22)
		return state;
	return state * 5;
}

static void *run(void *seed)
{
	unsigned state = (unsigned)(long)seed;
	for (int i = 0; i < ROUNDS; i++) {
		state = step(state);
		switch (state >> 28) {
		case 1:
			state++;
			break;
		case 7:
			continue;
		}
	}
	return NULL;
}

static void *run_shortly(void *seed)
{
	if ((long)seed % 3)
		step((unsigned)(long)seed);
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, run, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (long i = 0; i < SHORT; i += THREADS) {
		for (long k = 0; k < THREADS; k++)
			pthread_create(&t[k], NULL, run_shortly, (void *)(i + k));
		for (int k = 0; k < THREADS; k++)
			pthread_join(t[k], NULL);
	}
	return 0;
}

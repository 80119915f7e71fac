/* threadends.cpp - code that runs while a thread ends, after what the runtime had for it may be gone: destructors of
 * thread-local objects and of keys, cancellation. */
#include <cstdio>
#include <pthread.h>
#include <thread>
#include <unistd.h>

static pthread_key_t key;
static int sums[8];

__attribute__((noinline)) static int work(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += i & 1 ? 2 : 3;
	return s;
}

struct local {
	int n = 1;
	~local()
	{
		if (n > 2)
			sums[0] = work(n);
		else
			sums[1] = work(2);
	}
};
static thread_local local object;

/* Sets the key again: called until the implementation gives up. */
static void at_key(void *value)
{
	sums[2] = work(4);
	if (value != &key)
		pthread_setspecific(key, &key);
}

static void at_cancel(void *)
{
	sums[3] = work(3);
}

static void *canceled(void *)
{
	pthread_cleanup_push(at_cancel, nullptr);
	for (int i = 0;; i++) {
		if (i == 9)
			pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	pthread_cleanup_pop(0);
}

int main()
{
	pthread_key_create(&key, at_key);
	for (int i = 0; i < 6; i++) {
		std::thread([i] {
			object.n = i;
			pthread_setspecific(key, sums);
			work(i);
		}).join();
		pthread_t t;
		pthread_create(&t, nullptr, canceled, nullptr);
		pthread_join(t, nullptr);
	}
	object.n = 5;
}

/*
 * harness.cpp - what the modules of generate_ir.c call, and main. Not instrumented. Every time it calls a function of the module, the
 * thread's context stack must be as before when it returns, or an exception comes out of it: that is what the pass promises
 * foreign callers, once the call of foreign code is pushed. The id is any number in foreign code. Where the module allows it (throws), every few foreign calls throw.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <waymark/abi.h>

extern "C" {
extern __thread struct wm1_thread wm1_thread_state;
extern int (*table[4])(int, void *);
extern const int throws;
int fuel;
int never;
uint64_t environment[64];

int foreign(int n, void *p);
int variadic(int n, ...);
void leave();
void wm1_push_deferred() __attribute__((preserve_most));
}

static int depth, wrong, calls;

static int call(int k, int n)
{
	wm1_push_deferred();
	wm1_thread before = wm1_thread_state;
	int (*f)(int, void *) = table[k & 3];
	depth++;
	calls++;
	wm1_thread_state.id = UINT64_C(0x5eed000000000000) + unsigned(calls);
	int result = 2;
	try {
		result = f(n, reinterpret_cast<void *>(table[(k + 1) & 3]));
	} catch (int) {
	}
	depth--;
	if (wm1_thread_state.top != before.top && before.top) {
		if (wrong++ < 5)
			printf("call %d of table[%d]: top %p, then %p\n", calls, k & 3, (void *)before.top,
			       (void *)wm1_thread_state.top);
		wm1_thread_state.top = before.top;
	}
	return result;
}

int foreign(int n, void *)
{
	if (throws && calls % 5 == 4 && depth)
		throw n;
	return depth < 30 && fuel > 0 ? call(n + calls, (n + 1) & 3) : 1;
}

int variadic(int n, ...)
{
	return foreign(n, nullptr);
}

void leave()
{
	exit(3);
}

int main()
{
	for (int k = 0; k < 16; k++) {
		fuel = 300;
		call(k, k >> 2);
	}
	if (wrong)
		printf("%d of %d calls came back with another state\n", wrong, calls);
	return wrong != 0;
}

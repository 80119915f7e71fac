/*
 * every.c SEED LIBRARY LIBRARY - allocates from a random walk over functions with frames of all kinds, and prints how often each chain of them has allocated, as
 * it knows it itself: lines "COUNT BYTES CHAIN".
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))
enum {
	DEPTH = 24,
	CHAINS = 1 << 16,
	TEXT = 512
};

/* The thread's. */
static __thread const char *names[DEPTH + 8];
static __thread int depth;
static __thread uint64_t state;

static struct chain {
	char text[TEXT];
	long count, bytes;
} *chains;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint32_t draw(uint32_t n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

static void tell(const char *call, size_t bytes)
{
	char text[TEXT] = "";
	size_t len = 0, at = 5381;
	for (int i = 0; i < depth; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s;", names[i]);
	snprintf(text + len, sizeof text - len, "[%s]", call);
	for (const char *c = text; *c; c++)
		at = at * 33 + (unsigned char)*c;
	pthread_mutex_lock(&mutex);
	for (at %= CHAINS; chains[at].count && strcmp(chains[at].text, text) != 0;)
		at = (at + 1) % CHAINS;
	strcpy(chains[at].text, text);
	chains[at].count++;
	chains[at].bytes += (long)bytes;
	pthread_mutex_unlock(&mutex);
}

#define ENTER(name) names[depth++] = name
#define LEAVE() (depth--)

static NOINLINE void go(int left);
typedef void (*fn)(int);

/* Allocates by itself, from several places. */
NOINLINE void leaf(int left)
{
	size_t n = 1 + draw(200);
	void *p;
	(void)left;
	ENTER("leaf");
	switch (draw(5)) {
	case 0:
		p = malloc(n);
		tell("malloc", n);
		break;
	case 1:
		p = calloc(n, 2);
		tell("calloc", 2 * n);
		break;
	case 2:
		p = malloc(n);
		tell("malloc", n);
		p = realloc(p, 3 * n);
		tell("realloc", 3 * n);
		break;
	case 3:
		p = aligned_alloc(64, n * 64);
		tell("aligned_alloc", n * 64);
		break;
	default:
		if (posix_memalign(&p, 32, n))
			abort();
		tell("posix_memalign", n);
	}
	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
	LEAVE();
}
/* The CFA is rsp and a constant; two places with the same frame. */
NOINLINE void plain(int left)
{
	ENTER("plain");
	if (draw(2))
		go(left - 1);
	else
		go(left - 2);
	LEAVE();
}
NOINLINE void plain_too(int left)
{
	ENTER("plain_too");
	if (draw(2))
		go(left - 1);
	else
		go(left - 2);
	LEAVE();
}
/* The CFA is rbp, and how far rsp is below varies. */
NOINLINE void varies(int left)
{
	char *room = __builtin_alloca(16 * (1 + draw(4)));
	ENTER("varies");
	__asm__ volatile("" : : "r"(room) : "memory");
	go(left - 1);
	__asm__ volatile("" : : "r"(room) : "memory");
	LEAVE();
}
/* rbp is one more register. */
NOINLINE void uses_rbp(int left)
{
	uint64_t a = draw(9), b = draw(9), c = draw(9), d = draw(9), e = draw(9), f = draw(9);
	ENTER("uses_rbp");
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	go(left - 1);
	__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
	LEAVE();
}
/* The stack pointer is rounded: the CFA is an expression. */
NOINLINE void realigned(int left)
{
	char room[64] __attribute__((aligned(64)));
	ENTER("realigned");
	__asm__ volatile("" : : "r"(room) : "memory");
	go(left - 1);
	__asm__ volatile("" : : "r"(room) : "memory");
	LEAVE();
}
NOINLINE void large(int left)
{
	char room[5000];
	ENTER("large");
	__asm__ volatile("" : : "r"(room) : "memory");
	go(left - 1);
	__asm__ volatile("" : : "r"(room) : "memory");
	LEAVE();
}
static __thread jmp_buf back;
static __thread int can_jump;
NOINLINE void jumps(int left)
{
	ENTER("jumps");
	go(left - 1);
	if (can_jump && draw(4) == 0)
		longjmp(back, 1);
	LEAVE();
}
NOINLINE void catches(int left)
{
	int was = depth, could = can_jump;
	jmp_buf outer;
	memcpy(&outer, &back, sizeof outer);
	ENTER("catches");
	can_jump = 1;
	if (setjmp(back) == 0)
		go(left - 1);
	depth = was;
	can_jump = could;
	memcpy(&back, &outer, sizeof back);
}
static fn const functions[] = {leaf, plain, plain_too, varies, uses_rbp, plain, varies, large, jumps, catches};
static int with_realigned;
/* An indirect call that is no tail call: the chain has it. */
static NOINLINE void go(int left)
{
	ENTER("go");
	if (left <= 0)
		leaf(0);
	else if (with_realigned && draw(8) == 0)
		realigned(left);
	else
		functions[draw(sizeof functions / sizeof *functions)](left);
	__asm__ volatile("" : : : "memory");
	LEAVE();
}
static NOINLINE void walk(int rounds)
{
	ENTER("walk");
	for (int i = 0; i < rounds; i++) {
		with_realigned = i % 16 == 0;
		go(DEPTH / 3);
	}
	LEAVE();
}

static NOINLINE void *worker(void *seed)
{
	state = (uintptr_t)seed;
	ENTER("main");
	ENTER("threads");
	ENTER("[thread]");
	ENTER("worker");
	walk(300);
	__asm__ volatile("" : : : "memory");
	return NULL;
}
static NOINLINE void threads(void)
{
	pthread_t t[2];
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

/* A handler that allocates, and leaves by siglongjmp now and then. */
static sigjmp_buf out;
static volatile sig_atomic_t ticks;
static NOINLINE void handler(int sig)
{
	(void)sig;
	ENTER("[signal]");
	ENTER("handler");
	go(2);
	LEAVE();
	LEAVE();
	if (++ticks % 5 == 0)
		siglongjmp(out, 1);
}
static NOINLINE void interrupted(void)
{
	struct sigaction action = {.sa_handler = handler};
	ENTER("interrupted");
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 400; i++) {
		int here = depth;
		if (sigsetjmp(out, 1) == 0) {
			go(4);
			raise(SIGUSR1);
			go(2);
		} else {
			depth = here;
		}
	}
	LEAVE();
}

static ucontext_t to_main, to_other;
static NOINLINE void other(void)
{
	for (int i = 0; i < 50; i++) {
		const char *kept[DEPTH + 8];
		int was = depth;
		memcpy(kept, names, sizeof kept);
		depth = 0;
		ENTER("other");
		go(3);
		depth = was;
		memcpy(names, kept, sizeof kept);
		swapcontext(&to_other, &to_main);
	}
}
static NOINLINE void coroutine(void)
{
	static char stack[1 << 17];
	ENTER("coroutine");
	getcontext(&to_other);
	to_other.uc_stack.ss_sp = stack;
	to_other.uc_stack.ss_size = 1 << 17;
	to_other.uc_link = &to_main;
	makecontext(&to_other, other, 0);
	for (int i = 0; i < 50; i++) {
		go(3);
		swapcontext(&to_main, &to_other);
	}
	LEAVE();
}

/* A return address of 0 in their frames is where the other's would be. */
void clear(char *room, int size);
NOINLINE void clear(char *room, int size)
{
	memset(room, 0, (size_t)size);
}
/* The second one is loaded where the first one was: the same code, but for the frame. */
static NOINLINE void libraries(char **paths)
{
	static const char *const visits[] = {"visit_a", "visit_b"};
	ENTER("libraries");
	for (int i = 0; i < 40; i++) {
		void *library = dlopen(paths[i % 2], RTLD_NOW);
		void (*visit)(fn, int) = (void (*)(fn, int))dlsym(library, visits[i % 2]);
		ENTER(visits[i % 2]);
		for (int k = 0; k < 5; k++)
			visit(go, 2);
		LEAVE();
		dlclose(library);
	}
	LEAVE();
}

int main(int argc, char **argv)
{
	static char output[1 << 16];
	pid_t child;
	chains = calloc(CHAINS, sizeof *chains);
	setvbuf(stdout, output, _IOFBF, sizeof output);
	state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	ENTER("main");
	walk(2000);
	interrupted();
	threads();
	child = fork();
	if (child == 0) {
		/* What its parent has counted is its parent's. */
		memset(chains, 0, CHAINS * sizeof *chains);
		walk(200);
	} else
		waitpid(child, NULL, 0);
	coroutine();
	if (argc > 3)
		libraries(argv + 2);
	for (int i = 0; i < CHAINS; i++)
		if (chains[i].count)
			printf("%ld %ld %s\n", chains[i].count, chains[i].bytes, chains[i].text);
	return 0;
}

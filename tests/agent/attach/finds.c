/*
 * finds.c FLAG - threads that always call what was not called before, so that the agent always has something to do. Says "ready", and goes on
 * until the file FLAG is there.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum {
	THREADS = 4,
	FUNCTIONS = 60000, /* each has 16 bytes */
};

static atomic_bool is_over;
static atomic_long next;
volatile int sink;

void leaf(void)
{
	sink++;
}

void functions(void);
__asm__(".text\n"
	".p2align 4\n"
	"functions:\n"
	".rept 60000\n"
	".cfi_startproc\n"
	"	sub $8, %rsp\n"
	".cfi_adjust_cfa_offset 8\n"
	"	call leaf\n"
	"	add $8, %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	".cfi_endproc\n"
	".p2align 4\n"
	".endr\n");

static void *calls(void *unused)
{
	while (!is_over)
		((void (*)(void))((char *)functions + next++ % FUNCTIONS * 16))();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	for (int i = 0; argc == 2 && i < THREADS; i++)
		pthread_create(&threads[i], NULL, calls, NULL);
	puts("ready");
	fflush(stdout);
	while (access(argv[1], F_OK) != 0)
		usleep(5000);
	is_over = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("end");
	return 0;
}

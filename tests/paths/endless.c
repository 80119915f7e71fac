/* endless.c - an endless loop that is killed from outside, anywhere in it: what is counted may be one path apart. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	volatile unsigned long *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();
	if (pid == 0)
		for (unsigned long n = 0;; n++) {
			if (n % 3 == 1)
				shared[1] += n;
			if (n % 100 < 37)
				shared[2]++;
			shared[0] = n;
		}
	while (shared[0] < 50000)
		usleep(100);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

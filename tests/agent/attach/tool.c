/*
 * tool.c text PID     - every page of code of the process is as in its file, but the agent's own
 *        samples FILE N - waits until the recording has so many samples
 *        can PID      - the process can be traced by ptrace
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "waymark/wmk.h"

enum {
	MOST_WAITS = 6000, /* 60 s */
};

static size_t compare(int memory, uint64_t start, uint64_t end, uint64_t off, const char *path)
{
	size_t len = end - start, different = 0;
	uint8_t *ours = calloc(1, len), *theirs = calloc(1, len);
	int file = open(path, O_RDONLY);

	if (!ours || !theirs || file < 0 || pread(file, ours, len, (off_t)off) < 0) {
		printf("%s: cannot be compared\n", path);
		different = 1;
	} else if (pread(memory, theirs, len, (off_t)start) != (ssize_t)len) {
		len = 0; /* it was unmapped meanwhile */
	}
	for (size_t i = 0; i < len && !different; i++)
		if (ours[i] != theirs[i])
			printf("%s+0x%" PRIx64 ": differs\n", path, off + (different = i));
	close(file);
	free(ours);
	free(theirs);
	return different;
}

static int text(const char *pid)
{
	char path[64], line[4608], name[4096], permissions[8];
	size_t different = 0, mappings = 0;
	uint64_t start, end, off;
	int memory;
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%s/mem", pid);
	memory = open(path, O_RDONLY);
	snprintf(path, sizeof path, "/proc/%s/maps", pid);
	maps = fopen(path, "r");
	if (!maps || memory < 0)
		return 1;
	while (fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095s", &start, &end, permissions,
			   &off, name) != 5 ||
		    permissions[2] != 'x' || name[0] != '/' || strstr(name, "libwaymark-agent.so"))
			continue;
		mappings++;
		different += compare(memory, start, end, off, name) != 0;
	}
	return mappings < 3 || different;
}

static int samples(const char *path, uint64_t wanted)
{
	const struct timespec pause = {0, 10000000};
	struct wmk_header header;

	for (int i = 0; i < MOST_WAITS; i++) {
		int fd = open(path, O_RDONLY);
		bool is_read = fd >= 0 && pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header;

		if (fd >= 0)
			close(fd);
		if (is_read && header.samples >= wanted)
			return 0;
		nanosleep(&pause, NULL);
	}
	printf("%s: no %" PRIu64 " samples\n", path, wanted);
	return 1;
}

int main(int argc, char **argv)
{
	pid_t pid = (pid_t)(argc == 3 ? strtol(argv[2], NULL, 10) : 0);

	if (argc == 3 && strcmp(argv[1], "text") == 0)
		return text(argv[2]);
	if (argc == 4 && strcmp(argv[1], "samples") == 0)
		return samples(argv[2], strtoull(argv[3], NULL, 10));
	if (argc == 3 && strcmp(argv[1], "can") == 0)
		return ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) != 0;
	return 2;
}

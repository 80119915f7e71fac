/* switches.c - test only: what a program that switch_pass.cpp changed calls (switches.h). */
#include "switches.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static struct switch_run *run;
static uint32_t switch_at, switch_time, passed;

static uint32_t number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

__attribute__((constructor(101))) static void begin(void)
{
	const char *path = getenv("SWITCH_OUT");
	int file = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	void *memory;

	if (file < 0 || ftruncate(file, sizeof *run))
		return;
	memory = mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (memory == MAP_FAILED)
		return;
	run = memory;
	run->header.magic = SWITCH_MAGIC;
	switch_at = number_of("SWITCH_AT");
	switch_time = number_of("SWITCH_TIME");
}

void switch_block(uint32_t number)
{
	if (!run)
		return;
	run->header.last = number;
	run->blocks[number % SWITCH_BLOCKS] = 1;
	if (run->header.steps++ < SWITCH_STEPS)
		return;
	run->header.is_cut = 1;
	_exit(99);
}

static void add(struct switch_value *v, uint64_t value)
{
	v->count++;
	v->values = (v->values ^ value) * 0x9e3779b97f4a7c15u + v->count;
}

void switch_value(uint32_t number, uint64_t value)
{
	if (run)
		add(&run->values[number % SWITCH_VALUES], value);
}

void switch_place(uint32_t number, uint64_t address)
{
	if (run)
		add(&run->places[number % SWITCH_VALUES], address);
}

uint32_t switch_way(uint32_t number, uint32_t way)
{
	if (number != switch_at || ++passed != switch_time)
		return way;
	return !way;
}

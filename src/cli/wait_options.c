/* wait_options.c - the rates of --wall and --off-cpu, and the words that tell the sampler. */
#include "cli/wait_options.h"

#include <inttypes.h>

#include "cli/agent_options.h"

enum {
	PRESET_HZ = 97, /* a prime: not in step with what the program does */
	HZ_MAX = 1000,
};

static struct error *set(const char *name, const char *text, uint32_t *ret)
{
	*ret = PRESET_HZ;
	return text ? client_number_parse(name, text, 1, HZ_MAX, ret) : NULL;
}

static struct error *set_wall(void *state, const char *text)
{
	return set("wall", text, &((struct wait_choices *)state)->wall_hz);
}

static struct error *set_off_cpu(void *state, const char *text)
{
	return set("off-cpu", text, &((struct wait_choices *)state)->off_cpu_hz);
}

const struct option_row wait_options[] = {
	{.name = "wall",
	 .argument = "=HZ",
	 .is_value_optional = true,
	 .help = "record the contexts in which each thread spends its time, also while it waits; look HZ times a second (97)",
	 OPTION_SET(set_wall)},
	{.name = "off-cpu",
	 .argument = "=HZ",
	 .is_value_optional = true,
	 .help = "record the contexts in which each thread waits, with the time; look HZ times a second (97)",
	 OPTION_SET(set_off_cpu)},
	OPTIONS_END,
};

const char *wait_option(const struct wait_choices *choices)
{
	return choices->wall_hz ? "wall" : choices->off_cpu_hz ? "off-cpu" : NULL;
}

void wait_choices_print(const struct wait_choices *choices, uint32_t cpu_hz, struct buffer *text)
{
	buffer_printf(text, "%" PRIu32, cpu_hz);
	if (choices->wall_hz)
		buffer_printf(text, ",wall=%" PRIu32, choices->wall_hz);
	if (choices->off_cpu_hz)
		buffer_printf(text, ",off-cpu=%" PRIu32, choices->off_cpu_hz);
}

/* options.c - reads what WAYMARK_AGENT or `waymark attach` says. What is not known is passed over. */
#include "agent/os/options.h"

#include <stdlib.h>
#include <string.h>

#include "waymark/agent.h"

struct agent_options agent_options;

static const char *value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	while (text) {
		if (strncmp(text, key, len) == 0 && (text[len] == '\0' || text[len] == ',' || text[len] == '='))
			return text + len + (text[len] == '=');
		text = strchr(text, ',');
		if (text)
			text++;
	}
	return NULL;
}

void agent_options_parse(const char *text)
{
	const char *sample = value_of(text, "sample");

	agent_options = (struct agent_options){0};
	for (; sample && *sample >= '0' && *sample <= '9'; sample++)
		agent_options.sample_hz = agent_options.sample_hz * 10 + (uint32_t)(*sample - '0');
	agent_options.is_checked = value_of(text, "check") != NULL;
	agent_options.has_heap = value_of(text, "heap") != NULL;
	agent_options.is_verbose = value_of(text, "verbose") != NULL;
	agent_options.is_restless = value_of(text, "epochs") != NULL;
	agent_options.is_wall = value_of(text, "wall") != NULL;
}

void agent_options_read(void)
{
	agent_options_parse(getenv("WAYMARK_AGENT"));
}

const char *agent_options_unknown(void)
{
	const char *text = getenv("WAYMARK_AGENT");

	return text ? wm1_agent_option_unknown(text) : NULL;
}

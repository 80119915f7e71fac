/* options.c - reads what WAYMARK_AGENT or `waymark attach` says. What is not known is passed over. */
#include "agent/os/options.h"

#include <stdlib.h>
#include <string.h>

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

/* A client that takes a number is off if that is 0. */
static struct agent_client_option client_of(const char *text, const struct wm1_agent_client_option *option)
{
	const char *value = value_of(text, option->name);
	uint32_t number = 0;

	for (const char *digit = value; option->most && digit && *digit >= '0' && *digit <= '9'; digit++)
		number = number * 10 + (uint32_t)(*digit - '0');
	return (struct agent_client_option){.is_on = option->most ? number != 0 : value != NULL, .number = number};
}

#define SET(name, member) agent_options.member = value_of(text, #name) != NULL;

void agent_options_parse(const char *text)
{
	agent_options = (struct agent_options){0};
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		agent_options.clients[i] = client_of(text, &wm1_agent_client_options[i]);
	WM1_AGENT_SETTINGS(SET)
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

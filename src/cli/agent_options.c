/* agent_options.c - options of the agent's clients, and the words that tell the agent. */
#include "cli/agent_options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEAP_INTERVAL_MAX = 1 << 30, /* runtime/heap/chance.h */
};

struct error *client_number_parse(const char *name, const char *text, uint32_t least, uint32_t most, uint32_t *ret)
{
	bool is_number = *text && strlen(text) <= 10 && strspn(text, "0123456789") == strlen(text);
	long long number = is_number ? atoll(text) : -1;

	if (number < least || number > most)
		return error_create(ERROR_ARGUMENT, "--%s=%s: a number from %" PRIu32 " to %" PRIu32 " is needed", name,
				    text, least, most);
	*ret = (uint32_t)number;
	return NULL;
}

static struct error *interval_parse(const char *text, uint32_t *ret)
{
	size_t digits = strspn(text, "0123456789");
	const char *unit = strchr("kKmMgG", text[digits]);
	unsigned long long bytes = digits && digits <= 10 ? strtoull(text, NULL, 10) : 0;
	int shift = !text[digits] ? 0 : unit ? 10 * (int)((unit - "kKmMgG") / 2 + 1) : -1;

	if (strcmp(text, "every") == 0)
		return NULL;
	if (!bytes || shift < 0 || (shift && text[digits + 1]) || bytes > (unsigned int)HEAP_INTERVAL_MAX >> shift)
		return error_create(ERROR_ARGUMENT,
				    "--heap=%s: \"every\" or a number of bytes from 1 to 1G is needed, with K, M or G "
				    "behind it if wanted",
				    text);
	*ret = (uint32_t)bytes << shift;
	return NULL;
}

void agent_choices_add(struct agent_choices *choices, enum wm1_agent_client client)
{
	struct agent_choice *choice = &choices->of[client];

	if (!choice->is_on)
		*choice = (struct agent_choice){.is_on = true, .number = wm1_agent_client_options[client].preset};
}

static struct error *set(struct agent_choices *choices, enum wm1_agent_client client, const char *text)
{
	const struct wm1_agent_client_option *option = &wm1_agent_client_options[client];
	struct agent_choice choice = {.is_on = true, .is_given = true, .number = option->preset};
	struct error *err = !text                      ? NULL
			    : client == WM1_AGENT_heap ? interval_parse(text, &choice.number)
						       : client_number_parse(option->name, text, option->least,
									     option->most, &choice.number);

	if (!err)
		choices->of[client] = choice;
	return err;
}

bool agent_choices_is_any(const struct agent_choices *choices)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (choices->of[i].is_on)
			return true;
	return false;
}

void agent_choices_print(const struct agent_choices *choices, struct buffer *text)
{
	const char *comma = "";

	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++) {
		const struct wm1_agent_client_option *option = &wm1_agent_client_options[i];

		if (!choices->of[i].is_on)
			continue;
		buffer_printf(text, "%s%s", comma, option->name);
		if (option->most)
			buffer_printf(text, "=%" PRIu32, choices->of[i].number);
		comma = ",";
	}
}

#define SETTER(client, ...)                                              \
	static struct error *set_##client(void *state, const char *text) \
	{                                                                \
		return set(state, WM1_AGENT_##client, text);             \
	}
#define ROW(client, value, text)                         \
	{.name = #client,                                \
	 .argument = sizeof(value) > 1 ? (value) : NULL, \
	 .is_value_optional = sizeof(value) > 1,         \
	 .help = (text),                                 \
	 OPTION_SET(set_##client)},
#define RUN_ROW(client, value, least, most, preset, asks, run_value, run, attach) ROW(client, run_value, run)
#define ATTACH_ROW(client, value, least, most, preset, asks, run_value, run, attach) ROW(client, value, attach)

WM1_AGENT_CLIENTS(SETTER)

const struct option_row run_agent_options[] = {
	/* clang-format off */
	WM1_AGENT_CLIENTS(RUN_ROW)
	/* clang-format on */
	OPTIONS_END,
};

const struct option_row attach_agent_options[] = {
	/* clang-format off */
	WM1_AGENT_CLIENTS(ATTACH_ROW)
	/* clang-format on */
	OPTIONS_END,
};

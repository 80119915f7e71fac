/* clients.c - the table of clients (include/waymark/agent.h), and a walk of it for each phase. */
#include "agent/clients/clients.h"

#include "agent/os/options.h"

#define DECLARED(name, ...) extern const struct agent_client agent_client_##name;
#define ROW(name, ...) &agent_client_##name,
WM1_AGENT_CLIENTS(DECLARED)
static const struct agent_client *const clients[WM1_AGENT_CLIENT_COUNT] = {WM1_AGENT_CLIENTS(ROW)};

static bool is_on(size_t i)
{
	return agent_options.clients[i].is_on;
}

bool agent_clients_log(void)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (is_on(i) && clients[i]->logs)
			return true;
	return false;
}

bool agent_clients_sample(void)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (is_on(i) && clients[i]->on_sample)
			return true;
	return false;
}

void agent_clients_look_up(void)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (clients[i]->look_up)
			clients[i]->look_up();
}

bool agent_clients_prepare(bool *ret_is_new)
{
	*ret_is_new = false;
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++) {
		bool is_new = false;

		if (is_on(i) && clients[i]->prepare && !clients[i]->prepare(&is_new))
			return false;
		*ret_is_new |= is_new;
	}
	return true;
}

void agent_clients_start(void)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (is_on(i) && clients[i]->start)
			clients[i]->start();
}

enum wm1_attach_result agent_clients_find(void)
{
	enum wm1_attach_result ret = WM1_ATTACH_DONE;

	for (size_t i = 0; ret == WM1_ATTACH_DONE && i < WM1_AGENT_CLIENT_COUNT; i++)
		if (is_on(i) && clients[i]->find)
			ret = clients[i]->find();
	return ret;
}

bool agent_clients_attach(void)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (is_on(i) && clients[i]->attach && !clients[i]->attach())
			return false;
	return true;
}

void agent_clients_detach(void)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (is_on(i) && clients[i]->detach)
			clients[i]->detach();
}

void agent_clients_pause(void)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (clients[i]->pause)
			clients[i]->pause();
}

void agent_clients_resume(void)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (clients[i]->resume)
			clients[i]->resume();
}

void agent_clients_on_sample(const struct agent_sample *sample)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (is_on(i) && clients[i]->on_sample)
			clients[i]->on_sample(sample);
}

void agent_clients_reset(void)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (clients[i]->reset)
			clients[i]->reset();
}

void agent_clients_publish(struct wmk_header *header)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (clients[i]->publish)
			clients[i]->publish(header);
}

void agent_clients_add_numbers(struct wmrt_text *text)
{
	for (size_t i = 0; i < WM1_AGENT_CLIENT_COUNT; i++)
		if (clients[i]->add_numbers)
			clients[i]->add_numbers(text);
}

/* clients.h - all clients (client.h): what of them there is to do in each phase. */
#ifndef WM_AGENT_CLIENTS_H
#define WM_AGENT_CLIENTS_H

#include "agent/clients/client.h"

/* One that is on logs lines. */
bool agent_clients_log(void);
/* One that is on takes samples. */
bool agent_clients_sample(void);

/* Each calls the member of that name. */
void agent_clients_look_up(void);
bool agent_clients_prepare(bool *ret_is_new);
void agent_clients_start(void);
enum wm1_attach_result agent_clients_find(void);
bool agent_clients_attach(void);
void agent_clients_detach(void);
void agent_clients_pause(void);
void agent_clients_resume(void);
void agent_clients_on_sample(const struct agent_sample *sample);
void agent_clients_reset(void);
void agent_clients_publish(struct wmk_header *header);
void agent_clients_add_numbers(struct wmrt_text *text);

#endif

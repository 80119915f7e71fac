/* create.h - threads that pthread_create and thrd_create make: each lists itself, and stands on the context of its creator. */
#ifndef WM_AGENT_CREATE_H
#define WM_AGENT_CREATE_H

/* Looks up what is stood in front of. Once, at start. */
void create_start(void);

#endif

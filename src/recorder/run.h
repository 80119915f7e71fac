/*
 * run.h - what the recorder tells the `waymark run` that started the process (waymark/run.h). Without one, nothing but the agent's state is
 * kept.
 */
#ifndef WM_RECORDER_RUN_H
#define WM_RECORDER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "waymark/run.h"
#include "waymark/wmk.h"

/* Once, when the environment is read (config.h). */
void wmrt_run_start(void);
/* 0 without one. */
uint64_t wmrt_run_session(void);
uint32_t wmrt_run_pid(void);
/* A recording was made, or could not be: error is 0 or as in drop_errno. Any thread. */
void wmrt_run_tell_file(uint64_t error);
/* Tells the agent's state of this process and of those that it forks from here on. file_header: finds the header of its recording, which gets it, too; NULL: none yet. */
void wmrt_run_tell_agent(enum wmk_agent state, struct wmk_header *(*file_header)(void));
enum wmk_agent wmrt_run_agent(void);
/* Whether anybody asks for the next one. */
bool wmrt_run_is_watched(void);
/* The process is about to become that program, or to start it, without the agent. In a child that shares memory or was forked, too. */
void wmrt_run_tell_missed(enum wm1_missed_reason reason, const char *path);

#endif

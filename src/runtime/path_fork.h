/*
 * path_fork.h - path counters in forked children.
 */
#ifndef WM_RUNTIME_PATH_FORK_H
#define WM_RUNTIME_PATH_FORK_H

/* In the constructor: asks the C library to tell of forks. */
void wmrt_path_start(void);
/* In a child that has just noticed the fork: makes its file, if it has tables. Not under the lock. */
void wmrt_path_after_fork(void);
/* In a child's new file, or where it can have none; under the lock: see path_fork.c. */
void wmrt_path_move(void);

#endif

/* alone.h - unshare and setns, some of whose forms want a process with one thread: the helper is not there while they run. */
#ifndef WM_SAMPLER_ALONE_H
#define WM_SAMPLER_ALONE_H

/* Looks up what is stood in front of. Once, at start. */
void alone_start(void);

#endif

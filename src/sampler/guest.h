/* guest.h - the sampler in a process that it has come to while it ran (attach.c). */
#ifndef WM_SAMPLER_GUEST_H
#define WM_SAMPLER_GUEST_H

/* In a forked child, where nothing is sampled: all is as it was before. */
void guest_after_fork(void);

#endif

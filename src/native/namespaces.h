/* namespaces.h - libraries that dlmopen loads into a namespace of their own: what they do there that is not recorded is said in one line. */
#ifndef WM_NATIVE_NAMESPACES_H
#define WM_NATIVE_NAMESPACES_H

/* Once, at start, where something is recorded. */
void namespaces_start(void);

#endif

/*
 * walked_natives.h - what programs ask of dev.waymark.Waymark, where contexts are walks of the stack.
 *
 * The virtual machine asks the agent's library for native methods that nobody has registered: so the class is not loaded before the program
 * uses it.
 */
#ifndef WM_JVM_WALKED_NATIVES_H
#define WM_JVM_WALKED_NATIVES_H

/* From here on a Waymark that is initialised is on. */
void jvm_walked_natives_announce(void);

#endif

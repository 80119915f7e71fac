/* checked.h - faults in the recording of a virtual machine that lets nobody have SIGBUS. */
#ifndef WM_JVM_CHECKED_H
#define WM_JVM_CHECKED_H

/* Before the virtual machine is created. Does nothing where the program has a handler of its own. */
void checked_begin(void);

#endif

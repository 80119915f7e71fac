/*
 * faults.h - a client of the recorder: SIGBUS in the recording (recorder/bus.h), in front of the virtual machine's own handler.
 */
#ifndef WM_JVM_FAULTS_H
#define WM_JVM_FAULTS_H

#include "recorder/client.h"

extern const struct wmrt_client jvm_faults;

#endif

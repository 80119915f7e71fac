/* options.h - what a virtual machine was started with, as far as it decides whether it can be attached to. */
#ifndef WM_SNAPSHOT_HOTSPOT_OPTIONS_H
#define WM_SNAPSHOT_HOTSPOT_OPTIONS_H

#include "snapshot/hotspot/hotspot.h"

/* Refuses one that does not listen yet and would not for SIGQUIT, which would end it, or print a dump of its threads. */
struct error *hotspot_check_options(const struct hotspot *h);

#endif

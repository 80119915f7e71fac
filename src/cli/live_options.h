/* live_options.h - the options of live views (live_view.h), of `waymark top` and `waymark run --watch`. */
#ifndef WM_CLI_LIVE_OPTIONS_H
#define WM_CLI_LIVE_OPTIONS_H

#include "cli/live_view.h"
#include "cli/options.h"

#define LIVE_OPTIONS_DEFAULT {.interval = 1, .window = 10}

extern const struct option_row live_option_rows[]; /* of struct live_options */

#endif

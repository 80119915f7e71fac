/* decode_live_plugin.c - a library that decode_live.c loads: its images come into the recording late. */
#include <stdio.h>
#include <waymark.h>

void plugin_say(void)
{
	char token[WM_TOKEN_MAX];

	wm_token(wm_capture(), token, sizeof token);
	puts(token);
}

/* options.c - reads the agent's options. */
#include "jvm/c/options.h"

#include <stddef.h>
#include <string.h>

bool jvm_options_parse(const char *text, struct jvm_options *ret, const char **unknown)
{
	struct jvm_options options = {0};

	while (text && *text) {
		size_t len = strcspn(text, ",");

		if (len == 5 && memcmp(text, "check", len) == 0) {
			options.is_checked = true;
		} else if (len) {
			*unknown = text;
			return false;
		}
		text += len + (text[len] == ',');
	}
	*ret = options;
	return true;
}

/* fuzz_scheme.c - rules of schemes: every rule is read to the end of the text and matched with a name and a file. */
#include <stdlib.h>
#include <string.h>

#include "format/scheme.h"
#include "fuzz/fuzz.h"
#include "waymark/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	const char *at = text, *before;
	struct scheme_problem problem;
	struct scheme_rule rule;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	do {
		before = at;
		if (scheme_next_rule(&at, &rule, &problem)) {
			if (!rule.count || rule.count > WM1_SCHEMES || rule.glob < before ||
			    rule.glob + rule.glob_len > at)
				abort();
			scheme_rule_matches(&rule, "_ZN2ns4nameEv", "ns::name()", "/src/lib/file.c");
		} else if (problem.what && (problem.at < before || problem.at > at)) {
			abort();
		}
	} while (at > before);
	if (*at)
		abort();
	free(text);
	return 0;
}

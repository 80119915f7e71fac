/* test_options.c - what stands behind -agentpath:...=. */
#include <string.h>

#include "check.h"
#include "jvm/c/options.h"

static void test_known(const char *text, bool is_checked)
{
	struct jvm_options options = {.is_checked = !is_checked};
	const char *unknown = NULL;

	CHECK(jvm_options_parse(text, &options, &unknown));
	CHECK(options.is_checked == is_checked && !unknown);
}

static void test_unknown(const char *text, const char *wanted)
{
	struct jvm_options options = {0};
	const char *unknown = "";

	CHECK(!jvm_options_parse(text, &options, &unknown));
	CHECK(strcmp(unknown, wanted) == 0 && !options.is_checked);
}

int main(void)
{
	test_known(NULL, false);
	test_known("", false);
	test_known(",", false);
	test_known("check", true);
	test_known(",check,", true);
	test_unknown("chec", "chec");
	test_unknown("check,checks,x", "checks,x");
	test_unknown("check=1", "check=1");
	return check_status();
}

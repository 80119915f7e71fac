/* test_options.c - what stands behind -agentpath:...=. */
#include <string.h>

#include "check.h"
#include "jvm/c/base/options.h"

static void test_known(const char *text, bool is_checked, int32_t check_every)
{
	struct jvm_options options = {0};
	const char *unknown = NULL;

	CHECK(jvm_options_parse(text, &options, &unknown));
	CHECK(options.is_checked == is_checked && options.check_every == check_every && !unknown);
}

static void test_encoder(const char *text, bool is_lucce)
{
	struct jvm_options options = {0};
	const char *unknown = NULL;

	CHECK(jvm_options_parse(text, &options, &unknown));
	CHECK(options.is_lucce == is_lucce && !unknown);
}

static void test_globs(void)
{
	struct jvm_options options = {0};
	const char *unknown = NULL;

	CHECK(jvm_options_parse("include=a.*:b,check,jdk=java.util.*,exclude=*c", &options, &unknown));
	CHECK(strcmp(options.include, "a.*:b") == 0 && strcmp(options.exclude, "*c") == 0);
	CHECK(strcmp(options.jdk, "java.util.*") == 0 && options.is_checked);
}

/* What was there stays where the text does not say otherwise, and where it is refused. */
static void test_added(void)
{
	struct jvm_options options = {0};
	const char *unknown = NULL;

	CHECK(jvm_options_parse("check=7,encoder=lucce,jdk=a", &options, &unknown));
	CHECK(jvm_options_parse("encoder=fast,jdk=b", &options, &unknown));
	CHECK(!jvm_options_parse("jdk=c,none", &options, &unknown));
	CHECK(options.check_every == 7 && !options.is_lucce && strcmp(options.jdk, "b") == 0);
}

/* One that has no room is refused. */
static void test_long_globs(size_t len, bool is_known)
{
	char text[sizeof "jdk=" + JVM_GLOBS_BYTES] = "jdk=";
	struct jvm_options options = {0};
	const char *unknown = NULL;

	memset(text + 4, '*', len);
	CHECK(jvm_options_parse(text, &options, &unknown) == is_known);
}

static void test_alloc(const char *text, bool has_alloc, int32_t alloc_bytes)
{
	struct jvm_options options = {0};
	const char *unknown = NULL;

	CHECK(jvm_options_parse(text, &options, &unknown));
	CHECK(options.clients[WM1_JVM_alloc].is_on == has_alloc && !unknown);
	CHECK(options.clients[WM1_JVM_alloc].number == alloc_bytes);
}

static void test_cpu(const char *text, int32_t cpu_hz)
{
	struct jvm_options options = {0};
	const char *unknown = NULL;

	CHECK(jvm_options_parse(text, &options, &unknown));
	CHECK(options.clients[WM1_JVM_cpu].is_on == (cpu_hz != 0) && !unknown);
	CHECK(options.clients[WM1_JVM_cpu].number == cpu_hz);
}

/* Each word of the table switches its own client on, and no other. */
static void test_clients(void)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++) {
		struct jvm_options options = {0};
		const char *unknown = NULL;

		CHECK(jvm_options_parse(wm1_jvm_client_options[i].name, &options, &unknown));
		for (size_t k = 0; k < WM1_JVM_CLIENT_COUNT; k++)
			CHECK(options.clients[k].is_on == (k == i));
		CHECK(options.clients[i].number == wm1_jvm_client_options[i].preset);
	}
}

static void test_profile(void)
{
	struct jvm_options options = {0};
	const char *unknown = NULL;

	CHECK(jvm_options_parse("profile=/tmp/a b,check,cache=c", &options, &unknown));
	CHECK_TEXT(options.profile, "/tmp/a b");
	CHECK_TEXT(options.cache, "c");
}

static void test_unknown(const char *text, const char *wanted)
{
	struct jvm_options options = {0};
	const char *unknown = "";

	CHECK(!jvm_options_parse(text, &options, &unknown));
	CHECK(strcmp(unknown, wanted) == 0 && !options.is_checked);
}

static void test_walk(const char *text, bool walks)
{
	struct jvm_options options = {0};
	const char *unknown = NULL;

	CHECK(jvm_options_parse(text, &options, &unknown));
	CHECK(jvm_options_walk(&options) == walks);
}

int main(void)
{
	test_known(NULL, false, 0);
	test_known("", false, 0);
	test_known(",", false, 0);
	test_known("check", true, 0);
	test_known(",check,", true, 0);
	test_known("check=1", true, 1);
	test_known("check,check=2147483647", true, INT32_MAX);
	test_globs();
	test_added();
	test_long_globs(JVM_GLOBS_BYTES - 1, true);
	test_long_globs(JVM_GLOBS_BYTES, false);
	test_unknown("include=", "include=");
	test_unknown("includes=x", "includes=x");
	test_encoder("encoder=lucce", true);
	test_encoder("check,encoder=lucce,encoder=fast", false);
	test_alloc("check", false, 0);
	test_alloc("alloc", true, 512 << 10);
	test_alloc("alloc=0", true, 0);
	test_alloc("alloc=0,check,alloc=4096", true, 4096);
	test_unknown("contention=1", "contention=1");
	test_cpu("check", 0);
	test_cpu("cpu", 97);
	test_cpu("cpu=100000,alloc", 100000);
	test_clients();
	test_walk("", false);
	test_walk("alloc,contention,exceptions,cpu,live", true);
	test_walk("alloc=0", false);
	test_walk("contention,encode", false);
	test_walk("contention,encoder=fast", false);
	test_walk("cpu,check", false);
	test_walk("cpu,jdk=a", false);
	test_walk("cpu,profile=p", false);
	test_walk("cpu,cache=c", false);
	test_profile();
	test_unknown("profile=", "profile=");
	test_unknown("cpu=0", "cpu=0");
	test_unknown("cpu=100001", "cpu=100001");
	test_unknown("exception", "exception");
	test_unknown("alloc=", "alloc=");
	test_unknown("alloc=-1", "alloc=-1");
	test_unknown("alloc0", "alloc0");
	test_unknown("encoder=luccee", "encoder=luccee");
	test_unknown("chec", "chec");
	test_unknown("check,checks,x", "checks,x");
	test_unknown("check=", "check=");
	test_unknown("check=0", "check=0");
	test_unknown("check=2147483648", "check=2147483648");
	test_unknown("check=99999999999", "check=99999999999");
	test_unknown("check=1x", "check=1x");
	return check_status();
}

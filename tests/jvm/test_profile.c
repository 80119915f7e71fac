/*
 * test_profile.c - profiles of Java calls: ranks and spaces of a text, each way in which it may be damaged, every cut of it; what is written
 * is read again, with the heat of both runs.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "core/contexts/sitecode.h"
#include "jvm/c/codes/profile.h"

#define HEAD "waymark-jvm-profile 1\n"

static const char whole[] = HEAD "9\tf()V\tA\tmain\t()V\t7\n"
				 "9\tf()V\tA\tmain\t()V\t8\n"
				 "4\tf()V\tB\tmain\t()V\t7\n"
				 "0\tg(I)V\tA\tmain\t(I)V\t65535\n";

static uint32_t line;

static enum jvm_profile_result parse(const char *text, size_t len)
{
	char *copy = calloc(1, len + 1); /* the profile takes it */

	memcpy(copy, text, len);
	return jvm_profile_parse(copy, len, &line);
}

static uint32_t rank_of(const char *space, const char *class_name, const char *descriptor, uint32_t position)
{
	const struct jvm_profile_call call = {space, class_name, "main", descriptor, position};
	uint32_t ret;

	return jvm_profile_rank(&call, &ret) ? ret : UINT32_MAX;
}

static void test_whole(void)
{
	CHECK(parse(whole, sizeof whole - 1) == JVM_PROFILE_OK);
	CHECK_U64(jvm_profile_calls("f()V"), 3);
	CHECK_U64(jvm_profile_calls("g(I)V"), 1);
	CHECK_U64(jvm_profile_calls("h()V"), 0);
	CHECK_U64(rank_of("f()V", "A", "()V", 7), 0);
	CHECK_U64(rank_of("f()V", "A", "()V", 8), 1);
	CHECK_U64(rank_of("f()V", "B", "()V", 7), 2);
	CHECK_U64(rank_of("g(I)V", "A", "(I)V", 65535), 0);
	CHECK_U64(rank_of("f()V", "A", "(I)V", 7), UINT32_MAX);
	CHECK_U64(rank_of("g(I)V", "A", "()V", 7), UINT32_MAX);
	CHECK_U64(rank_of("f()V", "B", "()V", 8), UINT32_MAX);
	CHECK(parse("", 0) == JVM_PROFILE_OK);
	CHECK_U64(jvm_profile_calls("f()V"), 0);
}

static void test_damaged(const char *text, uint32_t wanted)
{
	CHECK(parse(text, strlen(text)) == JVM_PROFILE_DAMAGED);
	CHECK_U64(line, wanted);
	CHECK_U64(jvm_profile_calls("f()V"), 0);
	CHECK_U64(rank_of("f()V", "A", "()V", 7), UINT32_MAX);
}

static void test_all_damaged(void)
{
	test_damaged("waymark-jvm-profile 2\n", 1);
	test_damaged("waymark-jvm-profile 1", 1);
	test_damaged(HEAD "\n", 2);
	test_damaged(HEAD "9\tf()V\tA\tmain\t()V\t7\n9\tf()V\tA\tmain\t()V\n", 3);
	test_damaged(HEAD "9\tf()V\tA\tmain\t()V\t\n", 2);
	test_damaged(HEAD "\tf()V\tA\tmain\t()V\t7\n", 2);
	test_damaged(HEAD "9\tf()V\tA\tmain\t()V\t65536\n", 2);
	test_damaged(HEAD "9\tf()V\tA\tmain\t()V\t7\t7\n", 2);
	test_damaged(HEAD "4294967296\tf()V\tA\tmain\t()V\t7\n", 2);
	test_damaged(HEAD "-1\tf()V\tA\tmain\t()V\t7\n", 2);
	/* A call twice; a hotter one behind another; a space in two places. */
	test_damaged(HEAD "9\tf()V\tA\tmain\t()V\t7\n9\tf()V\tA\tmain\t()V\t7\n", 3);
	test_damaged(HEAD "9\tf()V\tA\tmain\t()V\t7\n10\tf()V\tA\tmain\t()V\t8\n", 3);
	test_damaged(HEAD "9\tf()V\tA\tmain\t()V\t7\n9\tg()V\tA\tmain\t()V\t7\n9\tf()V\tA\tmain\t()V\t8\n", 4);
}

/* In memory of its own, so that a sanitizer sees reads behind the end. */
static void test_cuts(void)
{
	for (size_t len = 1; len < sizeof whole; len++) {
		bool is_whole = len >= sizeof HEAD - 1 && whole[len - 1] == '\n';

		CHECK((parse(whole, len) == JVM_PROFILE_OK) == is_whole);
	}
	CHECK(parse(HEAD "9\0\n", sizeof HEAD - 1 + 3) == JVM_PROFILE_DAMAGED);
}

/* More calls than have codes: the last ones have none, and there is room for others. */
static void test_many(void)
{
	enum {
		CALLS = SITECODE_RANKS + 10
	};
	char *text = malloc(CALLS * 32 + sizeof HEAD);
	size_t len = (size_t)sprintf(text, HEAD);

	for (int i = 0; i < CALLS; i++)
		len += (size_t)sprintf(text + len, "3\tf()V\tA\tmain\t()V\t%d\n", i);
	CHECK(parse(text, len) == JVM_PROFILE_OK);
	CHECK(jvm_profile_calls("f()V") > 1000 && jvm_profile_calls("f()V") < SITECODE_RANKS);
	CHECK_U64(rank_of("f()V", "A", "()V", 1000), 1000);
	CHECK_U64(rank_of("f()V", "A", "()V", CALLS - 1), UINT32_MAX);
	free(text);
}

/* ---- writing ---- */

struct seen {
	struct jvm_profile_call call;
	uint32_t heat;
	bool has_space;
};
static const struct seen all_seen[] = {
	{{"f()V", "B", "main", "()V", 7}, 8, true},  /* and 4 / 2 */
	{{"f()V", "C", "main", "()V", 1}, 3, true},  /* is there twice */
	{{"f()V", "C", "main", "()V", 1}, 30, true}, /**/
	{{"f()V", "D", "main", "()V", 1}, 0, true},  /* was never seen */
	{{"f()V", "E", "main", "()V", 1}, 5, false},         {{"f()V", "E\tE", "main", "()V", 1}, 5, true},
	{{"e()V", "A", "main", "()V", 1}, UINT32_MAX, true}, {{"e()V", "A", "main", "()V", 1}, UINT32_MAX, true},
};

static bool get(size_t number, struct jvm_profile_call *call, uint32_t *heat)
{
	*call = all_seen[number].call;
	*heat = all_seen[number].heat;
	return all_seen[number].has_space;
}

/* A method seen in this run has its new room, another one that of the file, one that is there twice the greater one. */
static const struct seen all_rooms[] = {
	{{"", "A", "main", "()V", 0}, 12, true},
	{{"", "C", "main", "()V", 0}, 8, true},
	{{"", "C", "main", "()V", 0}, 16, true},
	{{"", "D", "main", "()V", 0}, 0, true},
};

static bool get_room(size_t number, struct jvm_profile_call *call, uint32_t *heat)
{
	*call = all_rooms[number].call;
	*heat = all_rooms[number].heat;
	return all_rooms[number].has_space;
}

static void check_file(const char *path, const char *wanted)
{
	char text[512] = "";
	FILE *file = fopen(path, "r");

	CHECK(file && fread(text, 1, sizeof text - 1, file) > 0);
	CHECK_TEXT(text, wanted);
	if (file)
		fclose(file);
}

static void test_written(void)
{
	char folder[] = "/tmp/waymark-profile.XXXXXX", path[64], other[64];

	CHECK(mkdtemp(folder));
	sprintf(path, "%s/p", folder);
	CHECK(jvm_profile_read(path, &line) == JVM_PROFILE_OK); /* not there */
	CHECK(jvm_profile_read(folder, &line) == JVM_PROFILE_UNREADABLE);
	CHECK(parse(whole, sizeof whole - 1) == JVM_PROFILE_OK);
	CHECK(jvm_profile_write(path, sizeof all_seen / sizeof *all_seen, get));
	check_file(path, HEAD "4294967295\te()V\tA\tmain\t()V\t1\n"
			      "33\tf()V\tC\tmain\t()V\t1\n"
			      "10\tf()V\tB\tmain\t()V\t7\n"
			      "4\tf()V\tA\tmain\t()V\t7\n"
			      "4\tf()V\tA\tmain\t()V\t8\n");
	CHECK(jvm_profile_read(path, &line) == JVM_PROFILE_OK);
	CHECK_U64(rank_of("f()V", "C", "()V", 1), 0);
	CHECK_U64(jvm_profile_calls("f()V"), 4);
	/* Nothing is left of a try that fails. */
	sprintf(other, "%s/none/p", folder);
	CHECK(!jvm_profile_write(other, 0, get));
	CHECK(unlink(path) == 0);
	CHECK(rmdir(folder) == 0);
}

static void test_rooms(void)
{
	static const char rooms[] = HEAD "41\t\tB\tmain\t()V\t0\n"
					 "32\t\tA\tmain\t()V\t0\n"
					 "9\tf()V\tA\tmain\t()V\t7\n";
	char path[] = "/tmp/waymark-profile.XXXXXX";

	close(mkstemp(path));
	CHECK(parse(rooms, sizeof rooms - 1) == JVM_PROFILE_OK);
	CHECK_U64(jvm_profile_room("A", "main", "()V"), 32);
	CHECK_U64(jvm_profile_room("B", "main", "()V"), JVM_PROFILE_MOST_ROOM);
	CHECK_U64(jvm_profile_room("A", "main", "(I)V"), 0);
	CHECK_U64(jvm_profile_calls("f()V"), 1);
	CHECK(jvm_profile_write(path, sizeof all_rooms / sizeof *all_rooms, get_room));
	check_file(path, HEAD "41\t\tB\tmain\t()V\t0\n"
			      "16\t\tC\tmain\t()V\t0\n"
			      "12\t\tA\tmain\t()V\t0\n"
			      "4\tf()V\tA\tmain\t()V\t7\n");
	CHECK(unlink(path) == 0);
}

int main(void)
{
	test_whole();
	test_all_damaged();
	test_cuts();
	test_many();
	test_written();
	test_rooms();
	CHECK(parse("", 0) == JVM_PROFILE_OK); /* and nothing is left */
	return check_status();
}

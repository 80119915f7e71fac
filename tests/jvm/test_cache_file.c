/*
 * test_cache_file.c - what was added is there after the file was written, for the same class and the same key alone; a file that is cut off is
 * refused, and one with any byte changed has right templates or none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "jvm/c/classes/cache.h"
#include "jvm/template_seed.h"

enum {
	MAX_FILE = 1 << 16,
	FLAGS = JVM_METHOD_HAS_NUMBER | JVM_METHOD_HAS_CODES,
};

static char path[64];
static const uint8_t one[] = "the bytes of a class";
static const uint8_t other[] = "the bytes of another";

static void add(const char *name, const uint8_t *bytes, size_t len)
{
	size_t template_len;
	void *template = template_seed(seed_code, seed_code_len, FLAGS, &template_len);

	CHECK(jvm_template_locate(&template, &template_len));
	jvm_cache_add(name, bytes, len, template, template_len);
}

static bool has(const char *name, const uint8_t *bytes, size_t len)
{
	struct jvm_template t;

	return jvm_cache_find(name, bytes, len, &t) && t.header &&
	       strcmp(jvm_template_text(&t, t.header->name), "A") == 0;
}

static bool is_unchanged(const char *name)
{
	struct jvm_template t;

	return jvm_cache_find(name, one, sizeof one, &t) && !t.header;
}

/* A process writes once; each of these stands for one. */
static void in_child(void (*run)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		run();
		_exit(check_status());
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void write_first(void)
{
	CHECK_U64(jvm_cache_open(path, 7), JVM_CACHE_OK);
	CHECK(!has("A", one, sizeof one));
	add("A", one, sizeof one);
	add("B", one, sizeof one);
	jvm_cache_add("Plain", one, sizeof one, NULL, 0);
	CHECK(jvm_cache_write(path, 7));
	add("late", one, sizeof one);
	CHECK(jvm_cache_write("/nowhere/at/all", 7)); /* nothing was added */
}

static void write_second(void)
{
	CHECK_U64(jvm_cache_open(path, 7), JVM_CACHE_OK);
	CHECK(has("A", one, sizeof one) && has("B", one, sizeof one) && is_unchanged("Plain"));
	CHECK(!has("A", other, sizeof other) && !has("A", one, sizeof one - 1) && !has("late", one, sizeof one) &&
	      !has("", one, sizeof one));
	add("A", one, sizeof one - 3);
	add("A", other, sizeof other); /* of two loaders: the last one stays */
	CHECK(!jvm_cache_write("/nowhere/at/all", 7));
	add("A", other, sizeof other);
}

static void write_third(void)
{
	CHECK_U64(jvm_cache_open(path, 7), JVM_CACHE_OK);
	add("A", other, sizeof other);
	CHECK(jvm_cache_write(path, 7));
	CHECK_U64(jvm_cache_open(path, 7), JVM_CACHE_OK);
	CHECK(has("A", other, sizeof other) && !has("A", one, sizeof one) && has("B", one, sizeof one));
}

static void write_other_key(void)
{
	CHECK_U64(jvm_cache_open(path, 8), JVM_CACHE_OK);
	CHECK(!has("A", other, sizeof other) && !is_unchanged("Plain"));
	add("C", one, sizeof one);
	CHECK(jvm_cache_write(path, 8));
	CHECK_U64(jvm_cache_open(path, 8), JVM_CACHE_OK);
	CHECK(has("C", one, sizeof one) && !has("B", one, sizeof one));
}

static void write_many(void)
{
	char name[16];

	CHECK_U64(jvm_cache_open("/nowhere", 9), JVM_CACHE_OK);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "N%d", i);
		add(name, (const uint8_t *)name, strlen(name));
	}
	CHECK(jvm_cache_write(path, 9));
	CHECK_U64(jvm_cache_open(path, 9), JVM_CACHE_OK);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "N%d", i);
		CHECK(has(name, (const uint8_t *)name, strlen(name)));
	}
}

/* At a multiple of 8. */
static size_t read_file(uint8_t *bytes)
{
	FILE *file = fopen(path, "rb");
	size_t len = file ? fread(bytes, 1, MAX_FILE, file) : 0;

	if (file)
		fclose(file);
	return len;
}

static void test_damage(void)
{
	static _Alignas(8) uint8_t bytes[MAX_FILE];
	size_t len = read_file(bytes);

	CHECK(len > 100 && len < MAX_FILE);
	for (size_t cut = 1; cut < len; cut++)
		CHECK_U64(jvm_cache_use(bytes, cut, 8), JVM_CACHE_DAMAGED);
	for (size_t at = 0; at < len; at++) {
		bytes[at] ^= 0x41;
		if (jvm_cache_use(bytes, len, 8) == JVM_CACHE_OK)
			CHECK(has("C", one, sizeof one) || !has("C", one, sizeof one));
		bytes[at] ^= 0x41;
	}
	CHECK_U64(jvm_cache_use(bytes, len, 8), JVM_CACHE_OK);
	CHECK(has("C", one, sizeof one));
	CHECK_U64(jvm_cache_use(bytes, 0, 8), JVM_CACHE_OK);
	CHECK(!has("C", one, sizeof one));
}

/* A cache is code of the next run: only its user, and root, can have written it, and what is another user's stays. */
static void test_owner(void)
{
	mode_t mask = umask(0);
	struct stat st;

	in_child(write_first);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0644);
	umask(mask);
	CHECK(chmod(path, 0664) == 0);
	CHECK_U64(jvm_cache_open(path, 7), JVM_CACHE_FOREIGN);
	CHECK(!has("A", one, sizeof one));
	CHECK(chmod(path, 0646) == 0);
	CHECK_U64(jvm_cache_open(path, 7), JVM_CACHE_FOREIGN);
	CHECK(chmod(path, 0644) == 0);
	CHECK_U64(jvm_cache_open(path, 7), JVM_CACHE_OK);
	if (chown(path, 65534, 65534) != 0)
		return; /* not root */
	CHECK_U64(jvm_cache_open(path, 7), JVM_CACHE_FOREIGN);
	add("D", one, sizeof one);
	CHECK(!jvm_cache_write(path, 7));
	CHECK(stat(path, &st) == 0 && st.st_uid == 65534);
}

int main(void)
{
	snprintf(path, sizeof path, "/tmp/waymark-cache.XXXXXX");
	close(mkstemp(path));
	in_child(write_first);
	in_child(write_second);
	in_child(write_third);
	in_child(write_other_key);
	test_damage();
	in_child(write_many);
	CHECK_U64(jvm_cache_open("/", 7), JVM_CACHE_UNREADABLE);
	unlink(path);
	test_owner();
	unlink(path);
	return check_status();
}

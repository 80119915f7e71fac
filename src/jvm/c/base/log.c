/* log.c - kinds in a small table; what has no room there is of one more kind, the last. */
#include "jvm/c/base/log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/plain_text.h"
#include "recorder/sys.h"
#include "recorder/text.h"

enum {
	LINE_MAX = 8192,
	KINDS = 16,
	KIND_MAX = 256,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t divert_lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the divert_lock, which is taken inside of the other one. */
static bool is_diverted;
static struct wmrt_text diverted; /* where lines go; without a size: nowhere */
/* Under the lock. A kind without a count is not there. */
static struct {
	char text[KIND_MAX];
	uint64_t count;
} kinds[KINDS];

void jvm_log_into(struct wmrt_text text)
{
	pthread_mutex_lock(&divert_lock);
	is_diverted = true;
	diverted = text;
	pthread_mutex_unlock(&divert_lock);
}

/* False: lines go to standard error. */
static bool divert(const char *text)
{
	bool ret;

	pthread_mutex_lock(&divert_lock);
	ret = is_diverted;
	if (ret && diverted.size) {
		wmrt_text_add(&diverted, diverted.len ? "; " : "");
		wmrt_text_add(&diverted, text);
	}
	pthread_mutex_unlock(&divert_lock);
	return ret;
}

void jvm_log(const char *text)
{
	char buffer[LINE_MAX];
	struct wmrt_text line = {buffer, sizeof buffer - 1, 0};

	if (divert(text))
		return;
	wmrt_text_add(&line, "waymark: ");
	wmrt_text_add(&line, text);
	if (!wmrt_text_fits(&line))
		line.len = line.size - 1;
	plain_make(buffer); /* names of classes and files are anybody's */
	buffer[line.len++] = '\n';
	wmrt_sys3(SYS_write, 2, (long)buffer, (long)line.len);
}

void jvm_log_disabled(const char *why)
{
	char line[LINE_MAX];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, why);
	wmrt_text_add(&text, "; nothing is instrumented");
	jvm_log(line);
}

/* Counts one more. True: it is the first. */
static bool count(const char *kind)
{
	size_t i = 0;

	while (i < KINDS - 1 && kinds[i].count && strncmp(kinds[i].text, kind, KIND_MAX - 1) != 0)
		i++;
	if (!kinds[i].count) {
		struct wmrt_text text = {kinds[i].text, KIND_MAX, 0};

		wmrt_text_add(&text, i < KINDS - 1 ? kind : "other lines, of which one is here");
	}
	return kinds[i].count++ == 0;
}

void jvm_log_of(const char *subject, const char *kind)
{
	char line[LINE_MAX];
	struct wmrt_text text = {line, sizeof line, 0};
	bool is_first;

	pthread_mutex_lock(&lock);
	is_first = count(kind);
	pthread_mutex_unlock(&lock);
	if (!is_first)
		return;
	wmrt_text_add(&text, subject);
	wmrt_text_add(&text, ": ");
	wmrt_text_add(&text, kind);
	jvm_log(line);
}

void jvm_log_counts(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < KINDS; i++) {
		char line[KIND_MAX + 64];
		struct wmrt_text text = {line, sizeof line, 0};

		if (kinds[i].count < 2)
			continue;
		wmrt_text_add(&text, kinds[i].text);
		wmrt_text_add(&text, ": ");
		wmrt_text_number(&text, kinds[i].count, 10, 1);
		wmrt_text_add(&text, " in all");
		jvm_log(line);
	}
	pthread_mutex_unlock(&lock);
}

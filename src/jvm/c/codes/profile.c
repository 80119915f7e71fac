/* profile.c - the lines of the file stay where they were read; two hash maps find calls and spaces in them. */
#include "jvm/c/codes/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/hashmap.h"
#include "core/contexts/sitecode.h"
#include "jvm/c/base/replace.h"

#define HEADER "waymark-jvm-profile 1"
#define NO_SPACE ""

enum {
	KEPT_RANKS = SITECODE_RANKS / 2, /* of a space, at most, for calls of the profile: others need codes, too */
	POSITION_MAX = UINT16_MAX,
};

struct line {
	struct jvm_profile_call call;
	uint32_t heat;
	uint32_t rank;
};

struct space {
	const char *name;
	uint32_t calls;
};

/* Written when the file is read, before classes are loaded; read by any thread from then on. */
static struct line *lines;
static struct space *spaces;
static uint32_t line_count, space_count;
/* Numbers of lines and of spaces. */
static struct hashmap calls, names;
/* The text of the file, which has all strings. */
static char *whole;

/* All parts of the call are in both hashes, each text with its NUL. */
static struct key key_of_call(const struct jvm_profile_call *call)
{
	const char *const texts[] = {call->space, call->class_name, call->method, call->descriptor};
	struct key ret = {{HASH_START, ~HASH_START, call->position}};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (size_t k = 0; k < 2; k++)
			ret.words[k] = hash_bytes(ret.words[k], texts[i], strlen(texts[i]) + 1);
	return ret;
}

static int compare_calls(const struct jvm_profile_call *a, const struct jvm_profile_call *b)
{
	int ret = strcmp(a->space, b->space);

	if (!ret)
		ret = strcmp(a->class_name, b->class_name);
	if (!ret)
		ret = strcmp(a->method, b->method);
	if (!ret)
		ret = strcmp(a->descriptor, b->descriptor);
	return ret ? ret : (a->position > b->position) - (a->position < b->position);
}

/* NULL: the profile has no such call. Texts are compared, too: a rank of another call would be given twice. */
static struct line *find_line(const struct jvm_profile_call *call)
{
	const struct key key = key_of_call(call);
	uint32_t number;

	if (!line_count || !hashmap_find(&calls, &key, &number) || compare_calls(&lines[number].call, call) != 0)
		return NULL;
	return &lines[number];
}

/* ---- reading ---- */

/* Cuts the text up to the character off, which is made a NUL: *rest is what is behind it. NULL: there is no such character. */
static char *cut(char **rest, char end)
{
	char *ret = *rest, *at = strchr(ret, end);

	if (!at)
		return NULL;
	*at = '\0';
	*rest = at + 1;
	return ret;
}

static bool read_number(const char *text, uint32_t most, uint32_t *ret)
{
	uint64_t number = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		number = number * 10 + (uint64_t)(*text - '0');
		if (number > most)
			return false;
	}
	*ret = (uint32_t)number;
	return true;
}

/* text: NULL if there is none. */
static bool read_line(char *text, struct line *ret)
{
	struct line line = {0};
	const char *heat;

	if (!text)
		return false;
	heat = cut(&text, '\t');
	line.call.space = heat ? cut(&text, '\t') : NULL;
	line.call.class_name = line.call.space ? cut(&text, '\t') : NULL;
	line.call.method = line.call.class_name ? cut(&text, '\t') : NULL;
	line.call.descriptor = line.call.method ? cut(&text, '\t') : NULL;
	if (!line.call.descriptor || !read_number(heat, UINT32_MAX, &line.heat) ||
	    !read_number(text, POSITION_MAX, &line.call.position))
		return false;
	*ret = line;
	return true;
}

/* Lines of a space are together, the hottest first, and a call has one line. */
static enum jvm_profile_result add_line(const struct line *line)
{
	const struct line *before = line_count ? &lines[line_count - 1] : NULL;
	bool is_more = before && strcmp(before->call.space, line->call.space) == 0;
	struct key key = key_of_text_safe(line->call.space, 0);
	uint32_t number;

	if (is_more && line->heat > before->heat)
		return JVM_PROFILE_DAMAGED;
	if (!is_more) {
		if (hashmap_add(&names, &key, &number))
			return JVM_PROFILE_UNREADABLE;
		if (number != space_count)
			return JVM_PROFILE_DAMAGED;
		spaces[space_count++] = (struct space){.name = line->call.space};
	}
	key = key_of_call(&line->call);
	if (hashmap_add(&calls, &key, &number))
		return JVM_PROFILE_UNREADABLE;
	if (number != line_count)
		return JVM_PROFILE_DAMAGED;
	lines[line_count] = *line;
	lines[line_count++].rank = spaces[space_count - 1].calls++;
	return JVM_PROFILE_OK;
}

static void forget(void)
{
	hashmap_deinit(&calls);
	hashmap_deinit(&names);
	free(lines);
	free(spaces);
	free(whole);
	whole = NULL;
	lines = NULL;
	spaces = NULL;
	line_count = space_count = 0;
}

static size_t count_lines(const char *text, size_t len)
{
	size_t ret = 0;

	for (size_t i = 0; i < len; i++)
		ret += text[i] == '\n';
	return ret;
}

static enum jvm_profile_result parse(char *text, size_t len, uint32_t *at)
{
	size_t count = count_lines(text, len);
	enum jvm_profile_result ret = JVM_PROFILE_OK;
	struct line line;
	char *rest = text;

	*at = 1;
	if (!len)
		return JVM_PROFILE_OK;
	if (text[len - 1] != '\n' || memchr(text, '\0', len) || strcmp(cut(&rest, '\n'), HEADER) != 0)
		return JVM_PROFILE_DAMAGED;
	lines = count < UINT32_MAX ? calloc(count + 1, sizeof *lines) : NULL;
	spaces = lines ? calloc(count + 1, sizeof *spaces) : NULL;
	if (!spaces)
		return JVM_PROFILE_UNREADABLE;
	for (*at = 2; rest < text + len; ++*at) {
		ret = read_line(cut(&rest, '\n'), &line) ? add_line(&line) : JVM_PROFILE_DAMAGED;
		if (ret != JVM_PROFILE_OK)
			break;
	}
	return ret;
}

enum jvm_profile_result jvm_profile_parse(char *text, size_t len, uint32_t *line)
{
	enum jvm_profile_result ret;

	forget();
	whole = text;
	ret = parse(text, len, line);
	if (ret != JVM_PROFILE_OK || !line_count)
		forget();
	return ret;
}

/* Behind the text is a NUL. */
enum jvm_profile_result jvm_profile_read(const char *path, uint32_t *line)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *text = NULL;
	size_t len = 0;

	*line = 0;
	if (fd < 0)
		return errno == ENOENT ? JVM_PROFILE_OK : JVM_PROFILE_UNREADABLE;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		text = calloc(1, (size_t)status.st_size + 1);
	while (text && len < (size_t)status.st_size) {
		ssize_t part = read(fd, text + len, (size_t)status.st_size - len);

		if (part <= 0)
			break;
		len += (size_t)part;
	}
	close(fd);
	if (text && len == (size_t)status.st_size)
		return jvm_profile_parse(text, len, line);
	free(text);
	return JVM_PROFILE_UNREADABLE;
}

uint32_t jvm_profile_calls(const char *space)
{
	const struct key key = key_of_text_safe(space, 0);
	uint32_t number;

	if (!hashmap_find(&names, &key, &number))
		return 0;
	return spaces[number].calls < KEPT_RANKS ? spaces[number].calls : KEPT_RANKS;
}

bool jvm_profile_rank(const struct jvm_profile_call *call, uint32_t *rank)
{
	const struct line *line = find_line(call);

	if (!line || line->rank >= KEPT_RANKS)
		return false;
	*rank = line->rank;
	return true;
}

uint32_t jvm_profile_room(const char *class_name, const char *method, const char *descriptor)
{
	const struct jvm_profile_call call = {NO_SPACE, class_name, method, descriptor, 0};
	const struct line *line = find_line(&call);

	if (!line)
		return 0;
	return line->heat < JVM_PROFILE_MOST_ROOM ? line->heat : JVM_PROFILE_MOST_ROOM;
}

/* ---- writing ---- */

static bool is_room(const struct jvm_profile_call *call)
{
	return !*call->space;
}

/* A name that the format cannot have is left out. */
static bool is_writable(const struct jvm_profile_call *call)
{
	return !strpbrk(call->space, "\t\n") && !strpbrk(call->class_name, "\t\n") && !strpbrk(call->method, "\t\n") &&
	       !strpbrk(call->descriptor, "\t\n");
}

static int by_call(const void *a, const void *b)
{
	return compare_calls(&((const struct line *)a)->call, &((const struct line *)b)->call);
}

static int by_heat(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int ret = strcmp(x->call.space, y->call.space);

	if (!ret)
		ret = (x->heat < y->heat) - (x->heat > y->heat);
	return ret ? ret : compare_calls(&x->call, &y->call);
}

static uint32_t sum(uint32_t a, uint32_t b)
{
	return b > UINT32_MAX - a ? UINT32_MAX : a + b;
}

static uint32_t greater(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Gathers the lines of this run, and then what is left of the profile. Returns how many. */
static size_t gather(struct line *out, size_t count, jvm_profile_get *get)
{
	struct line *end = out;

	for (size_t i = 0; i < count; i++)
		if (get(i, &end->call, &end->heat) && end->heat && is_writable(&end->call)) {
			struct line *old = is_room(&end->call) ? find_line(&end->call) : NULL;

			if (old)
				old->heat = 0; /* this run has the room of the method */
			end++;
		}
	for (uint32_t i = 0; i < line_count; i++) {
		*end = lines[i];
		if (!is_room(&end->call))
			end->heat /= 2;
		end += end->heat != 0;
	}
	return (size_t)(end - out);
}

/* Lines of one call become one: a class may be there more than once, and in the profile. */
static size_t merge(struct line *all, size_t count)
{
	size_t kept = 0;

	qsort(all, count, sizeof *all, by_call);
	for (size_t i = 0; i < count; i++)
		if (kept && compare_calls(&all[kept - 1].call, &all[i].call) == 0)
			all[kept - 1].heat = is_room(&all[i].call) ? greater(all[kept - 1].heat, all[i].heat)
								   : sum(all[kept - 1].heat, all[i].heat);
		else
			all[kept++] = all[i];
	qsort(all, kept, sizeof *all, by_heat);
	return kept;
}

struct written {
	const struct line *all;
	size_t count;
};

static bool print_lines(FILE *file, const void *data)
{
	const struct written *written = data;

	fputs(HEADER "\n", file);
	for (const struct line *l = written->all; l < written->all + written->count; l++)
		fprintf(file, "%u\t%s\t%s\t%s\t%s\t%u\n", l->heat, l->call.space, l->call.class_name, l->call.method,
			l->call.descriptor, l->call.position);
	return !ferror(file);
}

bool jvm_profile_write(const char *path, size_t count, jvm_profile_get *get)
{
	struct line *all = calloc(count + line_count + 1, sizeof *all);
	struct written written = {all, 0};
	bool ret;

	if (!all)
		return false;
	written.count = merge(all, gather(all, count, get));
	ret = jvm_replace_file(path, print_lines, &written);
	free(all);
	return ret;
}

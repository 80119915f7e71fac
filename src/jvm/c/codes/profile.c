/* profile.c - the lines of the file stay where they were read; two hash tables, with open addressing, find calls and spaces in them. */
#include "jvm/c/codes/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Written when the file is read. */
static struct line *lines;
static struct space *spaces;
static uint32_t line_count, space_count;
/* Numbers of the former plus 1; 0: free. */
static uint32_t *line_slots, *space_slots;
static uint32_t slot_mask;
/* What their strings are in. */
static char *whole;

static uint32_t hash_text(uint32_t hash, const char *text)
{
	while (*text)
		hash = (hash ^ (uint8_t)*text++) * UINT32_C(16777619);
	return hash * UINT32_C(16777619);
}

static uint32_t hash_call(const struct jvm_profile_call *call)
{
	uint32_t ret = hash_text(hash_text(UINT32_C(2166136261), call->space), call->class_name);

	ret = hash_text(hash_text(ret, call->method), call->descriptor);
	ret = (ret ^ call->position) * UINT32_C(16777619);
	return ret ^ ret >> 15;
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

/* The slot of the call, or the free one where it would be. */
static uint32_t *slot_of_call(const struct jvm_profile_call *call)
{
	uint32_t i = hash_call(call);

	while (line_slots[i & slot_mask] && compare_calls(&lines[line_slots[i & slot_mask] - 1].call, call) != 0)
		i++;
	return &line_slots[i & slot_mask];
}

static uint32_t *slot_of_space(const char *name)
{
	uint32_t i = hash_text(UINT32_C(2166136261), name);

	i ^= i >> 15;
	while (space_slots[i & slot_mask] && strcmp(spaces[space_slots[i & slot_mask] - 1].name, name) != 0)
		i++;
	return &space_slots[i & slot_mask];
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
static bool add_line(const struct line *line)
{
	const struct line *before = line_count ? &lines[line_count - 1] : NULL;
	bool is_more = before && strcmp(before->call.space, line->call.space) == 0;
	uint32_t *slot;

	if (is_more && line->heat > before->heat)
		return false;
	if (!is_more) {
		slot = slot_of_space(line->call.space);
		if (*slot)
			return false;
		spaces[space_count] = (struct space){.name = line->call.space};
		*slot = ++space_count;
	}
	slot = slot_of_call(&line->call);
	if (*slot)
		return false;
	lines[line_count] = *line;
	lines[line_count].rank = spaces[space_count - 1].calls++;
	*slot = ++line_count;
	return true;
}

static bool make_tables(size_t most)
{
	size_t slots = 16;

	while (slots < 2 * most)
		slots *= 2;
	slot_mask = (uint32_t)slots - 1;
	lines = calloc(most + 1, sizeof *lines);
	spaces = calloc(most + 1, sizeof *spaces);
	line_slots = calloc(slots, sizeof *line_slots);
	space_slots = calloc(slots, sizeof *space_slots);
	return lines && spaces && line_slots && space_slots;
}

static void forget(void)
{
	free(lines);
	free(spaces);
	free(line_slots);
	free(space_slots);
	free(whole);
	whole = NULL;
	lines = NULL;
	spaces = NULL;
	line_slots = space_slots = NULL;
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
	struct line line;
	char *rest = text;

	*at = 1;
	if (!len)
		return JVM_PROFILE_OK;
	if (text[len - 1] != '\n' || memchr(text, '\0', len) || strcmp(cut(&rest, '\n'), HEADER) != 0)
		return JVM_PROFILE_DAMAGED;
	if (count > UINT32_MAX / 4 || !make_tables(count))
		return JVM_PROFILE_UNREADABLE;
	for (*at = 2; rest < text + len; ++*at)
		if (!read_line(cut(&rest, '\n'), &line) || !add_line(&line))
			return JVM_PROFILE_DAMAGED;
	return JVM_PROFILE_OK;
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
	uint32_t number = line_count ? *slot_of_space(space) : 0;
	uint32_t calls = number ? spaces[number - 1].calls : 0;

	return calls < KEPT_RANKS ? calls : KEPT_RANKS;
}

bool jvm_profile_rank(const struct jvm_profile_call *call, uint32_t *rank)
{
	uint32_t number = line_count ? *slot_of_call(call) : 0;

	if (!number || lines[number - 1].rank >= KEPT_RANKS)
		return false;
	*rank = lines[number - 1].rank;
	return true;
}

uint32_t jvm_profile_room(const char *class_name, const char *method, const char *descriptor)
{
	const struct jvm_profile_call call = {NO_SPACE, class_name, method, descriptor, 0};
	uint32_t number = line_count ? *slot_of_call(&call) : 0;
	uint32_t room = number ? lines[number - 1].heat : 0;

	return room < JVM_PROFILE_MOST_ROOM ? room : JVM_PROFILE_MOST_ROOM;
}

/* ---- writing ---- */

static bool is_room(const struct jvm_profile_call *call)
{
	return !*call->space;
}

/* This run has the room of the method. */
static void forget_room(const struct jvm_profile_call *call)
{
	uint32_t number = line_count ? *slot_of_call(call) : 0;

	if (number)
		lines[number - 1].heat = 0;
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

/* Those of this run, and then what is left of the profile. Returns how many. */
static size_t gather(struct line *out, size_t count, jvm_profile_get *get)
{
	struct line *end = out;

	for (size_t i = 0; i < count; i++)
		if (get(i, &end->call, &end->heat) && end->heat && is_writable(&end->call)) {
			if (is_room(&end->call))
				forget_room(&end->call);
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

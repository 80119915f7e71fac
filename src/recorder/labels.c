/* labels.c - collects the labels of a recording: each is added whole or, but for the arguments, not at all. */
#include "recorder/labels.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "recorder/sys.h"
#include "recorder/text.h"

enum {
	ARGUMENTS_BYTES = 512,
	CONTAINER_DIGITS = 64, /* of the ids that docker, containerd and podman give */
	CONTAINER_SHOWN = 12,
};

struct labels {
	const char *first;
	char *at;
	size_t left; /* one byte behind the last label is kept */
};

static bool has(const struct labels *l, const char *key, size_t key_bytes)
{
	for (const char *label = l->first; label < l->at; label += strlen(label) + 1)
		if (strncmp(label, key, key_bytes) == 0 && label[key_bytes] == '=')
			return true;
	return false;
}

/* The first label of a key counts. */
static void add(struct labels *l, const char *key, const char *value, size_t value_bytes)
{
	size_t key_bytes = strlen(key);

	if (!value_bytes || key_bytes + value_bytes + 2 > l->left || has(l, key, key_bytes))
		return;
	memcpy(l->at, key, key_bytes);
	l->at[key_bytes] = '=';
	memcpy(l->at + key_bytes + 1, value, value_bytes);
	l->at += key_bytes + value_bytes + 2;
	l->left -= key_bytes + value_bytes + 2;
}

static void add_given(struct labels *l, const char *lines)
{
	for (size_t len; lines && *lines; lines += len + (lines[len] != '\0')) {
		const char *equals = strchr(lines, '=');

		len = strcspn(lines, "\n");
		if (equals && equals > lines && equals < lines + len && len + 1 <= l->left &&
		    !has(l, lines, (size_t)(equals - lines))) {
			memcpy(l->at, lines, len);
			l->at += len + 1;
			l->left -= len + 1;
		}
	}
}

/* As many bytes of the file as there are, up to size. */
static size_t read_file(const char *path, char *to, size_t size)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0, 0, 0);
	size_t len = 0;
	long n = 1;

	while (fd >= 0 && len < size && n > 0) {
		n = wmrt_sys3(SYS_read, fd, (long)(to + len), (long)(size - len));
		len += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		wmrt_sys3(SYS_close, fd, 0, 0);
	return len;
}

static bool is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static void add_container(struct labels *l)
{
	char text[1024] = "";
	size_t len = read_file("/proc/self/cgroup", text, sizeof text), run = 0;

	for (size_t i = 0; i < len; i++) {
		run = is_digit(text[i]) ? run + 1 : 0;
		if (run == CONTAINER_DIGITS) {
			add(l, "container", text + i + 1 - CONTAINER_DIGITS, CONTAINER_SHOWN);
			return;
		}
	}
}

/* The note in a segment of notes, NULL if that has none. */
static const Elf64_Nhdr *find_build_id(const char *notes, size_t len_bytes)
{
	for (size_t off = 0; off + sizeof(Elf64_Nhdr) + 4 <= len_bytes;) {
		const Elf64_Nhdr *note = (const void *)(notes + off);
		size_t name_bytes = ((size_t)note->n_namesz + 3) & ~(size_t)3;

		off += sizeof *note + name_bytes + (((size_t)note->n_descsz + 3) & ~(size_t)3);
		if (note->n_type == NT_GNU_BUILD_ID && name_bytes == 4 && off <= len_bytes &&
		    memcmp(note + 1, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0)
			return note;
	}
	return NULL;
}

/* Of the program in memory. A program that was linked for one address has no PT_PHDR. */
static void add_build_id(struct labels *l)
{
	const Elf64_Phdr *headers = (const void *)getauxval(AT_PHDR); /* NOLINT(performance-no-int-to-ptr) */
	unsigned long count = headers ? getauxval(AT_PHNUM) : 0;
	const Elf64_Nhdr *note = NULL;
	uintptr_t bias = 0;
	char text[2 * 32 + 1];
	struct wmrt_text hex = {text, sizeof text, 0};

	for (unsigned long i = 0; i < count; i++)
		if (headers[i].p_type == PT_PHDR)
			bias = (uintptr_t)headers - headers[i].p_vaddr;
	for (unsigned long i = 0; i < count && !note; i++)
		if (headers[i].p_type == PT_NOTE) /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
			note = find_build_id((const char *)(bias + headers[i].p_vaddr), headers[i].p_memsz);
	for (size_t i = 0; note && i < note->n_descsz; i++)
		wmrt_text_number(&hex, ((const uint8_t *)(note + 1))[4 + i], 16, 2);
	if (note && wmrt_text_fits(&hex))
		add(l, "build-id", text, hex.len);
}

/* One space between two of them; cut where there are many. */
static void add_arguments(struct labels *l)
{
	char text[ARGUMENTS_BYTES] = "";
	size_t room = l->left < 16 ? 0 : l->left - 16, len;

	len = read_file("/proc/self/cmdline", text, room < sizeof text ? room : sizeof text);
	while (len && !text[len - 1])
		len--;
	for (size_t i = 0; i < len; i++)
		if (!text[i])
			text[i] = ' ';
	add(l, "argv", text, len);
}

void wmrt_labels_collect(char labels[WMK_LABELS_BYTES], const char *name, const char *rank)
{
	struct labels l = {labels, labels, WMK_LABELS_BYTES - 1};
	struct utsname names = {.nodename = ""};

	wmrt_sys3(SYS_uname, (long)&names, 0, 0);
	add_given(&l, getenv("WAYMARK_LABELS"));
	add(&l, "name", name, strlen(name));
	add(&l, "host", names.nodename, strlen(names.nodename));
	if (rank)
		add(&l, "rank", rank, strlen(rank));
	add_container(&l);
	add_build_id(&l);
	add_arguments(&l);
}

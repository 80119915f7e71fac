/* link_inputs.c - looks into objects and archives, hides bitcode in copies. */
#include "cli/link_inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/llvm_version.h"
#include "cli/message.h"
#include "object/fat_object.h"

enum {
	SAID_MAX = 8,
};

VEC_DECLARE(patch_vec, struct fat_patch);

static void set_name(char name[PATH_MAX], const char *path, const struct fat_object *object)
{
	snprintf(name, PATH_MAX, object->member ? "%s(%s)" : "%s", path, object->member);
}

static void say(struct link_inputs *inputs, const char *path, const struct fat_object *object)
{
	char name[PATH_MAX];

	if (inputs->said++ >= SAID_MAX)
		return;
	set_name(name, path, object);
	switch (object->kind) {
	case FAT_MERGED:
		message_warn(inputs->command,
			     "%s: ld -r merged the bitcode of several objects, which cannot be read again: linked as "
			     "machine code, not instrumented",
			     name);
		break;
	case FAT_THIN:
		message_warn(inputs->command,
			     "%s: bitcode of -flto=thin is linked as machine code, not instrumented; compile it with "
			     "waymark %s",
			     name, inputs->command);
		break;
	case FAT_NEWER:
		message_warn(inputs->command,
			     "%s: bitcode of LLVM %u, which LLVM " WAYMARK_LLVM
			     " cannot read: linked as machine code, not instrumented",
			     name, object->llvm);
		break;
	default:
		message_warn(inputs->command,
			     "%s: machine code and bitcode differ in the symbol %s, as after objcopy "
			     "--redefine-sym: linked as machine code, not instrumented",
			     name, object->symbol);
	}
}

/* What has nothing that a linker of this LLVM can read. */
static struct error *refuse(const struct link_inputs *inputs, const char *path, const struct fat_object *object)
{
	char name[PATH_MAX];

	set_name(name, path, object);
	if (object->kind == FAT_NEWER)
		return error_create(ERROR_MISMATCH,
				    "%s: bitcode of LLVM %u, which LLVM " WAYMARK_LLVM
				    " cannot read; compile it with waymark %s, or with -ffat-lto-objects",
				    name, object->llvm, inputs->command);
	return error_create(
		ERROR_MISMATCH,
		"%s: has the intermediate code of gcc -flto and no machine code; compile it with waymark %s, "
		"or with gcc -ffat-lto-objects",
		name, inputs->command);
}

void link_inputs_end(const struct link_inputs *inputs)
{
	if (inputs->said > SAID_MAX)
		message_warn(inputs->command, "%u more objects are linked as machine code, not instrumented",
			     inputs->said - SAID_MAX);
}

/* A file at work. */
struct look {
	struct link_inputs *inputs;
	const char *path;
	struct patch_vec patches;
};

static struct error *look_at_object(void *data, const struct fat_object *object)
{
	struct look *look = data;
	struct link_inputs *inputs = look->inputs;

	inputs->has_bitcode |= object->kind == FAT_SOUND;
	if (object->kind == FAT_SOUND)
		return NULL;
	*(object->member ? &inputs->foreign_members : &inputs->foreign_objects) += 1;
	if (object->kind == FAT_NONE)
		return NULL;
	if (!object->has_code && object->kind != FAT_THIN)
		return refuse(inputs, look->path, object);
	say(inputs, look->path, object);
	return object->kind == FAT_THIN ? NULL : patch_vec_append(&look->patches, object->patch);
}

static struct error *copy_patched(int in, const char *path, const struct patch_vec *patches, char **ret)
{
	struct stat st;
	off_t off = 0;
	int out = memfd_create("waymark-object", 0);

	if (out < 0 || fstat(in, &st))
		return error_os(errno, "%s: cannot copy it", path);
	while (off < st.st_size)
		if (sendfile(out, in, &off, (size_t)(st.st_size - off)) <= 0)
			return error_os(errno, "%s: cannot copy it", path);
	for (size_t i = 0; i < patches->count; i++) {
		const struct fat_patch *p = &patches->items[i];

		if (pwrite(out, p->name_and_type, sizeof p->name_and_type, (off_t)p->off) != sizeof p->name_and_type)
			return error_os(errno, "%s: cannot copy it", path);
	}
	return asprintf(ret, "/proc/self/fd/%d", out) < 0 ? &error_no_memory : NULL;
}

static struct error *look_at_file(struct link_inputs *inputs, const char *path, char **ret)
{
	struct look look = {.inputs = inputs, .path = path};
	struct error *err = NULL;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		err = fat_objects_each(fd, (uint32_t)strtoul(WAYMARK_LLVM, NULL, 10), look_at_object, &look);
	if (!err && look.patches.count)
		err = copy_patched(fd, path, &look.patches, ret);
	close(fd);
	patch_vec_deinit(&look.patches);
	return err;
}

/* The archive for -lNAME, as linkers look for it; a shared library on the way satisfies it. */
static bool find_archive(const struct link_inputs *inputs, const char *name, char path[PATH_MAX])
{
	for (size_t i = 0; i < inputs->count; i++) {
		const char *dir = inputs->words[i];

		if (strncmp(dir, "-L", 2))
			continue;
		dir += 2;
		if (!*dir && ++i < inputs->count)
			dir = inputs->words[i];
		if (snprintf(path, PATH_MAX, "%s/lib%s.so", dir, name) >= PATH_MAX || access(path, R_OK) == 0)
			return false;
		snprintf(path, PATH_MAX, "%s/lib%s.a", dir, name);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

struct error *link_inputs_word(struct link_inputs *inputs, size_t i, char **ret)
{
	const char *word = inputs->words[i];
	char path[PATH_MAX];

	*ret = NULL;
	if (i && !strcmp(inputs->words[i - 1], "-o"))
		return NULL;
	if (!strncmp(word, "-l", 2) && word[2] && word[2] != ':' && find_archive(inputs, word + 2, path))
		return look_at_file(inputs, path, ret);
	return word[0] == '-' ? NULL : look_at_file(inputs, word, ret);
}

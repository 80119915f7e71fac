/* vm_structs.c - searches gHotSpotVMStructs from its begin to its end. */
#include "jvm/c/walk/vm_structs.h"

#include <dlfcn.h>
#include <jni.h>
#include <stddef.h>
#include <string.h>

static bool read_number(void *library, const char *name, uint64_t *ret)
{
	const uint64_t *at = dlsym(library, name);

	if (at)
		*ret = *at;
	return at;
}

static bool read_layout(struct vm_structs *s)
{
	const char *const *entries = dlsym(s->library, "gHotSpotVMStructs");

	s->entries = entries ? *entries : NULL;
	return s->entries && read_number(s->library, "gHotSpotVMStructEntryTypeNameOffset", &s->type_name) &&
	       read_number(s->library, "gHotSpotVMStructEntryFieldNameOffset", &s->field_name) &&
	       read_number(s->library, "gHotSpotVMStructEntryIsStaticOffset", &s->is_static) &&
	       read_number(s->library, "gHotSpotVMStructEntryOffsetOffset", &s->offset) &&
	       read_number(s->library, "gHotSpotVMStructEntryAddressOffset", &s->address) &&
	       read_number(s->library, "gHotSpotVMStructEntryArrayStride", &s->stride);
}

bool vm_structs_open(JavaVM *vm, struct vm_structs *ret)
{
	Dl_info info;

	*ret = (struct vm_structs){.library = dladdr((void *)(*vm)->GetEnv, &info)
						      ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
						      : NULL};
	if (ret->library && read_layout(ret))
		return true;
	vm_structs_close(ret);
	return false;
}

void vm_structs_close(struct vm_structs *s)
{
	if (s->library)
		dlclose(s->library);
	s->library = NULL;
}

static const char *text_at(const char *entry, uint64_t off)
{
	const char *ret;

	memcpy(&ret, entry + off, sizeof ret);
	return ret;
}

/* NULL: there is none. */
static const char *find_entry(const struct vm_structs *s, const char *type, const char *field, bool is_static)
{
	for (const char *e = s->entries; text_at(e, s->field_name); e += s->stride) {
		int32_t entry_is_static;

		memcpy(&entry_is_static, e + s->is_static, sizeof entry_is_static);
		if (!entry_is_static == !is_static && strcmp(text_at(e, s->field_name), field) == 0 &&
		    (!type || strcmp(text_at(e, s->type_name), type) == 0))
			return e;
	}
	return NULL;
}

bool vm_structs_offset(const struct vm_structs *s, const char *type, const char *field, uint64_t *ret)
{
	const char *entry = find_entry(s, type, field, false);

	if (entry)
		memcpy(ret, entry + s->offset, sizeof *ret);
	return entry;
}

bool vm_structs_static(const struct vm_structs *s, const char *type, const char *field, uint64_t *ret)
{
	const char *entry = find_entry(s, type, field, true);

	if (entry)
		memcpy(ret, entry + s->address, sizeof *ret);
	return entry;
}

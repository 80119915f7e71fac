/* jar.c - asks the dynamic linker where this library is. */
#include "jvm/c/base/jar.h"

#include <dlfcn.h>
#include <string.h>

#include "recorder/text.h"

bool jvm_jar_find(char path[JVM_JAR_PATH_BYTES])
{
	struct wmrt_text text = {path, JVM_JAR_PATH_BYTES, 0};
	Dl_info info;
	const char *slash;

	if (!dladdr((void *)jvm_jar_find, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	for (const char *s = info.dli_fname; slash && s <= slash; s++)
		wmrt_text_char(&text, *s);
	wmrt_text_add(&text, JVM_JAR);
	return wmrt_text_fits(&text);
}

/*
 * launch.c - libwaymark-java.so, which `waymark run` preloads: gives each HotSpot virtual machine that a process creates the agent for Java
 * programs, as an option of JNI_CreateJavaVM. Unlike JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS the option makes the virtual machine print
 * nothing, and these variables stay the user's.
 *
 *      launcher -> dlsym(libjvm.so, "JNI_CreateJavaVM")      finds ours, which adds the options and calls the virtual machine's
 *      program linked with libjvm.so -> JNI_CreateJavaVM     is ours
 *
 * The agent for machine code does not come into a virtual machine: a launcher of the JDK that has it is executed again without, and gives its
 * children the LD_PRELOAD that it was given.
 *
 *      WAYMARK_JAVA            the agent's file, =, its options; unset: this library does nothing
 *      WAYMARK_JAVA_PRELOAD    of a launcher that was executed again: LD_PRELOAD as its children get it
 */
#include <alloca.h>
#include <dlfcn.h>
#include <jni.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jvm/launch/checked.h"
#include "recorder/text.h"

#define OPTIONS "WAYMARK_JAVA"
#define PRELOAD "WAYMARK_JAVA_PRELOAD"
#define CREATE "JNI_CreateJavaVM"

typedef void *dlsym_function(void *handle, const char *name);
typedef jint create_function(JavaVM **vm, void **env, void *arguments);

/* The result that dlsym.S gets in rax and rdx. */
struct answer {
	void *found;
	dlsym_function *next;
};

enum {
	ADDED_OPTIONS = 2,
};

/*
 * HotSpot does not compile methods of more than 8000 bytes, and rewriting can bring one there: an interpreter's loop became seven times
 * slower. The program's own options come behind it.
 */
static char compile_huge_methods[] = "-XX:-DontCompileHugeMethods";

static _Atomic(dlsym_function *) next_dlsym;
/* The virtual machine's function that a dlsym has found last; NULL: none has. */
static _Atomic(create_function *) found_create;

struct answer java_dlsym(void *handle, const char *name) __attribute__((visibility("hidden")));

static dlsym_function *real_dlsym(void)
{
	dlsym_function *ret = atomic_load_explicit(&next_dlsym, memory_order_acquire);

	if (ret)
		return ret;
	ret = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!ret)
		ret = (dlsym_function *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	atomic_store_explicit(&next_dlsym, ret, memory_order_release);
	return ret;
}

/* Without a call: a sanitizer looks up what its own strcmp leads to, which the program's is. */
static bool is_create(const char *name)
{
	const char *wanted = CREATE;

	for (; *name == *wanted; name++, wanted++)
		if (!*name)
			return true;
	return false;
}

/* Calls nothing that a sanitizer interposes: its runtime comes here before it can run that. */
struct answer java_dlsym(void *handle, const char *name)
{
	struct answer ret = {.next = real_dlsym()};
	void *create;

	/* The others find ours without help. */
	if (!name || !is_create(name) || handle == RTLD_DEFAULT || handle == RTLD_NEXT)
		return ret;
	create = ret.next(handle, name);
	if (create && create != (void *)JNI_CreateJavaVM) {
		atomic_store(&found_create, (create_function *)create);
		ret.found = (void *)JNI_CreateJavaVM;
	}
	return ret;
}

/* ---- the virtual machine ---- */

static void say(const char *why)
{
	char line[256];
	struct wmrt_text text = {line, sizeof line, 0};

	wmrt_text_add(&text, "waymark: process ");
	wmrt_text_number(&text, (uint64_t)getpid(), 10, 1);
	wmrt_text_add(&text, ": its Java methods are not recorded: ");
	wmrt_text_add(&text, why);
	wmrt_text_char(&text, '\n');
	if (wmrt_text_fits(&text))
		(void)syscall(SYS_write, STDERR_FILENO, line, text.len);
}

static bool is_agent(const char *text)
{
	return text && strstr(text, "libwaymark-jvm.so");
}

/* An option of the virtual machine under which the agent would keep it from starting. */
static bool is_refusing(const char *text)
{
	return text &&
	       (strstr(text, "-Xshare:on") || strstr(text, "-Xshare:dump") || strstr(text, "-XX:+RequireSharedSpaces"));
}

static bool is_checking(const char *text)
{
	return text && (strstr(text, "-Xcheck:jni") || strstr(text, "-XX:+CheckJNICalls"));
}

/* The virtual machine would leave signals to a handler that was there before, or end for it. */
static bool is_not_chaining(const char *text)
{
	return text && (strstr(text, "-XX:+AllowUserSignalHandlers") || strstr(text, "-XX:-UseSignalChaining"));
}

static bool is_hotspot(create_function *create)
{
	Dl_info info;
	void *library = dladdr((void *)create, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	bool ret = library && real_dlsym()(library, "gHotSpotVMStructs");

	if (library)
		dlclose(library);
	return ret;
}

/* Is there a text that `is_wanted` finds among all options of the virtual machine? */
static bool has_option(const JavaVMInitArgs *arguments, bool (*is_wanted)(const char *text))
{
	for (jint i = 0; i < arguments->nOptions; i++)
		if (is_wanted(arguments->options[i].optionString))
			return true;
	return is_wanted(getenv("JAVA_TOOL_OPTIONS")) || is_wanted(getenv("_JAVA_OPTIONS"));
}

/* Why the agent cannot come; NULL: it can. */
static const char *obstacle(create_function *create, const JavaVMInitArgs *arguments)
{
	if (real_dlsym()(RTLD_DEFAULT, "wm1_register"))
		return "Waymark records its machine code; an option for Java alone, such as --alloc, records Java";
	if (!is_hotspot(create))
		return "its virtual machine is not HotSpot";
	if (has_option(arguments, is_refusing))
		return "-Xshare:on and -Xshare:dump do not work with the agent";
	return NULL;
}

/* With the agent in front. The strings live on: the virtual machine may keep them. */
static jint create_with_agent(create_function *create, JavaVM **vm, void **env, const JavaVMInitArgs *arguments,
			      const char *agent)
{
	JavaVMInitArgs all = *arguments;
	size_t size = strlen("-agentpath:") + strlen(agent) + 1;
	char *option = malloc(size);
	jint ret;

	all.options = calloc((size_t)arguments->nOptions + ADDED_OPTIONS, sizeof *all.options);
	if (!option || !all.options) {
		free(option);
		free(all.options);
		return JNI_ENOMEM;
	}
	strcat(strcpy(option, "-agentpath:"), agent);
	all.nOptions += ADDED_OPTIONS;
	all.options[0].optionString = compile_huge_methods;
	all.options[1].optionString = option;
	if (arguments->nOptions)
		memcpy(all.options + ADDED_OPTIONS, arguments->options,
		       (size_t)arguments->nOptions * sizeof *all.options);
	ret = create(vm, env, &all);
	free(all.options);
	return ret;
}

JNIEXPORT jint JNICALL JNI_CreateJavaVM(JavaVM **vm, void **env, void *given)
{
	const JavaVMInitArgs *arguments = given;
	const char *agent = getenv(OPTIONS), *why;
	create_function *create = atomic_load(&found_create);

	if (!create)
		create = (create_function *)real_dlsym()(RTLD_NEXT, CREATE);
	if (!create)
		return JNI_ERR;
	if (!agent || !arguments || arguments->version < JNI_VERSION_1_2 || has_option(arguments, is_agent))
		return create(vm, env, given);
	why = obstacle(create, arguments);
	if (!why && has_option(arguments, is_checking) && !has_option(arguments, is_not_chaining))
		checked_begin();
	if (!why)
		return create_with_agent(create, vm, env, arguments, agent);
	say(why);
	return create(vm, env, given);
}

/* ---- launchers ---- */

static bool is_ours(const char *name, size_t len)
{
	static const char *const ours[] = {"libwaymark-agent.so", "libwaymark-sample.so", "libwaymark-heap.so"};

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
		size_t own = strlen(ours[i]);

		if (len > own && name[len - own - 1] == '/' && memcmp(name + len - own, ours[i], own) == 0)
			return true;
	}
	return false;
}

/* Takes the libraries for machine code out of a list; they have no spaces and colons in their paths. False: there was none. */
static bool take_out(char *list)
{
	char *to = list;
	bool ret = false;

	for (const char *from = list; *from;) {
		size_t len = strcspn(from, ": ");

		if (is_ours(from, len)) {
			ret = true;
			from += len + (from[len] != '\0');
			continue;
		}
		len += from[len] != '\0';
		memmove(to, from, len);
		to += len;
		from += len;
	}
	*to = '\0';
	return ret;
}

/* Without malloc, whose calls the heap client would record. Returns where there is nothing to take out, or it cannot be executed. */
static void execute_again(char **argv, const char *preload)
{
	char path[PATH_MAX], *reduced = alloca(sizeof "LD_PRELOAD=" + strlen(preload)),
			     *whole = alloca(sizeof PRELOAD "=" + strlen(preload));
	ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
	size_t count = 0;
	char **envp, **to;

	strcat(strcpy(reduced, "LD_PRELOAD="), preload);
	strcat(strcpy(whole, PRELOAD "="), preload);
	if (len < 0 || !take_out(reduced + strlen("LD_PRELOAD=")))
		return;
	path[len] = '\0';
	while (environ[count])
		count++;
	to = envp = alloca((count + 2) * sizeof *envp);
	*to++ = whole;
	for (size_t i = 0; i < count; i++)
		*to++ = strncmp(environ[i], "LD_PRELOAD=", strlen("LD_PRELOAD=")) == 0 ? reduced : environ[i];
	*to = NULL;
	execve(path, argv, envp);
}

/* Is the library one of Java's, in a program that is linked with it? */
static int is_of_java(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

	(void)size, (void)data;
	return strcmp(name, "libjli.so") == 0 || strcmp(name, "libjvm.so") == 0;
}

/* A process that `ld.so PROGRAM` began has ld.so as its file, and no base of an interpreter: it is left alone. */
__attribute__((constructor)) static void start(int argc, char **argv)
{
	const char *preload = getenv("LD_PRELOAD"), *whole = getenv(PRELOAD);

	(void)argc;
	if (!getenv(OPTIONS) || !preload)
		return;
	if (whole) {
		setenv("LD_PRELOAD", whole, 1);
		unsetenv(PRELOAD);
	} else if (getauxval(AT_BASE) && dl_iterate_phdr(is_of_java, NULL)) {
		execute_again(argv, preload);
	}
}

/* old_java.c - loads the agent as a virtual machine of an old JDK would: old_java AGENT VERSION. Status 0: the agent let it go on. */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdint.h>

static const char *version;

static jvmtiError JNICALL get_system_property(jvmtiEnv *env, const char *name, char **ret)
{
	(void)env, (void)name;
	*ret = (char *)(uintptr_t)version;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	(void)env, (void)memory;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL dispose(jvmtiEnv *env)
{
	(void)env;
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {
	.GetSystemProperty = get_system_property, .Deallocate = deallocate, .DisposeEnvironment = dispose};
static jvmtiEnv environment = &functions;

/* JDK 8 has no version 11. */
static jint JNICALL get_env(JavaVM *vm, void **ret, jint wanted)
{
	(void)vm;
	*ret = &environment;
	return wanted == JVMTI_VERSION_11 ? JNI_EVERSION : JNI_OK;
}

static const struct JNIInvokeInterface_ invoke = {.GetEnv = get_env};

int main(int argc, char **argv)
{
	JavaVM vm = &invoke;
	void *agent = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	jint (*load)(JavaVM *, char *, void *) =
		agent ? (jint(*)(JavaVM *, char *, void *))dlsym(agent, "Agent_OnLoad") : NULL;

	if (!load)
		return 1;
	version = argv[2];
	return load(&vm, NULL, NULL) == JNI_OK ? 0 : 2;
}

/*
 * attach.c - AGENT CLASSPATH LIBRARY: a program that makes a virtual machine of its own and calls Attached.java, from the thread that made
 * it and from others, which attach, detach and attach again. Exceptions go across the border both ways, and stay here.
 */
#include <jni.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	THREADS = 3,
	TIMES = 4, /* that each attaches */
};

enum ways {
	CALL,          /* calls back */
	CALL_AND_DROP, /* what Java throws is dropped here, and another call follows */
	LEAVE_PENDING,
	THROW,
	NEST, /* calls a method that comes here again */
	WAYS,
};

static JavaVM *machine;
static jclass attached;

static void die(const char *what)
{
	fprintf(stderr, "attach: %s\n", what);
	exit(1);
}

static jmethodID method(JNIEnv *env, const char *name, const char *signature)
{
	jmethodID ret = (*env)->GetStaticMethodID(env, attached, name, signature);

	if (!ret)
		die(name);
	return ret;
}

static void call_inner(JNIEnv *env, jint value)
{
	(*env)->CallStaticVoidMethod(env, attached, method(env, "inner", "(I)V"), value);
}

static void call_thrower(JNIEnv *env)
{
	jmethodID thrower = method(env, "thrower", "()V");

	(*env)->CallStaticVoidMethod(env, attached, thrower);
	if (!(*env)->ExceptionCheck(env))
		die("thrower has not thrown");
}

static void JNICALL callback(JNIEnv *env, jclass class, jint what)
{
	(void)class;
	switch ((enum ways)what) {
	case CALL:
		call_inner(env, what);
		break;
	case CALL_AND_DROP:
		call_thrower(env);
		(*env)->ExceptionClear(env);
		call_inner(env, what);
		break;
	case LEAVE_PENDING:
		call_thrower(env);
		break;
	case THROW:
		(*env)->ThrowNew(env, (*env)->FindClass(env, "java/lang/IllegalStateException"), "thrown in C");
		break;
	case NEST:
	case WAYS:
		(*env)->CallStaticVoidMethod(env, attached, method(env, "outer", "(I)V"), (jint)LEAVE_PENDING);
		call_inner(env, what);
		break;
	}
}

/* All calls of a thread while it is attached. */
static void work(JNIEnv *env)
{
	call_inner(env, 1);
	(*env)->CallStaticVoidMethod(env, attached, method(env, "work", "(I)V"), (jint)WAYS);
	if (!(*env)->ExceptionCheck(env))
		die("work has not thrown");
	(*env)->ExceptionClear(env);
	call_inner(env, 1);
}

static void *run(void *unused)
{
	for (int i = 0; i < TIMES; i++) {
		JNIEnv *env = NULL;
		jint result = i % 2 == 0 ? (*machine)->AttachCurrentThread(machine, (void **)&env, NULL)
					 : (*machine)->AttachCurrentThreadAsDaemon(machine, (void **)&env, NULL);

		if (result != JNI_OK)
			die("a thread cannot attach");
		work(env);
		if ((*machine)->DetachCurrentThread(machine) != JNI_OK)
			die("a thread cannot detach");
	}
	return unused;
}

static void find_class(JNIEnv *env)
{
	static const JNINativeMethod native = {(char *)"callback", (char *)"(I)V", (void *)callback};
	jclass class = (*env)->FindClass(env, "Attached");

	if (!class || (*env)->RegisterNatives(env, class, &native, 1) != JNI_OK)
		die("class Attached is missing");
	attached = (*env)->NewGlobalRef(env, class);
}

static JNIEnv *make_machine(const char *agent, const char *path)
{
	char agent_option[4096], path_option[4096];
	JavaVMOption options[] = {{.optionString = agent_option}, {.optionString = path_option}};
	JavaVMInitArgs arguments = {.version = JNI_VERSION_10, .nOptions = 2, .options = options};
	JNIEnv *env = NULL;

	snprintf(agent_option, sizeof agent_option, "-agentpath:%s", agent);
	snprintf(path_option, sizeof path_option, "-Djava.class.path=%s", path);
	if (JNI_CreateJavaVM(&machine, (void **)&env, &arguments) != JNI_OK)
		die("no virtual machine");
	return env;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	JNIEnv *env;

	if (argc != 4)
		die("three arguments are wanted");
	env = make_machine(argv[1], argv[2]);
	find_class(env);
	work(env);
	(*env)->CallStaticVoidMethod(env, attached, method(env, "load", "(Ljava/lang/String;)V"),
				     (*env)->NewStringUTF(env, argv[3]));
	if ((*env)->ExceptionCheck(env))
		die("the library was not loaded");
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, NULL) != 0)
			die("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return (*machine)->DestroyJavaVM(machine) == JNI_OK ? 0 : 1;
}

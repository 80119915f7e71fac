/* joined.c - the native half of Joined.java, as a library. With -DPLAIN: of a library that was not built with Waymark, and has no points. */
#include <jni.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLAIN
enum {
	IS_PLAIN = 1,
};
#else
#include <waymark.h>

enum {
	IS_PLAIN = 0,
};
#endif

/* path;name; malloc'd */
static char *below(const char *path, const char *name)
{
	size_t size = strlen(path) + strlen(name) + 2;
	char *ret = malloc(size);

	if (!ret)
		abort();
	snprintf(ret, size, "%s;%s", path, name);
	return ret;
}

static void call(JNIEnv *env, const char *class_name, const char *name, uint64_t seed, jint depth, const char *path)
{
	jclass class = (*env)->FindClass(env, class_name);
	jmethodID method = (*env)->GetStaticMethodID(env, class, name, "(JILjava/lang/String;)V");
	char *own = IS_PLAIN ? NULL : below(path, "call");
	jstring text = (*env)->NewStringUTF(env, own ? own : path);

	(*env)->CallStaticVoidMethod(env, class, method, (jlong)seed, depth, text);
	free(own);
}

#ifdef PLAIN

JNIEXPORT void JNICALL Java_Joined_plainDown(JNIEnv *env, jclass class, jlong seed, jint depth, jstring path)
{
	const char *text = (*env)->GetStringUTFChars(env, path, NULL);

	(void)class;
	call(env, "Joined", "up", (uint64_t)seed, depth, text);
	(*env)->ReleaseStringUTFChars(env, path, text);
}

#else

static JavaVM *machine;

static uint64_t next(uint64_t seed)
{
	return seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

static void step(JNIEnv *env, uint64_t seed, jint depth, const char *path);

static void point(const char *path)
{
	char token[WM_TOKEN_MAX];

	wm_token(wm_capture(), token, sizeof token);
	printf("point %s %s;point\n", token, path);
	fflush(stdout);
}

static void call_instance(JNIEnv *env, uint64_t seed, jint depth, const char *path)
{
	jclass class = (*env)->FindClass(env, "Joined");
	jobject object = (*env)->AllocObject(env, class);
	jmethodID method = (*env)->GetMethodID(env, class, "upHere", "(JILjava/lang/String;)V");

	(*env)->CallVoidMethod(env, object, method, (jlong)seed, depth, (*env)->NewStringUTF(env, path));
}

static void call_interface(JNIEnv *env, uint64_t seed, jint depth, const char *path)
{
	jclass class = (*env)->FindClass(env, "Joined$Plain");
	jobject object = (*env)->AllocObject(env, class);
	jmethodID method =
		(*env)->GetMethodID(env, (*env)->FindClass(env, "Joined$Step"), "go", "(JILjava/lang/String;)V");
	const jvalue arguments[] = {{.j = (jlong)seed}, {.i = depth}, {.l = (*env)->NewStringUTF(env, path)}};

	(*env)->CallVoidMethodA(env, object, method, arguments);
}

static void make(JNIEnv *env, uint64_t seed, jint depth, const char *path)
{
	jclass class = (*env)->FindClass(env, "Joined$Made");
	jmethodID method = (*env)->GetMethodID(env, class, "<init>", "(JILjava/lang/String;)V");

	(*env)->NewObject(env, class, method, (jlong)seed, depth, (*env)->NewStringUTF(env, path));
}

static void recurse(JNIEnv *env, uint64_t seed, jint depth, const char *path, int times)
{
	char *own = below(path, "recurse");

	if (times)
		recurse(env, seed, depth, own, times - 1);
	else
		step(env, seed, depth, own);
	free(own);
}

static jboolean is_over(JNIEnv *env, jint depth)
{
	jclass class = (*env)->FindClass(env, "Joined");
	jmethodID method = (*env)->GetStaticMethodID(env, class, "isOver", "(I)Z");

	return (*env)->CallStaticBooleanMethod(env, class, method, depth);
}

static void go(JNIEnv *env, uint64_t choice, uint64_t seed, jint depth, const char *path)
{
	char *own = below(path, "go");

	switch (choice) {
	case 1:
		point(own);
		break;
	case 2:
		call(env, "Joined", "up", seed, depth, own);
		break;
	case 3: {
		char *inner = below(own, "call_instance");

		call_instance(env, seed, depth, inner);
		free(inner);
		break;
	}
	case 4: {
		char *inner = below(own, "call_interface");

		call_interface(env, seed, depth, inner);
		free(inner);
		break;
	}
	case 5:
		call(env, "Joined$Same", "down", seed, depth, own);
		break;
	case 6: {
		char *inner = below(own, "make");

		make(env, seed, depth, inner);
		free(inner);
		break;
	}
	case 7:
		call(env, "Joined", "upThrows", seed, depth, own);
		break;
	default:
		recurse(env, seed, depth, own, (int)(seed >> 40) % 5);
	}
	free(own);
}

static void step(JNIEnv *env, uint64_t seed, jint depth, const char *path)
{
	char *own = below(path, "step");

	while (!is_over(env, depth) && !(*env)->ExceptionCheck(env)) {
		uint64_t choice;

		seed = next(seed);
		choice = (seed >> 33) % 9;
		if (!choice || (*env)->PushLocalFrame(env, 16) != 0)
			break;
		go(env, choice, seed, depth - 1, own);
		(*env)->PopLocalFrame(env, NULL);
		point(own);
		if ((*env)->ExceptionCheck(env))
			break;
	}
	free(own);
}

/* The path of Java's call and the native method's name. */
static void enter(JNIEnv *env, uint64_t seed, jint depth, jstring path, const char *name)
{
	const char *text = (*env)->GetStringUTFChars(env, path, NULL);
	char *method = below(text, name);
	char *own = below(method, "enter");

	(*env)->ReleaseStringUTFChars(env, path, text);
	step(env, seed, depth, own);
	free(own);
	free(method);
}

JNIEXPORT void JNICALL Java_Joined_down(JNIEnv *env, jclass class, jlong seed, jint depth, jstring path)
{
	(void)class;
	enter(env, (uint64_t)seed, depth, path, "Java_Joined_down");
}

JNIEXPORT jint JNICALL Java_Joined_downHere(JNIEnv *env, jobject object, jlong seed, jint depth, jstring path)
{
	(void)object;
	enter(env, (uint64_t)seed, depth, path, "Java_Joined_downHere");
	return 7;
}

JNIEXPORT jdouble JNICALL Java_Joined_downWide(JNIEnv *env, jclass class, jint a, jdouble b, jlong c, jfloat d, jbyte e,
					       jdouble f, jstring path, jdouble g, jshort h, jdouble i, jboolean j,
					       jdouble k, jchar l, jdouble m, jobjectArray n, jdouble o, jdouble p,
					       jfloat q, jlong seed, jint depth)
{
	jboolean is_whole = a == -1 && b == 2.5 && c == (jlong)3 << 40 && d == 4.5f && e == -5 && f == 6.5 &&
			    g == 7.5 && h == -8 && i == 9.5 && j && k == 10.5 && l == 0x1234 && m == 11.5 &&
			    o == 12.5 && p == 13.5 && q == 14.5f &&
			    (*env)->IsSameObject(env, (*env)->GetObjectArrayElement(env, n, 0), path);

	(void)class;
	enter(env, (uint64_t)seed, depth, path, "Java_Joined_downWide");
	return is_whole;
}

struct thread {
	uint64_t seed;
	jint depth;
	char *path;
};

static void *run(void *data)
{
	const struct thread *t = data;
	char *own = below(t->path, "run");
	JNIEnv *env = NULL;

	if ((*machine)->AttachCurrentThread(machine, (void **)&env, NULL) != JNI_OK)
		abort();
	step(env, t->seed, t->depth, own);
	(*env)->ExceptionClear(env);
	(*machine)->DetachCurrentThread(machine);
	point(own);
	free(own);
	return NULL;
}

JNIEXPORT void JNICALL Java_Joined_downThread(JNIEnv *env, jclass class, jlong seed, jint depth, jstring path)
{
	const char *text = (*env)->GetStringUTFChars(env, path, NULL);
	struct thread t = {(uint64_t)seed, depth, below(text, "Java_Joined_downThread;[thread]")};
	pthread_t thread;

	(void)class;
	(*env)->ReleaseStringUTFChars(env, path, text);
	if (pthread_create(&thread, NULL, run, &t) != 0)
		abort();
	pthread_join(thread, NULL);
	free(t.path);
}

__attribute__((constructor)) static void begin(void)
{
	point("Joined.main;begin");
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
	JNIEnv *env = NULL;

	(void)reserved;
	machine = vm;
	point("Joined.main;JNI_OnLoad");
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_1_8) != JNI_OK)
		return JNI_ERR;
	return JNI_VERSION_1_8;
}

#endif

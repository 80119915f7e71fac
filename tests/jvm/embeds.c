/* embeds.c - creates a virtual machine as programs do that are no launcher: embeds LIBJVM CLASSPATH calls Starts.mark("embedded"). */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static char class_path[4096];
	JavaVMOption option = {.optionString = class_path};
	JavaVMInitArgs arguments = {.version = JNI_VERSION_1_8, .nOptions = 1, .options = &option};
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	jint (*create)(JavaVM **, void **, void *) =
		library ? (jint(*)(JavaVM **, void **, void *))dlsym(library, "JNI_CreateJavaVM") : NULL;
	JavaVM *vm;
	JNIEnv *env;
	jclass class;
	jmethodID mark;

	if (!create || dlsym(library, "no_such_symbol") || !dlerror())
		return 1;
	snprintf(class_path, sizeof class_path, "-Djava.class.path=%s", argv[2]);
	if (create(&vm, (void **)&env, &arguments) != JNI_OK)
		return 2;
	class = (*env)->FindClass(env, "Starts");
	mark = class ? (*env)->GetStaticMethodID(env, class, "mark", "(Ljava/lang/String;)V") : NULL;
	if (!mark)
		return 3;
	(*env)->CallStaticVoidMethod(env, class, mark, (*env)->NewStringUTF(env, "embedded"));
	return (*vm)->DestroyJavaVM(vm) == JNI_OK ? 0 : 4;
}

/* jar.h - the agent's own classes, in a jar beside its library. */
#ifndef WM_JVM_JAR_H
#define WM_JVM_JAR_H

#include <stdbool.h>

#define JVM_JAR "waymark-jvm.jar"

enum {
	JVM_JAR_PATH_BYTES = 4096,
};

/* Writes its path. False: that is not known, or too long. */
bool jvm_jar_find(char path[JVM_JAR_PATH_BYTES]);

#endif

/* carrier.c - an extension of HotSpot's JVMTI tells; other virtual machines, and older ones, have no virtual threads or no such function. */
#include "jvm/c/clients/carrier.h"

#include <jvmti.h>
#include <string.h>

enum {
	/* can_support_virtual_threads, of JDK 21: headers of older ones do not have it. */
	CAPABILITY_BYTE = 5,
	CAPABILITY_BIT = 0x10,
	/* JVMTI_EVENT_VIRTUAL_THREAD_START, and the first event that has a callback. */
	VIRTUAL_THREAD_START = 87,
	FIRST_EVENT = 50,
};

/* Written by jvm_carrier_prepare; NULL: no thread runs another one. */
static jvmtiExtensionFunction get_virtual_thread, get_carrier_thread;
/* Of the events of virtual threads alone, for which callbacks of an older header have no room; written by jvm_carrier_watch. */
static jvmtiEnv *watcher;

static void free_description(jvmtiEnv *jvmti, const jvmtiExtensionFunctionInfo *f)
{
	for (jint i = 0; i < f->param_count; i++)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)f->params[i].name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)f->params);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)f->errors);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)f->short_description);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)f->id);
}

static jvmtiExtensionFunction find_function(jvmtiEnv *jvmti, const char *id)
{
	jvmtiExtensionFunctionInfo *functions = NULL;
	jvmtiExtensionFunction ret = NULL;
	jint count = 0;

	if ((*jvmti)->GetExtensionFunctions(jvmti, &count, &functions) != JVMTI_ERROR_NONE)
		return NULL;
	for (jint i = 0; i < count; i++) {
		if (strcmp(functions[i].id, id) == 0)
			ret = functions[i].func;
		free_description(jvmti, &functions[i]);
	}
	(*jvmti)->Deallocate(jvmti, (unsigned char *)functions);
	return ret;
}

/* False: there is no such capability. */
static bool wanted_capabilities(jvmtiEnv *jvmti, jvmtiCapabilities *ret)
{
	jvmtiCapabilities potential = {0};
	unsigned char bytes[sizeof potential];

	if ((*jvmti)->GetPotentialCapabilities(jvmti, &potential) != JVMTI_ERROR_NONE)
		return false;
	memcpy(bytes, &potential, sizeof bytes);
	if (!(bytes[CAPABILITY_BYTE] & CAPABILITY_BIT))
		return false;
	memset(bytes, 0, sizeof bytes);
	bytes[CAPABILITY_BYTE] = CAPABILITY_BIT;
	memcpy(ret, bytes, sizeof bytes);
	return true;
}

bool jvm_carrier_prepare(const struct jvmtiInterface_1_ **jvmti)
{
	jvmtiCapabilities wanted;

	if (!wanted_capabilities(jvmti, &wanted))
		return true;
	get_virtual_thread = find_function(jvmti, "com.sun.hotspot.functions.GetVirtualThread");
	get_carrier_thread = find_function(jvmti, "com.sun.hotspot.functions.GetCarrierThread");
	return get_virtual_thread && (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE;
}

jobject jvm_carrier_mounted(jvmtiEnv *jvmti, jobject thread)
{
	jobject ret = NULL;

	if (!get_virtual_thread || get_virtual_thread(jvmti, thread, &ret) != JVMTI_ERROR_NONE || !ret)
		return thread;
	return ret;
}

bool jvm_carrier_has(jvmtiEnv *jvmti, JNIEnv *env, jobject thread)
{
	jobject carrier = NULL;
	bool ret;

	if (!get_carrier_thread || get_carrier_thread(jvmti, thread, &carrier) != JVMTI_ERROR_NONE)
		return true;
	ret = carrier != NULL;
	(*env)->DeleteLocalRef(env, carrier);
	return ret;
}

bool jvm_carrier_watch(const struct JNIInvokeInterface_ **vm, jvm_carrier_fn *starts)
{
	jvm_carrier_fn *callbacks[VIRTUAL_THREAD_START - FIRST_EVENT + 1] = {[VIRTUAL_THREAD_START - FIRST_EVENT] =
										     starts};
	jvmtiCapabilities wanted;

	if (!get_carrier_thread)
		return false;
	if (!watcher && (*vm)->GetEnv(vm, (void **)&watcher, JVMTI_VERSION_11) != JNI_OK)
		watcher = NULL;
	return watcher && wanted_capabilities(watcher, &wanted) &&
	       (*watcher)->AddCapabilities(watcher, &wanted) == JVMTI_ERROR_NONE &&
	       (*watcher)->SetEventCallbacks(watcher, (const jvmtiEventCallbacks *)(const void *)callbacks,
					     sizeof callbacks) == JVMTI_ERROR_NONE &&
	       (*watcher)->SetEventNotificationMode(watcher, JVMTI_ENABLE, (jvmtiEvent)VIRTUAL_THREAD_START, NULL) ==
		       JVMTI_ERROR_NONE;
}

void jvm_carrier_unwatch(void)
{
	if (watcher)
		(*watcher)->SetEventNotificationMode(watcher, JVMTI_DISABLE, (jvmtiEvent)VIRTUAL_THREAD_START, NULL);
}

/* carrier.c - an extension of HotSpot's JVMTI tells; other virtual machines, and older ones, have no virtual threads or no such function. */
#include "jvm/c/clients/carrier.h"

#include <jvmti.h>
#include <string.h>

enum {
	/* can_support_virtual_threads, of JDK 21: headers of older ones do not have it. */
	CAPABILITY_BYTE = 5,
	CAPABILITY_BIT = 0x10,
};

/* Written by jvm_carrier_prepare; NULL: no thread runs another one. */
static jvmtiExtensionFunction get_virtual_thread;

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

bool jvm_carrier_prepare(const struct jvmtiInterface_1_ **jvmti)
{
	jvmtiCapabilities potential = {0}, wanted = {0};
	unsigned char bytes[sizeof potential];

	if ((*jvmti)->GetPotentialCapabilities(jvmti, &potential) != JVMTI_ERROR_NONE)
		return false;
	memcpy(bytes, &potential, sizeof bytes);
	if (!(bytes[CAPABILITY_BYTE] & CAPABILITY_BIT))
		return true;
	memset(bytes, 0, sizeof bytes);
	bytes[CAPABILITY_BYTE] = CAPABILITY_BIT;
	memcpy(&wanted, bytes, sizeof wanted);
	get_virtual_thread = find_function(jvmti, "com.sun.hotspot.functions.GetVirtualThread");
	return get_virtual_thread && (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE;
}

jobject jvm_carrier_mounted(jvmtiEnv *jvmti, jobject thread)
{
	jobject ret = NULL;

	if (!get_virtual_thread || get_virtual_thread(jvmti, thread, &ret) != JVMTI_ERROR_NONE || !ret)
		return thread;
	return ret;
}

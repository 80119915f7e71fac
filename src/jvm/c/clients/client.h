/*
 * client.h - a client: events of the virtual machine that become events of the recording, at exact contexts.
 *
 * A client is one file of this folder that defines `const struct jvm_client jvm_client_NAME`, and the row NAME in include/waymark/jvm.h, from
 * which come its number, the words of its option and the option of `waymark run`.
 */
#ifndef WM_JVM_CLIENT_H
#define WM_JVM_CLIENT_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm/c/base/options.h"

enum {
	JVM_CLIENT_CAPABILITIES = 2,
	JVM_CLIENT_EVENTS = 8,
};

/* Instructions that the rewriter makes places of (java/dev/waymark/agent/Clients.java has the same bits). */
enum jvm_places {
	JVM_PLACES_ALLOCATIONS = 1,
	JVM_PLACES_MONITORS = 2,
	JVM_PLACES_THROWS = 4,
};

struct jvm_capability {
	jvmtiCapabilities wanted;
	const char *name; /* NULL behind the last one */
};

/* A client that is off is not called. Functions may be NULL; those that return false say that the agent cannot work at all. */
struct jvm_client {
	/* What it is where contexts are walks; NULL: the same. */
	const struct jvm_client *walked;
	/* Where the virtual machine does not give one, the client is off, and a line says which. */
	struct jvm_capability capabilities[JVM_CLIENT_CAPABILITIES];
	/*
	 * They are asked for at VMInit rather than in Agent_OnLoad. One environment alone has can_suspend, and a debugger that does not get it
	 * when it is loaded ends the virtual machine: so all agents are loaded before.
	 */
	bool asks_late;
	bool needs_words;    /* works with encoder=fast only */
	unsigned int places; /* enum jvm_places */
	/* Enabled behind `begin`, with the callbacks that `listen` adds; 0: none. */
	jvmtiEvent events[JVM_CLIENT_EVENTS];
	void (*listen)(jvmtiEventCallbacks *callbacks);
	/* In Agent_OnLoad, when it has its capabilities. number: that of its option. */
	bool (*load)(jvmtiEnv *jvmti, int32_t number);
	/* In VMInit, when all else works, before classes of the application are loaded. */
	bool (*begin)(JNIEnv *env, const struct jvm_options *options);
	/* When its events are enabled. */
	bool (*run)(jvmtiEnv *jvmti, JNIEnv *env, int32_t number);
	/* In VMDeath: no event afterwards. */
	void (*end)(void);
};

#endif

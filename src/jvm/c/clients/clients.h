/*
 * clients.h - all clients (client.h), by the options: what of them there is to do in each phase.
 *
 * The virtual machine raises an event in the middle of a method, where the thread's context is that of the last site. So while a client
 * is on, the rewriter makes sites of what can raise one, and every method has one at its entry (java/dev/waymark/agent/Clients.java).
 */
#ifndef WM_JVM_CLIENTS_H
#define WM_JVM_CLIENTS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm/c/base/options.h"

/* The name of a client that is on and does not work with encoder=lucce; NULL: there is none. */
const char *jvm_clients_need_words(const struct jvm_options *options);
/*
 * In Agent_OnLoad or Agent_OnAttach. Adds the callbacks of the clients that are on; switches those off in the options that the virtual machine does not let
 * work. False: it is another one than it says.
 */
bool jvm_clients_load(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks, struct jvm_options *options);
/*
 * Contexts are those of words (event.h): reads the threads' fields, and tells the rewriter which places there are to be. Before
 * jvm_clients_begin. False: the agent's classes are of another version.
 */
bool jvm_clients_use_words(JNIEnv *env, const struct jvm_options *options);
/*
 * In phase live, when contexts can be made: enables the events. With words, before classes of the application are loaded. False: a client
 * lacks what it needs.
 */
bool jvm_clients_begin(jvmtiEnv *jvmti, JNIEnv *env, const struct jvm_options *options);
/* Is one on? jvm_clients_load may have switched them off. */
bool jvm_clients_are_on(const struct jvm_options *options);
/* In VMDeath, or in a virtual machine that goes on without them. */
void jvm_clients_end(const struct jvm_options *options);
/* Behind jvm_clients_end: no client has its events and capabilities any more. */
void jvm_clients_release(jvmtiEnv *jvmti, const struct jvm_options *options);
/* Adds to a hash which clients are on: rewritten classes depend on that. */
uint64_t jvm_clients_hash(uint64_t hash, const struct jvm_options *options);

#endif

/* clients.c - the table of clients (include/waymark/jvm.h), and a walk of those that are on for each phase. */
#include "jvm/c/clients/clients.h"

#include "base/hash.h"
#include "jvm/c/base/log.h"
#include "jvm/c/base/java.h"
#include "jvm/c/clients/client.h"
#include "jvm/c/clients/event.h"
#include "jvm/c/contexts/thread_state.h"
#include "recorder/text.h"

#define OWN_DECLARED(name, ...) extern const struct jvm_client jvm_client_##name;
#define SHARED_DECLARED(name, ...) extern const struct jvm_client jvm_client_##name;
#define OWN_ROW(name, ...) &jvm_client_##name,
#define SHARED_ROW(name, ...) &jvm_client_##name,
WM1_JVM_CLIENTS(OWN_DECLARED, SHARED_DECLARED)
static const struct jvm_client *const clients[WM1_JVM_CLIENT_COUNT] = {WM1_JVM_CLIENTS(OWN_ROW, SHARED_ROW)};

static const struct jvm_client *client_at(size_t i, const struct jvm_options *options)
{
	return clients[i]->walked && jvm_options_walk(options) ? clients[i]->walked : clients[i];
}

const char *jvm_clients_need_words(const struct jvm_options *options)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++)
		if (options->clients[i].is_on && clients[i]->needs_words)
			return wm1_jvm_client_options[i].name;
	return NULL;
}

static bool is_live(jvmtiEnv *jvmti)
{
	jvmtiPhase phase;

	return (*jvmti)->GetPhase(jvmti, &phase) == JVMTI_ERROR_NONE && phase == JVMTI_PHASE_LIVE;
}

/* False: the virtual machine does not give one of them, which a line says. */
static bool add_capabilities(jvmtiEnv *jvmti, size_t client, const struct jvm_options *options)
{
	const struct jvm_client *of = client_at(client, options);

	for (size_t i = 0; i < JVM_CLIENT_CAPABILITIES && of->capabilities[i].name; i++) {
		const struct jvm_capability *c = &of->capabilities[i];
		char line[256];
		struct wmrt_text text = {line, sizeof line, 0};

		if ((*jvmti)->AddCapabilities(jvmti, &c->wanted) == JVMTI_ERROR_NONE)
			continue;
		wmrt_text_add(&text, wm1_jvm_client_options[client].name);
		wmrt_text_add(&text, " is off: the virtual machine does not give ");
		wmrt_text_add(&text, c->name);
		wmrt_text_add(&text,
			      is_live(jvmti)
				      ? ", which it gives at its start only, by `waymark run`, or another agent has"
				      : ", which another agent may have (a debugger)");
		jvm_log(line);
		return false;
	}
	return true;
}

bool jvm_clients_load(jvmtiEnv *jvmti, jvmtiEventCallbacks *callbacks, struct jvm_options *options)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++) {
		struct jvm_client_option *option = &options->clients[i];
		const struct jvm_client *c = client_at(i, options);

		if (option->is_on && !c->asks_late)
			option->is_on = add_capabilities(jvmti, i, options);
		if (!option->is_on)
			continue;
		if (c->listen)
			c->listen(callbacks);
		if (c->load && !c->load(jvmti, option->number))
			return false;
	}
	return true;
}

bool jvm_clients_are_on(const struct jvm_options *options)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++)
		if (options->clients[i].is_on)
			return true;
	return false;
}

bool jvm_clients_use_words(JNIEnv *env, const struct jvm_options *options)
{
	jclass class = jvm_find_class(env, "dev/waymark/agent/Clients");
	jmethodID start = jvm_find_static(env, class, "start", "(I)V");
	unsigned int places = 0;

	if (!jvm_clients_are_on(options))
		return true;
	if (!jvm_thread_state_init(env, options->is_lucce) || !jvm_event_use_words(env, options->is_checked))
		return false;
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++)
		places |= options->clients[i].is_on ? clients[i]->places : 0;
	if (start)
		(*env)->CallStaticVoidMethod(env, class, start, (jint)places);
	return !jvm_drop_thrown(env) && start;
}

/* A client that gets no capabilities now is off. Classes are rewritten as with it nevertheless: a cache is for the one and the other. */
static bool begin(jvmtiEnv *jvmti, JNIEnv *env, size_t client, const struct jvm_options *options)
{
	const struct jvm_client *c = client_at(client, options);

	if (c->asks_late && !add_capabilities(jvmti, client, options))
		return true;
	if (c->begin && !c->begin(env, options))
		return false;
	for (size_t i = 0; i < JVM_CLIENT_EVENTS && c->events[i]; i++)
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, c->events[i], NULL) != JVMTI_ERROR_NONE)
			return false;
	return !c->run || c->run(jvmti, env, options->clients[client].number);
}

bool jvm_clients_begin(jvmtiEnv *jvmti, JNIEnv *env, const struct jvm_options *options)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++)
		if (options->clients[i].is_on && !begin(jvmti, env, i, options))
			return false;
	return true;
}

void jvm_clients_end(const struct jvm_options *options)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++)
		if (options->clients[i].is_on && client_at(i, options)->end)
			client_at(i, options)->end();
}

void jvm_clients_release(jvmtiEnv *jvmti, const struct jvm_options *options)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++) {
		const struct jvm_client *c = client_at(i, options);

		for (size_t e = 0; e < JVM_CLIENT_EVENTS && c->events[e]; e++)
			(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_DISABLE, c->events[e], NULL);
		for (size_t k = 0; k < JVM_CLIENT_CAPABILITIES && c->capabilities[k].name; k++)
			(*jvmti)->RelinquishCapabilities(jvmti, &c->capabilities[k].wanted);
	}
}

uint64_t jvm_clients_hash(uint64_t hash, const struct jvm_options *options)
{
	for (size_t i = 0; i < WM1_JVM_CLIENT_COUNT; i++)
		hash = hash_bytes(hash, &options->clients[i].is_on, sizeof options->clients[i].is_on);
	return hash;
}

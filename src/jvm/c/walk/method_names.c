/*
 * method_names.c - two tables that only grow, found by hash without a lock: methods by jmethodID, sites by method and place.
 *
 * Who adds to them, or names a method, has the lock, and is not interrupted meanwhile: so a signal handler may add methods and sites.
 */
#include "jvm/c/walk/method_names.h"

#include <jvmti.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/c/base/java.h"
#include "recorder/code.h"
#include "recorder/index.h"
#include "recorder/process.h"
#include "recorder/short_lock.h"
#include "recorder/sys.h"

enum {
	MAX_CLASSES = 1 << 20,
	MAX_METHODS = 1 << 23,
	MAX_SITES = 1 << 25,
	STRINGS_BYTES = 1 << 20,
	LOADER_BYTES = 256,
	MAX_LABELS = 1 << 20,
};

/* What is no method. */
struct label {
	const char *text;
	uint32_t site;
};

struct line {
	uint32_t position;
	uint32_t line;
};

/* Its strings stay. */
struct named_class {
	const char *loader;
	const char *name; /* with dots */
	const char *file; /* NULL: not known */
	bool is_hidden;
	uint32_t image;
	bool is_recorded; /* under the lock */
};

struct named_method {
	jmethodID id;
	_Atomic bool is_named; /* what follows is there, but for `sites` and `record` */
	const char *name;
	const char *descriptor;
	const struct line *lines;
	bool is_hidden;
	uint32_t line_count;
	uint32_t owner;  /* number of its class */
	uint32_t record; /* under the lock; 0: not yet */
	uint32_t sites;  /* under the lock: number of the last one; 0: none */
};

struct named_site {
	uint32_t method;
	uint32_t kind;
	int32_t position; /* -1: of a native method */
	uint32_t record;
	uint32_t next; /* of the same method; 0: none */
};

/* Written once, before the others. */
static jvmtiEnv *tools;
static jfieldID loader_name;
/* The first number that jvm_method_names_complete has not looked at. */
static uint32_t completed = 1;
/* Records are written under the lock before the index has them; number 0 is none. */
static struct named_class *classes;
static struct named_method *methods;
static struct named_site *sites;
static uint32_t class_count = 1, site_count = 1; /* under the lock */
static _Atomic uint32_t method_count = 1;        /* changed under the lock */
static struct wmrt_index methods_by_id, sites_by_place, labels_by_text;
static _Atomic uint32_t lock;
static struct label *labels;
static uint32_t label_count = 1; /* under the lock */
/* Where the next string goes, under the lock. */
static char *strings;
static size_t strings_room;

static uint64_t take_lock(void)
{
	uint64_t mask = wmrt_block_signals();

	short_lock(&lock);
	return mask;
}

static void give_lock(uint64_t mask)
{
	short_unlock(&lock);
	wmrt_unblock_signals(mask);
}

bool jvm_method_names_init(const struct jvmtiInterface_1_ **jvmti)
{
	tools = jvmti;
	classes = wmrt_map_memory(MAX_CLASSES * sizeof *classes);
	methods = wmrt_map_memory(MAX_METHODS * sizeof *methods);
	sites = wmrt_map_memory(MAX_SITES * sizeof *sites);
	labels = wmrt_map_memory(MAX_LABELS * sizeof *labels);
	return classes && methods && sites && labels;
}

bool jvm_method_names_begin(const struct JNINativeInterface_ **env)
{
	loader_name = jvm_find_field(env, "java/lang/ClassLoader", "name", "Ljava/lang/String;");
	return loader_name;
}

static bool is_method(const void *key, uint32_t number)
{
	return methods[number].id == *(const jmethodID *)key;
}

static uint64_t hash_method(jmethodID id)
{
	return wmrt_hash((uintptr_t)id, 1);
}

static bool is_site(const void *key, uint32_t number)
{
	const struct named_site *wanted = key, *s = &sites[number];

	return s->method == wanted->method && s->kind == wanted->kind && s->position == wanted->position;
}

static uint64_t hash_site(const struct named_site *s)
{
	return wmrt_hash((uint64_t)s->method << 32 | (uint32_t)s->position, s->kind);
}

/* ---- names, under the lock ---- */

/* Aligned to 8 bytes. NULL: no room. */
static void *take_bytes(size_t size)
{
	char *ret;

	size = (size + 7) & ~(size_t)7;
	if (size > strings_room) {
		size_t room = size > STRINGS_BYTES ? size : STRINGS_BYTES;

		ret = wmrt_map_memory(room);
		if (!ret)
			return NULL;
		strings = ret;
		strings_room = room;
	}
	ret = strings;
	strings += size;
	strings_room -= size;
	return ret;
}

static const char *copy(const char *s)
{
	size_t size = s ? strlen(s) + 1 : 0;
	char *ret = s ? take_bytes(size) : NULL;

	return ret ? memcpy(ret, s, size) : NULL;
}

/* Classes that the JDK makes for lambdas and method handles, whose names have a number, and those that it has made before. */
static bool is_hidden_class(const char *class)
{
	static const char package[] = "java.lang.invoke.";
	const char *end = strrchr(class, '$');

	if (strchr(class, '/'))
		return true;
	return strncmp(class, package, sizeof package - 1) == 0 && end && strcmp(end, "$Holder") == 0;
}

/* Of those that newer JDKs mark one by one, what is below every thread's code and every reflective call. */
static bool is_hidden_method(const struct named_class *owner, const char *name)
{
	return owner->is_hidden || (strcmp(name, "runWith") == 0 && strcmp(owner->name, "java.lang.Thread") == 0) ||
	       (strcmp(name, "invokeImpl") == 0 &&
		strcmp(owner->name, "jdk.internal.reflect.DirectMethodHandleAccessor") == 0);
}

static uint32_t add_class(const struct named_class *c)
{
	struct named_class new = {.is_hidden = is_hidden_class(c->name),
				  .loader = copy(c->loader),
				  .name = copy(c->name),
				  .file = copy(c->file)};

	if (!new.loader || !new.name || class_count == MAX_CLASSES)
		return 0;
	classes[class_count] = new;
	return class_count++;
}

/* lines: to be copied. False: no room. */
static bool name_method(struct named_method *known, const struct named_method *m)
{
	struct line *lines = take_bytes(m->line_count * sizeof *lines);

	known->name = copy(m->name);
	known->descriptor = copy(m->descriptor);
	if (!lines || !known->name || !known->descriptor || !m->owner)
		return false;
	if (m->line_count)
		memcpy(lines, m->lines, m->line_count * sizeof *lines);
	known->lines = lines;
	known->line_count = m->line_count;
	known->owner = m->owner;
	known->is_hidden = is_hidden_method(&classes[m->owner], m->name);
	atomic_store(&known->is_named, true);
	return true;
}

/* Of one that the index does not have. Returns the number; 0 with no room. */
static uint32_t add_method(jmethodID id)
{
	uint32_t number = atomic_load(&method_count);

	if (number == MAX_METHODS)
		return 0;
	methods[number].id = id;
	atomic_store(&method_count, number + 1);
	return wmrt_index_add(&methods_by_id, hash_method(id), is_method, &id, number);
}

static uint32_t find_method(jmethodID id)
{
	return wmrt_index_find(&methods_by_id, hash_method(id), is_method, &id);
}

uint32_t jvm_method_names_note(struct _jmethodID *method)
{
	uint32_t ret = method ? find_method(method) : 0;
	uint64_t mask;

	if (ret || !method)
		return ret;
	mask = take_lock();
	ret = find_method(method) ?: add_method(method);
	give_lock(mask);
	return ret;
}

static bool is_named(uint32_t method)
{
	return method && atomic_load(&methods[method].is_named);
}

/* ---- recording, under the lock ---- */

/* Of what is no method, or has no name. */
static uint32_t machine_image(void)
{
	static uint32_t image;
	static bool is_recorded;

	if (!is_recorded)
		image = wmrt_code_image(NULL, "[virtual machine]", WMK_IMAGE_CODE);
	is_recorded = true;
	return image;
}

static uint32_t record_class(struct named_class *c)
{
	if (!c->is_recorded)
		c->image = wmrt_code_image(NULL, c->loader, WMK_IMAGE_LOADER);
	c->is_recorded = true;
	return c->image;
}

/* The lowest line: where the method begins, for all that can be known. 0: it has none. */
static uint32_t first_line(const struct named_method *m)
{
	uint32_t ret = 0;

	for (uint32_t i = 0; i < m->line_count; i++)
		if (!ret || m->lines[i].line < ret)
			ret = m->lines[i].line;
	return ret;
}

static struct wmrt_method described(const struct named_method *m)
{
	const struct named_class *c = &classes[m->owner];

	return (struct wmrt_method){
		.name = m->name, .owner = c->name, .descriptor = m->descriptor, .file = c->file, .line = first_line(m)};
}

static uint32_t record_method(struct named_method *m)
{
	struct wmrt_method record = {.name = "[unknown]"};
	bool is_known = atomic_load(&m->is_named);

	if (m->record)
		return m->record;
	if (is_known)
		record = described(m);
	m->record = wmrt_code_method(is_known ? record_class(&classes[m->owner]) : machine_image(), &record);
	return m->record;
}

/*
 * As the virtual machine tells lines in stack traces: the first entry at the location, or else the last one of those that are nearest before
 * it. Entries are in any order, and several may be at one place.
 */
static uint32_t line_at(const struct named_method *m, int32_t position)
{
	uint32_t nearest = 0, ret = 0;

	for (uint32_t i = 0; position >= 0 && i < m->line_count; i++) {
		const struct line *l = &m->lines[i];

		if (l->position == (uint32_t)position)
			return l->line;
		if (l->position > (uint32_t)position || l->position < nearest)
			continue;
		nearest = l->position;
		ret = l->line;
	}
	return ret;
}

static uint32_t add_site(struct named_site *s)
{
	struct named_method *m = &methods[s->method];

	if (site_count == MAX_SITES)
		return 0;
	s->record = wmrt_code_method_site(record_method(m), (enum wmk_site_kind)s->kind,
					  s->position < 0 ? 0 : (uint32_t)s->position, line_at(m, s->position), NULL);
	if (!s->record)
		return 0;
	sites[site_count] = *s;
	sites[site_count].next = m->sites;
	m->sites = site_count;
	wmrt_index_add(&sites_by_place, hash_site(s), is_site, s, site_count++);
	return s->record;
}

/* Of a method that has got its name: what is recorded already. */
static void record_names(struct named_method *m)
{
	const struct wmrt_method record = described(m);

	if (!m->record || !wmrt_code_method_renew(m->record, record_class(&classes[m->owner]), &record))
		return;
	for (uint32_t i = m->sites; i; i = sites[i].next)
		wmrt_code_site_set_line(sites[i].record, line_at(m, sites[i].position));
}

/* ---- asking ---- */

static void text_of(JNIEnv *env, jstring s, char *text, size_t size)
{
	const char *bytes = s ? (*env)->GetStringUTFChars(env, s, NULL) : NULL;

	if (bytes)
		strncpy(text, bytes, size - 1);
	if (bytes)
		(*env)->ReleaseStringUTFChars(env, s, bytes);
	jvm_drop_thrown(env);
}

/* Lpackage/Name; becomes package.Name, in place. A hidden class has Lpackage/Name.0x123; */
static const char *dotted(char *signature)
{
	char *end = strrchr(signature, ';');

	if (!end || *signature != 'L')
		return signature;
	*end = '\0';
	for (char *s = signature; *s; s++)
		if (*s == '/')
			*s = '.';
		else if (*s == '.')
			*s = '/';
	return signature + 1;
}

/* Its name, or else that of its class. */
static void describe_loader(JNIEnv *env, jclass class, char *text, size_t size)
{
	jobject loader = NULL;
	char *signature = NULL;
	jstring name;
	jclass own;

	memset(text, 0, size);
	if ((*tools)->GetClassLoader(tools, class, &loader) != JVMTI_ERROR_NONE || !loader) {
		strncpy(text, "boot", size - 1);
		return;
	}
	name = (*env)->GetObjectField(env, loader, loader_name);
	text_of(env, name, text, size);
	own = *text ? NULL : (*env)->GetObjectClass(env, loader);
	if (own && (*tools)->GetClassSignature(tools, own, &signature, NULL) == JVMTI_ERROR_NONE)
		strncpy(text, dotted(signature), size - 1);
	(*tools)->Deallocate(tools, (unsigned char *)signature);
	(*env)->DeleteLocalRef(env, own);
	(*env)->DeleteLocalRef(env, name);
	(*env)->DeleteLocalRef(env, loader);
}

/* The number of a new record of the class; 0: it has no name, or there is no room. */
static uint32_t ask_class(JNIEnv *env, jclass class)
{
	char loader[LOADER_BYTES], *signature = NULL, *file = NULL;
	uint64_t mask;
	uint32_t ret = 0;

	if ((*tools)->GetClassSignature(tools, class, &signature, NULL) != JVMTI_ERROR_NONE)
		return 0;
	if ((*tools)->GetSourceFileName(tools, class, &file) != JVMTI_ERROR_NONE)
		file = NULL;
	describe_loader(env, class, loader, sizeof loader);
	mask = take_lock();
	ret = add_class(&(struct named_class){.loader = loader, .name = dotted(signature), .file = file});
	give_lock(mask);
	(*tools)->Deallocate(tools, (unsigned char *)signature);
	(*tools)->Deallocate(tools, (unsigned char *)file);
	return ret;
}

_Static_assert(sizeof(jvmtiLineNumberEntry) >= sizeof(struct line), "entries are made lines in place");

/* *ret: to be deallocated. */
static uint32_t ask_lines(jmethodID id, jvmtiLineNumberEntry **ret)
{
	jint count = 0;
	struct line *lines;

	if ((*tools)->GetLineNumberTable(tools, id, &count, ret) != JVMTI_ERROR_NONE) {
		*ret = NULL;
		return 0;
	}
	lines = (struct line *)(void *)*ret;
	for (jint i = 0; i < count; i++) {
		jvmtiLineNumberEntry entry = (*ret)[i];

		lines[i] = (struct line){(uint32_t)entry.start_location, (uint32_t)entry.line_number};
	}
	return (uint32_t)count;
}

static uint32_t ask_method(jmethodID id, uint32_t owner)
{
	struct named_method m = {.id = id, .owner = owner};
	char *name = NULL, *descriptor = NULL;
	jvmtiLineNumberEntry *lines = NULL;
	uint64_t mask;
	uint32_t ret;

	if ((*tools)->GetMethodName(tools, id, &name, &descriptor, NULL) != JVMTI_ERROR_NONE)
		return 0;
	m.line_count = ask_lines(id, &lines);
	m.lines = (const struct line *)(const void *)lines;
	m.name = name;
	m.descriptor = descriptor;
	mask = take_lock();
	ret = find_method(id) ?: add_method(id);
	if (ret && !is_named(ret) && name_method(&methods[ret], &m))
		record_names(&methods[ret]);
	give_lock(mask);
	(*tools)->Deallocate(tools, (unsigned char *)name);
	(*tools)->Deallocate(tools, (unsigned char *)descriptor);
	(*tools)->Deallocate(tools, (unsigned char *)lines);
	return ret;
}

/* Of all methods, or so that they have numbers at least. */
static void learn(JNIEnv *env, jclass class, bool is_all)
{
	uint64_t mask = wmrt_block_signals(); /* once rather than for each method */
	jmethodID *ids = NULL;
	jint count = 0;
	uint32_t owner = 0;

	if ((*tools)->GetClassMethods(tools, class, &count, &ids) != JVMTI_ERROR_NONE)
		count = 0;
	if (is_all && count && !is_named(find_method(ids[count - 1])))
		owner = ask_class(env, class);
	for (jint i = 0; owner && i < count; i++)
		ask_method(ids[i], owner);
	(*tools)->Deallocate(tools, (unsigned char *)ids);
	wmrt_unblock_signals(mask);
}

/* The virtual machine's own loaders; there is one of each kind. */
static bool is_permanent_loader(JNIEnv *env, jobject loader)
{
	static const char prefix[] = "Ljdk/internal/loader/ClassLoaders$";
	jclass class = (*env)->GetObjectClass(env, loader);
	char *signature = NULL;
	jobject own = NULL;
	bool ret = (*tools)->GetClassLoader(tools, class, &own) == JVMTI_ERROR_NONE && !own &&
		   (*tools)->GetClassSignature(tools, class, &signature, NULL) == JVMTI_ERROR_NONE &&
		   strncmp(signature, prefix, sizeof prefix - 1) == 0;

	(*tools)->Deallocate(tools, (unsigned char *)signature);
	(*env)->DeleteLocalRef(env, own);
	(*env)->DeleteLocalRef(env, class);
	return ret;
}

/* Has it methods that stack traces leave out, or is it hidden itself? Those are known before the first sample. */
static bool has_hidden(const char *signature)
{
	static const char package[] = "Ljava/lang/invoke/";

	return strchr(signature, '.') ||
	       (strncmp(signature, package, sizeof package - 1) == 0 && strstr(signature, "$Holder;")) ||
	       strcmp(signature, "Ljava/lang/Thread;") == 0 ||
	       strcmp(signature, "Ljdk/internal/reflect/DirectMethodHandleAccessor;") == 0;
}

/* Is it there for good? */
static bool is_permanent(JNIEnv *env, jclass class)
{
	char *signature = NULL;
	jobject loader = NULL;
	bool ret = (*tools)->GetClassSignature(tools, class, &signature, NULL) == JVMTI_ERROR_NONE &&
		   !has_hidden(signature) && (*tools)->GetClassLoader(tools, class, &loader) == JVMTI_ERROR_NONE &&
		   (!loader || is_permanent_loader(env, loader));

	(*env)->DeleteLocalRef(env, loader);
	(*tools)->Deallocate(tools, (unsigned char *)signature);
	return ret;
}

void jvm_method_names_prepare(const struct JNINativeInterface_ **env, struct _jobject *class)
{
	learn(env, class, !is_permanent(env, class));
}

/* Its class may have other methods that are known, which are of another record of the class then. */
uint32_t jvm_method_names_ask(const struct JNINativeInterface_ **env, struct _jmethodID *method)
{
	uint32_t ret = find_method(method);
	jclass class = NULL;

	if (is_named(ret) || (*tools)->GetMethodDeclaringClass(tools, method, &class) != JVMTI_ERROR_NONE)
		return ret;
	learn(env, class, true);
	(*env)->DeleteLocalRef(env, class);
	return find_method(method);
}

/* A class has a record of its own for each of its methods that is named so: the recording has its strings once. */
static void complete(JNIEnv *env, jmethodID method)
{
	jclass class = NULL;
	uint32_t owner;

	if ((*tools)->GetMethodDeclaringClass(tools, method, &class) != JVMTI_ERROR_NONE)
		return;
	owner = ask_class(env, class);
	if (owner)
		ask_method(method, owner);
	(*env)->DeleteLocalRef(env, class);
}

void jvm_method_names_complete(const struct JNINativeInterface_ **env)
{
	for (; completed < atomic_load(&method_count); completed++)
		if (!is_named(completed))
			complete(env, methods[completed].id);
}

bool jvm_method_names_is_hidden(uint32_t method)
{
	return methods[method].is_hidden;
}

/* ---- sites ---- */

uint32_t jvm_method_names_site(uint32_t method, int64_t location, enum wmk_site_kind kind)
{
	struct named_site s = {.method = method, .kind = kind, .position = location < 0 ? -1 : (int32_t)location};
	uint32_t known = wmrt_index_find(&sites_by_place, hash_site(&s), is_site, &s), ret;
	uint64_t mask;

	if (known)
		return sites[known].record;
	mask = take_lock();
	known = wmrt_index_find(&sites_by_place, hash_site(&s), is_site, &s);
	ret = known ? sites[known].record : add_site(&s);
	give_lock(mask);
	return ret;
}

/* ---- labels ---- */

static bool is_label(const void *key, uint32_t number)
{
	return strcmp(labels[number].text, key) == 0;
}

static uint64_t hash_label(const char *text)
{
	uint64_t ret = 0;

	for (; *text; text++)
		ret = wmrt_hash(ret, (unsigned char)*text);
	return ret;
}

static uint32_t add_label(const char *text)
{
	struct label new = {.text = copy(text)};
	uint32_t function;

	if (!new.text || label_count == MAX_LABELS)
		return 0;
	function = wmrt_code_function(machine_image(), label_count, text);
	new.site = function ? wmrt_code_site(function, WMK_SITE_CAPTURE, 0, 0, NULL) : 0;
	labels[label_count] = new;
	if (new.site)
		wmrt_index_add(&labels_by_text, hash_label(text), is_label, text, label_count++);
	return new.site;
}

static uint32_t find_label(const char *text)
{
	uint32_t number = wmrt_index_find(&labels_by_text, hash_label(text), is_label, text);

	return number ? labels[number].site : 0;
}

uint32_t jvm_method_names_label(const char *text)
{
	uint32_t ret = find_label(text);
	uint64_t mask;

	if (ret)
		return ret;
	mask = take_lock();
	ret = find_label(text) ?: add_label(text);
	give_lock(mask);
	return ret;
}

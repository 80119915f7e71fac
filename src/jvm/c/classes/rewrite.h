/* rewrite.h - the bytes of a class become those that keep contexts. */
#ifndef WM_JVM_REWRITE_H
#define WM_JVM_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct JNINativeInterface_;
struct _jobject;
struct jvm_options;

/*
 * rewriter: the class dev.waymark.agent.Rewriter, for good. False: it is another one's. Once, before the others, when the cache (cache.h) is
 * open, if there is one.
 */
bool jvm_rewrite_begin(const struct JNINativeInterface_ **env, struct _jobject *rewriter,
		       const struct jvm_options *options);
/* From now on other agents change classes, which makes more calls sites than templates have. */
void jvm_rewrite_leave_cache(void);
/*
 * name: with slashes; NULL if a loader has not given one. Returns bytes that the caller frees, and *new_len; NULL: the class stays as it is,
 * which is said where it is not meant. Runs Java code; any thread, with room for local references.
 */
uint8_t *jvm_rewrite(const struct JNINativeInterface_ **env, struct _jobject *loader, const char *name,
		     const uint8_t *bytes, size_t len, size_t *new_len);

#endif

/*
 * jvm_attach.h - what `waymark attach` and the agent in a virtual machine that runs (src/jvm/c/live) say to each other.
 *
 * The command makes a directory in the file system of the virtual machine, which its user alone may use, and has the agent's library loaded
 * with the directory's path as its options (snapshot/hotspot/hotspot.h). Files of it, of texts that a zero byte ends each:
 *
 *      request     version, "attach", words of clients (waymark/jvm.h), pattern as WAYMARK_OUT has it, limit in bytes
 *                  version, "detach"
 *      claimed     the request, renamed by the agent when it begins. A command that gives up removes the request before that, or waits
 *      answer      "done", the path of the recording (detach; empty: there is none); or "refused", the reason
 */
#ifndef WAYMARK_JVM_ATTACH_H
#define WAYMARK_JVM_ATTACH_H

#define WM1_JVM_ATTACH_VERSION "1"
#define WM1_JVM_ATTACH_REQUEST "request"
#define WM1_JVM_ATTACH_CLAIMED "claimed"
#define WM1_JVM_ATTACH_ANSWER "answer"
/* Becomes the answer when it is whole. */
#define WM1_JVM_ATTACH_NEW_ANSWER "answer.new"
#define WM1_JVM_ATTACH_DONE "done"
#define WM1_JVM_ATTACH_REFUSED "refused"

enum {
	WM1_JVM_ATTACH_FIELDS = 5,
	WM1_JVM_ATTACH_BYTES = 8192, /* of a file at most */
};

#endif

/*
 * install_paths.h - where Waymark's own files are, for the command as it runs: in a build directory or installed.
 *
 *                      uninstalled (BUILD/waymark)             installed (BINDIR/waymark)
 *   plugin             BUILD/src/instrument/waymark-pass.so    LIBDIR/waymark/waymark-pass.so
 *   runtime_dir        BUILD/src/runtime                       LIBDIR/waymark
 *   agent_dir          BUILD/src/agent                         LIBDIR/waymark
 *   sampler_dir        BUILD/src/sampler                       LIBDIR/waymark
 *   jvm_dir            BUILD/src/jvm                           LIBDIR/waymark
 *   slice_dir          BUILD/src/cli                           LIBDIR/waymark
 *   include_dir        BUILD/include                           INCLUDEDIR
 *
 * Installed directories are found by their ways from BINDIR, as they were configured, so that the prefix may be moved.
 *
 * Strings are malloc'd and live as long as the struct.
 */
#ifndef WM_CLI_INSTALL_PATHS_H
#define WM_CLI_INSTALL_PATHS_H

#include "base/error.h"

/* In agent_dir: for programs that were not built with waymark cc. */
#define INSTALL_AGENT "libwaymark-agent.so"
/* In sampler_dir: for samples alone. */
#define INSTALL_SAMPLER "libwaymark-sample.so"
/* In jvm_dir: for Java programs, with waymark-jvm.jar beside it. */
#define INSTALL_JVM_AGENT "libwaymark-jvm.so"
/* Beside it: brings it into the virtual machines of all processes that preload this. */
#define INSTALL_JAVA "libwaymark-java.so"
/* In runtime_dir: the heap client. */
#define INSTALL_HEAP "libwaymark-heap.so"
#define INSTALL_RUNTIME "libwaymark-rt.so"

struct install_paths {
	char *plugin;
	char *runtime_dir; /* waymark-rt.o, waymark-keep.o, libwaymark-rt.so, libwaymark-heap.so, exports.txt */
	char *agent_dir;   /* libwaymark-agent.so */
	char *sampler_dir; /* libwaymark-sample.so */
	char *jvm_dir;
	char *slice_dir;   /* waymark-slice */
	char *include_dir; /* waymark.h */
};

/* ERROR_NOT_FOUND when neither layout is there. */
struct error *install_paths_find(struct install_paths *ret);
void install_paths_deinit(struct install_paths *paths);

#endif

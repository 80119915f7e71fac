#!/bin/sh
# selftest.sh LAYOUT-SH - layout.sh must find each sin of a tree made of sins, and nothing in a good one.
set -eu
layout=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
mkdir -p src/base src/core/contexts src/core/paths src/format src/object src/snapshot src/model src/llvm src/instrument src/recorder src/runtime src/report src/cli src/native src/agent/os src/agent/life src/jvm/c/base src/jvm/c/bridge src/jvm/c/none src/snapshot/debug src/analyze src/other include

# file PATH LINE...: a C file that opens with a comment
file() {
	path=$1
	shift
	{
		echo '/* a comment */'
		printf '%s\n' "$@"
	} >"$path"
}

file src/base/good.c '#include "base/vec.h"' '#include <stdint.h>'
file src/core/good.c '#include "base/vec.h"' 'int snprintf(char *, int); /* printf( */' 'x = "exit(1)"; y->exit(2);'
file src/core/contexts/good.c 'allocator_free(a, b); a->free(a->state, b); /* malloc( */ error_create_in(a);'
file src/core/paths/good.c 'free(x);'
file src/report/good.c '#include "object/elf.h"' '/*' ' * abort()' ' */' 'fputs(text, file);'
file src/runtime/good.c '#include "waymark/abi.h"' '#include "runtime/state.h"' '#include <pthread.h>'
file src/instrument/good.cpp '#include "llvm-c/Core.h"' '#include <llvm/Passes/PassPlugin.h>'
file src/snapshot/good.c '#include "object/elf.h"' '#include <elfutils/libdw.h>'
file src/model/good.c '#include "snapshot/snapshot.h"' '#include "model/crash/crash.h"'
file src/llvm/good.c '#include <llvm-c/Core.h>' '#include "format/meta.h"'
file src/recorder/good.c '#include "recorder/file.h"' '#include "waymark/wmk.h"' '#include <elf.h>'
file src/runtime/better.c '#include "recorder/file.h"'
file src/agent/good.c '#include "core/contexts/callgraph.h"' '#include "recorder/client.h"'
file src/jvm/good.c '#include "base/allocator.h"' '#include "recorder/client.h"' '#include <jvmti.h>'
file src/agent/life/good.c '#include "native/maps.h"' '#include "agent/life/start.h"'
file src/jvm/c/good.c '#include "jvm/c/bridge/natives.h"'
file src/jvm/c/bridge/good.c '#include "jvm/c/base/say.h"'
file src/snapshot/debug/good.c '#include "snapshot/snapshot.h"'
file src/analyze/good.c '#include <llvm-c/Core.h>' '#include "llvm/ir.h"'
file src/cli/good.c '#include "report/render.h"' 'printf("x"); exit(1);'
if ! out=$("$layout" "$tree") || [ -n "$out" ]; then
	printf 'the good tree has findings:\n%s\n' "$out"
	exit 1
fi

file src/base/bad.c '#include "core/contexts/callgraph.h"' '#include <unistd.h>'
file src/core/bad.c '#include "format/meta.h"' '#include <llvm-c/Core.h>'
file src/core/contexts/bad.c 'x = malloc(1);' 'free(x);' 'qsort(x, 1, 1, f);' 'return error_create(1);'
file src/format/bad.c '#include "object/elf.h"' 'exit(1);'
file src/object/bad.c '#include "instrument/pass.h"' '#include "runtime/state.h"' 'fprintf(stderr, "x");'
file src/instrument/bad.c '#include "object/elf.h"' 'printf("x");'
file src/runtime/bad.c '#include "base/vec.h"' '/* fine */ abort();'
file src/report/bad.c '#include "cli/command.h"' '#include "near.h"' 'perror("x");'
file src/cli/bad.c '#include "instrument/pass.h"' '#include <gelf.h>' '#include <elfutils/libdwfl.h>'
file src/snapshot/bad.c '#include "model/crash/crash.h"'
file src/model/bad.c '#include "report/html.h"' '#include <gelf.h>'
file src/llvm/bad.c '#include "instrument/contexts/program.h"'
file src/recorder/bad.c '#include "runtime/clients.h"' '#include "base/vec.h"'
file src/agent/bad.c '#include "runtime/clients.h"' '#include "jvm/methods.h"'
file src/jvm/bad.c '#include "format/meta.h"'
file src/analyze/bad.c '#include "instrument/plugin.h"' '#include "model/crash/crash.h"'
file src/agent/os/bad.c '#include "agent/life/start.h"' '#include "agent/none/x.h"'
file src/jvm/c/base/bad.c '#include "jvm/c/bridge/natives.h"'
file src/jvm/c/none/bad.c ''
file src/other/bad.c ''
echo 'int x;' >src/base/silent.c
awk 'BEGIN { print "/* a comment */"; for (i = 0; i < 900; i++) print "int x;" }' >src/cli/long.c

"$layout" "$tree" >found && { echo "the bad tree passes"; exit 1; }
sed 's/: .*//' found >places
cat >expected <<'END'
src/agent/bad.c:2
src/agent/bad.c:3
src/agent/os/bad.c:2
src/agent/os/bad.c:3
src/analyze/bad.c:2
src/analyze/bad.c:3
src/base/bad.c:2
src/base/bad.c:3
src/base/silent.c:1
src/cli/bad.c:2
src/cli/bad.c:3
src/cli/bad.c:4
src/cli/long.c:901
src/core/bad.c:2
src/core/bad.c:3
src/core/contexts/bad.c:2
src/core/contexts/bad.c:3
src/core/contexts/bad.c:4
src/core/contexts/bad.c:5
src/format/bad.c:2
src/format/bad.c:3
src/instrument/bad.c:2
src/instrument/bad.c:3
src/jvm/bad.c:2
src/jvm/c/base/bad.c:2
src/jvm/c/none/bad.c:1
src/llvm/bad.c:2
src/model/bad.c:2
src/model/bad.c:3
src/object/bad.c:2
src/object/bad.c:3
src/object/bad.c:4
src/other/bad.c:1
src/recorder/bad.c:2
src/recorder/bad.c:3
src/report/bad.c:2
src/report/bad.c:3
src/report/bad.c:4
src/runtime/bad.c:2
src/runtime/bad.c:3
src/snapshot/bad.c:2
END
diff -u expected places || { cat found; exit 1; }

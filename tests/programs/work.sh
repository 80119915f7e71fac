# Sourced: the options -b BUILD-DIR and -w WORK-DIR of scripts that build programs, and the folder they work in.
#
#   while getopts "${work_options}q" option; do
#     case $option in q) quick=1 ;; *) work_option $option ;; esac
#   done
#   open_work NAME
#
# Afterwards build, work and waymark are absolute, jobs says how many may run at once, and nothing of the caller's flags gets into
# builds. Without -w the folder is a temporary one, removed at the end, and is_temporary is set.
# shellcheck shell=bash

work_options=b:w:
build=$(dirname "${BASH_SOURCE[0]}")/../../build work='' is_temporary=''

work_option() { # LETTER, as getopts leaves it with OPTARG
	case $1 in
	b) build=$OPTARG ;;
	w) work=$OPTARG ;;
	*) exit 2 ;;
	esac
}

open_work() { # NAME of a temporary folder
	build=$(cd "$build" && pwd) || exit
	if [ -z "$work" ]; then
		work=$(mktemp -d "${TMPDIR:-/tmp}/$1.XXXXXX")
		is_temporary=1
		trap 'rm -rf "$work"' EXIT INT TERM
	fi
	mkdir -p "$work"
	work=$(cd "$work" && pwd)
	# shellcheck disable=SC2034 # of the callers
	waymark=$build/waymark jobs=${JOBS:-$(nproc)}
	unset CFLAGS CPPFLAGS LDFLAGS MAKEFLAGS LLVM_PROFILE_FILE WAYMARK_OUT WAYMARK_SCHEME
}

is_built() { # DIR native|...: a kept build, whose end a file .built marks, is good as long as what built it is
	[ -f "$1/.built" ] && { [ "$2" = native ] || [ "$1/.built" -nt "$build/src/instrument/waymark-pass.so" ]; }
}

quietly() { # runs a command, shows its last lines only when it fails
	local log=$work/log.$BASHPID
	"$@" >"$log" 2>&1 || { tail -n 30 "$log"; echo "failed: $*"; return 1; }
	rm -f "$log"
}

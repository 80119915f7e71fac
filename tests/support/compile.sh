# shellcheck shell=sh
# compile.sh - sourced by tests that build many small programs with plain compilers: `compile COMPILER FILE ARGUMENT...` is
# `COMPILER ARGUMENT... -o FILE` for one file of source.
#
# To compile and link, clang starts a second clang and the linker. It is loaded twice then, which takes longer than what it does. So clang makes the
# object, in one process, and gcc links it. It calls the same linker with the same files: what is made is the same byte for byte, but for the
# order of libraries that gcc would leave out as not needed, which it is told to keep, as clang does.
compile() {
	compile_with=$1 compile_file=$2
	shift 2
	case "$compile_with $* " in
	*-fuse-ld=* | *' -c '* | *' -static '*) compile_linker= ;; # other files, or none, are linked
	clang++*) compile_linker=g++ ;;
	clang*) compile_linker=gcc ;;
	*) compile_linker= ;;
	esac
	if ! command -v "$compile_linker" >/dev/null; then
		"$compile_with" "$@" -o "$compile_file"
		return
	fi
	# -no-pie and libraries are for the linker only.
	compile_left=$#
	set -- "$@" -Qunused-arguments -c -o "$compile_file.o"
	"$compile_with" "$@" || return
	while [ "$compile_left" -gt 0 ]; do
		case $1 in
		*.c | *.cpp) set -- "$@" "$compile_file.o" ;;
		*) set -- "$@" "$1" ;;
		esac
		shift
		compile_left=$((compile_left - 1))
	done
	shift 4
	"$compile_linker" -fno-use-linker-plugin -Wl,--no-as-needed "$@" -o "$compile_file" || return
	rm -f "$compile_file.o"
}

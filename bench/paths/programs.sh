# Sourced by run.sh and alpha.sh: the programs of ../../tests/programs, each in many variants, and what they work on.
#
# The caller has opened work (../../tests/programs/work.sh), sets here, and exports LC_ALL. A variant is a compiler with
# its flags (compiler_of); its build is $work/PROGRAM-VARIANT. Recordings for plans are $work/PROGRAM-STAGE.wmk. $out is a folder
# for what one run writes, and a prefix of its other files. bench_cache, if it is set, is a prefix of files in which configure keeps
# what it finds out, once for all variants; wanted are the programs, if the caller knows them.
# shellcheck shell=bash

programs_dir=$here/../../tests/programs
quietly() { "$@"; } # build_variant shows its log when something fails
# shellcheck source=../../tests/programs/programs.sh
. "$programs_dir/programs.sh"

# One word for configure, whatever the variant: BENCH_CC is the compiler, with its flags. BENCH_LINKS names a file for what links take,
# to whose name that of what is linked is added for a file with the folder and the words of the link;
# BENCH_CONFIGURE_CC another compiler for what configure tries: one without LTO takes a third of the time.
mkdir -p "$work/bin"
cat >"$work/bin/bench-cc.$$" <<'END'
#!/bin/sh
case " $* " in
*conftest*) exec ${BENCH_CONFIGURE_CC:-$BENCH_CC} "$@" ;;
*' -c '* | *' -E '* | *' -S '*) exec $BENCH_CC "$@" ;;
esac
[ -n "${BENCH_LINKS:-}" ] || exec $BENCH_CC "$@"
# A link: seconds, KiB, what is linked.
last=
for word; do
	[ "$last" != -o ] || file=$word
	last=$word
done
printf '%s\n' "$PWD" "$@" >"$BENCH_LINKS.${file##*/}"
exec time -a -o "$BENCH_LINKS" -f "%U %S %M ${file:-a.out}" $BENCH_CC "$@"
END
cat >"$work/bin/bench-c++.$$" <<'END'
#!/bin/sh
plus() { echo "$1" | sed 's,clang-19,clang++-19,; s,waymark cc,waymark c++,'; }
BENCH_CC=$(plus "$BENCH_CC") BENCH_CONFIGURE_CC=$(plus "${BENCH_CONFIGURE_CC:-}")
export BENCH_CC BENCH_CONFIGURE_CC
exec bench-cc "$@"
END
chmod +x "$work"/bin/*.$$
for name in bench-cc bench-c++; do
	mv "$work/bin/$name.$$" "$work/bin/$name" # whole: another run may execute it
done
export PATH=$work/bin:$PATH

# What a process leaves behind, in any variant, goes to a folder of this run that is emptied after each process.
out=$(mktemp -d "$work/out.XXXXXX")
trap 'rm -rf "$out"* ${is_temporary:+"$work"}' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export WAYMARK_OUT=$out LLVM_PROFILE_FILE=$out/%p.profraw GCOV_PREFIX=$out/gcov PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0

# valgrind of Debian 12 does not read DWARF 5.
compiler_of() { # PROGRAM VARIANT
	local clang='clang-19 -gline-tables-only -gdwarf-4' paths="$waymark cc -gline-tables-only -gdwarf-4 --wm=paths"
	case $2 in
	native) echo "$clang" ;;
	clang-edges) echo "$clang -fprofile-instr-generate" ;;
	gcc) echo 'gcc -g1 -gdwarf-4' ;;
	gcc-edges) echo 'gcc -g1 -gdwarf-4 -fprofile-arcs' ;;
	bl-call) echo "$paths --wm-path-array=4000 --wm-path-hash=call" ;;
	bl) echo "$paths" ;;
	plan) echo "$paths --wm-plan=$work/$1-source.wmk" ;;
	plan-all) echo "$paths --wm-path-array=1 --wm-plan=$work/$1-source.wmk" ;;
	lto) echo "$clang -flto -fuse-ld=lld -Wno-unused-command-line-argument" ;;
	hooks) echo "$(compiler_of "$1" lto) -finstrument-functions" ;;
	mcount) echo "$(compiler_of "$1" lto) -pg" ;;
	contexts) echo "$waymark cc -gline-tables-only -gdwarf-4" ;;
	hybrid) echo "$waymark cc -gline-tables-only -gdwarf-4 --wm-hybrid" ;;
	final-*) compiler_of "$1" "${2#final-}" | sed "s,--wm=paths,& --wm-stage=final,; s,-source\.wmk,-final.wmk," ;;
	esac
}
variant_is_waymark() { case $1 in *bl* | *plan* | contexts | hybrid) true ;; *) false ;; esac }

# Less than the tests need: the program alone.
compile_zstd() { make -C "$1/programs" -j "$jobs" zstd CC="$2" CFLAGS="$3" AR=llvm-ar-19; }

# Regular expressions are matched by the programs' own code, not by libc's, which no variant counts in.
compile_grep() { configure_and_make "$@" --with-included-regex; }
compile_sed() { configure_and_make "$@" --with-included-regex; }

# Of ../contexts alone.
compile_mawk() { configure_and_make "$@"; }

# Configuring takes longer than compiling: a build with the same compiler is copied and compiled with other flags. For the final
# stage what is compiled is always the same, so another variant of that is linked again.
compile_again() { # PROGRAM VARIANT
	local dir=$work/$1-$2 program
	case $2 in
	final-bl | [!f]*) find "$dir" '(' -name '*.o' -o -name '*.lo' -o -name 'lib*.*a' ')' -delete ;;
	*)
		program=$(command_of "$1" "$2" full)
		rm -f "${program%% *}"
		;;
	esac
	local make=(make -C "$dir" -j "$jobs")
	case $1 in
	gawk) "${make[@]}" -C support all && "${make[@]}" gawk ;;
	perl | sqlite3) "${make[@]}" "$1" ;;
	*) "${make[@]}" all ;;
	esac
}

linked_file() { # PROGRAM VARIANT: the first word of its command that is in the folder of the build
	command_of "$1" "$2" small | tr ' ' '\n' | grep -m 1 "^$work/$1-$2/"
}

# The link of the program alone, with another compiler, where BENCH_LINKS was set for the build it is taken from.
link_again() { # PROGRAM VARIANT FROM
	local file words
	file=$(linked_file "$1" "$2")
	cp -a "$work/$1-$3" "$work/$1-$2" && rm "$work/$1-$2/.built" || return
	mapfile -t words <"$work/results/$1.links.$3.${file##*/}"
	cd "${words[0]/#$work\/$1-$3/$work\/$1-$2}" && rm "$file" && bench-cc "${words[@]:1}" && [ -f "$file" ]
}

build_variant() { # PROGRAM VARIANT
	local dir=$work/$1-$2 source stage=source base=$work/$1-native
	local -x BENCH_CC
	BENCH_CC=$(compiler_of "$1" "$2")
	case $2 in
	final-bl) stage=final ;;
	final-*) stage=final base=$work/$1-final-bl && build_variant "$1" final-bl || return ;;
	gcc*) base=$work/$1-gcc ;;
	hooks | mcount) [ -f "$base/.built" ] || base=$work/$1-lto ;;
	esac
	case $2 in *plan*) record "$1" "$stage" || return ;; esac
	# A kept build is good as long as what built it is.
	if [ -f "$dir/.built" ]; then
		variant_is_waymark "$2" || return 0
		[ "$dir/.built" -nt "$build/src/instrument/waymark-pass.so" ] && [ "$dir/.built" -nt "$waymark" ] && return
	fi
	rm -rf "$dir"
	{
		if [ "$2" = hybrid ] && [ -f "$work/results/$1.links.contexts.$(basename "$(linked_file "$1" contexts)")" ]; then
			(link_again "$1" "$2" contexts)
		elif [ -f "$base/.built" ] && { [ -f "$base/config.status" ] || [ -f "$base/config.sh" ]; }; then
			cp -a "$base" "$dir" && rm "$dir/.built" && compile_again "$1" "$2"
		else
			source=$("$here/../../scripts/fetch-source.sh" "$(package_of "$1")") && cp -a "$source" "$dir" &&
				configure_cache="${bench_cache:+$bench_cache.$1}" "compile_$1" "$dir" bench-cc -O2
		fi
	} >"$dir.log" 2>&1 || { { tail -n 20 "$dir.log"; echo "$1 $2: does not build, see $dir.log"; } >&2; return 1; }
	touch "$dir/.built"
	rm -rf "${out:?}"/*
}

# Records the whole workload with the shipped Ball-Larus counters: all its paths are the plan. Output goes to a file: grep stops
# at the first match when it writes to /dev/null.
record() { # PROGRAM source|final
	local variant=bl profile=$work/$1-$2.wmk
	[ "$2" = source ] || variant=final-bl
	build_variant "$1" $variant || return
	if [ -f "$profile" ] && [ "$profile" -nt "$work/$1-$variant/.built" ]; then
		return
	fi
	rm -rf "${out:?}"/*
	(
		set -f
		# shellcheck disable=SC2046 # commands without blanks inside words
		exec $(command_of "$1" $variant full) <"$(input_of "$1" full)" >"$out.output" 2>"$out.errors"
	) || [ $? -eq 1 ] || { tail -n 3 "$out.errors" >&2; return 1; }
	mv "$out"/*.wmk "$profile"
}

# Prints the command of a program, with its full or its small input. No word has blanks.
command_of() { # PROGRAM VARIANT full|small
	local dir=$work/$1-$2 text=$work/text.$3 small=$3
	pick() { [ "$small" = small ] && echo "$1" || echo "$2"; }
	case $1 in
	gzip) echo "$dir/gzip -c $text $(pick '' "$text $text")" ;;
	bzip2) echo "$dir/bzip2 -c $text" ;;
	grep) echo "$dir/src/grep -nE [a-z]+_t[^a-z]|return.*;|([a-z]+)_\\1 $text $(pick '' "$text $text $text")" ;;
	sed) echo "$dir/sed/sed -E -f $here/work.sed $text $(pick '' "$text")" ;;
	gawk) echo "$dir/gawk -f $here/work.awk $text $(pick '' "$text")" ;;
	mawk) echo "$dir/mawk -f $here/../contexts/work.awk $text $(pick '' "$text $text")" ;;
	perl) echo "$dir/perl -I$dir/lib $here/work.pl $text" ;;
	lua) echo "$dir/src/lua $here/../contexts/work.lua $(pick 10 200)" ;;
	sqlite3) echo "$dir/sqlite3 :memory:" ;;
	zstd) echo "$dir/programs/zstd -q -c -7 --single-thread --no-asyncio $text $(pick '' "$text $text")" ;;
	gnugo) echo "$dir/interface/gnugo --quiet --mode gtp --seed 1 --level 8" ;;
	link-grammar) echo "$dir/link-parser/link-parser $dir/data/en" ;;
	bc) echo "$dir/bc/bc -l" ;;
	flex) echo "$dir/src/flex -Cem -t $work/work.$3.l" ;;
	ccrypt) echo "$dir/src/ccrypt -e -K key" ;;
	*) "command_$1" "$dir" "$3" ;; # of ../contexts/programs.sh
	esac
}
input_of() { # PROGRAM full|small
	case $1 in
	sqlite3) echo "$work/work.$2.sql" ;;
	gnugo) echo "$work/work.$2.gtp" ;;
	bc) echo "$work/work.$2.bc" ;;
	ccrypt) echo "$work/text.$2" ;;
	link-grammar) echo "$work/work.$2.batch" ;;
	*) echo /dev/null ;;
	esac
}

# Text to work on: C source, which every Debian has through its headers. Another run may be reading these files.
inputs=$out.inputs
mkdir "$inputs"
cat /usr/include/*.h /usr/include/linux/*.h 2>/dev/null | head -c 4000000 >"$inputs/text.part"
head -c 1000000 "$inputs/text.part" >"$inputs/text.small"
cat "$inputs/text.part" "$inputs/text.part" >"$inputs/text.full"
sed 's/ROWS/20000/' "$here/../contexts/work.sql" >"$inputs/work.small.sql"
sed 's/ROWS/300000/' "$here/../contexts/work.sql" >"$inputs/work.full.sql"
printf '%s\n' 'boardsize 9' 'genmove black' 'genmove white' 'genmove black' >"$inputs/work.small.gtp"
printf '%s\n' 'boardsize 9' 'genmove black' 'genmove white' 'genmove black' 'genmove white' 'genmove black' \
	'genmove white' 'genmove black' estimate_score >"$inputs/work.full.gtp"
for size in small full; do
	sed "s/DIGITS/$([ $size = small ] && echo 60 || echo 600)/" "$here/work.bc" >"$inputs/work.$size.bc"
	# A scanner of the words of that text.
	{
		printf '%%option noyywrap\n%%%%\n'
		grep -oE '[a-z_]{4,}' "$inputs/text.small" | awk '!seen[$0]++' | head -n "$([ $size = small ] && echo 100 || echo 1500)" |
			awk '{ print "\"" $0 "\"\treturn " NR ";" }'
		printf '[a-z_]+/[ \\t]*"("\treturn -1;\n[0-9]+(\\.[0-9]+)?\treturn -2;\n.|\\n\t;\n%%%%\n'
	} >"$inputs/work.$size.l"
done
# Where this source cannot be had, the other programs still run.
if [[ " ${wanted:-link-grammar} " = *' link-grammar '* ]] && batch=$("$here/../../scripts/fetch-source.sh" link-grammar); then
	head -n 120 "$batch/data/en/corpus-basic.batch" >"$inputs/work.small.batch"
	head -n 600 "$batch/data/en/corpus-basic.batch" >"$inputs/work.full.batch"
fi
mv "$inputs"/* "$work"

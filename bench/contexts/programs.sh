# Sourced by size.sh and figures.sh: programs as their own build systems make them, natively and with Waymark.
#
# The caller has opened work (../../tests/programs/work.sh). There are two ways to build them:
#
#   build_with PROGRAM native|waymark    $work/PROGRAM-native or -waymark
#   build_variant PROGRAM VARIANT        that of ../paths/programs.sh, which the caller has sourced: $work/PROGRAM-VARIANT
# shellcheck shell=bash

contexts_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
contexts_fetch=$contexts_dir/../../scripts/fetch-source.sh

make_program() { # PROGRAM CC: in the folder of its source
	local cc=$2 flags='-O2 -gline-tables-only -gdwarf-4' tools='AR=llvm-ar-19 RANLIB=llvm-ranlib-19 NM=llvm-nm-19'
	# shellcheck disable=SC2086 # tools and flags are lists of words
	case $1 in
	redis) make -j "$jobs" -C src redis-server MALLOC=libc OPTIMIZATION=-O2 DEBUG="$flags" CC="$cc" $tools ;;
	jq)
		autoreconf -fi &&
			./configure --disable-maintainer-mode --disable-docs --enable-shared --disable-static CC="$cc" CFLAGS="$flags" $tools &&
			make -j "$jobs"
		;;
	nginx)
		./configure --with-cc="$cc" --with-cc-opt="$flags" --with-ld-opt=-Wl,-E --with-threads --with-http_v2_module &&
			make -j "$jobs"
		;;
	git)
		make -j "$jobs" git CC="$cc" CFLAGS="$flags" AR=llvm-ar-19 NO_CURL=1 NO_GETTEXT=1 NO_TCLTK=1 NO_PERL=1 NO_PYTHON=1
		;;
	sqlite3)
		./configure --disable-shared CC="$cc" CFLAGS="$flags" && make -j "$jobs" sqlite3.c shell.c &&
			$cc $flags -DSQLITE_THREADSAFE=1 -I. sqlite3.c shell.c -lm -ldl -lpthread -o sqlite3.bench
		;;
	lua)
		patch -R -s -p1 -i debian/patches/0002-lua-modules-paths.patch &&
			patch -R -s -p1 -i debian/patches/0001-build-system.patch &&
			make -C src -j "$jobs" linux CC="$cc -std=gnu99" MYCFLAGS="$flags" AR='llvm-ar-19 rcu' RANLIB=llvm-ranlib-19
		;;
	esac
}

build_with() { # PROGRAM native|waymark
	local dir=$work/$1-$2 cc source package=$1
	[ "$2" = native ] && cc='clang-19 -flto -fuse-ld=lld -Wno-unused-command-line-argument' || cc="$waymark cc"
	is_built "$dir" "$2" && return
	[ "$1" = lua ] && package=lua5.4
	rm -rf "$dir"
	{
		source=$("$contexts_fetch" "$package") && cp -a "$source" "$dir" && (cd "$dir" && make_program "$1" "$cc")
	} >"$dir.log" 2>&1 || { { tail -n 20 "$dir.log"; echo "$1: does not build ($2), see $dir.log"; } >&2; return 1; }
	touch "$dir/.built"
}

files_of() { # PROGRAM: what counts of its build
	case $1 in
	redis) echo src/redis-server ;;
	jq) echo .libs/libjq.so.1.0.4 .libs/jq ;;
	nginx) echo objs/nginx ;;
	git) echo git ;;
	sqlite3) echo sqlite3.bench ;;
	lua) echo src/lua ;;
	esac
}

# --- for build_variant: compile_P DIR CC FLAGS, command_P DIR full|small, own_tests_P DIR, which prints what is the same everywhere.
# A program without tests of its own in its source has no own_tests_P.
compile_dash() { (cd "$1" && ./configure CC="$2" CFLAGS="$3" && make -j "$jobs"); }
command_dash() { echo "$1/src/dash $contexts_dir/work-dash.sh $([ "$2" = small ] && echo 3000 || echo 300000)"; }

compile_xmlwf() { # with what tests the library, which is C and C++
	(cd "$1/expat" && ./buildconf.sh &&
		./configure --disable-shared --without-docbook --without-examples CC="$2" CXX=bench-c++ CFLAGS="$3" CXXFLAGS="$3" \
			AR=llvm-ar-19 RANLIB=llvm-ranlib-19 && make -j "$jobs" && make -j "$jobs" -C tests runtests runtestspp)
}
command_xmlwf() { echo "$1/expat/xmlwf/xmlwf $work/work.$2.xml"; }
own_tests_xmlwf() { (cd "$1/expat/tests" && for t in ./runtests ./runtestspp; do $t 2>&1 | sed "s,^,$t: ,"; done); }

compile_mujs() { make -C "$1" -j "$jobs" CC="$2" XCFLAGS="$3" HAVE_READLINE=no LDFLAGS= AR=llvm-ar-19; }
command_mujs() { echo "$1/build/release/mujs $work/work.$2.js"; }

compile_duktape() { make -C "$1" -f Makefile.cmdline CC="$2" CFLAGS="$3"; }
command_duktape() { echo "$1/duk $work/work.$2.js"; }

compile_tcc() { (cd "$1" && ./configure --cc="$2" --extra-cflags="$3" --triplet=x86_64-linux-gnu && make -j "$jobs" CONFIG_strip=no AR=llvm-ar-19); }
command_tcc() { echo "$1/tcc -B$1 -I$1 -I$1/include -DONE_SOURCE=1 -c -o $out/tcc.o $1/$([ "$2" = small ] && echo tccpp || echo tcc).c"; }
own_tests_tcc() { # what it compiles for its tests, compiled and run
	(cd "$1/tests/tests2" && make -k 2>&1 | grep -E '^Test: |^[-+]' | sed 's/0x[0-9a-f]*/ADDRESS/g')
	(cd "$1/tests/pp" && make -k 2>&1 | grep -E '^(Test|PPTest|[-+])' || true)
}

compile_redis() { (cd "$1" && make_program redis "$2"); }
command_redis() { echo "$contexts_dir/work.sh redis $1/src/redis-server $out.scratch $2"; }
compile_nginx() { (cd "$1" && make_program nginx "$2"); }
command_nginx() { echo "$contexts_dir/work.sh nginx $1/objs/nginx $out.scratch $2"; }
compile_git() { (cd "$1" && make_program git "$2"); }
command_git() { echo "$contexts_dir/work.sh git $1/git $out.scratch $2"; }

compile_x264() { # in C alone
	(cd "$1" && CC="$2" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 ./configure --disable-asm --disable-opencl --disable-lavf --disable-swscale --disable-avs \
		--disable-ffms --disable-gpac --disable-lsmash --extra-cflags="$3" && make -j "$jobs" x264)
}
command_x264() { echo "$1/x264 --quiet --no-progress --threads 1 -o $out/out.264 $work/work.$2.y4m"; }

compile_jq() {
	(cd "$1" && autoreconf -fi && ./configure --disable-shared --disable-maintainer-mode --disable-docs --without-oniguruma CC="$2" \
		CFLAGS="$3" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 && make -j2 src/builtin.inc src/version.h && make -j "$jobs" jq)
}
command_jq() { echo "$1/jq -f $contexts_dir/work.jq $work/work.$2.json"; }

compile_ninja() { (cd "$1" && CXX=bench-c++ CFLAGS="$3" AR=llvm-ar-19 ./configure.py --bootstrap); }
command_ninja() { echo "$1/ninja -n -C $work/work.$2.ninja"; }

# Without modules that are libraries of their own: what it runs needs none.
compile_python3() {
	(cd "$1" && ./configure --without-ensurepip --disable-test-modules CC="$2" OPT="-DNDEBUG $3" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 &&
		make -j "$jobs" python)
}
command_python3() { echo "$1/python -S -E $contexts_dir/work.py $([ "$2" = small ] && echo 1 || echo 40)"; }

compile_povray() { # its window and its own copies of libraries are left out
	(
		cd "$1" && mv libraries libraries.unused && (cd unix && ./prebuild.sh) &&
			./configure --disable-optimiz --disable-strip --with-boost-thread=boost_thread --without-x --without-openexr \
				NON_REDISTRIBUTABLE_BUILD=yes COMPILED_BY=waymark CC="$2" CXX=bench-c++ CFLAGS="$3" CXXFLAGS="$3 -w" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 &&
			make -j "$jobs"
	)
}
command_povray() {
	local size=16
	[ "$2" = small ] || size=160
	echo "$1/unix/povray +I$1/distribution/scenes/advanced/chess2.pov +L$1/distribution/include +W$size +H$size +WT1 -D +FN +O- all_console=off"
}

# A tree of libraries, each of which needs those before it.
write_ninja() { # how many libraries: a build.ninja
	printf 'rule cc\n  command = cc -c $in -o $out\nrule ar\n  command = ar rc $out $in\n'
	seq "$1" | awk '{
		for (i = 0; i < 20; i++)
			printf "build lib%d/f%d.o: cc /dev/null | /dev/null\n", $1, i
		printf "build lib%d.a: ar", $1
		for (i = 0; i < 20; i++)
			printf " lib%d/f%d.o", $1, i
		printf ($1 > 1 ? " || lib%d.a\n" : "\n"), $1 - 1
	}'
}

write_contexts_inputs() { # DIR
	local size
	for size in small full; do
		{
			echo '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE doc [<!ENTITY e "an entity">]><doc>'
			seq $([ $size = small ] && echo 4000 || echo 400000) |
				sed 's,.*,<item id="n&" kind="beta"><name>alpha \&amp; eta</name><!-- & --><v a="&" b='"'gamma'"'>&</v>\&e;<![CDATA[x < y]]></item>,'
			echo '</doc>'
		} >"$1/work.$size.xml"
		if [ $size = small ]; then
			sed 's/200000/20000/; s/fib(27)/fib(18)/; s/queens(8)/queens(5)/' "$contexts_dir/../agent/work.js"
		else
			cat "$contexts_dir/../agent/work.js"
		fi >"$1/work.$size.js"
		seq $([ $size = small ] && echo 2000 || echo 200000) |
			sed 's,.*,{"id": &\, "name": "item &"\, "tags": ["a&"\, "b"\, null]\, "value": {"x": &.5\, "y": [true\, {"z": "é\\n"}]}},' >"$1/work.$size.json"
		mkdir -p "$1/work.$size.ninja"
		write_ninja $([ $size = small ] && echo 60 || echo 2000) >"$1/work.$size.ninja/build.ninja"
		python3 "$contexts_dir/film.py" $([ $size = small ] && echo 6 || echo 100) >"$1/work.$size.y4m"
	done
}

# Sourced: how programs from Debian's sources are built, tested and run, one block a program.
#
#   compile_P DIR CC FLAGS             builds the copy of the source in DIR; CC is best one word: makefiles quote it badly
#   own_tests_P DIR                    the program's own tests, or a share of them: prints results that are the same everywhere
#   workload_P DIR SOURCE SCRATCH      runs the program on fixed input, outputs in SCRATCH (empty when it begins)
#   images_P                           the files below DIR that hold the program
#   sources_P                          regular expression of the source files that are the program's
#   unstable_P                         of those of them whose control flow depends on where things are in memory
#
# With configure_cache=FILE, configure keeps what it finds out there, and finds it out once for all builds of a program.
# The caller sets jobs and programs_dir (this folder), maybe LDFLAGS for linking and quick for tests that print less, exports
# LC_ALL, and has `quietly COMMAND...`, which shows the command's last lines only when it fails.
# shellcheck shell=bash

all_programs='gzip bzip2 grep sed gawk perl lua sqlite3 zstd gnugo link-grammar'
trace_programs='bc flex ccrypt' # these have no workload_P, images_P and so on

package_of() {
	case $1 in
	lua) echo lua5.4 ;;
	zstd) echo libzstd ;;
	xmlwf) echo expat ;;
	ninja) echo ninja-build ;;
	python3) echo python3.11 ;;
	*) echo "$1" ;;
	esac
}

# Debian's patches change inputs of the autotools; what these generate is in the source and need not be made again.
keep_generated() { # DIR
	local age=50
	find "$1" -type f -exec touch -d '100 seconds ago' {} +
	for pattern in '*.m4' configure 'config*.h*in' Makefile.in stamp-vti version.texi '*.info' '*.1'; do
		find "$1" -name "$pattern" -exec touch -d "$age seconds ago" {} +
		age=$((age - 5))
	done
	find "$1" -name aclocal.m4 -exec touch -d '46 seconds ago' {} +
}
configure_and_make() { # DIR CC FLAGS OPTION...
	local dir=$1 cc=$2 flags=$3
	shift 3
	keep_generated "$dir"
	if [ -f "${configure_cache:-}" ]; then
		grep -vE '^ac_cv_(env|prog)_' "$configure_cache" >"$dir/config.cache"
	fi
	# shellcheck disable=SC2086 # a list
	(cd "$dir" && quietly ./configure -C CC="$cc" CFLAGS="$flags" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 NM=llvm-nm-19 "$@" &&
		quietly make -j "$jobs" ${make_targets:-all}) || return
	if [ -n "${configure_cache:-}" ] && [ ! -f "$configure_cache" ]; then
		cp "$dir/config.cache" "$configure_cache"
	fi
}
results_of_check() { # the result of each test of an automake suite, by name
	make -k check 2>&1 | grep -E '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): ' | sort || true
}

# --- gzip: all of its tests ----------------------------------------------------------------------------------------------
compile_gzip() { configure_and_make "$@"; }
own_tests_gzip() { (cd "$1" && results_of_check); }
workload_gzip() {
	local i gzip=$1/gzip
	for i in 1 2 3 4 5 6 7 8 9; do
		cat "$2"/[a-h]*.c | head -c $((i * 30000)) >"$3/in$i"
		touch -d @1000000000 "$3/in$i" # the time goes into the output
		"$gzip" -k -f -$i "$3/in$i"
		"$gzip" -l -v "$3/in$i.gz" >"$3/list"
		"$gzip" -t "$3/in$i.gz"
		"$gzip" -dc "$3/in$i.gz" | cmp - "$3/in$i"
	done
	seq 1000000 >"$3/seq" # no pipes: how much a read returns must not vary
	touch -d @1000000000 "$3/seq"
	"$gzip" --rsyncable <"$3/seq" >"$3/seq.gz"
	head -c 100000 "$3/seq.gz" >"$3/cut.gz"
	"$gzip" -dc "$3/cut.gz" >"$3/cut" 2>&1 || true
	"$gzip" -9 -n <"$3/cut.gz" >"$3/stored.gz"
	"$gzip" -d "$3/stored.gz"
	"$gzip" -dc "$2/tests/hufts-segv.gz" >"$3/bad" 2>&1 || true
	"$gzip" -r -S .zzz "$3/in1" "$3/in2"
	"$gzip" -d -N -S .zzz "$3/in1.zzz" && "$gzip" -f "$3/in1"
	"$gzip" "$3/in1" </dev/null 2>"$3/err" || true
	"$gzip" -dc /nonexistent 2>"$3/err" || true
	"$gzip" --help >"$3/help"
	"$gzip" -V -9 --bad-option >"$3/help" 2>&1 || true
}
images_gzip=gzip sources_gzip='/gzip/[a-z]*\.[ch]$'

# --- bzip2: all of its tests; Debian's program links with libbz2.so ------------------------------------------------------
compile_bzip2() {
	quietly make -C "$1" -j "$jobs" CC="$2" CFLAGS="$3 -D_FILE_OFFSET_BITS=64" LDFLAGS="-Wl,-rpath,$1" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 \
		libbz2.a libbz2.so bzip2 bzip2recover
}
own_tests_bzip2() {
	(cd "$1" && { make test CC=false 2>&1 || echo "FAIL: exit status $?"; } | grep -v '^make' && cksum sample*.rb2 sample*.tst)
}
workload_bzip2() {
	local i bzip2=$1/bzip2
	for i in 1 2 3; do
		"$bzip2" -$i -k -v <"$2/sample$i.ref" >"$3/s$i.bz2" 2>"$3/err"
		"$bzip2" -d <"$2/sample$i.bz2" | cmp - "$2/sample$i.ref"
		"$bzip2" -ds <"$2/sample$i.bz2" | cmp - "$2/sample$i.ref"
		"$bzip2" -t -vv "$3/s$i.bz2" 2>"$3/err"
	done
	head -c 300000 /dev/zero | "$bzip2" -9 -s >"$3/zero.bz2"
	cat "$3/s1.bz2" "$3/zero.bz2" | "$bzip2" -dc >"$3/both"
	head -c 20000 "$3/s2.bz2" >"$3/cut.bz2"
	"$bzip2" -t "$3/cut.bz2" 2>"$3/err" || true
	"$bzip2" -dc "$2/words0" >"$3/err" 2>&1 || true
	"$bzip2" -d -f "$3/s3.bz2" && "$bzip2" -z "$3/s3"
	"$1/bzip2recover" "$3/s3.bz2" 2>"$3/err"
	"$bzip2" --help >"$3/help" 2>&1
}
images_bzip2='bzip2 libbz2.so.1.0.4 bzip2recover' sources_bzip2='/bzip2/[a-z]*\.[ch]$'

# --- grep: all of its tests -----------------------------------------------------------------------------------------------
compile_grep() { configure_and_make "$@"; }
own_tests_grep() { (cd "$1/tests" && results_of_check); }
workload_grep() {
	local pattern grep=$1/src/grep
	(
		cd "$2"
		for pattern in static '^#[a-z]*' '\(.\)\1\1' '[[:alpha:]]\+_[0-9]' 'a.*b.*c' 'foo\|bar\|return' '\bint\b' '^$' '[^a-z'; do
			"$grep" -c "$pattern" src/*.c
			"$grep" -rn --include='*.c' "$pattern" src
			"$grep" -io "$pattern" src/dfasearch.c
			"$grep" -vnH -C2 -m5 "$pattern" src/kwset.c
			"$grep" -lwx "$pattern" src/*.h
			LC_ALL=C "$grep" -b --color=always "$pattern" src/grep.c
		done
		"$grep" -E '(a|b)+c{2,3}|(x(y|z))*' -r src
		"$grep" -F -f src/Makefile.am src/*.c
		"$grep" -E -e 'x{1,3}y?|[^[:space:]]+z$' -e '(ab|cd)\b' src/grep.c
		"$grep" -s pattern /nonexistent src
		"$grep" -z -a -o 'end.' doc/grep.texi
		"$grep" --help
	) >"$3/out" 2>&1 || true
}
images_grep=src/grep sources_grep='/grep/(src|lib)/[a-z0-9_-]*\.[ch]$' unstable_grep='lib/(stackvma|sigsegv)' # /proc/self/maps

# --- sed: all of its tests ------------------------------------------------------------------------------------------------
compile_sed() { configure_and_make "$@"; }
own_tests_sed() { (cd "$1" && results_of_check); }
workload_sed() {
	local t sed=$1/sed/sed
	(
		cd "$2/testsuite"
		for t in mac-mf madding newjis uniq xemacs 8bit bsd; do
			[ ! -f $t.sed ] || "$sed" -f $t.sed <$t.inp
		done
		"$sed" -f binary.sed <uniq.inp
		echo '2 3 + p 10 7 * p 4 d * p' >"$3/dc" && "$sed" -n -f dc.sed "$3/dc"
		cat ../sed/*.c >"$3/all.c"
		"$sed" -n '/static/{=;p;n;l 30;}; $!N; P; D' "$3/all.c"
		"$sed" -E 's/([a-z]+)_([a-z]+)/\2_\1/2g; s/[0-9]+/<&>/3; y/abc/xyz/; /^$/d; 10,20!s/if/IF/I' "$3/all.c"
		"$sed" -E -s 's/(.)(.*)\n/\u\1\L\2\E/; h; G; x; 1~7a added' "$3/all.c"
		"$sed" -e ':a' -e 's/^\(\s*\)\t/\1    /;ta' -e 's/\(.\)\1/[\1]/w '"$3/written" "$3/all.c"
		"$sed" -i.bak -e '5i\' -e 'inserted' -e '7c\' -e changed -e '9r uniq.inp' "$3/all.c"
		"$sed" -z 's/\n/,/g' "$3/all.c"
		"$sed" --debug -n '$p' uniq.inp
		"$sed" 's/a/b' uniq.inp
		"$sed" 'b nowhere' uniq.inp
		"$sed" p /nonexistent
		"$sed" '3q5' uniq.inp
		"$sed" --help
	) >"$3/out" 2>&1 || true
}
images_sed=sed/sed sources_sed='/sed/(sed|lib)/[a-z0-9_-]*\.[ch]$'

# --- gawk: all of its tests but those of extensions, MPFR and locales ----------------------------------------------------
compile_gawk() {
	# The manual is not in Debian's source, so `all` cannot be made.
	make_targets='-C support all' configure_and_make "$@" --disable-mpfr --disable-extensions --disable-nls &&
		quietly make -C "$1" -j "$jobs" gawk
}
own_tests_gawk() {
	(
		cd "$1/test" || exit
		make -k basic unix-tests gawk-extensions 2>&1 | grep -vE '^(make|gcc|cc|rm|Expect|\(?cd )|^-' | sed "s,$1,DIR,g"
		echo "left over:" _*
	)
}
workload_gawk() {
	local t gawk=$1/gawk
	(
		cd "$2/test"
		# Not: what reads the clock or the environment, starts processes, or takes long.
		for t in $(ls ./*.awk | sed 's,./\(.*\).awk,\1,' | grep -vE \
			'time|pid|fork|pipe|system|rand|procinfs|inplace|readdir|ord|profile|dump|debug|manyfiles|poundbang|nors|getline|printlang|fts|rwarray|intest|^clos|strftlng|tz|uparam|delsub|aadelete1|rstest4|^arraysort|environ|iolint|fflush|eofsrc|testext|bug|clock'); do
			input=/dev/null
			[ ! -f "$t.in" ] || input=$t.in
			timeout 20 "$gawk" -f "$t.awk" <"$input"
		done
		cat ./*.in | "$gawk" '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) if (n[w] > 50) s += n[w]; print s, length(n) }'
		"$gawk" -F: --re-interval '/[0-9]{2}/ { $2 = toupper($1); print; sub(/a+/, "<&>"); print gensub(/(.)(.)/, "\\2\\1", "g") }' ./*.ok
		"$gawk" --lint 'BEGIN { x[1] = 2; printf "%d %s %5.2f %c|%-8s|%e\n", x[1], "s", 3.14159, 65, "left", 1e10; exit 3 }'
		"$gawk" 'BEGIN { print 1 +'
		"$gawk" --help
	) >"$3/out" 2>&1 || true
}
images_gawk=gawk sources_gawk='/gawk/([a-z_]*|support/[a-z_]*)\.[chy]$'

# --- perl: its tests in t/base, t/cmd, t/re and t/op ---------------------------------------------------------------------
compile_perl() {
	(
		cd "$1" || exit
		# Few extensions, and those in the program itself.
		quietly ./Configure -des -Dcc="$2" -Doptimize="$3" -Dar=llvm-ar-19 -Dranlib=llvm-ranlib-19 -Dnm=llvm-nm-19 -Uusedl \
			-Donlyextensions='Cwd Data/Dumper Fcntl File/Glob Hash/Util IO List/Util POSIX PerlIO/scalar attributes mro re' \
			-Dprefix=/nonexistent -Dcf_by=waymark -Dcf_time=never -Dmyhostname=localhost -Dperladmin=nobody &&
			quietly make -j "$jobs" perl && ln -sf ../perl t/perl
	)
}
own_tests_perl() {
	(
		cd "$1/t" || exit
		export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 PERL_SKIP_TTY_TEST=1
		# Not: what watches the clock.
		printf "%s\n" base/*.t cmd/*.t re/[a-o]*.t op/*.t | grep -vE 'alarm|sleep|time|sselect|fork|threads|kill0|getppid|lfs' >../share
		# shellcheck disable=SC2046 # names without blanks
		./perl TEST $(cat ../share) 2>&1 | grep -E '^t/.* \.\.|^FAILED|^Failed' | sed 's/  *[0-9]* ms$//'
	)
}
workload_perl() {
	local t
	(
		cd "$1/t"
		export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0
		for t in base/*.t cmd/*.t re/reg_mesg.t re/qr*.t re/subst*.t re/pos.t op/a*.t op/ch[a-z]*p.t op/do.t op/each*.t op/ha*.t \
			op/join.t op/lc.t op/list.t op/local.t op/my*.t op/pack.t op/push.t op/range.t op/repeat.t op/s[opu]*.t op/t*.t op/v*.t; do
			case $t in */time* | */alarm* | */sleep* | */sselect* | */taint* | */threads* | */stat* | */srand*) continue ;; esac
			timeout 60 ./perl -I../lib "$t"
		done
	) >"$3/out" 2>&1 || true
}
images_perl=perl sources_perl='/perl/[a-z_]*\.[chy]$'

# --- lua: Debian's source has no tests; lua_check.lua stands in for them -------------------------------------------------
compile_lua() {
	# Debian's own build wants libtool; take its build patches back for Lua's plain Makefile.
	for patch in 0002-lua-modules-paths 0001-build-system; do
		quietly patch -R -s -p1 -d "$1" -i debian/patches/$patch.patch || return
	done
	quietly make -C "$1/src" -j "$jobs" linux CC="$2 -std=gnu99" MYCFLAGS="$3" MYLDFLAGS="${LDFLAGS:-}" AR='llvm-ar-19 rcu' RANLIB=llvm-ranlib-19
}
own_tests_lua() {
	(cd "$programs_dir" && "$1/src/lua" -v && "$1/src/lua" lua_check.lua 2>&1)
	[ -n "${quick:-}" ] || "$1/src/luac" -l -l -p "$programs_dir/lua_check.lua" 2>&1 | sed 's/0x[0-9a-f]*/ADDRESS/g'
}
workload_lua() {
	{
		(cd "$programs_dir" && "$1/src/lua" lua_check.lua)
		"$1/src/luac" -o "$3/out.luac" "$programs_dir/lua_check.lua"
		"$1/src/luac" -l -l -p "$programs_dir/lua_check.lua"
		(cd "$programs_dir" && "$1/src/lua" "$3/out.luac")
		"$1/src/lua" "$programs_dir/../../bench/contexts/work.lua" 1
		echo 'print(1 + ' | "$1/src/lua" - || true
		echo 'local t <const> = 5; goto x; ::x:: print(t // 0.0, 7 & 3, "a" .. t)' | "$1/src/lua" -i || true
		"$1/src/lua" -e 'error("out")' || true
		"$1/src/lua" -x || true
	} >"$3/out" 2>&1
}
images_lua='src/lua src/luac' sources_lua='/lua/src/[a-z]*\.[ch]$'

# --- sqlite3: a share of its tests, 50 of 1200 files ---------------------------------------------------------------------
compile_sqlite3() {
	(cd "$1" && quietly ./configure --disable-shared CC="$2" CFLAGS="$3" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 NM=llvm-nm-19 &&
		quietly make -j "$jobs" sqlite3)
}
own_tests_sqlite3() {
	local t
	quietly make -C "$1" -j "$jobs" testfixture
	for t in select1 select2 insert delete update join where index trans expr func cast collate2 trigger1 view subquery \
		aggnested alter autoinc between blob check coalesce conflict corrupt2 ctime date distinct e_expr fkey1 in intpkey \
		json101 like limit malloc misc1 null pragma quote rollback savepoint sort table types unique vacuum wal with1 window1; do
		[ -f "$1/test/$t.test" ] || continue
		(cd "$1" && timeout 300 ./testfixture "test/$t.test" 2>&1 |
			grep -vE 'Time:|Memory used|allocations|Page-cache|Allocation count|Maximum|ms$|Running|seed|microseconds' |
			sed -e "s,^,$t: ," -e 's/0x[0-9a-f]*/ADDRESS/g' -e 's/([0-9]* ms -/(TIME -/' || echo "$t: exit status $?")
	done
}
workload_sqlite3() {
	# Without the allocator of its own that serves small blocks.
	(cd "$3" && "$1/sqlite3" -lookaside 0 0 ":memory:" <"$programs_dir/sqlite3_work.sql") >"$3/out" 2>&1 || true
	sed "s/ROWS/2000/" "$programs_dir/../../bench/contexts/work.sql" | "$1/sqlite3" "$3/file.db" >>"$3/out" 2>&1
	"$1/sqlite3" "$3/file.db" .dump >>"$3/out" 2>&1
}
images_sqlite3=sqlite3 sources_sqlite3='/sqlite3/(sqlite3|shell)\.c$'

# --- zstd: the tests of its command line, and of its library with fixed seeds --------------------------------------------
compile_zstd() {
	quietly make -C "$1/programs" -j "$jobs" zstd CC="$2" CFLAGS="$3" AR=llvm-ar-19 &&
		quietly make -C "$1/tests" -j "$jobs" fuzzer zstreamtest datagen CC="$2" CFLAGS="$3" AR=llvm-ar-19
}
own_tests_zstd() {
	(
		cd "$1/tests" || exit
		./fuzzer -v -s1 -i20 2>&1 | tr '\r' '\n' | grep -E '^test|Error|FAIL|completed' | sed -e 's/[0-9.]* MB\/s//' -e 's/0x[0-9a-f]*/ADDRESS/g'
		./zstreamtest -v -s1 -i20 2>&1 | tr '\r' '\n' | grep -E '^test|Error|FAIL' | sed 's/[0-9.]* MB\/s//'
		python3 cli-tests/run.py --zstd "$1/programs/zstd" --datagen "$1/tests/datagen" --zstdgrep "$1/programs/zstdgrep" \
			--zstdless "$1/programs/zstdless" --test-dir cli-tests 2>&1 | grep -E '^(PASS|FAIL|SKIP)|FAILED' | sort
	)
}
workload_zstd() {
	local i zstd=$1/programs/zstd
	zstd() { "$zstd" --single-thread --no-asyncio "$@"; }
	seq 700000 1000000 >"$3/data"
	cat "$2"/lib/*/*.c >"$3/text"
	for i in 1 3 5 7 9 12 15 19; do
		zstd -q -f -k -$i "$3/text" -o "$3/text.$i.zst"
		zstd -q -t "$3/text.$i.zst"
		zstd -q -dc "$3/text.$i.zst" | cmp - "$3/text"
	done
	zstd -q -1 --long=24 --check -f "$3/data" -o "$3/data.zst"
	zstd -q -dc --no-check "$3/data.zst" | cmp - "$3/data"
	mkdir "$3/parts" && split -b 4000 "$3/text" "$3/parts/"
	zstd -q --train "$3"/parts/* --maxdict=20000 -o "$3/dictionary" >"$3/out" 2>&1
	zstd -q -D "$3/dictionary" -f "$3/text" -o "$3/dict.zst"
	zstd -q -dc -D "$3/dictionary" "$3/dict.zst" | cmp - "$3/text"
	zstd -q --format=gzip -c "$3/text" >"$3/text.gz" && zstd -dcq "$3/text.gz" >"$3/out"
	zstd -l -v "$3"/text.*.zst >"$3/out" 2>&1
	head -c 30000 "$3/data.zst" | zstd -q -dc >"$3/out" 2>&1 || true
	zstd --help >"$3/help"
}
images_zstd=programs/zstd sources_zstd='/zstd/(lib|programs)/.*\.[ch]$'

# --- gnugo: eight of its regression suites, compared answer by answer ----------------------------------------------------
compile_gnugo() { configure_and_make "$1" "$2" "$3 -fcommon"; }
own_tests_gnugo() {
	local t
	for t in owl1 reading connect tactics endgame semeai lazarus golife; do
		(cd "$1/regression" && ../interface/gnugo --quiet --mode gtp <$t.tst 2>&1 | grep -v '^$' | sed "s/^/$t: /")
	done
}
workload_gnugo() {
	local t
	for t in tactics connect; do
		(cd "$2/regression" && "$1/interface/gnugo" --quiet --mode gtp <$t.tst) >"$3/$t" 2>&1
	done
	printf 'boardsize 9\nclear_board\ngenmove black\ngenmove white\nplay black C3\ngenmove white\nestimate_score\nquit\n' |
		"$1/interface/gnugo" --quiet --mode gtp --seed 1 --level 5 >"$3/play" 2>&1
}
images_gnugo=interface/gnugo sources_gnugo='/gnugo/(engine|sgf|utils|interface|patterns)/.*\.[ch]$'

# --- link-grammar: two of its collections of sentences, as batches -------------------------------------------------------
compile_link-grammar() {
	CXX=clang++-19 configure_and_make "$@" --disable-java-bindings --disable-python-bindings --disable-perl-bindings \
		--disable-sqlite3 --disable-editline --disable-sat-solver --disable-shared --disable-pcre2 --with-regexlib=c \
		--disable-aspell --disable-hunspell
}
own_tests_link-grammar() {
	local batch
	for batch in basic failures; do
		(cd "$1" && link-parser/link-parser en <data/en/corpus-$batch.batch 2>&1 | grep -vE 'Opened|seconds|time' | sed "s,$1,DIR,g")
	done
}
workload_link-grammar() {
	local part
	(
		cd "$1"
		link-parser/link-parser en <data/en/corpus-basic.batch
		printf '!graphics\n!links\n!width=80\n!constituents=1\n!morphology\n!walls\n%s\n%s\n%s\n' \
			'The cat that the dog chased yesterday ran quickly up the tree.' 'She is, I think, wiser than any of us' \
			'xyzzyish nobody cat the of wibble' | link-parser/link-parser en
		echo '!nonsense' | link-parser/link-parser en
	) >"$3/out" 2>&1 || true
}
images_link_grammar=link-parser/link-parser sources_link_grammar='/link-grammar/(link-grammar|link-parser)/.*\.[ch]$'

# --- bc: its files of mathematics, which print what they compute ----------------------------------------------------------
compile_bc() { # not its manual, which needs makeinfo
	make_targets='-C lib' configure_and_make "$1" "$2" "$3 -std=gnu17 -Wno-implicit-function-declaration" \
		--without-readline --without-libedit && quietly make -C "$1/bc" && quietly make -C "$1/dc"
}
own_tests_bc() {
	local t
	(
		cd "$1/Test" || exit
		for t in array arrayp aryprm atan div exp fact jn ln mul raise sine sqrt sqrt1 sqrt2 signum; do
			file=$t.b
			[ -f "$file" ] || file=$t
			echo quit | timeout 600 ../bc/bc -l "$file" 2>&1 | sed "s/^/$t: /"
		done
		echo '2^200/3^50; scale=30; e(1); a(1)*4; x=1; x+=(y=2)*3; x; if (x>y) "more"; for(i=0;i<3;i++) print i, "\n"; 1/0; foo(' |
			../bc/bc -l 2>&1
		echo '20 k 2 v p 10 [d1-d0<a]sa 5 lax f 16 o 255 p _3 4 ^ p q' | ../dc/dc 2>&1
		../bc/bc --version
	)
}

# --- flex: its own tests: scanners it makes, compiled with gcc, and their outputs ------------------------------------------
compile_flex() { # not its manual, which needs help2man
	make_targets='-C src' configure_and_make "$1" "$2" "$3 -std=gnu17" --disable-shared --disable-nls
}
own_tests_flex() {
	local scanner
	(
		cd "$1/tests" || exit
		for scanner in *.l *.ll; do
			for options in '' -Cfa -Cem; do
				../src/flex $options -o scanner.made "$scanner" 2>&1
				[ ! -f scanner.made ] || cksum <scanner.made
				rm -f scanner.made
			done
		done
		[ -n "${quick:-}" ] || results_of_check
	)
}

# --- ccrypt: all of its tests ---------------------------------------------------------------------------------------------
compile_ccrypt() { configure_and_make "$1" "$2" "$3 -std=gnu17" --disable-libcrypt; }
own_tests_ccrypt() { (cd "$1/check" && results_of_check); }

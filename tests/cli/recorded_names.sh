#!/bin/sh
# recorded_names.sh BUILD - names and lines of recorded functions come from the ELF file that they are in. gcc builds it; a recording
# of calls in it (recorded_names_file.c) says addresses only, which nm and objdump tell.
. "$(dirname "$0")/lib.sh"
unset DEBUGINFOD_URLS
cc=$(command -v gcc) || { echo "no gcc"
	exit 77; }

cat >names.c <<'END'
extern volatile int sink;
volatile int sink;
__attribute__((noinline)) static void leaf(int n)
{
	sink = n;
}
static inline __attribute__((always_inline)) void inner(int n)
{
	leaf(n + 1); /* 9 */
	sink = 2;
}
static inline __attribute__((always_inline)) void middle(int n)
{
	inner(n + 1); /* 14 */
}
static inline __attribute__((always_inline)) void outer(int n)
{
	if (n)
		middle(n + 1); /* 19 */
}
__attribute__((noinline)) static void local(int n)
{
	outer(n); /* 23 */
	sink = 3;
}
extern __attribute__((alias("_ZN4shop5orderEi"))) void __order_twin(int);
__attribute__((noinline)) void mangled(int n) __asm__("_ZN4shop5orderEi");
void mangled(int n)
{
	local(n); /* 30 */
	sink = 4;
}
int main(void)
{
	mangled(1); /* 35 */
	return 0;
}
END

# address FILE SYMBOL: less that of the ELF header.
address() {
	header=$(readelf -lW "$1" | awk '$1 == "LOAD" { print $3; exit }')
	printf '%x' $((0x$(nm "$1" | awk -v n="$2" '$3 == n { print $1 }') - header))
}
# position FILE SYMBOL CALLEE: of the call from the beginning of the function.
position() {
	start=$((0x$(nm "$1" | awk -v n="$2" '$3 == n { print $1 }')))
	call=$(objdump -d --no-show-raw-insn "$1" | awk -v f="<$2>:" -v c="<$3>" \
		'$2 == f { in_it = 1 } in_it && $2 ~ /^call/ && $4 == c { sub(":", "", $1); print $1; exit }')
	printf '%x' $((0x$call - start))
}
# recording FILE PATH OUT: of calls in FILE, as if it had been at PATH.
recording() {
	id=$(readelf -nW "$1" | awk '/Build ID:/ { print $NF }')
	mangled=_ZN4shop5orderEi
	"$build/tests/cli/recorded_names_file" "$3" "$2" "$id" \
		"$(address "$1" main):$(position "$1" main $mangled)" \
		"$(address "$1" $mangled):$(position "$1" $mangled local)" \
		"$(address "$1" local):$(position "$1" local leaf)" "$(address "$1" leaf):0" || fail "no recording of $1"
}
# frames FILE WANT [OPTION]...: outermost first.
frames() {
	wmk=$1
	echo "$2" >want.txt
	shift 2
	expect 0 "$waymark" report --format=json --metric=hit "$@" "$wmk"
	python3 -c '
import json
r = json.load(open("out.txt"))
print(" ".join(
    f["name"] + ("@" + f["file"].split("/")[-1] + ":" + str(f["line"]) if f["file"] else "") + "+i" * ("inlined" in f["flags"])
    for f in (r["frames"][i] for i in r["contexts"][0]["frames"])))' >got.txt
	cmp -s got.txt want.txt || fail "$wmk $*: $(cat got.txt), not $(cat want.txt)"
}

named='main shop::order(int) local leaf'
lines='main@names.c:35 shop::order(int)@names.c:30 local@names.c:23 outer@names.c:19+i middle@names.c:14+i inner@names.c:9+i leaf@names.c:5'
for flags in '-fPIE -pie' '-no-pie'; do
	rm -rf plain debug* apart.dbg
	# shellcheck disable=SC2086
	"$cc" -O2 $flags -Wl,--build-id names.c -o plain && "$cc" -O2 -g $flags -Wl,--build-id names.c -o debug || exit 1
	recording plain "$PWD/plain" plain.wmk
	recording debug "$PWD/debug" debug.wmk
	frames plain.wmk "$named"
	frames debug.wmk "$lines"
	lacks out.txt '"text"'

	# A separate debug file by .gnu_debuglink, by build id, and none.
	cp debug debug.whole
	objcopy --only-keep-debug debug apart.dbg
	strip debug
	frames debug.wmk "debug+0x$(address debug.whole main) debug+0x$(address debug.whole _ZN4shop5orderEi) \
debug+0x$(address debug.whole local) debug+0x$(address debug.whole leaf)"
	objcopy --add-gnu-debuglink=apart.dbg debug
	frames debug.wmk "$lines"
	id=$(readelf -nW debug | awk '/Build ID:/ { print $NF }')
	mkdir -p "roots/.build-id/${id%"${id#??}"}"
	mv apart.dbg "roots/.build-id/${id%"${id#??}"}/${id#??}.debug"
	frames debug.wmk "$lines" --debug-dir roots
	WAYMARK_DEBUG_DIR=roots frames debug.wmk "$lines"
	# That alone will do; so will the file elsewhere.
	mv debug debug.away
	frames debug.wmk "$lines" --debug-dir roots
	rm -r roots
	frames debug.wmk "$lines" --exe debug.whole

	# None, and one of another build: the places, and one line that says so.
	places="debug+0x$(address debug.whole main) debug+0x$(address debug.whole _ZN4shop5orderEi) \
debug+0x$(address debug.whole local) debug+0x$(address debug.whole leaf)"
	frames debug.wmk "$places"
	expect 0 "$waymark" report debug.wmk
	[ "$(cat out.txt err.txt | grep -c "debug: No such file")" -eq 1 ] || fail "not told once: $(cat out.txt err.txt)"
	cp plain debug
	frames debug.wmk "$places"
	expect 0 "$waymark" report debug.wmk
	[ "$(cat out.txt err.txt | grep -c "is of another build")" -eq 1 ] || fail "not told once: $(cat out.txt err.txt)"
	rm debug
done

# Split debug information: in .dwo files. Without them the names of inlined functions are lost, which one line says.
mkdir split
"$cc" -O2 -g -gsplit-dwarf -Wl,--build-id -c names.c -o split/names.o && "$cc" split/names.o -o split/names || exit 1
recording split/names "$PWD/split/names" split.wmk
frames split.wmk "$lines"
mv split/names.dwo split/names.dwp
expect 0 "$waymark" report split.wmk
[ "$(cat out.txt err.txt | grep -c "split/names: inlined functions have no names: .*names.dwo, which is not found")" -eq 1 ] ||
	fail "not told once: $(cat out.txt err.txt)"
lacks out.txt 'inner'

# A library: exported names stay when it is stripped, without their versions.
cat >library.c <<'END'
int twice(int n) { return 2 * n; }
__asm__(".symver twice_1,twice@V1");
int twice_1(int n) { return n; }
__attribute__((alias("twice"))) int _twice(int);
END
echo 'V1 { }; V2 { twice; } V1;' >library.map
"$cc" -O1 -shared -fPIC -Wl,--build-id -Wl,--version-script=library.map library.c -o library.so || exit 1
id=$(readelf -nW library.so | awk '/Build ID:/ { print $NF }')
places="$(nm -D library.so | awk '$3 == "twice@@V2" { print $1 }'):0 $(nm -D library.so | awk '$3 == "twice@V1" { print $1 }'):0"
# shellcheck disable=SC2086
"$build/tests/cli/recorded_names_file" library.wmk "$PWD/library.so" "$id" $places
frames library.wmk "twice twice"
strip library.so
frames library.wmk "twice twice"
finish

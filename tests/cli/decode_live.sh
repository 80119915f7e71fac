#!/bin/sh
# decode_live.sh BUILD - decode at the end of a pipe: recordings appear and grow while it runs, and each line comes out before the
# next one is asked for. Every step waits for the line of the step before; none depends on time.
. "$(dirname "$0")/lib.sh"
# Each call through a pointer pushes, so that the recording grows.
WAYMARK_TARGETS=none "$waymark" cc -O1 -g -rdynamic "$here/decode_live.c" -o live -ldl || exit 1
"$waymark" cc -O1 -g -fPIC -shared "$here/decode_live_plugin.c" -o plugin.so || exit 1

# start_decode OPTIONS...: a decoder from 4 to 5.
start_decode() {
	mkfifo log shown
	"$waymark" decode --folded "$@" <log >shown 2>decode.err &
	decoder=$!
	exec 4>log 5<shown
	rm log shown
}
end_decode() { # STATUS
	exec 4>&-
	status=0
	wait $decoder || status=$?
	exec 5<&-
	[ $status -eq "$1" ] || fail "decode: exit status $status, not $1: $(cat decode.err)"
}
# start_program: takes commands from 3, writes to the decoder.
start_program() {
	mkfifo commands
	WAYMARK_OUT=${out-} ./live <commands >&4 &
	program=$!
	exec 3>commands
	rm commands
}
end_program() {
	exec 3>&-
	wait $program || fail "the program fails"
}
# shows TEXT: the next line of the decoder.
shows() {
	line=
	read -r line <&5 || fail "decode has ended"
	[ "$line" = "$1" ] || fail "decode shows $line; not $1"
}

# The recording grows: each token names what is new since the line before.
mkdir out
out=out/a.wmk
start_decode --wmk out
echo "a line of text" >&4
shows "a line of text"
start_program
echo flat >&3
shows "main;flat"
for bits in 0 1 01 10 110 111 0101; do
	echo "walk $bits" >&3
	shows "main;start$(echo $bits | sed 's/0/;zero/g; s/1/;one/g')"
done
echo "many 3000" >&3 # more than one chunk of nodes
shows "done"
echo "walk 0000101110110111" >&3
shows "main;start;zero;zero;zero;zero;one;zero;one;one;one;zero;one;one;zero;one;one;one"
echo "many 9000" >&3
shows "done"
echo "walk 0010001100100111" >&3
shows "main;start;zero;zero;one;zero;zero;zero;one;one;zero;zero;one;zero;zero;one;one;one"
echo "load ./plugin.so" >&3
shows "main;load;plugin_say"
echo "walk 00000" >&3
shows "main;start;zero;zero;zero;zero;zero"

# Another program's recording appears in the directory, later.
first=$program
exec 6>&3
out=out/b.wmk
start_program
echo "walk 11" >&3
shows "main;start;one;one"
echo "walk 111" >&6
shows "main;start;one;one;one"
end_program
exec 6>&-
wait $first || fail "the first program fails"
end_decode 0

# A recording that is not there yet, and comes without its program making it: a token is not known, then is.
out=out/hidden
start_decode --wmk later
start_program
echo "walk 01" >&3
line=
read -r line <&5
case $line in
wm1:*"[wm1: no .wmk of run "*) ;;
*) fail "decode shows $line" ;;
esac
token=${line%% *}
mkdir later
mv out/hidden later/x.wmk
echo "$token" >&4
shows "main;start;zero;one"
echo "walk 011" >&3
shows "main;start;zero;one;one"

# The same name, another process.
end_program
rm later/x.wmk
out=later/x.wmk
start_program
echo "walk 10" >&3
shows "main;start;one;zero"
echo "$token" >&4
shows "main;start;zero;one"
end_program
end_decode 0

# A file that is named and comes with the first token; one that never comes is an error at the end.
out=named.wmk
start_decode --wmk named.wmk
start_program
echo "walk 1" >&3
shows "main;start;one"
end_program
end_decode 0
start_decode --wmk never.wmk
echo "a line" >&4
shows "a line"
end_decode 1
has decode.err "never.wmk: No such file or directory"

# WAYMARK_OUT names a directory that someone makes later.
WAYMARK_OUT=made
export WAYMARK_OUT
start_decode
unset WAYMARK_OUT
mkdir made
out=made
start_program
echo "walk 0" >&3
shows "main;start;zero"
end_program
end_decode 0

# Where nothing is pushed there is a recording, too: the program is found by it.
mkdir flat elsewhere
(cd flat && echo flat | ../live >../flat.txt) || fail "the program fails"
[ -n "$(find flat -name "waymark-live-*.wmk")" ] || fail "no recording of a capture without pushes"
(cd elsewhere && "$waymark" decode --folded --wmk ../flat <../flat.txt >../shown.txt)
echo "main;flat" | cmp - shown.txt || fail "a token without pushes: $(cat shown.txt)"
finish

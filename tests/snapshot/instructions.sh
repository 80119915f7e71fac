#!/bin/sh
# instructions.sh SHOW - all instructions of the C library, as objdump has them: lengths, and where calls and jumps go.
libc=$(ldd "$1" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
[ -r "$libc" ] || { echo "SKIP: no libc.so.6 that $1 is linked with"; exit 77; }
objdump -dw "$libc" | "$1" 100000

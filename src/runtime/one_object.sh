#!/bin/sh
# usage: one_object.sh LD AR LIBRARY OUTPUT : makes an archive of one object of all that is in LIBRARY, so that who uses any of it gets all.
set -eu
ld=$1 ar=$2 library=$3 output=$4
object=${output%.a}.o
"$ld" -r -o "$object" --whole-archive "$library"
rm -f "$output"
"$ar" rcsD "$output" "$object"
rm -f "$object"

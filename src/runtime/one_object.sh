#!/bin/sh
# usage: one_object.sh LD LIBRARY OUTPUT : makes one object of all that is in LIBRARY, so that who uses any of it gets all.
set -eu
exec "$1" -r -o "$3" --whole-archive "$2"

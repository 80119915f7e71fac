#!/bin/sh
# view.sh BUILD - `waymark view`: what the page is called, and the browser that is started.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
"$waymark" cc -O1 -g -o prog "$here/convert.c" -pthread || exit 1
expect 0 "$waymark" run --heap -q -o one.wmk ./prog
mkdir pages
(cd pages && expect 0 "$waymark" view --metric=step ../one.wmk && has err.txt "waymark view: wrote one.html") || failures=1
[ -s pages/one.html ] || fail "no page"
cmp -s pages/one.html one.html && fail "a page where none was asked for"
cat >browser <<'END'
#!/bin/sh
echo "$1" >opened
END
chmod +x browser
BROWSER=$tmp/browser expect 0 "$waymark" view --open -o two.html one.wmk
[ "$(cat opened)" = two.html ] || fail "--open opened $(cat opened)"
BROWSER=$tmp/nothing refused 1 "nothing: cannot be run" "$waymark" view --open -o two.html one.wmk
refused 2 "--open needs a page in a file" "$waymark" view --open -o - one.wmk
expect 0 "$waymark" view -o filtered.html --function=keep one.wmk
refused 1 "nosuch" "$waymark" view -o none.html --function=nosuch one.wmk
[ ! -e none.html ] || fail "a page of nothing"
finish

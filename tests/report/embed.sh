#!/bin/sh
# embed.sh EMBED-PY CC - what scripts/embed.py makes of a file is that file, whatever is in it, but for the comment at its start and,
# in a style sheet, the breaks before tabs.
set -eu
embed=$1
shift
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
cat >text.js <<'END'
/* A comment
 * at the start. */

const quotes = '"' + "\"\\" + '\n', trigraph = '??=??/', percent = '%s'; /* stays */
	tab(); // 1°2, →3 ↳
END
printf 'no end of line' >>text.js
cat >style.css <<'END'
/* head */
a{b:c}
	d{e:'✓1'}
f{g:h}
END
sed '1,3d' text.js >expected
printf "a{b:c}d{e:'\342\234\2231'}\nf{g:h}\n" >>expected
echo 'extern const char text_js[], style_css[];' >embedded.h
"$embed" out.c embedded.h text.js style.css
cat >main.c <<'END'
#include <stdio.h>
#include "embedded.h"
int main(void)
{
	fputs(text_js, stdout);
	fputs(style_css, stdout);
}
END
"$@" -std=gnu11 -trigraphs -I. -o embedded main.c out.c
./embedded >found
cmp expected found

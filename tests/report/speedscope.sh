#!/bin/bash
# speedscope.sh [FILE...] - files of `--format=speedscope` in speedscope itself: by hand, since it installs a package from npm. Each file, by default those
# of golden/, is what speedscope's own JSON Schema says, and in a browser speedscope lists its profiles with their totals.
#
# Needs chromium, npm and python3-jsonschema. What is installed is gone at the end.
set -euo pipefail
[ $# -gt 0 ] || set -- "$(dirname "$0")"/golden/{all,some}.speedscope
files=$(realpath "$@")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
npm install --silent --no-fund --no-audit --ignore-scripts speedscope@1.25.0 >npm.txt 2>&1 || { cat npm.txt; exit 1; }
release=$tmp/node_modules/speedscope/dist/release
for file in $files; do
	/usr/bin/python3 -c 'import json, jsonschema, sys
jsonschema.validate(*(json.load(open(name)) for name in sys.argv[1:]))' "$file" "$release/file-format-schema.json"
	printf "speedscope.loadFileFromBase64('file.json', '%s')\n" "$(base64 -w 0 "$file")" >file.js
	# It draws with WebGL.
	timeout 300 chromium --headless --no-sandbox --user-data-dir="$tmp/browser" --allow-file-access-from-files --use-gl=angle --use-angle=swiftshader \
		--enable-unsafe-swiftshader --window-size=1600,1000 --virtual-time-budget=20000 --dump-dom \
		"file://$release/index.html#localProfilePath=$tmp/file.js&view=sandwich" >page.html 2>browser.txt || { tail -n 5 browser.txt; exit 1; }
	python3 - "$file" <<'E'
import html, json, re, sys
page = open("page.html", encoding="utf-8").read()
profiles = json.load(open(sys.argv[1]))["profiles"]
units = {"bytes": lambda v: v if v < 1024 else f"{v / 1024:.2f} KB" if v < 2**20 else f"{v / 2**20:.2f} MB", "none": lambda v: v}
text = " ".join(html.unescape(re.sub(r"<style.*?</style>|<[^>]*>", " ", page, flags=re.S)).split())
for number, profile in enumerate(profiles, 1):
    shown = f"{number} {profile['name']} {units[profile['unit']](sum(profile['weights']))}"
    assert f" {shown} " in f" {text} ", (shown, text)
print(f"{sys.argv[1]}: speedscope has its {len(profiles)} profiles")
E
done

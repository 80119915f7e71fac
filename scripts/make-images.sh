#!/bin/sh
# make-images.sh - makes the pictures of docs/images/ that show real output again, from a run of scripts/demo.sh.
#
# Needs rsvg-convert (scripts/install-deps.sh bench). how-it-works.svg is drawn by hand and not touched.
set -eu
cd "$(dirname "$0")/.."
scripts/demo.sh
build/waymark report build/demo/waymark-*.wmk --format=svg --top=40 --output=build/demo/report.svg
rsvg-convert --width=1400 --background-color=white build/demo/report.svg --output=docs/images/report.png
echo "wrote docs/images/report.png: $(wc -c <docs/images/report.png) bytes"

/*
 * svg_script.h - the script inside flame graphs: zoom on click, search by regular expression. Private to render_svg.c.
 *
 * Each box is <g class="f" data-x data-w> with its place as a part of the whole width; zooming maps [x, x + w) of the chosen
 * box to the full width. Boxes on the way to the root fill the width and go pale.
 */
#ifndef WM_REPORT_CONTEXTS_SVG_SCRIPT_H
#define WM_REPORT_CONTEXTS_SVG_SCRIPT_H

static const char svg_script[] =
	"const boxes = [...document.querySelectorAll('.f')].map(g => ({\n"
	"  g, rect: g.querySelector('rect'), text: g.querySelector('text'),\n"
	"  name: g.querySelector('title').textContent.split('\\n')[0],\n"
	"  x: +g.dataset.x, w: +g.dataset.w, y: +g.querySelector('rect').getAttribute('y')}));\n"
	"const get = id => document.getElementById(id);\n"
	"const full = WIDTH - 2 * MARGIN;\n"
	"function draw(box, x, w) {\n"
	"  box.rect.setAttribute('x', x);\n"
	"  box.rect.setAttribute('width', w > 0.6 ? w - 0.5 : w);\n"
	"  box.text.setAttribute('x', x + 4);\n"
	"  const chars = Math.floor((w - 8) / CHAR);\n"
	"  box.text.textContent = chars >= box.name.length ? box.name : chars >= 3 ? box.name.slice(0, chars - 2) + '..' : '';\n"
	"}\n"
	"function zoom(to) {\n"
	"  const eps = 1e-9;\n"
	"  for (const box of boxes) {\n"
	"    const inside = box.x >= to.x - eps && box.x + box.w <= to.x + to.w + eps && box.y >= to.y;\n"
	"    const above = box.y < to.y && box.x <= to.x + eps && box.x + box.w >= to.x + to.w - eps;\n"
	"    box.g.style.display = inside || above ? '' : 'none';\n"
	"    box.g.classList.toggle('past', above);\n"
	"    if (above) draw(box, MARGIN, full);\n"
	"    else if (inside) draw(box, MARGIN + (box.x - to.x) / to.w * full, box.w / to.w * full);\n"
	"  }\n"
	"  get('reset').setAttribute('visibility', to === boxes[0] ? 'hidden' : 'visible');\n"
	"}\n"
	"function search() {\n"
	"  const asked = prompt('Show functions that match (a regular expression; nothing ends the search):', '');\n"
	"  if (asked === null) return;\n"
	"  let re = null;\n"
	"  try { if (asked) re = new RegExp(asked); } catch (e) { alert(e.message); return; }\n"
	"  const spans = [];\n"
	"  for (const box of boxes) {\n"
	"    const found = re !== null && re.test(box.name);\n"
	"    box.g.classList.toggle('found', found);\n"
	"    if (found) spans.push([box.x, box.x + box.w]);\n"
	"  }\n"
	"  spans.sort((a, b) => a[0] - b[0]);\n"
	"  let sum = 0, end = 0;\n"
	"  for (const [a, b] of spans) if (b > end) { sum += b - Math.max(a, end); end = b; }\n"
	"  get('matched').textContent = re ? 'matched: ' + (100 * sum).toFixed(2) + '%' : '';\n"
	"}\n"
	"for (const box of boxes) box.g.addEventListener('click', () => zoom(box));\n"
	"get('reset').addEventListener('click', () => zoom(boxes[0]));\n"
	"get('search').addEventListener('click', search);\n"
	"window.addEventListener('keydown', e => {\n"
	"  if (e.key === 'f' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); search(); }\n"
	"  if (e.key === 'Escape' && boxes.length) zoom(boxes[0]);\n"
	"});\n";

#endif

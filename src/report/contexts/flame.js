/*
 * flame.js - script of the flame graphs of render_svg.c: as wide as the window, zoom on click, search by regular expression. In front of it
 * stand the constants WIDTH, the picture's without this script, MARGIN and CHAR.
 *
 * Each box is <g class="f" data-x data-w> with its place as a part of the whole width; zooming maps [x, x + w) of the chosen
 * box to the full width. Boxes on the way to the root fill the width and go pale. data-label is there where what stands on a box is
 * shorter than its name.
 */

const boxes = [...document.querySelectorAll('.f')].map(g => ({
  g, rect: g.querySelector('rect'), text: g.querySelector('text'),
  name: g.querySelector('title').textContent.split('\n')[0],
  label: g.dataset.label || g.querySelector('title').textContent.split('\n')[0],
  x: +g.dataset.x, w: +g.dataset.w, y: +g.querySelector('rect').getAttribute('y')}));
const get = id => document.getElementById(id);
let full = WIDTH - 2 * MARGIN, zoomed = boxes[0];
function draw(box, x, w) {
  box.rect.setAttribute('x', x);
  box.rect.setAttribute('width', w > 0.6 ? w - 0.5 : w);
  box.text.setAttribute('x', x + 4);
  const chars = Math.floor((w - 8) / CHAR);
  box.text.textContent = chars >= box.label.length ? box.label : chars >= 3 ? box.label.slice(0, chars - 2) + '..' : '';
}
function zoom(to) {
  const eps = 1e-9;
  zoomed = to;
  for (const box of boxes) {
    const inside = box.x >= to.x - eps && box.x + box.w <= to.x + to.w + eps && box.y >= to.y;
    const above = box.y < to.y && box.x <= to.x + eps && box.x + box.w >= to.x + to.w - eps;
    box.g.style.display = inside || above ? '' : 'none';
    box.g.classList.toggle('past', above);
    if (above) draw(box, MARGIN, full);
    else if (inside) draw(box, MARGIN + (box.x - to.x) / to.w * full, box.w / to.w * full);
  }
  get('reset').setAttribute('visibility', to === boxes[0] ? 'hidden' : 'visible');
}
function search() {
  let re = null;
  get('pattern').removeAttribute('aria-invalid');
  try { if (get('pattern').value) re = new RegExp(get('pattern').value); } catch (e) {
    get('pattern').setAttribute('aria-invalid', 'true');
    get('matched').textContent = e.message;
    return;
  }
  const spans = [];
  for (const box of boxes) {
    const found = re !== null && re.test(box.name);
    box.g.classList.toggle('found', found);
    if (found) spans.push([box.x, box.x + box.w]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  let sum = 0, end = 0;
  for (const [a, b] of spans) if (b > end) { sum += b - Math.max(a, end); end = b; }
  get('matched').textContent = re ? 'matched: ' + (100 * sum).toFixed(2) + '%' : '';
}
// What stands at the right edge keeps its distance from it.
const anchored = ['reset', 'search', 'matched', 'query', 'producer'].map(get).map(element => ({element, x: +element.getAttribute('x') - WIDTH}));
function resize() {
  const svg = document.documentElement, height = svg.getAttribute('height'), width = Math.max(window.innerWidth, 400);
  if (svg.localName !== 'svg' || !window.innerWidth) return; // in another page, whose business widths are
  svg.setAttribute('width', width);
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  full = width - 2 * MARGIN;
  for (const {element, x} of anchored) element.setAttribute('x', width + x);
  if (boxes.length) zoom(zoomed);
}
function ask(is_asked) {
  get('query').setAttribute('visibility', is_asked ? 'visible' : 'hidden');
  get('search').setAttribute('visibility', is_asked ? 'hidden' : 'visible');
  if (is_asked) { get('pattern').focus(); get('pattern').select(); }
}
for (const box of boxes) box.g.addEventListener('click', () => zoom(box));
get('reset').addEventListener('click', () => zoom(boxes[0]));
get('search').addEventListener('click', () => ask(true));
get('pattern').addEventListener('input', search);
window.addEventListener('keydown', e => {
  if (e.key === 'f' && (e.ctrlKey || e.metaKey)) { e.preventDefault(); ask(true); }
  if (e.key === 'Escape' && get('query').getAttribute('visibility') === 'visible') { get('pattern').value = ''; search(); ask(false); }
  else if (e.key === 'Escape' && boxes.length) zoom(boxes[0]);
});
window.addEventListener('resize', resize);
resize();

/*
 * paths.js - script of the page of path_html.c.
 *
 *      .----------.---------------------------------.
 *      | files    | #index: summary, hottest paths, |   one .page is open at a time (without script: all of them);
 *      | (nav)    | files, functions                |   rows of source are #f<file>-L<line>, functions #fn<number>
 *      |          | #f0: annotated source           |
 *      |          |   function head, its paths       |   a .path button has its steps: [[row id, outcome], ...]
 *      '----------'---------------------------------'
 *      | bar: the chosen path                       |
 *      '--------------------------------------------'
 */

'use strict';
const all = (s, r = document) => [...r.querySelectorAll(s)], id = s => document.getElementById(s);
let picked = null;
document.body.classList.add('js');
function clear() {
  for (const row of all('tr.on')) row.classList.remove('on');
  for (const way of all('.way')) way.remove();
  if (picked) picked.classList.remove('on');
  picked = null;
  id('bar').classList.remove('open');
}
function open(element) {
  const page = (element && element.closest('.page')) || id('index');
  for (const p of all('.page')) p.classList.toggle('open', p === page);
  for (const a of all('nav a')) a.classList.toggle('open', a.getAttribute('href') === '#' + page.id);
  return page;
}
function into_view(row) {
  const box = row.getBoundingClientRect();
  if (box.top < 60 || box.bottom > innerHeight - 100) row.scrollIntoView({block: 'center'});
}
function pick(button) {
  const again = button === picked;
  clear();
  if (again) return;
  open(button);
  picked = button;
  button.classList.add('on');
  let first = null;
  for (const [row_id, outcome] of JSON.parse(button.dataset.steps)) {
    const row = id(row_id);
    if (!row) continue;
    first = first || row;
    row.classList.add('on');
    if (!outcome) continue;
    const way = document.createElement('span');
    way.className = 'way';
    way.textContent = outcome;
    row.querySelector('td.s').append(way);
  }
  id('said').textContent = button.title;
  id('bar').classList.add('open');
  if (first) into_view(first);
}
function step(by) {
  if (!picked) return;
  const paths = all('.path', picked.parentElement), next = paths[paths.indexOf(picked) + by];
  if (next) pick(next);
}
function go() {
  const to = id(decodeURIComponent(location.hash.slice(1)));
  if (to && to.matches('.path')) {
    if (to !== picked) pick(to);
    return;
  }
  clear();
  const page = open(to);
  if (to && to !== page) to.scrollIntoView({block: 'center'});
  else scrollTo(0, 0);
}
document.addEventListener('click', e => {
  const button = e.target.closest('.path');
  if (button) pick(button);
});
document.addEventListener('keydown', e => {
  if (e.target.matches('input')) return;
  if (e.key === 'Escape') clear();
  if (e.key === 'n') step(1);
  if (e.key === 'p') step(-1);
});
id('close').addEventListener('click', clear);
id('next').addEventListener('click', () => step(1));
id('previous').addEventListener('click', () => step(-1));
const filter = id('filter');
if (filter) filter.addEventListener('input', () => {
  const text = filter.value.toLowerCase();
  for (const row of all('#functions tbody tr'))
    row.hidden = !row.textContent.toLowerCase().includes(text);
});
addEventListener('hashchange', go);
go();

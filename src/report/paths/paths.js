/*
 * paths.js - script of the page of path_html.c.
 *
 *      .----------.---------------------------------.
 *      | files    | #index: summary, hottest paths, |   one .page is open at a time; rows of source are #f<file>-L<line>,
 *      | (nav)    | files, functions                |   functions #fn<number>, in parts that come when they are looked at
 *      |          | #f0: annotated source           |   (page_parts.h): until then a table of their height stands for them
 *      |          |   function head, its paths       |   a .path button has its steps: [[row id, outcome], ...]
 *      '----------'---------------------------------'
 *      | bar: the chosen path                       |
 *      '--------------------------------------------'
 */

'use strict';
const all = (s, r = document) => [...r.querySelectorAll(s)], id = s => document.getElementById(s);
let picked = null, turn = 0;
const chunks = all('script.parts').map(element => ({element, parts: null}));
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.replace(/\s+/g, '')), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(stream).text()).split('\f');
}
async function part(element) {
  const [chunk, number] = element.dataset.part.split(':');
  delete element.dataset.part;
  chunks[chunk].parts ||= unpack(chunks[chunk].element.textContent);
  return (await chunks[chunk].parts)[number];
}
const loading = new Map();
function load(table) {
  if (table.dataset.part) loading.set(table, part(table).then(html => {
    table.innerHTML = html;
    table.style.height = '';
  }));
  return loading.get(table);
}
function table_of(name) {
  const row = /^f(\d+)-L(\d+)$/.exec(name), of = /^(?:fn|p)(\d+)/.exec(name);
  if (row) return all('table.src', id('f' + row[1]) || undefined).find(table => {
    const [first, last] = table.dataset.lines.split(' ');
    return +row[2] >= +first && +row[2] <= +last;
  });
  return of && all(`table.src[data-functions~="${of[1]}"]`)[0];
}
async function find(name) {
  const table = id(name) ? null : table_of(name);
  if (table) await load(table);
  return id(name);
}
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
async function pick(button) {
  const again = button === picked, mine = ++turn;
  clear();
  if (again) return;
  open(button);
  picked = button;
  button.classList.add('on');
  id('said').textContent = button.title;
  id('bar').classList.add('open');
  const steps = JSON.parse(button.dataset.steps);
  await Promise.all(steps.map(([row_id]) => find(row_id)));
  if (mine !== turn) return;
  let first = null;
  for (const [row_id, outcome] of steps) {
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
  if (first) into_view(first);
}
function step(by) {
  if (!picked) return;
  const paths = all('.path', picked.parentElement), next = paths[paths.indexOf(picked) + by];
  if (next) pick(next);
}
async function go() {
  const mine = ++turn, to = await find(decodeURIComponent(location.hash.slice(1)));
  if (mine !== turn) return;
  if (to && to.matches('.path')) {
    if (to !== picked) await pick(to);
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
const filter = id('filter'), more = id('more');
async function show_all() {
  if (!more.dataset.part) return;
  more.hidden = true;
  id('functions').tBodies[0].insertAdjacentHTML('beforeend', await part(more));
  choose();
}
function choose() {
  const text = filter.value.toLowerCase();
  for (const row of all('#functions tbody tr'))
    row.hidden = !row.textContent.toLowerCase().includes(text);
}
if (more) more.addEventListener('click', show_all);
filter.addEventListener('input', () => more && more.dataset.part ? show_all() : choose());
const near = new IntersectionObserver(seen => {
  for (const {isIntersecting, target} of seen) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    load(target);
  }
}, {rootMargin: '800px'});
for (const table of all('table.src')) near.observe(table);
addEventListener('hashchange', go);
const ready = go();

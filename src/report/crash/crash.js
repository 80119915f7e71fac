/*
 * crash.js - script of the page of crash_html.c.
 *
 *      .-----------.--------------------------------.----------------.
 *      | nav       | main                           | aside          |   one .page and one .frame are open at a time
 *      | program   | #f0: source                    | #t0-0: a frame |   (without script all of them, one below the other);
 *      | Thread 1  |   n  a k  s                    |  Path 3 of 4   |   rows of source are #f<file>-L<line>: number,
 *      |  0 find   |  24  # 7  while (n->key != k)  |   7 24 while.. |   activity, steps of the open frame, text;
 *      |  1 walk   | #functions                     |  Made calls .. |   steps are li[data-row] of a frame, in order
 *      '-----------'--------------------------------'----------------'
 */

'use strict';
const all = (s, r = document) => [...r.querySelectorAll(s)], id = s => document.getElementById(s);
let frame = null, steps = [], at = -1;
document.body.classList.add('js');
function open_page(page) {
  for (const p of all('.page')) p.classList.toggle('open', p === page);
}
function into_view(element) {
  const box = element.getBoundingClientRect();
  if (box.top < 60 || box.bottom > innerHeight - 60) element.scrollIntoView({block: 'center'});
}
function show_row(row) {
  open_page(row.closest('.page'));
  into_view(row);
}
function clear() {
  for (const row of all('tr.on, tr.here, tr.cur')) {
    row.classList.remove('on', 'old', 'here', 'cur');
    row.querySelector('td.k').textContent = '';
  }
  for (const way of all('.way')) way.remove();
  for (const li of all('li.cur')) li.classList.remove('cur');
}
/* The numbers of a row's steps, the newest last; what it decided the last time. */
function mark(row, numbers, last) {
  const cell = row.querySelector('td.k'), em = last.querySelector('em');
  cell.textContent = (numbers.length > 3 ? '\u2026' : '') + numbers.slice(-3).join(' ');
  cell.title = 'steps ' + numbers.join(', ');
  row.classList.add('on');
  row.classList.toggle('old', !last.closest('.now'));
  if (!em) return;
  const way = document.createElement('span');
  way.className = 'way';
  way.textContent = em.textContent;
  row.querySelector('td.s').append(way);
}
/* What ran over the whole run, or in the open frame's activation alone. */
const signs = {y: '\u25cf', m: '\u25d0', n: '\u25cb'}, said = {y: 'ran', m: 'may have run', n: 'cannot have run'};
function set_state(row, state) {
  const cell = row.querySelector('td.a');
  row.classList.remove('y', 'm', 'n');
  row.classList.add(state);
  cell.textContent = signs[state];
  cell.title = said[state];
}
function show_states() {
  for (const row of all('tr[data-run]')) {
    set_state(row, row.dataset.run);
    delete row.dataset.run;
  }
  if (!own || !own.checked || !frame || !frame.dataset.lines) return;
  for (const part of frame.dataset.lines.split(' ')) {
    const [file, lines] = part.split(':');
    for (const line of lines ? lines.split(',') : []) {
      const row = id(file + '-L' + parseInt(line));
      row.dataset.run = row.classList.contains('y') ? 'y' : row.classList.contains('m') ? 'm' : 'n';
      set_state(row, line.slice(-1));
    }
  }
}
function open_frame(to) {
  const rows = new Map();
  clear();
  frame = to;
  const owner = id(frame.dataset.owner || frame.id) || frame;
  for (const f of all('.frame')) f.classList.toggle('open', f === frame || f === owner);
  for (const a of all('nav a')) {
    const is_open = a.getAttribute('href') === '#' + frame.id;
    a.classList.toggle('open', is_open);
    if (!is_open) continue;
    a.closest('details').open = true;
    into_view(a);
  }
  steps = all('ol.steps li', owner);
  at = steps.length;
  steps.forEach((li, i) => {
    const row = li.dataset.row && id(li.dataset.row);
    if (!row) return;
    if (!rows.has(row)) rows.set(row, []);
    rows.get(row).push(i + 1);
  });
  for (const [row, numbers] of rows) mark(row, numbers, steps[numbers[numbers.length - 1] - 1]);
  /* Where control is: as the path says, else the line of the instruction. */
  const last = owner.querySelector('ol.now li:last-child'), place = (frame === owner && last && last.dataset.row) || frame.dataset.here;
  const here = place && id(place);
  if (here) {
    here.classList.add('here');
    show_row(here);
  }
  show_states();
  side.scrollTop = 0;
  if (last) last.scrollIntoView({block: 'nearest'});
}
function step(to) {
  if (to < 0 || to >= steps.length) return;
  at = to;
  for (const e of all('.cur')) e.classList.remove('cur');
  steps[at].classList.add('cur');
  steps[at].scrollIntoView({block: 'nearest'});
  const row = steps[at].dataset.row && id(steps[at].dataset.row);
  if (!row) return;
  row.classList.add('cur');
  show_row(row);
}
function next_frame(by) {
  const links = all('ol.stack a'), now = links.findIndex(a => a.classList.contains('open'));
  const to = links[Math.min(links.length - 1, Math.max(0, now + by))];
  if (to) location.hash = to.getAttribute('href');
}
const own = id('own'), side = document.querySelector('aside');
function go() {
  const to = id(decodeURIComponent(location.hash.slice(1)));
  if (!frame && !(to && to.matches('.frame'))) {
    const link = document.querySelector('ol.stack a.traced') || document.querySelector('ol.stack a');
    if (link) open_frame(id(link.getAttribute('href').slice(1)));
  }
  if (to && to.matches('.frame')) open_frame(to);
  else if (to && to.matches('.page')) { open_page(to); document.querySelector('main').scrollTop = 0; }
  else if (to && to.closest('.page')) { open_page(to.closest('.page')); to.scrollIntoView({block: 'center'}); }
}
document.addEventListener('click', e => {
  const li = e.target.closest('ol.steps li');
  if (!li) return;
  e.preventDefault();
  step(steps.indexOf(li));
});
document.addEventListener('keydown', e => {
  if (e.target.matches('input:not([type=checkbox])') || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'j') next_frame(1);
  if (e.key === 'k') next_frame(-1);
  if (e.key === 'n') step(at + 1);
  if (e.key === 'p') step(at - 1);
  if (e.key === 'f') location.hash = '#functions';
  if (e.key === 'a' && own) own.click();
});
if (own) own.addEventListener('change', show_states);
const filter = id('filter');
filter.addEventListener('input', () => {
  const text = filter.value.toLowerCase();
  for (const row of all('#function-list tbody tr'))
    row.hidden = !row.textContent.toLowerCase().includes(text);
});
addEventListener('hashchange', go);
go();
/* The browser itself has moved to the place in the address by then. */
addEventListener('load', () => setTimeout(go));

/*
 * slice.js - a slice as a layer on a page of source (slice_layer.h). Its data:
 *
 *      files: [name]                   as sections of the page have them in data-file
 *      lines: [[file, line, why]]      those of the slice; why is for reading
 *      edges: [[line, on, reason]]     numbers of lines: the first one depends on the second one; reasons: [text] has the text
 *      chain: [[line, what]]           from the criterion on
 *      omissions: [[file's name, line, what]] branches that decided against what could have mattered, outside of the slice
 *      overruns: [[file's name, line, what]] writes that may have left their object; evidence: [text]
 *      criterion: text, is_forward: true: edges are not known, only the first reason of each line
 *
 * Lines outside are dimmed. A click on a line shows what it depends on, and what depends on it.
 */

'use strict';
(() => {
  const data = JSON.parse(document.getElementById('slice').textContent), rows = [], numbers = new Map();
  const needs = data.lines.map(() => []), needed_by = data.lines.map(() => []);
  const sections = new Map();
  const make = (tag, text, name) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    return e;
  };
  for (const s of document.querySelectorAll('section[data-file]')) sections.set(s.dataset.file, s.id);
  const row_at = (file, line) => document.getElementById(sections.get(file) + '-L' + line);
  data.lines.forEach(([file, line], i) => {
    const row = row_at(data.files[file], line);
    rows.push(row);
    if (row) numbers.set(row, i);
  });
  const place = i => data.files[data.lines[i][0]].split('/').pop() + ':' + data.lines[i][1];
  for (const [line, on, reason] of data.edges) {
    needs[line].push([on, line, reason]);
    needed_by[on].push([line, line, reason]);
  }
  /* What a line is to the line `of`. */
  const told = edges => edges.map(([i, of, reason]) =>
    [i, data.reasons[reason] + (data.lines[of][0] === data.lines[i][0] ? 'line ' + data.lines[of][1] : place(of))]);
  const text = row => {
    const cell = row && row.querySelector('td.s');
    if (!cell) return '';
    const copy = cell.cloneNode(true);
    for (const e of copy.querySelectorAll('span')) e.remove();
    return copy.textContent.trim();
  };
  const panel = make('section');
  panel.id = 'slice-panel';
  const title = make('strong', (data.is_forward ? 'What a change can reach of ' : 'What can have decided ') + data.criterion);
  const lists = make('div'), label = make('label'), box = make('input');
  box.type = 'checkbox';
  box.checked = true;
  label.append(box, ' dim lines outside of the slice');
  panel.append(title, lists, label);
  const aside = document.querySelector('aside');
  aside.prepend(panel);

  function item(i, what) {
    const li = make('li'), a = make('a', place(i));
    if (rows[i]) a.href = '#' + rows[i].id;
    else a.title = 'this line is not on the page';
    li.append(a, ' ', make('small', what), make('code', text(rows[i])));
    a.addEventListener('click', () => rows[i] && ask(i));
    return li;
  }
  function list(name, head, items) {
    const ol = make('ol');
    for (const [i, what] of items) ol.append(item(i, what));
    lists.append(make('h3', head + ' (' + items.length + ')', name), ol);
  }
  function clear() {
    for (const row of document.querySelectorAll('tr.asked, tr.needed, tr.needing')) row.classList.remove('asked', 'needed', 'needing');
    for (const e of document.querySelectorAll('.slice-why')) e.remove();
    lists.textContent = '';
  }
  function say(row, what) {
    if (row) row.querySelector('td.s').append(make('span', what, 'slice-why'));
  }
  /* A layer of lines that are in the slice for no reason of dependence. */
  function list_layer(name, head, items) {
    const ol = make('ol', undefined, name);
    for (const [file, line, what] of items) {
      const li = make('li'), a = make('a', file.split('/').pop() + ':' + line), row = row_at(file, line);
      if (row) a.href = '#' + row.id;
      li.append(a, ' ', make('small', what), make('code', text(row)));
      ol.append(li);
    }
    lists.append(make('h3', head + ' (' + items.length + ')', name), ol);
  }
  function show_chain() {
    clear();
    if (data.chain.length) list('', 'The shortest chain', data.chain);
    if (data.overruns.length) {
      list_layer('overruns', 'Writes that may have left their object: suspicions, no dependences', data.overruns);
      const ul = make('ul', undefined, 'evidence');
      for (const what of data.evidence) ul.append(make('li', what));
      lists.lastChild.before(ul);
    }
    if (data.omissions.length) list_layer('omissions', 'Branches that decided against what could have mattered', data.omissions);
    lists.append(make('p', 'A click on a line shows what it depends on, and what depends on it; Escape leads back.', 'dim'));
  }
  function ask(i) {
    clear();
    list('', 'Asked', [[i, data.lines[i][2]]]);
    const needed = told(needs[i]), needing = told(needed_by[i]);
    list('needed', data.is_forward ? 'Is reached from' : 'Depends on', needed);
    list('needing', data.is_forward ? 'Reaches' : 'Needed by', needing);
    for (const [on] of needs[i]) if (rows[on]) rows[on].classList.add('needed');
    for (const [by] of needed_by[i]) if (rows[by]) rows[by].classList.add('needing');
    for (const [on, what] of needed) say(rows[on], what);
    for (const [by, what] of needing) say(rows[by], what);
    if (rows[i]) rows[i].classList.add('asked');
  }
  function dim() {
    for (const row of document.querySelectorAll('table.src tr[id]')) {
      row.classList.toggle('out', box.checked && !numbers.has(row) && !row.matches('.omitted, .overrun'));
      row.classList.toggle('in', numbers.has(row));
    }
  }
  for (const [name, items] of [['omitted', data.omissions], ['overrun', data.overruns]]) {
    for (const [file, line, what] of items) {
      const row = row_at(file, line);
      if (!row) continue;
      row.classList.add(name);
      row.title = (row.title ? row.title + '\n' : '') + what;
    }
  }
  for (const [i] of data.chain) if (rows[i]) rows[i].classList.add('chain');
  data.lines.forEach(([, , why], i) => rows[i] && why === '<- here' && rows[i].classList.add('criterion'));
  box.addEventListener('change', dim);
  document.addEventListener('click', e => {
    const row = e.target.closest('table.src tr');
    if (row && numbers.has(row) && !e.target.closest('a')) ask(numbers.get(row));
  });
  document.addEventListener('keydown', e => {
    if (e.key === 'Escape') show_chain();
  });
  dim();
  show_chain();
  document.body.dataset.slice = rows.filter(row => row).length;
})();

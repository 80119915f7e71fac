/*
 * view_page.js - the page: what is chosen (metric, time, thread, view, function, zoom, search) is one state, which the address keeps behind its #,
 * and from which everything is drawn.
 */

const get = id => document.getElementById(id);
let profile = null;
const state = {metric: 0, view: 'down', fn: -1, search: '', case: false, range: null, thread: -1, palette: 'image', zoom: []};
let now = {}; // of the state: metric, self, total, tree, found

// ---- the address ----

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1)), number = (key, none) => words.has(key) ? +words.get(key) : none;
  const metric = profile.metrics.findIndex(m => m.name === words.get('metric'));
  const fn = profile.functions.findIndex(f => f.name === words.get('function'));
  state.metric = metric >= 0 ? metric : profile.head.metric === undefined ? 0 : profile.head.metric;
  state.view = ['down', 'up', 'function', 'table', 'contexts'].includes(words.get('view')) ? words.get('view') : 'down';
  state.fn = fn;
  state.search = words.get('search') || '';
  state.case = words.get('case') === '1';
  state.range = words.has('from') && words.has('to') ? [number('from', 0), number('to', 0)] : null;
  state.thread = Math.min(number('thread', -1), profile.head.threads.length - 1);
  state.palette = words.get('colours') || (profile.head.before === undefined ? 'image' : 'change');
  if (![...get('palette').options].some(option => option.value === state.palette)) state.palette = 'image';
  state.zoom = words.has('zoom') ? words.get('zoom').split('\n') : [];
}

function writeAddress() {
  const words = new URLSearchParams();
  words.set('metric', profile.metrics.length ? profile.metrics[state.metric].name : '');
  words.set('view', state.view);
  if (state.fn >= 0) words.set('function', profile.functions[state.fn].name);
  if (state.search) words.set('search', state.search);
  if (state.case) words.set('case', '1');
  if (state.range) { words.set('from', state.range[0]); words.set('to', state.range[1]); }
  if (state.thread >= 0) words.set('thread', state.thread);
  if (state.palette !== 'image') words.set('colours', state.palette);
  if (state.zoom.length) words.set('zoom', state.zoom.join('\n'));
  history.replaceState(null, '', '#' + words);
}

// ---- names ----

const nameOf = item => item.fn < 0 ? 'all' : profile.functions[item.fn].name;
const noteOf = item => item.fn >= 0 && profile.functions[item.fn].note ? `, ${profile.functions[item.fn].note}` : '';
const pathOf = item => {
  const names = [];
  for (; item && item.fn >= 0; item = item.parent) names.unshift(nameOf(item));
  return names;
};
const sizes = item => `${amount(now.metric, item.value)}, ${percent(item.value, now.tree.root.value)}`;

function showDetail(item) {
  const detail = get('detail');
  if (!item || item.fn < 0) { detail.replaceChildren(); return; }
  const frame = profile.frame[item.node], file = profile.text(profile.frameFile[frame]), line = profile.frameLine[frame];
  const image = profile.functions[item.fn].image, parts = [element('strong', {textContent: nameOf(item)}), ` ${sizes(item)}`];
  if (item.self) parts.push(`, itself ${amount(now.metric, item.self)}`);
  parts.push(noteOf(item), element('br'));
  if (file) {
    const href = get('link').value.replaceAll('{file}', encodeURI(file)).replaceAll('{line}', line || 1);
    parts.push(/^(https?|file|vscode|vscodium|idea|txmt|subl):/i.test(href) ? element('a', {href, textContent: profile.frameText(frame)}) : profile.frameText(frame), ' ');
  }
  if (image) parts.push(`in ${image} `);
  parts.push(element('button', {type: 'button', textContent: 'Callers and callees', onclick: () => openFunction(item.fn)}));
  detail.replaceChildren(...parts);
}

// ---- what is drawn ----

const flame = new Flame(get('flame'), get('flame-canvas'), get('flame-space'), {
  name: nameOf, title: item => `${nameOf(item)}: ${sizes(item)}${noteOf(item)}`, zoom: zoomTo, choose: showDetail});
const table = new FunctionTable(get('table'), get('table-more'), {
  open: openFunction, share: row => now.whole ? Math.min(1, Math.abs(row.total) / now.whole) : 0});
const contexts = new ContextList(get('contexts'), get('contexts-note'), get('contexts-more'), {
  open: node => { state.view = 'down'; state.zoom = profile.path(node).map(n => profile.functions[profile.functionOf[n]].name); draw(); }});
const time = new TimeLine(get('time'), get('time-canvas'), get('from'), get('to'), get('all-time'), get('time-note'), {
  range: range => { state.range = range; compute(); draw(); }});

// By how much a box has changed, against the larger of both: grown is orange, shrunk blue, to be told apart by all.
function paintChange(item) {
  let before = 0, after = 0;
  for (const node of item.nodes) { before += now.beforeTotal[node]; after += now.afterTotal[node]; }
  const change = (after - before) / (Math.max(after, before) || 1), rest = Math.round(235 - 150 * Math.abs(change));
  return change > 0 ? `rgb(250, ${rest}, ${Math.max(90, rest - 60)})` : change < 0 ? `rgb(${Math.max(110, rest)}, ${Math.max(175, rest)}, 250)` : '#ddd';
}

function hasChange() { return profile.head.before !== undefined; }

function compute() {
  const metric = profile.metrics[state.metric];
  const self = profile.selfValues(metric, state.range, state.thread), total = profile.totals(self);
  now = {metric, self, total, whole: total[0], found: now.found, inside: null};
  if (hasChange()) {
    const values = number => profile.selfValues(profile.metrics[number], null, -1);
    now.before = values(profile.head.before);
    now.after = values(profile.head.after);
    now.beforeTotal = profile.totals(now.before);
    now.afterTotal = profile.totals(now.after);
  }
  const sums = profile.overTime(metric, state.thread), heap = metric.heap && profile.heapOverTime();
  time.sliceNs = heap ? heap.sliceNs : profile.head.slice_ns;
  time.mark(state.range);
  if (heap) time.show(metric, heap.high, heap.sliceNs, heap.live); else time.show(metric, sums, profile.head.slice_ns, null);
  get('thread-label').hidden = !profile.column(metric) || profile.head.threads.length < 2;
  search();
}

function search() {
  let expression = null;
  try {
    if (state.search) expression = new RegExp(state.search, state.case ? '' : 'i');
    get('search').removeAttribute('aria-invalid');
  } catch (error) {
    get('search').setAttribute('aria-invalid', 'true');
    get('matched').textContent = error.message;
    return;
  }
  now.found = expression && profile.functions.map(f => expression.test(f.name));
  const matched = now.found && matchedTotal(profile, now.total, now.found);
  now.inside = matched && matched.inside;
  get('matched').textContent = matched
    ? `${grouped(now.found.filter(Boolean).length)} functions; ${percent(matched.sum, now.whole) || '0 %'} of ${now.metric.name}` : '';
  flame.found = table.found = now.found;
}

function makeTree() {
  if (state.view === 'up') {
    const nodes = [];
    for (let n = 1; n < now.self.length; n++) if (now.self[n]) nodes.push(n);
    return new CallerTree(profile, nodes, now.self);
  }
  if (state.view === 'function' && state.fn >= 0) {
    const nodes = outermost(profile, state.fn);
    return get('callers').checked ? new CallerTree(profile, nodes, now.total) : new CallTree(profile, now.self, now.total, nodes);
  }
  return new CallTree(profile, now.self, now.total, [0]);
}

// The item that the names lead to, as far as there is one.
function follow(tree, names) {
  let item = tree.root;
  for (const name of names) {
    const next = tree.childrenOf(item).find(child => nameOf(child) === name);
    if (!next) break;
    item = next;
  }
  return item;
}

function drawFlame() {
  now.tree = makeTree();
  const item = follow(now.tree, state.zoom);
  state.zoom = pathOf(item);
  flame.color = state.palette === 'change' && now.tree instanceof CallTree ? paintChange : item2 => (paint[state.palette] || paint.image)(profile, item2);
  flame.show(now.tree, item);
  drawPath();
  showDetail(item.fn >= 0 ? item : null);
}

function drawPath() {
  const names = ['all', ...state.zoom], parts = [];
  if (state.view === 'function') {
    parts.push(element('span', {textContent: state.fn < 0 ? 'Choose a function in the graph or the table. ' : profile.functions[state.fn].name + ': '}));
  }
  names.forEach((name, depth) => {
    if (depth) parts.push(' › ');
    parts.push(element('button', {type: 'button', textContent: name, onclick: () => { state.zoom = state.zoom.slice(0, depth); draw(); }}));
  });
  get('path').replaceChildren(...parts, get('callers-label'));
  get('callers-label').hidden = state.view !== 'function';
}

function drawTable() {
  const rows = functionTable(profile, now.self, now.total);
  const text = value => amount(now.metric, value);
  const columns = [{key: 'self', title: 'Self', text}, {key: 'total', title: 'Total', text},
    {key: 'share', title: '%', text: value => percent(value, now.whole)}];
  for (const row of rows) row.share = row.total;
  if (hasChange()) {
    const before = new Map(functionTable(profile, now.before, now.beforeTotal).map(row => [row.fn, row]));
    const after = new Map(functionTable(profile, now.after, now.afterTotal).map(row => [row.fn, row]));
    for (const row of rows) {
      row.old = (before.get(row.fn) || {total: 0}).total;
      row.new = (after.get(row.fn) || {total: 0}).total;
      row.change = row.new - row.old;
    }
    columns.splice(0, 3, {key: 'old', title: 'Old total', text}, {key: 'new', title: 'New total', text},
      {key: 'change', title: 'Change', text: value => (value > 0 ? '+' : '') + text(value)});
  }
  table.show(columns, rows);
}

function draw() {
  for (const tab of document.querySelectorAll('[role=tab]')) {
    const is = tab.dataset.view === state.view;
    tab.setAttribute('aria-selected', is);
    tab.tabIndex = is ? 0 : -1;
    if (is) get(tab.getAttribute('aria-controls')).setAttribute('aria-labelledby', tab.id);
  }
  const panel = state.view === 'table' ? 'panel-table' : state.view === 'contexts' ? 'panel-contexts' : 'panel-flame';
  for (const id of ['panel-flame', 'panel-table', 'panel-contexts']) get(id).hidden = id !== panel;
  if (panel === 'panel-flame') drawFlame();
  else showDetail(null);
  if (panel === 'panel-table') drawTable();
  if (panel === 'panel-contexts') contexts.show(profile, now.metric, now.self, now.inside);
  writeAddress();
}

function zoomTo(item) {
  state.zoom = pathOf(item);
  flame.zoomed = item;
  flame.draw();
  drawPath();
  writeAddress();
}

function openFunction(fn) {
  state.view = 'function';
  state.fn = fn;
  state.zoom = [];
  draw();
}

function setView(view) {
  state.view = view;
  state.zoom = [];
  draw();
}

// ---- controls ----

function fillControls() {
  profile.metrics.forEach((metric, number) => {
    if (!metric.maximum && metric.contexts) get('metric').append(element('option', {value: number, textContent: metric.name}));
  });
  get('thread').append(element('option', {value: -1, textContent: 'all'}));
  profile.head.threads.forEach((name, number) => get('thread').append(element('option', {value: number, textContent: name})));
  get('palette').querySelector('[value=change]').hidden = !hasChange();
  const names = profile.head.sources.map(source => source.program.split('/').pop() || source.path);
  get('title').textContent = hasChange() ? document.title : names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more` : '');
  get('notes').textContent = [...profile.head.sources.map(source => `${source.path}: ${source.program}, pid ${source.pid}`), profile.head.notes, profile.head.producer].join('\n');
  try { get('link').value = localStorage.getItem('waymark-link') || 'file://{file}'; } catch { get('link').value = 'file://{file}'; }
}

function showControls() {
  get('metric').value = state.metric;
  get('thread').value = state.thread;
  get('palette').value = state.palette;
  get('search').value = state.search;
  get('case').checked = state.case;
}

function listen() {
  get('metric').addEventListener('change', () => {
    const before = profile.metrics[state.metric];
    state.metric = +get('metric').value;
    if (before.heap !== profile.metrics[state.metric].heap) state.range = null; // another time line
    compute();
    draw();
  });
  get('thread').addEventListener('change', () => { state.thread = +get('thread').value; compute(); draw(); });
  get('palette').addEventListener('change', () => { state.palette = get('palette').value; draw(); });
  const searched = () => { state.search = get('search').value; state.case = get('case').checked; search(); draw(); };
  get('search').addEventListener('input', searched);
  get('case').addEventListener('change', searched);
  get('callers').addEventListener('change', () => { state.zoom = []; draw(); });
  get('link').addEventListener('change', () => { try { localStorage.setItem('waymark-link', get('link').value); } catch { /* a page without storage */ } });
  get('help-open').addEventListener('click', () => get('help').showModal());
  get('theme').addEventListener('click', () => {
    const dark = getComputedStyle(document.documentElement).colorScheme !== 'dark';
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    get('theme').setAttribute('aria-pressed', dark);
    flame.paint();
    time.draw();
  });
  const tabs = [...document.querySelectorAll('[role=tab]')];
  tabs.forEach((tab, index) => {
    tab.addEventListener('click', () => setView(tab.dataset.view));
    tab.addEventListener('keydown', event => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!step) return;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
  });
  window.addEventListener('hashchange', () => { readAddress(); showControls(); compute(); draw(); });
  document.addEventListener('keydown', keyPressed);
}

function keyPressed(event) {
  const typing = ['INPUT', 'SELECT', 'TEXTAREA'].includes(event.target.tagName);
  if (event.key === 'Escape' && !get('help').open) {
    if (typing) event.target.blur();
    else if (state.zoom.length) { state.zoom = state.zoom.slice(0, -1); draw(); }
    else if (state.search) { get('search').value = state.search = ''; search(); draw(); }
    return;
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const views = ['down', 'up', 'function', 'table', 'contexts'];
  if (event.key === '/') { event.preventDefault(); get('search').focus(); }
  else if (event.key === '?') get('help').showModal();
  else if (views[event.key - 1]) setView(views[event.key - 1]);
  else if (event.key === 'f' && flame.chosen && flame.chosen.fn >= 0) openFunction(flame.chosen.fn);
  else if (event.target === get('flame') && event.key.startsWith('Arrow')) { event.preventDefault(); flame.move(event.key); }
  else if (event.target === get('flame') && event.key === 'Enter' && flame.chosen) zoomTo(flame.chosen);
}

async function start() {
  try {
    profile = new Profile(await unpack(get('data').textContent));
  } catch (error) {
    get('message').textContent = `The profile cannot be read: ${error.message}. The page needs DecompressionStream (Firefox 113, Chrome 80, Safari 16.4).`;
    return;
  }
  get('data').remove();
  fillControls();
  if (!get('metric').options.length) { get('message').textContent = 'Nothing was recorded.'; return; }
  readAddress();
  if (profile.metrics[state.metric].maximum || !profile.metrics[state.metric].contexts) state.metric = +get('metric').options[0].value;
  showControls();
  listen();
  compute();
  draw();
  get('message').hidden = true;
}

const ready = start();

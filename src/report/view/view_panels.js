/* view_panels.js - the table of functions, the list of contexts, and the time line with the range that is chosen on it. */

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties || {});
  made.append(...children);
  return made;
}

class FunctionTable {
  constructor(table, more, on) {
    Object.assign(this, {table, more, on, rows: [], column: 'self', rising: false, shown: 200, found: null});
    more.addEventListener('click', () => { this.shown += 1000; this.draw(); });
  }
  show(columns, rows) {
    this.columns = columns;
    this.rows = rows;
    if (!columns.some(column => column.key === this.column)) this.column = columns.at(-1).key === 'change' ? 'change' : columns[0].key;
    this.shown = 200;
    this.draw();
  }
  sort(key) {
    this.rising = this.column === key ? !this.rising : key === 'name';
    this.column = key;
    this.draw();
    this.table.querySelector(`th[data-key="${key}"] button`).focus();
  }
  draw() {
    const {column, rising} = this, sign = rising ? 1 : -1;
    const rows = this.rows.filter(row => !this.found || this.found[row.fn])
      .sort((a, b) => sign * (a[column] < b[column] ? -1 : a[column] > b[column] ? 1 : 0) || (a.name < b.name ? -1 : 1));
    const head = element('tr'), body = element('tbody');
    for (const {key, title} of [...this.columns, {key: 'name', title: 'Function'}]) {
      const cell = element('th', {scope: 'col'}, element('button', {type: 'button', textContent: title, onclick: () => this.sort(key)}));
      cell.dataset.key = key;
      cell.setAttribute('aria-sort', column !== key ? 'none' : rising ? 'ascending' : 'descending');
      head.append(cell);
    }
    for (const row of rows.slice(0, this.shown)) {
      const line = element('tr');
      for (const {key, text} of this.columns) line.append(element('td', {textContent: text(row[key])}));
      const share = element('span', {className: 'share'});
      share.style.width = Math.round(120 * this.on.share(row)) + 'px';
      line.append(element('td', {}, share, element('button', {type: 'button', textContent: row.name, onclick: () => this.on.open(row.fn)}), row.note ? ` (${row.note})` : ''));
      body.append(line);
    }
    this.table.replaceChildren(element('thead', {}, head), body);
    this.more.hidden = rows.length <= this.shown;
    this.more.textContent = `More rows (${grouped(rows.length)} in all)`;
  }
}

class ContextList {
  constructor(list, note, more, on) {
    Object.assign(this, {list, note, more, on, nodes: [], shown: 20});
    more.addEventListener('click', () => { this.shown += 100; this.draw(); });
  }
  // inside: by node, is a found function on its way; null: all are shown
  show(profile, metric, self, inside) {
    const nodes = [];
    for (let n = 1; n < self.length; n++) if (self[n] && (!inside || inside[n])) nodes.push(n);
    nodes.sort((a, b) => Math.abs(self[b]) - Math.abs(self[a]) || a - b);
    let whole = 0;
    for (let n = 1; n < self.length; n++) whole += self[n];
    Object.assign(this, {profile, metric, self, nodes, whole, shown: 20});
    this.draw();
  }
  draw() {
    const {profile, nodes} = this;
    this.note.textContent = `${grouped(nodes.length)} contexts; the largest first`;
    this.list.replaceChildren(...nodes.slice(0, this.shown).map(node => {
      const names = profile.path(node).map(n => profile.nameOf(n)).join(' › ');
      return element('li', {}, element('strong', {textContent: `${amount(this.metric, this.self[node])}  ${percent(this.self[node], this.whole)}  `}),
        element('button', {type: 'button', textContent: names, onclick: () => this.on.open(node)}));
    }));
    this.more.hidden = nodes.length <= this.shown;
  }
}

class TimeLine {
  constructor(section, canvas, from, to, all, note, on) {
    Object.assign(this, {section, canvas, from, to, note, on, sums: null, range: null});
    const slice = event => {
      const place = canvas.getBoundingClientRect();
      return Math.max(0, Math.min(this.sums.length, (event.clientX - place.left) / place.width * this.sums.length));
    };
    let start = null;
    canvas.addEventListener('pointerdown', event => { start = slice(event); canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener('pointermove', event => { if (start !== null) this.choose(start, slice(event), false); });
    canvas.addEventListener('pointerup', event => {
      if (start !== null && Math.abs(slice(event) - start) < 1) this.set(null); else if (start !== null) this.choose(start, slice(event), true);
      start = null;
    });
    const typed = () => this.choose(this.slices(from.value || 0), to.value === '' ? this.sums.length : this.slices(to.value), true);
    from.addEventListener('change', typed);
    to.addEventListener('change', typed);
    all.addEventListener('click', () => this.set(null));
    new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(canvas);
  }
  slices(seconds) { return seconds * 1e9 / this.sliceNs; }
  seconds(slices) { return +(slices * this.sliceNs / 1e9).toPrecision(6); }
  // sums: by slice; of live bytes the largest number in each, with `live`, that at its end
  show(metric, sums, sliceNs, live) {
    this.section.hidden = !sums || !sliceNs;
    Object.assign(this, {metric, sums, sliceNs, live});
    if (!this.section.hidden) this.draw();
  }
  choose(a, b, isDone) {
    const low = Math.floor(Math.min(a, b)), high = Math.max(low + 1, Math.ceil(Math.max(a, b)));
    this.range = [low, Math.min(high, this.sums.length)];
    this.draw();
    if (isDone) this.set(this.range);
  }
  mark(range) {
    this.range = range;
    this.from.value = range ? this.seconds(range[0]) : '';
    this.to.value = range ? this.seconds(range[1]) : '';
  }
  set(range) {
    this.mark(range);
    this.draw();
    this.on.range(range);
  }
  draw() {
    const {canvas, sums} = this, ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = 72;
    if (!sums || !width) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const context = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    context.scale(ratio, ratio);
    // As many columns as there are pixels: each is the sum of its slices, of live bytes the largest.
    const columns = Math.min(sums.length, Math.floor(width / 2)), heights = new Float64Array(columns);
    sums.forEach((sum, slice) => {
      const column = Math.floor(slice * columns / sums.length);
      heights[column] = this.live ? Math.max(heights[column], sum) : heights[column] + sum;
    });
    const largest = heights.reduce((a, b) => Math.max(a, b), 0) || 1;
    if (this.range) {
      context.fillStyle = style.getPropertyValue('--line');
      context.fillRect(this.range[0] / sums.length * width, 0, (this.range[1] - this.range[0]) / sums.length * width, height);
    }
    context.fillStyle = style.getPropertyValue('--accent');
    heights.forEach((sum, column) => {
      const h = sum / largest * (height - 4);
      context.fillRect(column * width / columns, height - h, Math.max(width / columns - 0.5, 0.5), h);
    });
    this.note.textContent = (this.live ? 'live bytes' : this.metric.name) + ` over ${this.seconds(sums.length)} s` +
      (this.range ? `; chosen: ${this.seconds(this.range[0])} to ${this.seconds(this.range[1])} s${this.growth()}` : '; draw a range');
  }
  // What became of live bytes in the range. The numbers of contexts are those of the whole run.
  growth() {
    if (!this.live) return '';
    const [from, to] = this.range, before = from ? this.live[from - 1] : 0, after = this.live[to - 1];
    const most = this.sums.slice(from, to).reduce((a, b) => Math.max(a, b), 0), bytes = value => amount({unit: 'bytes'}, value);
    return `: ${bytes(before)} to ${bytes(after)}, at most ${bytes(most)}; contexts are those of the whole run`;
  }
}

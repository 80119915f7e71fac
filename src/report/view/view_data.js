/*
 * view_data.js - reads the data of the page into a Profile: frames, nodes, and numbers of metrics by node.
 *
 * A node is a calling context up to and with its frame; node 0 is the root, and a parent comes before its children. Functions are frames of one
 * name and image: calls from several lines of a function are one box.
 */

async function unpack(text) {
  const packed = atob(text.replace(/\s+/g, ''));
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

class Profile {
  constructor(buffer) {
    const length = new DataView(buffer).getUint32(0, true);
    const head = this.head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    let at = Math.ceil((4 + length) / 8) * 8;
    const take = (Kind, count) => {
      const array = new Kind(buffer, at, count);
      at += Math.ceil(array.byteLength / 8) * 8;
      return array;
    };
    this.strings = head.strings;
    this.frameName = take(Uint32Array, head.frames);
    this.frameFile = take(Uint32Array, head.frames);
    this.frameImage = take(Uint32Array, head.frames);
    this.frameLine = take(Uint32Array, head.frames);
    this.parent = take(Uint32Array, head.nodes);
    this.frame = take(Uint32Array, head.nodes);
    this.metrics = head.metrics.map((metric, number) => ({
      ...metric, number, nodes: take(Uint32Array, metric.contexts), values: take(Float64Array, metric.contexts)}));
    this.events = {
      slice: take(Uint32Array, head.events), thread: take(Uint32Array, head.events), metric: take(Uint32Array, head.events),
      node: take(Uint32Array, head.events), count: take(Float64Array, head.events), sum: take(Float64Array, head.events)};
    this.nameFunctions();
    this.orderChildren();
  }

  // Frames of a difference have a line only where calls of one function are told apart by it.
  nameOf(node) {
    const line = this.head.before === undefined ? 0 : this.frameLine[this.frame[node]];
    return this.functions[this.functionOf[node]].name + (line ? `:${line}` : '');
  }

  text(number) { return number ? this.strings[number - 1] : ''; }

  nameFunctions() {
    const frames = this.frameName.length, numbers = new Map();
    this.functionOfFrame = new Uint32Array(frames);
    this.functions = [];
    const notes = new Map(this.head.function_notes || []);
    for (let f = 0; f < frames; f++) {
      const key = this.frameName[f] + ',' + this.frameImage[f];
      if (!numbers.has(key)) {
        numbers.set(key, this.functions.length);
        this.functions.push({name: this.text(this.frameName[f]), image: this.text(this.frameImage[f]), frame: f,
          note: notes.get(this.text(this.frameName[f])) || ''});
      }
      this.functionOfFrame[f] = numbers.get(key);
    }
    // In the order of names, for graphs whose boxes stay where they are.
    const order = [...this.functions.keys()].sort((a, b) => this.functions[a].name < this.functions[b].name ? -1 : 1);
    this.rank = new Uint32Array(this.functions.length);
    order.forEach((f, i) => { this.rank[f] = i; });
    this.functionOf = new Uint32Array(this.parent.length);
    for (let n = 1; n < this.parent.length; n++) this.functionOf[n] = this.functionOfFrame[this.frame[n]];
  }

  // The children of node n are children[first[n]] to children[first[n + 1] - 1].
  orderChildren() {
    const nodes = this.parent.length;
    this.first = new Uint32Array(nodes + 1);
    this.children = new Uint32Array(Math.max(nodes - 1, 0));
    for (let n = 1; n < nodes; n++) this.first[this.parent[n] + 1]++;
    for (let n = 0; n < nodes; n++) this.first[n + 1] += this.first[n];
    const next = this.first.slice();
    for (let n = 1; n < nodes; n++) this.children[next[this.parent[n]]++] = n;
  }

  // Is a metric one of events, which have times and threads? Its partner in the group is their sum.
  column(metric) {
    if (!this.ofEvents) {
      this.ofEvents = new Set(this.events.metric);
    }
    if (this.ofEvents.has(metric.number)) return 'count';
    return metric.number !== metric.group && this.ofEvents.has(metric.group) ? 'sum' : null;
  }

  // By node, what counts there itself; of events those of a thread and a range of slices.
  selfValues(metric, range, thread) {
    const self = new Float64Array(this.parent.length), column = this.column(metric);
    if (!column || (!range && thread < 0)) {
      for (let i = 0; i < metric.nodes.length; i++) self[metric.nodes[i]] += metric.values[i];
      return self;
    }
    const e = this.events, amounts = e[column], [from, to] = range || [0, Infinity];
    for (let i = 0; i < e.node.length; i++)
      if (e.metric[i] === metric.group && e.slice[i] >= from && e.slice[i] < to && (thread < 0 || e.thread[i] === thread))
        self[e.node[i]] += amounts[i];
    return self;
  }

  // By slice of time.
  overTime(metric, thread) {
    const sums = new Float64Array(this.head.slices), column = this.column(metric), e = this.events;
    if (!column) return null;
    for (let i = 0; i < e.node.length; i++)
      if (e.metric[i] === metric.group && (thread < 0 || e.thread[i] === thread)) sums[e.slice[i]] += e[column][i];
    return sums;
  }

  // The live bytes in slices of equal length, the largest number of each; null: there is no line.
  heapOverTime() {
    const line = this.head.heap_line, slices = this.head.slices;
    if (!line || !line.slices.length) return null;
    const end = line.slices.at(-1)[0] || 1, high = new Float64Array(slices), live = new Float64Array(slices);
    let at = 0, before = 0;
    for (let slice = 0; slice < slices; slice++) {
      const until = slice + 1 < slices ? (slice + 1) * end / slices : end;
      high[slice] = before;
      for (; at < line.slices.length && line.slices[at][0] <= until; at++) {
        high[slice] = Math.max(high[slice], line.slices[at][1]);
        before = line.slices[at][2];
      }
      live[slice] = before;
    }
    return {high, live, sliceNs: end / slices};
  }

  // By node, its own and what is below it.
  totals(self) {
    const total = self.slice();
    for (let n = total.length - 1; n > 0; n--) total[this.parent[n]] += total[n];
    return total;
  }

  path(node) {
    const nodes = [];
    for (; node; node = this.parent[node]) nodes.push(node);
    return nodes.reverse();
  }

  frameText(frame) {
    const file = this.text(this.frameFile[frame]);
    return file && file + (this.frameLine[frame] ? ':' + this.frameLine[frame] : '');
  }
}

const grouped = number => Math.round(number).toLocaleString('en-US');

function amount(metric, value) {
  const mark = metric.estimate ? '~' : '';
  if (metric.unit === 'bytes') {
    const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0, scaled = Math.abs(value);
    while (scaled >= 1024 && unit < units.length - 1) { scaled /= 1024; unit++; }
    return mark + (unit ? (value < 0 ? '-' : '') + scaled.toFixed(1) + ' ' + units[unit] : grouped(value) + ' bytes');
  }
  if (metric.unit === 'nanoseconds') return Math.abs(value) < 1e9 ? (value / 1e6).toFixed(1) + ' ms' : (value / 1e9).toFixed(2) + ' s';
  return mark + grouped(value);
}

const percent = (part, whole) => whole ? (100 * part / whole).toFixed(1) + ' %' : '';

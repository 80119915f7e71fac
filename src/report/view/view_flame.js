/*
 * view_flame.js - a flame graph on a canvas as large as its window: boxes narrower than half a pixel are not made, so a million contexts cost what
 * is seen of them. The outermost functions are at the top.
 */

// Okabe and Ito's colours, which are told apart by people who see few of them; lighter, for black text.
const distinct = ['#e69f00', '#56b4e9', '#2fbf95', '#f0e442', '#6fa8dc', '#ee8a5a', '#d9a3c7', '#bdbdbd'];
const warm = ['#f6c667', '#f5a95b', '#f28f5b', '#f7d98b', '#eeb07a', '#f3bf6a'];

function hash(text) {
  let sum = 7;
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
  return sum;
}

// The colour, paler by the function's name, so that neighbours differ.
function tint(color, name) {
  const part = 0.15 + 0.4 * (hash(name) % 64) / 64, number = parseInt(color.slice(1), 16);
  return `rgb(${[16, 8, 0].map(shift => { const c = number >> shift & 255; return Math.round(c + (255 - c) * part); }).join(', ')})`;
}

const paint = {
  image: (profile, item) => tint(distinct[hash(profile.functions[item.fn].image) % distinct.length], profile.functions[item.fn].name),
  file: (profile, item) => tint(distinct[hash(profile.text(profile.frameFile[profile.frame[item.node]])) % distinct.length], profile.functions[item.fn].name),
  warm: (profile, item) => warm[hash(profile.functions[item.fn].name) % warm.length],
};

class Flame {
  constructor(holder, canvas, space, on) {
    Object.assign(this, {holder, canvas, space, on, rows: [], tree: null, zoomed: null, chosen: null, row: 19, color: null, found: null});
    holder.addEventListener('scroll', () => this.paint());
    canvas.addEventListener('click', event => { const box = this.at(event); if (box) { this.choose(box.item); on.zoom(box.item); } });
    canvas.addEventListener('mousemove', event => {
      const box = this.at(event);
      canvas.style.cursor = box ? 'pointer' : '';
      canvas.title = box ? on.title(box.item) : '';
    });
    canvas.addEventListener('contextmenu', event => { const box = this.at(event); if (box) { event.preventDefault(); this.choose(box.item); } });
    new ResizeObserver(() => requestAnimationFrame(() => this.draw())).observe(holder);
  }

  show(tree, zoomed) {
    this.tree = tree;
    this.zoomed = zoomed || tree.root;
    this.chosen = null;
    this.holder.scrollTop = 0;
    this.draw();
  }

  // The boxes of each row, with their places in a graph as wide as the window.
  layout(width) {
    const rows = this.rows = [], place = (depth, box) => { (rows[depth] = rows[depth] || []).push(box); };
    if (!this.tree || !this.zoomed.value) return;
    const above = [];
    for (let item = this.zoomed.parent; item && item.fn >= 0; item = item.parent) above.unshift(item);
    above.forEach((item, depth) => place(depth, {x: 0, w: width, item, past: true}));
    const stack = [[this.zoomed, 0, above.length]], scale = width / this.zoomed.value;
    while (stack.length) {
      const [item, x, depth] = stack.pop(), w = item.value * scale;
      let below = depth, start = x;
      if (item.fn >= 0) {
        place(depth, {x, w, item, past: false});
        below++;
      }
      const children = this.tree.childrenOf(item), waiting = [];
      for (const child of children) {
        if (child.value * scale >= 0.5) waiting.push([child, start, below]);
        start += child.value * scale;
      }
      stack.push(...waiting.reverse());
    }
    for (const row of rows) row.sort((a, b) => a.x - b.x);
  }

  draw() {
    const width = this.holder.clientWidth;
    this.layout(width);
    this.space.style.height = Math.max(0, this.rows.length * this.row - this.canvas.clientHeight) + 'px';
    this.paint();
  }

  paint() {
    const {canvas, holder} = this, ratio = window.devicePixelRatio || 1, width = holder.clientWidth, height = holder.clientHeight;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = height + 'px';
    this.space.style.height = Math.max(0, this.rows.length * this.row - height) + 'px';
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, height);
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const from = Math.floor(holder.scrollTop / this.row), to = Math.min(this.rows.length, from + Math.ceil(height / this.row) + 1);
    for (let depth = from; depth < to; depth++)
      for (const box of this.rows[depth] || []) this.paintBox(context, box, depth * this.row - holder.scrollTop);
  }

  paintBox(context, box, y) {
    const {item, x, w} = box, h = this.row - 1, name = this.on.name(item);
    context.globalAlpha = box.past ? 0.55 : this.found && !this.found[item.fn] ? 0.35 : 1;
    context.fillStyle = this.color(item);
    context.fillRect(x, y, Math.max(w - 0.6, 0.5), h);
    context.globalAlpha = 1;
    if (w > 26) {
      context.fillStyle = '#111';
      let shown = name;
      const room = w - 8;
      if (context.measureText(shown).width > room) {
        let low = 0, high = shown.length;
        while (low < high) {
          const middle = (low + high + 1) >> 1;
          if (context.measureText(shown.slice(0, middle) + '…').width <= room) low = middle; else high = middle - 1;
        }
        shown = low > 1 ? shown.slice(0, low) + '…' : '';
      }
      // What is faint gets a plain ground for its text.
      if (box.past || (this.found && !this.found[item.fn])) context.fillStyle = getComputedStyle(document.body).color;
      context.fillText(shown, x + 4, y + h / 2 + 1);
    }
    if (item === this.chosen) {
      context.strokeStyle = getComputedStyle(document.body).color;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(w - 2.6, 1), h - 2);
    }
  }

  at(event) {
    const place = this.canvas.getBoundingClientRect(), x = event.clientX - place.left;
    const row = this.rows[Math.floor((event.clientY - place.top + this.holder.scrollTop) / this.row)] || [];
    let low = 0, high = row.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1, box = row[middle];
      if (x < box.x) high = middle - 1; else if (x >= box.x + Math.max(box.w, 0.5)) low = middle + 1; else return box;
    }
    return null;
  }

  choose(item) {
    this.chosen = item;
    const depth = this.rows.findIndex(row => row && row.some(box => box.item === item)), top = depth * this.row;
    if (depth >= 0 && (top < this.holder.scrollTop || top + this.row > this.holder.scrollTop + this.holder.clientHeight))
      this.holder.scrollTop = Math.max(0, top - this.holder.clientHeight / 2);
    this.paint();
    this.on.choose(item);
  }

  // By arrow keys, from the chosen box to one that is there.
  move(key) {
    const rows = this.rows;
    if (!rows.length) return;
    const depth = rows.findIndex(row => row && row.some(box => box.item === this.chosen));
    if (depth < 0) { this.choose(rows.find(row => row)[0].item); return; }
    const index = rows[depth].findIndex(box => box.item === this.chosen), box = rows[depth][index];
    let next = null;
    if (key === 'ArrowLeft') next = rows[depth][index - 1];
    if (key === 'ArrowRight') next = rows[depth][index + 1];
    if (key === 'ArrowUp') next = depth && rows[depth - 1].find(above => above.x <= box.x + 0.01 && above.x + above.w >= box.x + box.w - 0.01);
    if (key === 'ArrowDown') next = (rows[depth + 1] || []).filter(below => below.x >= box.x - 0.01 && below.x < box.x + box.w)
      .sort((a, b) => b.w - a.w)[0];
    if (next) this.choose(next.item);
  }
}

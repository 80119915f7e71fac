// flame.js SVG - runs the script inside a flame graph on a small stand-in for a browser's document: zooms, resets, searches.
'use strict';
const fs = require('fs');
const svg = fs.readFileSync(process.argv[2], 'utf8');
const script = svg.match(/<script><!\[CDATA\[([\s\S]*)\]\]><\/script>/)[1];
let failures = 0;

function check(is_true, text) {
	if (!is_true) {
		console.error('failed: ' + text);
		failures++;
	}
}

function element(attributes, text) {
	const classes = new Set();
	return {
		attributes, textContent: text, style: {}, listeners: {}, dataset: {}, parts: {},
		classList: { toggle: (name, on) => { if (on) classes.add(name); else classes.delete(name); }, has: n => classes.has(n) },
		getAttribute(name) { return String(this.attributes[name]); },
		setAttribute(name, value) { this.attributes[name] = value; },
		addEventListener(name, f) { this.listeners[name] = f; },
		querySelector(name) { return this.parts[name]; },
	};
}

function attributes_of(text) {
	const found = {};
	for (const m of text.matchAll(/([a-z-]+)="([^"]*)"/g))
		found[m[1]] = m[2];
	return found;
}

const groups = [];
const form = /<g class="f" ([^>]*)><title>([\s\S]*?)<\/title><rect ([^>]*)\/><text ([^>]*)>([^<]*)<\/text><\/g>/g;
for (const m of svg.matchAll(form)) {
	const g = element({}, '');
	const own = attributes_of(m[1]);
	g.dataset = { x: own['data-x'], w: own['data-w'], label: own['data-label'] };
	g.parts = { title: element({}, m[2]), rect: element(attributes_of(m[3]), ''), text: element(attributes_of(m[4]), m[5]) };
	groups.push(g);
}
check(groups.length > 3, 'the picture has boxes');

const ids = {};
for (const id of ['reset', 'search', 'matched', 'query', 'producer', 'pattern']) {
	const tag = svg.match(new RegExp(`<[^>]* id="${id}"[^>]*>`))[0];
	ids[id] = element(attributes_of(tag), '');
	ids[id].value = '';
	ids[id].focus = ids[id].select = () => {};
	ids[id].removeAttribute = name => { delete ids[id].attributes[name]; };
}
const keys = {};
const root = element(attributes_of(svg.match(/<svg [^>]*>/)[0]), '');
root.localName = 'svg';
const document = { querySelectorAll: () => groups, getElementById: id => ids[id], documentElement: root };
const window = { innerWidth: 1200, addEventListener: (name, f) => { keys[name] = f; } };
new Function('document', 'window', script)(document, window);

const name_of = g => g.parts.title.textContent.split('\n')[0];
const width_of = g => Number(g.parts.rect.attributes.width);
const find = name => groups.find(g => name_of(g) === name);
const again = find('again'), all = groups[0], other = groups.find(g => name_of(g).startsWith('std::less'));

again.listeners.click();
check(width_of(again) > 1170, 'the chosen box fills the width: ' + width_of(again));
check(width_of(all) > 1170 && all.classList.has('past'), 'the root fills the width and goes pale');
check(other.style.display === 'none', 'what is not below the chosen box is hidden');
check(ids.reset.attributes.visibility === 'visible', 'there is a way back');
ids.reset.listeners.click();
check(other.style.display === '' && !all.classList.has('past'), 'all is back');
check(Math.abs(width_of(again) - 0.288 * 1176) < 2, 'widths are back: ' + width_of(again));
ids.search.listeners.click();
check(ids.query.attributes.visibility === 'visible' && ids.search.attributes.visibility === 'hidden', 'a field to search in');
ids.pattern.value = '^again$';
ids.pattern.listeners.input();
check(again.classList.has('found') && !other.classList.has('found'), 'search finds by name');
check(/^matched: 28\.\d+%$/.test(ids.matched.textContent), 'nested finds count once: ' + ids.matched.textContent);
ids.pattern.value = '(';
ids.pattern.listeners.input();
check(ids.pattern.attributes['aria-invalid'] === 'true' && again.classList.has('found'), 'what is no expression is said');
keys.keydown({ key: 'Escape' });
check(!again.classList.has('found') && ids.matched.textContent === '' && ids.query.attributes.visibility === 'hidden', 'Escape ends a search');
window.innerWidth = 2000;
keys.resize();
check(Math.abs(width_of(again) - 0.288 * 1976) < 2 && ids.search.attributes.x === 1988 && root.attributes.viewBox.startsWith('0 0 2000 '), 'the window is filled');
again.listeners.click();
window.innerWidth = 800;
keys.resize();
check(Math.abs(width_of(again) - 776) < 2 && other.style.display === 'none', 'a zoom stays');
process.exit(failures ? 1 : 0);

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

const ids = { reset: element({}, ''), search: element({}, ''), matched: element({}, '') };
const keys = {};
let answer = null;
const document = { querySelectorAll: () => groups, getElementById: id => ids[id] };
const window = { addEventListener: (name, f) => { keys[name] = f; } };
new Function('document', 'window', 'prompt', 'alert', script)(document, window, () => answer, () => {});

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
answer = '^again$';
ids.search.listeners.click();
check(again.classList.has('found') && !other.classList.has('found'), 'search finds by name');
check(/^matched: 28\.\d+%$/.test(ids.matched.textContent), 'nested finds count once: ' + ids.matched.textContent);
answer = '';
keys.keydown({ key: 'f', ctrlKey: true, preventDefault() {} });
check(!again.classList.has('found') && ids.matched.textContent === '', 'an empty search ends it');
process.exit(failures ? 1 : 0);

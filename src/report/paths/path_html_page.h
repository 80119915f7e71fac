/*
 * path_html_page.h - script of the page of path_html.c. Private to it; html.c has the style.
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
#ifndef WM_REPORT_PATHS_PATH_HTML_PAGE_H
#define WM_REPORT_PATHS_PATH_HTML_PAGE_H

static const char html_script[] =
	"'use strict';\n"
	"const all = (s, r = document) => [...r.querySelectorAll(s)], id = s => document.getElementById(s);\n"
	"let picked = null;\n"
	"document.body.classList.add('js');\n"
	"function clear() {\n"
	"  for (const row of all('tr.on')) row.classList.remove('on');\n"
	"  for (const way of all('.way')) way.remove();\n"
	"  if (picked) picked.classList.remove('on');\n"
	"  picked = null;\n"
	"  id('bar').classList.remove('open');\n"
	"}\n"
	"function open(element) {\n"
	"  const page = (element && element.closest('.page')) || id('index');\n"
	"  for (const p of all('.page')) p.classList.toggle('open', p === page);\n"
	"  for (const a of all('nav a')) a.classList.toggle('open', a.getAttribute('href') === '#' + page.id);\n"
	"  return page;\n"
	"}\n"
	"function into_view(row) {\n"
	"  const box = row.getBoundingClientRect();\n"
	"  if (box.top < 60 || box.bottom > innerHeight - 100) row.scrollIntoView({block: 'center'});\n"
	"}\n"
	"function pick(button) {\n"
	"  const again = button === picked;\n"
	"  clear();\n"
	"  if (again) return;\n"
	"  open(button);\n"
	"  picked = button;\n"
	"  button.classList.add('on');\n"
	"  let first = null;\n"
	"  for (const [row_id, outcome] of JSON.parse(button.dataset.steps)) {\n"
	"    const row = id(row_id);\n"
	"    if (!row) continue;\n"
	"    first = first || row;\n"
	"    row.classList.add('on');\n"
	"    if (!outcome) continue;\n"
	"    const way = document.createElement('span');\n"
	"    way.className = 'way';\n"
	"    way.textContent = outcome;\n"
	"    row.querySelector('td.s').append(way);\n"
	"  }\n"
	"  id('said').textContent = button.title;\n"
	"  id('bar').classList.add('open');\n"
	"  if (first) into_view(first);\n"
	"}\n"
	"function step(by) {\n"
	"  if (!picked) return;\n"
	"  const paths = all('.path', picked.parentElement), next = paths[paths.indexOf(picked) + by];\n"
	"  if (next) pick(next);\n"
	"}\n"
	"function go() {\n"
	"  const to = id(decodeURIComponent(location.hash.slice(1)));\n"
	"  if (to && to.matches('.path')) {\n"
	"    if (to !== picked) pick(to);\n"
	"    return;\n"
	"  }\n"
	"  clear();\n"
	"  const page = open(to);\n"
	"  if (to && to !== page) to.scrollIntoView({block: 'center'});\n"
	"  else scrollTo(0, 0);\n"
	"}\n"
	"document.addEventListener('click', e => {\n"
	"  const button = e.target.closest('.path');\n"
	"  if (button) pick(button);\n"
	"});\n"
	"document.addEventListener('keydown', e => {\n"
	"  if (e.target.matches('input')) return;\n"
	"  if (e.key === 'Escape') clear();\n"
	"  if (e.key === 'n') step(1);\n"
	"  if (e.key === 'p') step(-1);\n"
	"});\n"
	"id('close').addEventListener('click', clear);\n"
	"id('next').addEventListener('click', () => step(1));\n"
	"id('previous').addEventListener('click', () => step(-1));\n"
	"const filter = id('filter');\n"
	"if (filter) filter.addEventListener('input', () => {\n"
	"  const text = filter.value.toLowerCase();\n"
	"  for (const row of all('#functions tbody tr'))\n"
	"    row.hidden = !row.textContent.toLowerCase().includes(text);\n"
	"});\n"
	"addEventListener('hashchange', go);\n"
	"go();\n";

#endif

/* slice_page.js - opens one file at a time on the page of slice_html.c: #f<N>, and rows #f<N>-L<line>. */

'use strict';
document.body.classList.add('js');
function go() {
  const pages = [...document.querySelectorAll('.page')], to = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const here = document.querySelector('tr.criterion'), row = to || here;
  const page = (row && row.closest('.page')) || pages[0];
  for (const p of pages) p.classList.toggle('open', p === page);
  for (const a of document.querySelectorAll('nav a')) a.classList.toggle('open', page && a.getAttribute('href') === '#' + page.id);
  if (row && row !== page) row.scrollIntoView({block: 'center'});
}
addEventListener('hashchange', go);
go();
addEventListener('load', () => setTimeout(go));

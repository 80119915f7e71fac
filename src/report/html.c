/* html.c - escaping, names of files and the style that the pages share. */
#include <stdint.h>
#include <string.h>

#include "report/html.h"
#include "base/json_writer.h"
#include "report/path_listing.h"

void html_part(FILE *out, const char *text, size_t len_bytes)
{
	const char *end = text + len_bytes;

	for (size_t len; text < end; text += len) {
		len = utf8_len((const uint8_t *)text);
		if (len == 0 || ((uint8_t)*text < ' ' && *text != '\t') || *text == 0x7f) {
			fputs("\xef\xbf\xbd", out);
			len = 1;
		} else if (*text == '&') {
			fputs("&amp;", out);
		} else if (*text == '<') {
			fputs("&lt;", out);
		} else if (*text == '>') {
			fputs("&gt;", out);
		} else if (*text == '"') {
			fputs("&quot;", out);
		} else if (*text == '\'') {
			fputs("&#39;", out);
		} else {
			fwrite(text, 1, len, out);
		}
	}
}

void html_text(FILE *out, const char *text)
{
	html_part(out, text, strlen(text));
}

struct error *html_capture(FILE **ret_stream, char **ret_text, size_t *ret_size)
{
	*ret_text = NULL;
	*ret_stream = open_memstream(ret_text, ret_size);
	return *ret_stream ? NULL : &error_no_memory;
}

const char *html_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Headers of the system and the compiler: none of the program's own files. */
static bool is_foreign(const char *name)
{
	return strncmp(name, "/usr/include/", 13) == 0 || strncmp(name, "/usr/lib/", 9) == 0;
}

struct error *html_names_create(const char *const *names, size_t count, struct arena *arena, struct html_names *ret)
{
	struct html_names n = {.plain = arena_calloc(arena, count + 1, sizeof *n.plain)};
	char *directory = NULL;

	if (!n.plain)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++) {
		const char *name = source_plain_name(names[i], arena);
		size_t len = 0;

		if (!name)
			return &error_no_memory;
		n.plain[i] = name;
		if (is_foreign(name))
			continue;
		if (!directory && !(directory = arena_strdup(arena, name)))
			return &error_no_memory;
		while (directory[len] && directory[len] == name[len])
			len++;
		while (len && directory[len - 1] != '/')
			len--;
		directory[len] = '\0';
	}
	n.directory = directory && strcmp(directory, "/") != 0 ? directory : "";
	*ret = n;
	return NULL;
}

const char *html_short_name(const struct html_names *names, size_t index)
{
	size_t len = strlen(names->directory);
	const char *name = names->plain[index];

	return name + (strncmp(name, names->directory, len) == 0 ? len : 0);
}

void html_print_name(FILE *out, const char *name)
{
	const char *base = strrchr(name, '/');

	base = base ? base : name;
	if (base > name) {
		fputs("<span>", out);
		html_part(out, name, (size_t)(base - name));
		fputs("</span>", out);
	}
	fputs("<span>", out);
	html_text(out, base);
	fputs("</span>", out);
}

const char html_style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--dim:#667080;--line:#dfe3e8;--side:#f6f7f9;--link:#0b5cad;"
	"--heat:235,110,20;--never:#fbe3e3;--zero:#f8c9c9;--on:#d7e8ff;--onbar:#2f7de1;--true:#16794a;--false:#a05a00;--chip:#eef1f5}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#dde2e8;--dim:#8b95a3;--line:#2c323a;--side:#1b1f24;"
	"--link:#79b8ff;--heat:240,130,40;--never:#3f2226;--zero:#70353b;--on:#1d3553;--onbar:#5aa2f5;--true:#5fd39b;--false:#e5ad5c;"
	"--chip:#262c34}}\n"
	"*{box-sizing:border-box}html{scroll-padding:4em 0 6em}\n"
	"body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.45 system-ui,sans-serif;display:flex}\n"
	"a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}\n"
	"nav{flex:0 0 17em;height:100vh;position:sticky;top:0;overflow:auto;background:var(--side);"
	"border-right:1px solid var(--line);padding:1em}\n"
	"nav a{display:flex;padding:.15em .4em;border-radius:4px;white-space:nowrap}\n"
	"nav span{overflow:hidden;text-overflow:ellipsis}nav span:last-child{flex:none;max-width:100%}\n"
	"nav a.open{background:var(--on)}nav strong{display:block;margin-bottom:.6em}\n"
	"main{flex:1 1 0;min-width:0;padding:1em 1.6em 7em}\n"
	".js .page{display:none}.js .page.open{display:block}\n"
	"h1{font-size:1.5em;margin:.1em 0 .6em}h2{font-size:1.15em;margin:1.6em 0 .5em}"
	"h1 small,h2 small{font-weight:normal;color:var(--dim);font-size:.75em;overflow-wrap:anywhere}\n"
	".cards{display:flex;flex-wrap:wrap;gap:.7em}.card{border:1px solid var(--line);border-radius:8px;"
	"padding:.5em .9em;min-width:9.5em}.card b{display:block;font-size:1.3em;font-weight:600}"
	".card span{color:var(--dim)}\n"
	".bar{height:4px;border-radius:2px;background:var(--line);margin-top:.35em}.bar i{display:block;height:4px;"
	"border-radius:2px;background:var(--onbar)}\n"
	".note{border-left:3px solid var(--false);background:var(--side);padding:.4em .8em;margin:.6em 0;"
	"overflow-wrap:anywhere}\n"
	"table{border-collapse:collapse}table.list th{text-align:left;color:var(--dim);font-weight:normal;"
	"position:sticky;top:0;background:var(--bg)}\n"
	"table.list td,table.list th{padding:.18em 1em .18em 0;vertical-align:top}"
	"table.list tr:hover td{background:var(--side)}\n"
	"td.r,th.r{text-align:right!important;font-variant-numeric:tabular-nums;white-space:nowrap}"
	"td.w{overflow-wrap:anywhere}.dim{color:var(--dim)}\n"
	"input{font:inherit;padding:.3em .6em;border:1px solid var(--line);border-radius:6px;background:var(--bg);"
	"color:inherit;width:20em;max-width:100%}\n"
	"table.src{width:100%;font:12.5px/1.5 ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
	"table.src td{padding:0 .6em;vertical-align:top}td.n{color:var(--dim);text-align:right;width:4.5em;"
	"user-select:none;border-right:1px solid var(--line)}td.c{text-align:right;width:8em;white-space:nowrap;"
	"font-variant-numeric:tabular-nums}\n"
	"td.s{white-space:pre-wrap;tab-size:8;overflow-wrap:anywhere;border-left:4px solid transparent}\n"
	".h0 td.c{color:var(--dim);background:var(--never)}\n"
	".h1 td.c{background:rgba(var(--heat),.08)}.h2 td.c{background:rgba(var(--heat),.16)}"
	".h3 td.c{background:rgba(var(--heat),.24)}.h4 td.c{background:rgba(var(--heat),.33)}"
	".h5 td.c{background:rgba(var(--heat),.43)}.h6 td.c{background:rgba(var(--heat),.54)}"
	".h7 td.c{background:rgba(var(--heat),.66)}.h8 td.c{background:rgba(var(--heat),.8)}\n"
	".h0 td.s{background:color-mix(in srgb,var(--never) 45%,transparent)}\n"
	".ways{margin-left:2.5em;font-size:.88em;color:var(--dim);white-space:normal}.ways span{margin-right:.7em;"
	"white-space:nowrap}.ways span.z{color:var(--fg);background:var(--zero);border-radius:3px;padding:0 .35em}\n"
	".way{margin-left:1.5em;padding:0 .5em;border-radius:3px;background:var(--onbar);color:var(--bg);font-size:.88em;"
	"white-space:nowrap}\n"
	"tr.on td.s{background:var(--on);border-left-color:var(--onbar)}tr.on td.n{color:var(--fg);font-weight:bold}\n"
	"tr.fn td{padding:1.1em .6em .4em;font:14px/1.45 system-ui,sans-serif}tr.fn b{font-size:1.05em}"
	"tr.gap td{color:var(--dim);padding:.5em 2em;font-style:italic}\n"
	".paths{display:flex;flex-wrap:wrap;gap:.35em;margin-top:.4em}\n"
	"button{font:inherit;color:inherit;cursor:pointer;border:1px solid var(--line);border-radius:6px;"
	"background:var(--chip);padding:.1em .6em}button:hover{border-color:var(--onbar)}"
	"button.on{background:var(--onbar);color:var(--bg);border-color:var(--onbar)}\n"
	".path i{display:inline-block;height:.55em;background:rgba(var(--heat),.9);border-radius:2px;"
	"margin-right:.4em}\n"
	"#bar{display:none;position:fixed;left:0;right:0;bottom:0;background:var(--side);"
	"border-top:2px solid var(--onbar);padding:.6em 1.6em;gap:1em;align-items:center}"
	".js #bar.open{display:flex}#bar p{flex:1;margin:0;min-width:0;overflow-wrap:anywhere}\n"
	"@media(max-width:60em){body{display:block}nav{position:static;height:auto;max-height:12em}main{padding:1em}}\n"
	"@media print{nav,#bar{display:none!important}}\n";

/*
 * embedded.h - scripts and styles that the build makes constants of (scripts/embed.py): FILE.js is FILE_js.
 */
#ifndef WM_REPORT_EMBEDDED_H
#define WM_REPORT_EMBEDDED_H

extern const char html_css[];
extern const char crash_css[];
extern const char crash_js[];
extern const char paths_js[];
extern const char flame_css[];
extern const char flame_js[];
extern const char slice_css[];
extern const char slice_js[];
extern const char slice_page_js[];
extern const char view_css[];
extern const char view_html[];
extern const char view_data_js[];
extern const char view_trees_js[];
extern const char view_flame_js[];
extern const char view_panels_js[];
extern const char view_page_js[];

#endif

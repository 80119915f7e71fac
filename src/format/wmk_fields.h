/*
 * wmk_fields.h - the fields of the records of a .wmk, as X(bits, name): readers and writers of a record are made of one list. Each field is
 * little-endian, at the offset that it has in the struct of waymark/wmk.h. The state, reserved fields and arrays are not listed.
 */
#ifndef WM_FORMAT_WMK_FIELDS_H
#define WM_FORMAT_WMK_FIELDS_H

/* clang-format off */
#define WMK_IMAGE_FIELDS(X) \
	X(64, meta_key) X(64, load_address) X(32, site_base) X(32, site_count) X(64, path) \
	X(32, build_id_bytes) X(32, kind)
#define WMK_NODE_FIELDS(X) \
	X(64, id) X(32, parent) X(32, site) X(32, run) X(32, epoch)
#define WMK_EVENT_FIELDS(X) \
	X(64, time_ns) X(64, value) X(64, id) X(32, prefix) X(32, site) X(32, name) X(32, epoch) X(32, tid)
#define WMK_THREAD_FIELDS(X) \
	X(64, time_ns) X(32, tid) X(32, name)
#define WMK_HEAP_FIELDS(X) \
	X(64, id) X(32, prefix) X(32, site) X(64, count) X(64, bytes) X(64, freed_bytes) X(32, epoch) \
	X(32, size_class) X(64, at_peak_bytes) X(64, at_peak_of) X(64, temporary_count) X(64, inherited_count) \
	X(64, inherited_bytes) X(64, inherited_freed_count) X(64, inherited_freed_bytes) X(64, unreached_count) \
	X(64, unreached_bytes)
#define WMK_HEAP_TIME_FIELDS(X) \
	X(64, time_ns) X(64, live_bytes) X(64, low_bytes) X(64, high_bytes)
#define WMK_SUM_FIELDS(X) \
	X(64, start_ns) X(64, end_ns) X(64, count) X(64, value) X(64, id) X(32, prefix) X(32, site) X(32, name) \
	X(32, epoch) X(32, tid)
#define WMK_HEAP_SUM_FIELDS(X) \
	X(64, id) X(32, prefix) X(32, site) X(64, count) X(64, bytes) X(64, freed_count) X(64, freed_bytes) \
	X(64, at_peak_bytes) X(64, inherited_count) X(64, inherited_bytes) X(64, inherited_freed_count) \
	X(64, inherited_freed_bytes) X(64, temporary_count) X(64, reachable_count) X(64, reachable_bytes) \
	X(64, lost_count) X(64, lost_bytes) X(32, epoch) X(32, flags) X(32, size_class)
#define WMK_PATHS_FIELDS(X) \
	X(64, name_key) X(64, cfg_key) X(64, path_count) X(32, image) X(8, kind) X(8, bits) X(16, flags) \
	X(32, entry_count)
#define WMK_PATH_COUNT_FIELDS(X) \
	X(64, name_key) X(64, cfg_key) X(64, path_count) X(64, r) X(64, count) X(64, id) X(32, prefix) \
	X(32, site) X(32, image) X(8, kind) X(8, bits) X(16, flags) X(32, epoch)
#define WMK_FUNCTION_FIELDS(X) \
	X(64, address) X(32, image) X(32, name) X(32, owner) X(32, descriptor) X(32, file) X(32, line) \
	X(32, flags)
#define WMK_SITE_FIELDS(X) \
	X(32, function) X(32, kind) X(32, name) X(32, position) X(32, line) X(32, flags)
#define WMK_LINE_FIELDS(X) \
	X(32, function) X(32, position) X(32, line)
#define WMK_EPOCH_FIELDS(X) \
	X(64, start_ns) X(32, epoch) X(32, function_count) X(32, edge_count) X(32, base) X(32, flags)
#define WMK_EPOCH_FUNCTION_FIELDS(X) \
	X(64, contexts) X(64, restart) X(32, epoch) X(32, function) X(32, flags)
#define WMK_EPOCH_EDGE_FIELDS(X) \
	X(64, addend) X(32, epoch) X(32, site) X(32, callee) X(32, kind)
/* Behind the magic. */
#define WMK_HEADER_FIELDS(X) \
	X(32, version) X(32, chunk_bytes) X(64, run) X(64, parent_run) X(32, pid) X(32, flags) \
	X(32, chunk_count) X(64, start_realtime_ns) X(64, start_monotonic_ns) X(64, limit_bytes) \
	X(64, dropped_events) X(64, dropped_prefixes) X(64, dropped_heap_calls) X(64, drop_errno) \
	X(64, heap_live_bytes) X(64, heap_peak_bytes) X(64, heap_unknown_frees) X(64, dropped_path_tables) \
	X(64, dropped_paths) X(64, merged_runs) X(64, dropped_code) X(64, samples) X(64, samples_unknown) \
	X(64, samples_in_agent) X(64, samples_checked) X(64, samples_agreed) X(64, samples_unchecked) \
	X(64, lost_children) X(64, session) X(32, session_pid) X(32, agent) X(64, missed_programs) \
	X(64, sample_period_ns) X(64, samples_cut) X(64, samples_guessed) X(64, wall_period_ns) X(64, wall_samples) \
	X(64, heap_interval_bytes) X(64, heap_cut) X(64, heap_guessed) X(64, replaced_children) \
	X(64, replaced_heap_calls) X(64, recycled_chunks) X(64, heap_reach)
/* clang-format on */

/* A member of an initializer of *ret, from the record at p. */
#define WMK_LOAD_FIELD(bits, name) .name = wmk_load_u##bits(p + offsetof(__typeof__(*ret), name)),

#endif

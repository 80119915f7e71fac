/* cc_request.c - reads clang's options one after the other; knows which have a value in the next word. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "cli/cc_request.h"

static bool equals_any(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(text, *list))
			return true;
	return false;
}

/* Options whose value is the next word. */
static bool takes_value(const char *option)
{
	static const char *const list[] = {"-x",
					   "-I",
					   "-D",
					   "-U",
					   "-L",
					   "-l",
					   "-include",
					   "-imacros",
					   "-isystem",
					   "-iquote",
					   "-idirafter",
					   "-isysroot",
					   "-iprefix",
					   "-iwithprefix",
					   "-iwithprefixbefore",
					   "-MF",
					   "-MT",
					   "-MQ",
					   "-MJ",
					   "-Xlinker",
					   "-Xclang",
					   "-Xassembler",
					   "-Xpreprocessor",
					   "-T",
					   "-u",
					   "-z",
					   "-e",
					   "-B",
					   "-mllvm",
					   "-A",
					   "-G",
					   "-aux-info",
					   "--param",
					   "-arch",
					   "-F",
					   "--sysroot",
					   "-dumpdir",
					   "-serialize-diagnostics",
					   "-Xanalyzer",
					   "-include-pch",
					   "-rpath",
					   NULL};
	return equals_any(option, list);
}

/* -g that asks for debug info; -g0 and -gz do not. */
static bool is_debug_option(const char *option)
{
	static const char *const other[] = {"-g0", "-ggdb0", "-gsplit-dwarf", "-gz", "-gno-record-gcc-switches", NULL};
	if (!text_begins(option, "-g") || equals_any(option, other) || text_begins(option, "-gz=") ||
	    text_begins(option, "-gno-") || text_begins(option, "-gcc-") || text_begins(option, "-gdwarf-aranges"))
		return false;
	return true;
}

static bool is_other_target(const char *option, const char *value)
{
	const char *target = NULL;
	if (text_begins(option, "--target="))
		target = option + strlen("--target=");
	else if (!strcmp(option, "-target"))
		target = value;
	return !strcmp(option, "-m32") || !strcmp(option, "-mx32") || !strcmp(option, "-m16") ||
	       (target && !text_begins(target, "x86_64"));
}

static bool is_source(const char *file)
{
	static const char *const suffixes[] = {".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".i", ".ii", NULL};
	const char *suffix = strrchr(file, '.');
	return suffix && equals_any(suffix, suffixes);
}

/* The language of -x: what is compiled is a header, to a file of its own. */
static bool is_header_language(const char *language)
{
	const char *end = strrchr(language, '-');
	return end && !strcmp(end, "-header");
}

/* clang compiles it like a header of -x. */
static bool is_header(const char *file)
{
	static const char *const suffixes[] = {".h", ".hh", ".hpp", ".hxx", ".H", ".hp", ".h++", ".tcc", NULL};
	const char *suffix = strrchr(file, '.');
	return suffix && equals_any(suffix, suffixes);
}

static void set_lto(struct cc_request *r, bool uses)
{
	r->uses_lto = uses;
	r->no_lto = !uses;
}

/* One word of the linker's, of len characters. */
static void note_linker_word(struct cc_request *r, const char *word, size_t len)
{
	static const struct {
		const char *word;
		const char *symbolic;
	} words[] = {{"-Bsymbolic", "all"},
		     {"-Bsymbolic-functions", "all"},
		     {"-Bsymbolic-non-weak", "non-weak"},
		     {"-Bsymbolic-non-weak-functions", "non-weak"},
		     {"-Bno-symbolic", NULL}};
	static const char *const lists[] = {"dynamic-list", "export-dynamic-symbol"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i].word) == len && !memcmp(word, words[i].word, len))
			r->symbolic = words[i].symbolic;
	r->asks_linker = true;
	r->is_relocatable |= (len == strlen("-r") && !memcmp(word, "-r", len)) ||
			     (len == strlen("--relocatable") && !memcmp(word, "--relocatable", len));
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		r->has_dynamic_list |= memmem(word, len, lists[i], strlen(lists[i])) != NULL;
}

static void note_linker_words(struct cc_request *r, const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ",");
		note_linker_word(r, list, len);
		list += len + (list[len] == ',');
	}
}

/*
 * Sanitizers that are passes over the module, or that need the whole program. LLVM 19 makes a fat object's machine code from the
 * module that its bitcode was taken from: such a pass runs a second time over what it has instrumented, and what the linker has to
 * lower (-fsanitize=cfi, -fvirtual-function-elimination) ends the compiler.
 */
static const char *const pass_sanitizers[] = {"address",         "kernel-address",
					      "hwaddress",       "kernel-hwaddress",
					      "memory",          "kernel-memory",
					      "thread",          "dataflow",
					      "fuzzer",          "memtag",
					      "numerical",       "realtime",
					      "fuzzer-no-link",  "cfi",
					      "cfi-cast-strict", "cfi-derived-cast",
					      "cfi-icall",       "cfi-mfcall",
					      "cfi-nvcall",      "cfi-unrelated-cast",
					      "cfi-vcall",       NULL};

/* The bit of the one that renames functions, each time it runs: symbols beside bitcode would not be the bitcode's. */
static uint32_t renaming_sanitizers(void)
{
	unsigned i = 0;
	while (strcmp(pass_sanitizers[i], "dataflow") != 0)
		i++;
	return 1U << i;
}

/* list: of -fsanitize= or -fno-sanitize=; *set has a bit for each of pass_sanitizers that is on. */
static void note_sanitizers(uint32_t *set, const char *list, bool on)
{
	static_assert(sizeof pass_sanitizers / sizeof *pass_sanitizers <= 32, "a bit each");
	while (*list) {
		size_t len = strcspn(list, ",");
		bool is_all = len == strlen("all") && !memcmp(list, "all", len);
		for (unsigned i = 0; pass_sanitizers[i]; i++) {
			bool is_cfi = len == strlen("cfi") && !memcmp(list, "cfi", len) &&
				      text_begins(pass_sanitizers[i], "cfi");
			bool is_named = strlen(pass_sanitizers[i]) == len && !memcmp(list, pass_sanitizers[i], len);
			if (is_named || is_cfi || (is_all && !on))
				*set = on ? *set | 1U << i : *set & ~(1U << i);
		}
		list += len + (list[len] == ',');
	}
}

/* option is -fNAME or -fno-NAME: *on says which. */
static bool is_switch(const char *option, const char *name, bool *on)
{
	bool is_off = text_begins(option, "-fno-");
	if (!text_begins(option, "-f") || strcmp(option + (is_off ? strlen("-fno-") : strlen("-f")), name) != 0)
		return false;
	*on = !is_off;
	return true;
}

/* The last of these counts, as in clang. */
static void note_instrumentation(struct cc_request *r, const char *option)
{
	if (text_begins(option, "-fsanitize="))
		note_sanitizers(&r->pass_sanitizers, option + strlen("-fsanitize="), true);
	else if (text_begins(option, "-fno-sanitize="))
		note_sanitizers(&r->pass_sanitizers, option + strlen("-fno-sanitize="), false);
	else if (text_begins(option, "-fsanitize-coverage="))
		r->has_sanitizer_coverage = true;
	else if (text_begins(option, "-fno-sanitize-coverage="))
		r->has_sanitizer_coverage = false;
	else if (is_switch(option, "fat-lto-objects", &r->wants_fat_objects))
		r->no_fat_objects = !r->wants_fat_objects;
	else if (!strcmp(option, "-fmemory-profile") || text_begins(option, "-fmemory-profile="))
		r->has_memory_profile = true;
	else if (!strcmp(option, "-fno-memory-profile"))
		r->has_memory_profile = false;
	else
		is_switch(option, "virtual-function-elimination", &r->eliminates_virtual_calls);
}

/* LLVM can make machine code beside the bitcode. */
static bool can_be_fat(const struct cc_request *r)
{
	return !r->has_sanitizer_coverage && !r->has_memory_profile && !r->eliminates_virtual_calls &&
	       !r->pass_sanitizers;
}

enum cc_object cc_request_object(const struct cc_request *r, bool wants_thin)
{
	if (r->no_fat_objects || (r->links && !r->is_relocatable && !r->saves_temporaries) ||
	    (r->pass_sanitizers & renaming_sanitizers()))
		return CC_OBJECT_BITCODE;
	if (r->uses_lto && !r->wants_fat_objects && !wants_thin)
		return CC_OBJECT_BITCODE;
	return wants_thin || !can_be_fat(r) ? CC_OBJECT_THIN : CC_OBJECT_FAT;
}

static void note_mode(struct cc_request *r, const char *option)
{
	static const char *const compile_only[] = {"-c",        "-S",           "-E",
						   "-M",        "-MM",          "-fsyntax-only",
						   "--compile", "--assemble",   "--preprocess",
						   "-emit-ast", "--precompile", NULL};
	static const char *const questions[] = {"--version", "-dumpversion", "-dumpmachine", "--help", "-help", NULL};
	if (equals_any(option, compile_only) || text_begins(option, "-fmodule-header"))
		r->links = false;
	else if (equals_any(option, questions) || text_begins(option, "-print-") || text_begins(option, "--print-"))
		r->is_plain = true;
	else if (!strcmp(option, "-shared") || !strcmp(option, "--shared"))
		r->is_shared = true;
	else if (!strcmp(option, "-static") || !strcmp(option, "--static") || !strcmp(option, "-static-pie"))
		r->is_static = true;
	else if (!strcmp(option, "-r"))
		r->is_relocatable = true;
	else if (text_begins(option, "-save-temps") || text_begins(option, "--save-temps"))
		r->saves_temporaries = true;
	else if (!strcmp(option, "-emit-llvm"))
		r->emits_llvm = true;
	else if (!strcmp(option, "-fno-lto") || text_begins(option, "-flto"))
		set_lto(r, option[2] == 'l');
	else if (text_begins(option, "-fuse-ld=") || text_begins(option, "--ld-path="))
		r->linker = option;
	else if (!strcmp(option, "-nostdlib") || !strcmp(option, "-nodefaultlibs") || !strcmp(option, "-nolibc"))
		r->no_libc = true;
	else if (is_debug_option(option))
		r->has_debug_info = true;
	else if (!strcmp(option, "-g0") || !strcmp(option, "-ggdb0"))
		r->has_debug_info = false;
}

void cc_request_read(char *const *words, size_t count, struct cc_request *ret)
{
	struct cc_request request = {.links = true};
	struct cc_request *r = &request;
	const char *language = NULL;
	for (size_t i = 0; i < count; i++) {
		const char *a = words[i];
		const char *value = i + 1 < count ? words[i + 1] : NULL;
		if (a[0] != '-' || !a[1]) {
			r->has_input = true;
			r->compiles |= is_source(a);
			r->links &= !(language ? is_header_language(language) : is_header(a));
			continue;
		}
		if (is_other_target(a, value))
			r->is_plain = true;
		if (!strcmp(a, "-lc") || (!strcmp(a, "-l") && value && !strcmp(value, "c")))
			r->names_libc = true;
		if (text_begins(a, "-Wl,"))
			note_linker_words(r, a + strlen("-Wl,"));
		else if (!strcmp(a, "-Xlinker") && value)
			note_linker_word(r, value, strlen(value));
		if (text_begins(a, "-x"))
			language = a[2] ? a + 2 : value;
		if (language && !strcmp(language, "none"))
			language = NULL;
		if (!strcmp(a, "-o")) {
			r->output = value;
			i++;
		} else if (text_begins(a, "-o") && a[2] && !text_begins(a, "-object")) {
			r->output = a + 2;
		} else if (!strcmp(a, "-target") || takes_value(a)) {
			r->has_input |= !strcmp(a, "-l");
			i++;
		} else {
			r->has_input |= text_begins(a, "-l");
			note_mode(r, a);
			note_instrumentation(r, a);
		}
	}
	*ret = request;
}

bool cc_request_links_program(const struct cc_request *r)
{
	return r->links && !r->is_shared && !r->is_relocatable;
}

bool cc_request_links_runtime(const struct cc_request *r)
{
	return r->links && !r->is_relocatable && (!r->no_libc || r->is_shared || r->names_libc);
}

/*
 * values.c - finds variables: parameters of a frame, and the names on a line of its source, by the scopes that the place is
 * in, the members of `this`, and variables of static storage.
 *
 * A name is looked up as a compiler would. Debug information of optimized code may leave out what a name stands for there; then
 * an outer variable of the same name would be taken for it. So in what was inlined the function as written is looked at as well,
 * and where that has more variables of a name than the copy has, the name is one that was optimized out.
 */
#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "object/demangle.h"
#include "snapshot/debug/values.h"
#include "snapshot/debug/value.h"

enum {
	DIES_MAX = 200000, /* entries looked at for a name */
	NESTED_MAX = 32,
	LINKS_MAX = 16,       /* of "a->b.c" */
	EXPRESSIONS_MAX = 24, /* of a line */
	NAME_MAX_BYTES = 256,
};

struct finder {
	struct snapshot *s;
	const struct snapshot_place *place;
	struct arena *arena;
	struct snapshot_scopes scopes;
	uint32_t first, end; /* of scopes.dies: the level's */
	struct location_frame frame;
	struct snapshot_value_vec *out;
	int left; /* DIES_MAX */
};

/* false: there is no debug information. */
static struct error *begin(struct finder *f, bool *ret)
{
	struct error *err = snapshot_find_scopes(f->s, f->place->frame, &f->scopes);
	uint32_t level = 0;

	*ret = !err && f->scopes.count;
	if (!*ret)
		return err;
	f->end = f->scopes.count;
	f->first = f->end - 1;
	for (;; f->first--) {
		bool is_function = f->first == 0 || dwarf_tag(&f->scopes.dies[f->first]) == DW_TAG_inlined_subroutine;

		if (is_function && level++ == f->place->level)
			break;
		if (f->first == 0) {
			*ret = false;
			return NULL;
		}
		if (is_function)
			f->end = f->first;
	}
	f->left = DIES_MAX;
	location_frame_init(f->s, f->place->frame, f->place->caller, f->place->thread_pointer, &f->scopes, &f->frame);
	return NULL;
}

/* ---- results ---- */

/* Describes why there is no value. */
static void describe_state(const struct finder *f, enum value_state state, struct snapshot_value *ret)
{
	ret->is_known = false;
	ret->text = value_state_text(f->s, state);
}

static struct error *describe(const struct finder *f, const char *name, const struct value *v,
			      struct snapshot_value *ret)
{
	struct buffer text = {0};
	enum value_state state = value_print(f->s, v, &text);
	struct error *err = buffer_error(&text);

	*ret = (struct snapshot_value){
		.name = arena_strdup(f->arena, name),
		.type = value_type_text(f->arena, &v->type),
		.is_known = state == VALUE_KNOWN,
		.len_bytes = value_type_bytes(&v->type),
	};
	ret->has_address = value_address(v, &ret->address);
	ret->is_pointer = value_is_pointer(v);
	ret->is_code = value_is_code_pointer(v);
	if (!err)
		ret->text = arena_strndup(f->arena, (const char *)text.bytes, text.len_bytes);
	buffer_deinit(&text);
	if (err)
		return err;
	if (!ret->name || !ret->type || !ret->text)
		return &error_no_memory;
	if (ret->is_known)
		ret->is_known =
			value_number(f->s, v, &ret->number, &ret->has_number) == VALUE_KNOWN || !ret->has_number;
	return NULL;
}

static struct error *append_value(struct finder *f, const char *name, const struct value *v)
{
	struct snapshot_value value;
	struct error *err;

	for (size_t i = 0; i < f->out->count; i++)
		if (strcmp(f->out->items[i].name, name) == 0)
			return NULL;
	err = describe(f, name, v, &value);
	return err ? err : snapshot_value_vec_append(f->out, value);
}

static struct error *append_lost(struct finder *f, const char *name, enum value_state state)
{
	struct snapshot_value value = {.name = arena_strdup(f->arena, name)};

	for (size_t i = 0; i < f->out->count; i++)
		if (strcmp(f->out->items[i].name, name) == 0)
			return NULL;
	describe_state(f, state, &value);
	return value.name ? snapshot_value_vec_append(f->out, value) : &error_no_memory;
}

/* The value of a variable's entry. false: it has no type. */
static bool value_of(const struct finder *f, Dwarf_Die *variable, struct value *ret)
{
	*ret = (struct value){0};
	if (!value_type_of(variable, &ret->type))
		return false;
	location_find(&f->frame, variable, value_type_bytes(&ret->type), &ret->place);
	if (ret->place.loop_end && location_loop_changes(&f->frame, variable, &ret->place, f->place->assignments))
		ret->place.kind = LOCATION_UNKNOWN;
	return true;
}

/* ---- parameters ---- */

static bool origin_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, ret);
}

/* The parameter of the copy; false: the copy does not have it. */
static bool copy_of(Dwarf_Die *function, Dwarf_Die *parameter, Dwarf_Die *ret)
{
	Dwarf_Die origin;

	if (dwarf_child(function, ret) != 0)
		return false;
	do
		if (dwarf_tag(ret) == DW_TAG_formal_parameter &&
		    (dwarf_dieoffset(ret) == dwarf_dieoffset(parameter) ||
		     (origin_of(ret, &origin) && dwarf_dieoffset(&origin) == dwarf_dieoffset(parameter))))
			return true;
	while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

static struct error *add_parameter(struct finder *f, Dwarf_Die *function, Dwarf_Die *parameter)
{
	const char *name = dwarf_diename(parameter);
	struct value v;
	Dwarf_Die copy;

	if (!name)
		return NULL;
	if (!copy_of(function, parameter, &copy))
		return append_lost(f, name, VALUE_OPTIMIZED_OUT);
	return value_of(f, &copy, &v) ? append_value(f, name, &v) : append_lost(f, name, VALUE_UNKNOWN);
}

struct error *snapshot_arguments(struct snapshot *s, const struct snapshot_place *place, struct arena *arena,
				 struct snapshot_value_vec *ret)
{
	struct finder f = {.s = s, .place = place, .arena = arena, .out = ret};
	Dwarf_Die function, written, child;
	bool is_there;
	struct error *err = begin(&f, &is_there);

	if (err || !is_there)
		return err;
	function = f.scopes.dies[f.first];
	written = function;
	for (int i = 0; i < NESTED_MAX && origin_of(&written, &written); i++)
		;
	if (dwarf_child(&written, &child) != 0)
		return NULL;
	do
		if (dwarf_tag(&child) == DW_TAG_formal_parameter)
			err = add_parameter(&f, &function, &child);
	while (!err && --f.left && dwarf_siblingof(&child, &child) == 0);
	return err;
}

/* ---- names ---- */

static bool is_variable(Dwarf_Die *die, const char *name)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && text_equal(dwarf_diename(die), name);
}

enum declared {
	DECLARED_BEFORE = 0,
	DECLARED_HERE,   /* on the line: it may have no value yet */
	DECLARED_BEHIND, /* the name does not stand for it yet */
};

static enum declared declared_at(const struct finder *f, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	uint64_t line;

	if (dwarf_tag(die) != DW_TAG_variable || !f->place->line || !value_constant(die, DW_AT_decl_line, &line) ||
	    line < f->place->line)
		return DECLARED_BEFORE;
	if (line > f->place->line)
		return DECLARED_BEHIND;
	/* A list of locations begins where it has its value. */
	if (dwarf_attr(die, DW_AT_location, &attribute) &&
	    (dwarf_whatform(&attribute) == DW_FORM_sec_offset || dwarf_whatform(&attribute) == DW_FORM_loclistx))
		return DECLARED_BEFORE;
	return DECLARED_HERE;
}

/* Variables of the name in a function, not in what was inlined into it. */
static uint32_t count_named(struct finder *f, Dwarf_Die *parent, const char *name, int depth)
{
	uint32_t count = 0;
	Dwarf_Die die;

	if (depth == NESTED_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&die);

		if (--f->left < 0)
			return UINT32_MAX / 2;
		count += is_variable(&die, name);
		if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block)
			count += count_named(f, &die, name, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
	return count;
}

/* The copy of the function does not have all variables of that name. */
static bool is_incomplete(struct finder *f, const char *name)
{
	Dwarf_Die written = f->scopes.dies[f->first];
	int depth = 0;

	while (depth < NESTED_MAX && origin_of(&written, &written))
		depth++;
	return depth && count_named(f, &written, name, 0) > count_named(f, &f->scopes.dies[f->first], name, 0);
}

/* *has_value: false: it may not have got one yet. */
static bool find_in_scopes(struct finder *f, const char *name, Dwarf_Die *ret, bool *has_value)
{
	for (uint32_t i = f->end; i-- > f->first;) {
		if (dwarf_child(&f->scopes.dies[i], ret) != 0)
			continue;
		do {
			enum declared declared = is_variable(ret, name) ? declared_at(f, ret) : DECLARED_BEHIND;

			*has_value = declared == DECLARED_BEFORE;
			if (declared != DECLARED_BEHIND)
				return true;
		} while (--f->left > 0 && dwarf_siblingof(ret, ret) == 0);
	}
	return false;
}

static const char *link_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* The variable that an entry without a name completes: a static member, one declared in a namespace. */
static const char *static_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die declared;

	if (dwarf_attr(die, DW_AT_specification, &attribute) && dwarf_formref_die(&attribute, &declared))
		return dwarf_diename(&declared);
	return dwarf_diename(die);
}

struct unit_search {
	struct finder *f;
	const char *name;
	const Dwarf_Die *member; /* the static member that it must be; NULL: a variable that the function's scope sees */
	bool wants_external;
	bool is_declared;
	const struct snapshot_static *found;
	uint32_t count;
	struct error *err;
};

/*
 * The namespaces or the class that a variable is in, by its name, are around the function: "a::limit" in "a::b::f()". In a namespace
 * without a name it is seen all over the unit. What a using-directive makes visible is not found.
 */
static bool is_visible(struct finder *f, Dwarf_Die *variable)
{
	static const char unnamed[] = "(anonymous namespace)::";
	const char *linkage = link_name(variable), *scope = linkage ? demangle(f->arena, linkage) : NULL;
	const char *function = link_name(&f->scopes.dies[f->first]), *end;
	size_t len = sizeof unnamed - 1;

	if (!linkage)
		return true; /* of the global namespace, or C */
	if (!scope)
		return false;
	while (strncmp(scope, unnamed, len) == 0)
		scope += len;
	end = strrchr(scope, ':');
	if (!end)
		return true;
	function = function ? demangle(f->arena, function) : NULL;
	while (function && strncmp(function, unnamed, len) == 0)
		function += len;
	return function && strncmp(function, scope, (size_t)(end + 1 - scope)) == 0;
}

static bool is_wanted(struct unit_search *q, const struct snapshot_static *variable)
{
	Dwarf_Die die = variable->die, declared;
	Dwarf_Attribute attribute;

	if (q->member)
		return dwarf_attr(&die, DW_AT_specification, &attribute) && dwarf_formref_die(&attribute, &declared) &&
		       dwarf_dieoffset(&declared) == dwarf_dieoffset((Dwarf_Die *)(uintptr_t)q->member);
	return (variable->is_external || !q->wants_external) && is_visible(q->f, &die);
}

static bool visit_unit(void *data, Dwarf_Die *contents)
{
	struct unit_search *q = data;
	const struct snapshot_static *first;
	uint32_t count;

	q->err = snapshot_find_statics(q->f->s, contents, static_name, q->name, &first, &count);
	for (uint32_t i = 0; !q->err && i < count; i++) {
		if (first[i].is_declaration) {
			q->is_declared = true;
		} else if (is_wanted(q, &first[i])) {
			q->found = &first[i];
			q->count++;
		}
	}
	return !q->err;
}

/* Finds the member in its own unit, or in another one if it is only declared here; none if several have the name. */
static struct error *find_static(struct finder *f, const char *name, const Dwarf_Die *member, Dwarf_Die *ret,
				 bool *is_found)
{
	struct unit_search q = {.f = f, .name = name, .member = member};

	visit_unit(&q, &f->scopes.contents);
	q.wants_external = true;
	if (!q.err && !q.count && q.is_declared && !member) {
		struct error *err = snapshot_each_unit(f->s, f->place->frame->module, visit_unit, &q);

		if (err)
			return err;
	}
	*is_found = !q.err && q.count == 1;
	if (*is_found)
		*ret = q.found->die;
	return q.err;
}

enum name_state {
	NAME_NONE = 0, /* no variable, as far as is known */
	NAME_FOUND,
	NAME_LOST, /* one whose value the debug information does not have */
};

/* By `this`: *state stays where the object has no member of that name. */
static struct error *find_in_object(struct finder *f, const char *name, struct value *ret, enum name_state *state)
{
	struct value self, object;
	Dwarf_Die die, member;
	bool has_value, is_found;
	struct error *err;

	if (!find_in_scopes(f, "this", &die, &has_value) || !value_of(f, &die, &self))
		return NULL;
	if (!value_element(f->s, &self, 0, &object)) {
		struct value unknown = {.place.kind = LOCATION_MEMORY}; /* what the class has is known nevertheless */
		Dwarf_Die type;

		if (!value_peel(&self.type, &type) || !value_type_of(&type, &unknown.type))
			return NULL;
		if (value_member(&unknown, name, ret) || value_static_member(&unknown, name, &member))
			*state = NAME_LOST;
		return NULL;
	}
	if (value_member(&object, name, ret)) {
		*state = NAME_FOUND;
	} else if (value_static_member(&object, name, &member)) {
		err = find_static(f, name, &member, &die, &is_found);
		if (err)
			return err;
		*state = is_found && value_of(f, &die, ret) ? NAME_FOUND : NAME_LOST;
	}
	return NULL;
}

static struct error *find_name(struct finder *f, const char *name, struct value *ret, enum name_state *state)
{
	Dwarf_Die die;
	bool is_found, has_value;
	struct error *err = NULL;

	*state = NAME_NONE;
	is_found = find_in_scopes(f, name, &die, &has_value);
	if (is_found && !has_value)
		return NULL;
	if (is_incomplete(f, name) || f->left < 0) {
		*state = NAME_LOST;
		return NULL;
	}
	if (!is_found && strcmp(name, "this") != 0)
		err = find_in_object(f, name, ret, state);
	if (err || *state != NAME_NONE)
		return err;
	if (!is_found)
		err = find_static(f, name, NULL, &die, &is_found);
	if (!err && is_found)
		*state = value_of(f, &die, ret) ? NAME_FOUND : NAME_LOST;
	return err;
}

/* ---- lines of source ---- */

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_part(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* A text or a character. */
static const char *skip_quoted(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote)
		at += at[0] == '\\' && at[1] ? 2 : 1;
	return *at ? at + 1 : at;
}

static const char *skip_comment(const char *at)
{
	const char *end = at[1] == '*' ? strstr(at + 2, "*/") : NULL;

	return end ? end + 2 : at + strlen(at);
}

static bool take_name(const char **at, char name[NAME_MAX_BYTES])
{
	size_t len = 0;

	if (!is_name_start(**at))
		return false;
	while (is_name_part((*at)[len]))
		len++;
	if (len < NAME_MAX_BYTES) {
		memcpy(name, *at, len);
		name[len] = '\0';
	}
	*at += len;
	return len < NAME_MAX_BYTES;
}

/* "[7]" or "[i]". false: another index. */
static struct error *take_index(struct finder *f, const char **at, int64_t *ret, bool *is_known)
{
	const char *p = skip_blanks(*at + 1);
	char name[NAME_MAX_BYTES];
	enum name_state state;
	struct value v;
	uint64_t number = 0;
	bool is_integer = false;
	struct error *err;

	*is_known = false;
	if (isdigit((unsigned char)*p)) {
		char *end;

		number = strtoull(p, &end, 0);
		p = end;
	} else if (take_name(&p, name)) {
		err = find_name(f, name, &v, &state);
		if (err)
			return err;
		if (state != NAME_FOUND || value_number(f->s, &v, &number, &is_integer) != VALUE_KNOWN || !is_integer)
			return NULL;
	} else {
		return NULL;
	}
	p = skip_blanks(p);
	if (*p != ']')
		return NULL;
	*at = p + 1;
	*ret = (int64_t)number;
	*is_known = true;
	return NULL;
}

/* "[2]" of an array or a pointer. *ret stays where it is none, or the index is not known. */
static struct error *follow_index(struct finder *f, const char **at, const char *so_far, struct value *v, bool *goes_on)
{
	int64_t index = 0;
	struct value next;
	bool is_known;
	struct error *err = take_index(f, at, &index, &is_known);

	if (!err && is_known && value_is_pointer(v))
		err = append_value(f, so_far, v);
	if (err || !is_known || !value_element(f->s, v, index, &next))
		return err;
	*v = next;
	*goes_on = true;
	return NULL;
}

/* "->name" of a pointer, ".name" of a structure. */
static struct error *follow_name(struct finder *f, const char **at, const char *so_far, struct value *v, bool *goes_on)
{
	bool is_arrow = **at == '-', is_pointer = value_is_pointer(v);
	const char *p = skip_blanks(*at + 1 + is_arrow);
	struct value object = *v, next;
	char name[NAME_MAX_BYTES];
	struct error *err = NULL;

	if (!take_name(&p, name) || is_arrow != is_pointer)
		return NULL;
	if (is_pointer)
		err = append_value(f, so_far, v);
	if (err || (is_pointer && !value_element(f->s, v, 0, &object)) || !value_member(&object, name, &next))
		return err;
	*v = next;
	*at = p;
	*goes_on = true;
	return NULL;
}

/* One link behind a value; where there is none that can be followed *goes_on is false. Pointers that it goes through are values, too. */
static struct error *follow(struct finder *f, const char **at, const char *so_far, struct value *v, bool *goes_on)
{
	const char *p = skip_blanks(*at);
	struct value object;
	struct error *err = NULL;

	*goes_on = false;
	if (!value_follow_reference(f->s, v, &object))
		return NULL;
	if (*p == '[')
		err = follow_index(f, &p, so_far, &object, goes_on);
	else if (*p == '.' || (p[0] == '-' && p[1] == '>'))
		err = follow_name(f, &p, so_far, &object, goes_on);
	if (!err && *goes_on) {
		*v = object;
		*at = p;
	}
	return err;
}

/* The end of a link that could not be followed: what is behind it is no name of its own. */
static const char *skip_links(const char *at)
{
	char name[NAME_MAX_BYTES];

	for (;;) {
		const char *p = skip_blanks(at);

		if (p[0] == '-' && p[1] == '>')
			p += 2;
		else if (p[0] == ':' && p[1] == ':')
			p += 2;
		else if (*p == '.')
			p++;
		else
			return at;
		p = skip_blanks(p);
		if (!is_name_start(*p))
			return at;
		take_name(&p, name);
		at = p;
	}
}

/* Not functions, and what has no type. */
static bool is_data(const struct value *v)
{
	Dwarf_Die type;

	if (!value_peel(&v->type, &type))
		return false;
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_array_type:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

static struct error *take_expression(struct finder *f, const char **at)
{
	const char *start = *at;
	char name[NAME_MAX_BYTES];
	enum name_state state;
	struct value v;
	bool goes_on = true;
	const char *text;
	struct error *err;

	if (!take_name(at, name))
		return NULL;
	if (strcmp(name, "struct") == 0 || strcmp(name, "union") == 0 || strcmp(name, "enum") == 0) {
		*at = skip_blanks(*at);
		take_name(at, name); /* a tag is no variable */
		return NULL;
	}
	if (strncmp(skip_blanks(*at), "::", 2) == 0) {
		*at = skip_links(*at);
		return NULL;
	}
	if (*skip_blanks(*at) == '(') { /* a call, or a keyword; but of a pointer that is a variable */
		Dwarf_Die die;
		bool has_value;

		if (!find_in_scopes(f, name, &die, &has_value))
			return NULL;
	}
	err = find_name(f, name, &v, &state);
	if (err)
		return err;
	if (state != NAME_FOUND) {
		*at = skip_links(*at);
		return state == NAME_LOST ? append_lost(f, name, VALUE_OPTIMIZED_OUT) : NULL;
	}
	for (int i = 0; goes_on && i < LINKS_MAX && !err; i++) {
		text = arena_strndup(f->arena, start, (size_t)(*at - start));
		if (!text)
			return &error_no_memory;
		err = follow(f, at, text, &v, &goes_on);
	}
	text = arena_strndup(f->arena, start, (size_t)(*at - start));
	if (!text)
		return &error_no_memory;
	if (!err && is_data(&v))
		err = append_value(f, text, &v);
	*at = skip_links(*at);
	return err;
}

struct error *snapshot_line_values(struct snapshot *s, const struct snapshot_place *place, const char *text,
				   struct arena *arena, struct snapshot_value_vec *ret)
{
	struct finder f = {.s = s, .place = place, .arena = arena, .out = ret};
	const char *at = text;
	bool is_there;
	struct error *err = begin(&f, &is_there);

	if (err || !is_there)
		return err;
	while (*at && !err && ret->count < EXPRESSIONS_MAX && f.left > 0) {
		if (*at == '"' || *at == '\'')
			at = skip_quoted(at);
		else if (at[0] == '/' && (at[1] == '/' || at[1] == '*'))
			at = skip_comment(at);
		else if (*at == '.' || (at[0] == '-' && at[1] == '>')) /* of an expression that is none of these */
			at = skip_links(at) == at ? at + 1 : skip_links(at);
		else if (is_name_start(*at))
			err = take_expression(&f, &at);
		else if (isdigit((unsigned char)*at))
			while (is_name_part(*at) || *at == '.')
				at++;
		else
			at++;
	}
	return err;
}

/* ---- static storage ---- */

struct address_search {
	uint64_t address; /* as in the debug information */
	int left;
	bool is_found;
	Dwarf_Die die;
	uint64_t off;
};

static bool is_at(Dwarf_Die *die, uint64_t address, uint64_t *off)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;
	Dwarf_Addr start;
	Dwarf_Die type;

	if (!dwarf_attr(die, DW_AT_location, &attribute) || dwarf_getlocation(&attribute, &ops, &count) != 0 ||
	    count != 1 || !value_type_of(die, &type))
		return false;
	if (ops[0].atom == DW_OP_addr) {
		start = ops[0].number;
	} else {
		Dwarf_Attribute indexed;

		if ((ops[0].atom != DW_OP_addrx && ops[0].atom != DW_OP_GNU_addr_index) ||
		    dwarf_getlocation_attr(&attribute, &ops[0], &indexed) != 0 || dwarf_formaddr(&indexed, &start) != 0)
			return false;
	}
	*off = address - start;
	return address >= start && *off < value_type_bytes(&type);
}

static void search_address(struct address_search *q, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth == NESTED_MAX || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (--q->left < 0)
			return;
		if (tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block)
			search_address(q, &die, depth + 1);
		else if (tag == DW_TAG_variable && is_at(&die, q->address, &q->off)) {
			q->is_found = true;
			q->die = die;
		}
	} while (!q->is_found && dwarf_siblingof(&die, &die) == 0);
}

static bool visit_for_address(void *data, Dwarf_Die *contents)
{
	struct address_search *q = data;

	search_address(q, contents, 0);
	return !q->is_found && q->left > 0;
}

/* "name.member[2]" of what is at an offset in a type. */
static void name_part(Dwarf_Die *type, uint64_t off, int depth, struct buffer *out)
{
	Dwarf_Die peeled, child, inner;
	int left = DIES_MAX;

	if (depth == NESTED_MAX || !value_peel(type, &peeled))
		return;
	if (dwarf_tag(&peeled) == DW_TAG_array_type && value_type_of(&peeled, &inner) && value_type_bytes(&inner)) {
		buffer_printf(out, "[%llu]", (unsigned long long)(off / value_type_bytes(&inner)));
		name_part(&inner, off % value_type_bytes(&inner), depth + 1, out);
		return;
	}
	if ((dwarf_tag(&peeled) != DW_TAG_structure_type && dwarf_tag(&peeled) != DW_TAG_class_type) ||
	    dwarf_child(&peeled, &child) != 0)
		return;
	do {
		uint64_t start = 0;

		if (dwarf_tag(&child) != DW_TAG_member || dwarf_hasattr(&child, DW_AT_bit_size) ||
		    dwarf_hasattr(&child, DW_AT_external) ||
		    !value_constant(&child, DW_AT_data_member_location, &start) || !value_type_of(&child, &inner) ||
		    off < start || off - start >= value_type_bytes(&inner))
			continue;
		/* The members of a lock are private to it. */
		if (!dwarf_diename(&child) || strncmp(dwarf_diename(&child), "__", 2) == 0)
			return;
		buffer_printf(out, ".%s", dwarf_diename(&child));
		name_part(&inner, off - start, depth + 1, out);
		return;
	} while (--left && dwarf_siblingof(&child, &child) == 0);
}

static struct error *name_symbol(struct snapshot *s, uint32_t module, uint64_t address, struct arena *arena,
				 const char **ret)
{
	GElf_Off off = 0;
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(s->modules[module].dwfl, address, &off, &symbol, NULL, NULL, NULL);

	if (!name || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || off >= symbol.st_size)
		return NULL;
	*ret = off ? arena_printf(arena, "%s+%llu", name, (unsigned long long)off) : arena_strdup(arena, name);
	return *ret ? NULL : &error_no_memory;
}

/* Data that begins as zeros is no part of a mapped file: libdwfl knows the segments. */
static uint32_t module_of_data(const struct snapshot *s, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(s->dwfl, address);

	for (uint32_t i = 0; module && i < s->module_count; i++)
		if (s->modules[i].dwfl == module)
			return i;
	return UINT32_MAX;
}

struct error *snapshot_variable_at(struct snapshot *s, uint64_t address, struct arena *arena, const char **ret)
{
	struct address_search q = {.left = DIES_MAX};
	uint32_t module = module_of_data(s, address);
	struct buffer out = {0};
	Dwarf_Addr bias;
	Dwarf_Die type;
	struct error *err;

	*ret = NULL;
	if (module == UINT32_MAX)
		return NULL;
	if (!dwfl_module_getdwarf(s->modules[module].dwfl, &bias))
		return name_symbol(s, module, address, arena, ret);
	q.address = address - bias;
	err = snapshot_each_unit(s, module, visit_for_address, &q);
	if (err || !q.is_found || !static_name(&q.die) || !value_type_of(&q.die, &type))
		return err ? err : name_symbol(s, module, address, arena, ret);
	buffer_printf(&out, "%s", static_name(&q.die));
	name_part(&type, q.off, 0, &out);
	err = buffer_error(&out);
	if (!err)
		*ret = arena_strndup(arena, (const char *)out.bytes, out.len_bytes);
	buffer_deinit(&out);
	return err || *ret ? err : &error_no_memory;
}

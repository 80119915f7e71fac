/*
 * eh_frame.c - finds functions in .eh_frame_hdr and reads their FDEs, CIEs and LSDAs.
 *
 *     .eh_frame_hdr   version 1 | 3 encodings | .eh_frame | count | (start, FDE) of 4 + 4 bytes each, relative to the header
 *     FDE             length 4 | distance to the CIE 4 | start | size | z: length, LSDA | CFI
 *     CIE             length 4 | 0 | version | augmentation\0 | code, data alignment | return column | z: length, bytes | CFI
 *     LSDA            @LPStart | @TType | call site encoding | length | (start, size, landing pad, action)...
 *
 * It does not run CFI (cfi.c), follow pointers of EH_INDIRECT, read 64-bit DWARF (no x86-64 compiler writes it here) or walk
 * .eh_frame without the table. Order of the table is not checked: what a search finds must hold the address.
 */
#include "native/unwind/eh_frame.h"

#include "native/unwind/cfi.h"
#include "native/unwind/eh_read.h"

enum {
	ENTRY_BYTES = 8,
	TABLE_ENCODING = EH_DATA_RELATIVE | EH_SDATA4,
	LENGTH_RESERVED = 0xfffffff0, /* and above: 64-bit DWARF */
};

/* From at to the end of what may be read; empty and failed if at is not there. */
static struct eh_reader reader_at(const struct eh_image *image, uintptr_t at)
{
	struct eh_reader r = {image->high, image->high, true};

	if (at >= (uintptr_t)image->low && at < (uintptr_t)image->high) {
		r.at = image->low + (at - (uintptr_t)image->low);
		r.has_failed = false;
	}
	return r;
}

bool eh_table_init(struct eh_table *ret, const struct eh_image *image)
{
	struct eh_reader r = reader_at(image, (uintptr_t)image->hdr);
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	uint64_t count;

	*ret = (struct eh_table){.image = *image};
	if (image->hdr_bytes > eh_left(&r))
		return false;
	r.end = r.at + image->hdr_bytes;
	version = eh_u8(&r);
	frame_encoding = eh_u8(&r);
	count_encoding = eh_u8(&r);
	table_encoding = eh_u8(&r);
	if (version != 1 || table_encoding != TABLE_ENCODING)
		return false;
	if (frame_encoding != EH_OMITTED)
		eh_encoded(&r, frame_encoding, (uintptr_t)image->hdr);
	count = eh_encoded(&r, count_encoding, (uintptr_t)image->hdr);
	if (r.has_failed || count == 0 || count > eh_left(&r) / ENTRY_BYTES)
		return false;
	ret->entries = r.at;
	ret->count = (size_t)count;
	return true;
}

static uintptr_t entry_word(const struct eh_table *t, size_t index, size_t word)
{
	int32_t v;

	memcpy(&v, t->entries + index * ENTRY_BYTES + word * sizeof v, sizeof v);
	return (uintptr_t)t->image.hdr + (uintptr_t)(intptr_t)v;
}

/* The augmentation, which says what its data and that of the FDEs hold. */
static bool read_augmentation(struct eh_reader *r, const uint8_t *text, struct eh_function *f,
			      uint8_t *ret_lsda_encoding)
{
	uint64_t len_bytes = eh_uleb(r);
	const uint8_t *start = eh_take(r, len_bytes);
	struct eh_reader data;

	if (!start)
		return false;
	data = (struct eh_reader){start, r->at, false};
	for (; *text; text++) {
		uint8_t encoding;

		switch (*text) {
		case 'R':
			f->pointer_encoding = eh_u8(&data);
			break;
		case 'L':
			*ret_lsda_encoding = eh_u8(&data);
			break;
		case 'P':
			/* Not followed, so that EH_INDIRECT is as good as any. */
			encoding = eh_u8(&data);
			eh_encoded(&data, encoding & EH_FORMAT_MASK, 0);
			break;
		case 'S':
			f->is_signal_frame = true;
			break;
		default:
			return false;
		}
	}
	return !data.has_failed;
}

/* An entry of .eh_frame without its length. */
static bool open_entry(const struct eh_image *image, uintptr_t at, struct eh_reader *ret)
{
	uint32_t len_bytes;
	const uint8_t *start;

	*ret = reader_at(image, at);
	len_bytes = eh_u32(ret);
	if (len_bytes == 0 || len_bytes >= LENGTH_RESERVED)
		return false;
	start = eh_take(ret, len_bytes);
	if (!start)
		return false;
	*ret = (struct eh_reader){start, start + len_bytes, false};
	return true;
}

static bool read_cie(const struct eh_image *image, uintptr_t at, struct eh_function *f, bool *ret_has_length,
		     uint8_t *ret_lsda_encoding)
{
	struct eh_reader r;
	const uint8_t *augmentation;
	uint64_t column;
	uint8_t version, address_bytes = 8, selector_bytes = 0;

	if (!open_entry(image, at, &r) || eh_u32(&r) != 0)
		return false;
	version = eh_u8(&r);
	augmentation = r.at;
	while (eh_u8(&r))
		;
	if (r.has_failed || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4) {
		address_bytes = eh_u8(&r);
		selector_bytes = eh_u8(&r);
	}
	if (address_bytes != 8 || selector_bytes != 0)
		return false;
	f->code_align = eh_uleb(&r);
	f->data_align = eh_sleb(&r);
	column = version == 1 ? eh_u8(&r) : eh_uleb(&r);
	if (r.has_failed || column > UINT8_MAX)
		return false;
	f->return_column = (uint8_t)column;
	*ret_has_length = *augmentation == 'z';
	if (*augmentation && (!*ret_has_length || !read_augmentation(&r, augmentation + 1, f, ret_lsda_encoding)))
		return false;
	f->cie_code = r.at;
	f->cie_code_end = r.end;
	return true;
}

static bool read_fde(const struct eh_table *t, uintptr_t at, struct eh_function *f)
{
	struct eh_reader r;
	uint8_t lsda_encoding = EH_OMITTED;
	const struct eh_text *text;
	bool has_length;
	uintptr_t id_at;
	uint64_t size;
	uint32_t id;

	*f = (struct eh_function){.pointer_encoding = EH_ABSOLUTE};
	if (!open_entry(&t->image, at, &r))
		return false;
	f->fde = r.at - sizeof(uint32_t);
	id_at = (uintptr_t)r.at;
	id = eh_u32(&r);
	if (id == 0 || id > id_at || !read_cie(&t->image, id_at - id, f, &has_length, &lsda_encoding))
		return false;
	f->start = eh_encoded(&r, f->pointer_encoding, (uintptr_t)t->image.hdr);
	size = eh_encoded(&r, f->pointer_encoding & EH_FORMAT_MASK, 0);
	text = eh_text_of(&t->image, f->start);
	if (r.has_failed || !text || size > text->high - f->start)
		return false;
	f->end = f->start + size;
	if (has_length) {
		uint64_t len_bytes = eh_uleb(&r);
		const uint8_t *start = eh_take(&r, len_bytes);
		struct eh_reader data = {start, r.at, !start};

		if (lsda_encoding != EH_OMITTED)
			f->lsda = eh_encoded(&data, lsda_encoding, (uintptr_t)t->image.hdr);
		if (data.has_failed)
			return false;
	}
	f->fde_code = r.at;
	f->fde_code_end = r.end;
	return true;
}

bool eh_find(const struct eh_table *t, uintptr_t address, struct eh_function *ret)
{
	size_t low = 0, high = t->count;

	if (!eh_text_of(&t->image, address))
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entry_word(t, middle, 0) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && read_fde(t, entry_word(t, low - 1, 1), ret) && address >= ret->start && address < ret->end;
}

bool eh_function_at(const struct eh_table *t, size_t index, struct eh_function *ret)
{
	return index < t->count && read_fde(t, entry_word(t, index, 1), ret);
}

int32_t eh_entry_cfa_offset(const struct eh_table *t, const struct eh_function *f)
{
	struct cfi_row row;

	if (!cfi_row_at(t, f, f->start, &row) || row.cfa_kind != CFI_CFA_REGISTER || row.cfa_register != CFI_RSP)
		return EH_ENTRY_UNKNOWN;
	return row.cfa_value;
}

bool eh_landing_pads(const struct eh_table *t, const struct eh_function *f,
		     bool (*visit)(void *data, uintptr_t address), void *data)
{
	struct eh_reader r;
	uintptr_t pads = f->start;
	const uint8_t *sites;
	uint8_t encoding;
	uint64_t len_bytes;

	if (!f->lsda)
		return true;
	r = reader_at(&t->image, f->lsda);
	encoding = eh_u8(&r);
	if (encoding != EH_OMITTED)
		pads = eh_encoded(&r, encoding, (uintptr_t)t->image.hdr);
	encoding = eh_u8(&r);
	if (encoding != EH_OMITTED)
		eh_uleb(&r);
	encoding = eh_u8(&r);
	len_bytes = eh_uleb(&r);
	sites = eh_take(&r, len_bytes);
	if (!sites)
		return false;
	r = (struct eh_reader){sites, sites + len_bytes, false};
	while (eh_left(&r)) {
		uint64_t pad;

		eh_encoded(&r, encoding, 0);
		eh_encoded(&r, encoding, 0);
		pad = eh_encoded(&r, encoding, 0);
		eh_uleb(&r);
		if (r.has_failed)
			return false;
		if (!pad)
			continue;
		if (!eh_text_of(&t->image, pads + pad))
			return false;
		if (!visit(data, pads + pad))
			break;
	}
	return true;
}

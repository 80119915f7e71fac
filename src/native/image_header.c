/* image_header.c - finds the headers of loaded images. Memory that may not be mapped is read through /proc/self/mem, which cannot fault. */
#include "native/image_header.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "recorder/sys.h"

static const Elf64_Ehdr *at(uintptr_t address)
{
	return (const Elf64_Ehdr *)address; /* NOLINT(performance-no-int-to-ptr) */
}

bool image_memory_read(uintptr_t address, void *bytes, size_t len)
{
	long fd = wmrt_sys6(SYS_openat, AT_FDCWD, (long)"/proc/self/mem", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	bool ok;

	if (fd < 0)
		return false;
	ok = wmrt_sys6(SYS_pread64, fd, (long)bytes, (long)len, (long)address, 0, 0) == (long)len;
	wmrt_sys3(SYS_close, fd, 0, 0);
	return ok;
}

/* Is this the header of the image with a segment at found's mapping? */
static bool is_header(const Elf64_Ehdr *ehdr, const struct dl_find_object *found)
{
	const Elf64_Phdr *p = image_program_headers(ehdr);
	uintptr_t low =
		(uintptr_t)found->dlfo_map_start & ~(uintptr_t)(IMAGE_HEADER_BYTES - 1); /* it need not begin a page */

	if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0 || ehdr->e_phoff > IMAGE_HEADER_BYTES)
		return false;
	for (int i = 0; i < ehdr->e_phnum; i++)
		if (p[i].p_type == PT_LOAD &&
		    ((found->dlfo_link_map->l_addr + p[i].p_vaddr) & ~(uintptr_t)(IMAGE_HEADER_BYTES - 1)) == low)
			return true;
	return false;
}

/*
 * For an image with gaps between its segments _dl_find_object gives one segment, and the header may be in another. The header of the
 * program, which comes first in the loader's list, is where the kernel says, in a page that is mapped; the header of a library is where its
 * addresses begin, if that is mapped.
 */
const Elf64_Ehdr *image_header_of(const struct dl_find_object *found)
{
	uintptr_t headers = getauxval(AT_PHDR), low = found->dlfo_link_map->l_addr;
	char magic[SELFMAG];

	if (memcmp(found->dlfo_map_start, ELFMAG, SELFMAG) == 0)
		return found->dlfo_map_start;
	if (headers && !found->dlfo_link_map->l_prev) {
		low = headers & ~(uintptr_t)(IMAGE_HEADER_BYTES - 1);
		return is_header(at(low), found) ? at(low) : NULL;
	}
	return low && image_memory_read(low, magic, sizeof magic) && is_header(at(low), found) ? at(low) : NULL;
}

uint64_t image_header_hash(const void *header, size_t bytes)
{
	const uint64_t *words = header;
	uint64_t hash = 0;

	for (size_t i = 0; i < bytes / sizeof *words; i++)
		hash = (hash ^ words[i]) * UINT64_C(0x100000001b3);
	return hash;
}

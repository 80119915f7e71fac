/* Callbacks from the C library: sorting, searching, trees, directory walks, streams, printf extensions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <printf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "shadow.h"

NOINLINE static void helper(void)
{
	ENTER();
	CHECK();
	LEAVE();
}

NOINLINE static int compare(const void *a, const void *b)
{
	ENTER();
	int x = *(const int *)a, y = *(const int *)b;
	CHECK();
	helper();
	LEAVE();
	return (x > y) - (x < y);
}

NOINLINE static int compare_nested(const void *a, const void *b)
{
	ENTER();
	int values[] = {3, 1, 2};
	FOREIGN_VOID("qsort", qsort(values, 3, sizeof *values, compare));
	EXPECT(values[0] == 1 && values[2] == 3);
	int order = compare(a, b);
	LEAVE();
	return order;
}

NOINLINE static int compare_context(const void *a, const void *b, void *context)
{
	ENTER();
	++*(int *)context;
	CHECK();
	LEAVE();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void sorting(void)
{
	ENTER();
	int values[24], calls = 0, key = 7;
	for (int i = 0; i < 24; i++)
		values[i] = i * 7 % 24;
	FOREIGN_VOID("qsort", qsort(values, 24, sizeof *values, compare));
	EXPECT(FRAME(BSEARCH, bsearch(&key, values, 24, sizeof *values, compare)) == values + 7);
	FOREIGN_VOID("qsort", qsort(values, 4, sizeof *values, compare_nested));
	FOREIGN_VOID("qsort_r", qsort_r(values, 8, sizeof *values, compare_context, &calls));
	EXPECT(calls > 7);
	size_t count = 24;
	EXPECT(FOREIGN("lfind", lfind(&key, values, &count, sizeof *values, compare)) == values + 7);
	CHECK();
	LEAVE();
}

NOINLINE static void visit(const void *node, VISIT which, int depth)
{
	ENTER();
	(void)node, (void)which, (void)depth;
	CHECK();
	LEAVE();
}

NOINLINE static void release(void *node)
{
	ENTER();
	(void)node;
	CHECK();
	LEAVE();
}

NOINLINE static void trees(void)
{
	ENTER();
	static const int keys[] = {5, 2, 8, 1, 9, 3};
	void *root = NULL;
	for (int i = 0; i < 6; i++)
		EXPECT(FOREIGN("tsearch", tsearch(&keys[i], &root, compare)));
	EXPECT(FOREIGN("tfind", tfind(&keys[3], &root, compare)));
	FOREIGN_VOID("twalk", twalk(root, visit));
	EXPECT(FOREIGN("tdelete", tdelete(&keys[1], &root, compare)));
	FOREIGN_VOID("tdestroy", tdestroy(root, release));
	LEAVE();
}

NOINLINE static int on_file(const char *path, const struct stat *st, int type)
{
	ENTER();
	(void)path, (void)st, (void)type;
	CHECK();
	LEAVE();
	return 0;
}

NOINLINE static int on_file_nftw(const char *path, const struct stat *st, int type, struct FTW *info)
{
	ENTER();
	(void)path, (void)st, (void)type, (void)info;
	helper();
	LEAVE();
	return 0;
}

NOINLINE static int keep(const struct dirent *entry)
{
	ENTER();
	CHECK();
	LEAVE();
	return entry->d_name[0] != '.';
}

NOINLINE static int by_name(const struct dirent **a, const struct dirent **b)
{
	ENTER();
	CHECK();
	LEAVE();
	return strcmp((*a)->d_name, (*b)->d_name);
}

NOINLINE static int on_error(const char *path, int error)
{
	ENTER();
	EXPECT(path && error);
	CHECK();
	LEAVE();
	return 0;
}

NOINLINE static void *refuse_dir(const char *path)
{
	ENTER();
	(void)path;
	CHECK();
	LEAVE();
	errno = EACCES;
	return NULL;
}

NOINLINE static void directories(void)
{
	ENTER();
	char dir[] = "/tmp/waymark-hazard-XXXXXX", path[64];
	EXPECT(mkdtemp(dir));
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/f%d", dir, i);
		int fd = open(path, O_CREAT | O_WRONLY, 0600);
		EXPECT(fd >= 0);
		close(fd);
	}
	EXPECT(FOREIGN("ftw", ftw(dir, on_file, 4)) == 0);
	EXPECT(FOREIGN("nftw", nftw(dir, on_file_nftw, 4, FTW_PHYS)) == 0);
	struct dirent **list;
	int count = FOREIGN("scandir", scandir(dir, &list, keep, by_name));
	EXPECT(count == 3);
	while (count--)
		free(list[count]);
	free(list);
	glob_t found;
	memset(&found, 0, sizeof found);
	found.gl_opendir = refuse_dir;
	found.gl_closedir = NULL;
	found.gl_readdir = NULL;
	found.gl_lstat = lstat;
	found.gl_stat = stat;
	snprintf(path, sizeof path, "%s/*", dir);
	EXPECT(FOREIGN("glob", glob(path, GLOB_ALTDIRFUNC, on_error, &found)) == GLOB_NOMATCH);
	globfree(&found);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/f%d", dir, i);
		unlink(path);
	}
	rmdir(dir);
	LEAVE();
}

NOINLINE static ssize_t cookie_write(void *cookie, const char *bytes, size_t size)
{
	ENTER();
	(void)cookie, (void)bytes;
	CHECK();
	LEAVE();
	return (ssize_t)size;
}

NOINLINE static ssize_t cookie_read(void *cookie, char *bytes, size_t size)
{
	ENTER();
	int *left = (int *)cookie;
	helper();
	ssize_t n = *left && size ? 1 : 0;
	if (n)
		*bytes = 'x', --*left;
	LEAVE();
	return n;
}

NOINLINE static int cookie_close(void *cookie)
{
	ENTER();
	(void)cookie;
	CHECK();
	LEAVE();
	return 0;
}

NOINLINE static int print_pair(FILE *stream, const struct printf_info *info, const void *const *args)
{
	ENTER();
	(void)info, (void)args;
	CHECK();
	int n = (int)fwrite("pair", 1, 4, stream);
	LEAVE();
	return n;
}

NOINLINE static int pair_size(const struct printf_info *info, size_t n, int *types, int *sizes)
{
	ENTER();
	(void)info;
	CHECK();
	if (n)
		types[0] = PA_POINTER, sizes[0] = sizeof(void *);
	LEAVE();
	return 1;
}

NOINLINE static void streams(void)
{
	ENTER();
	int left = 5;
	char text[32];
	cookie_io_functions_t io = {cookie_read, cookie_write, NULL, cookie_close};
	FILE *out = fopencookie(&left, "w", io), *in = fopencookie(&left, "r", io);
	EXPECT(out && in);
	fprintf(out, "%d lines", 3);
	EXPECT(FOREIGN("fflush", fflush(out)) == 0);
	EXPECT(FOREIGN("fgetc", fgetc(in)) == 'x');
	EXPECT(FOREIGN("fgets", fgets(text, sizeof text, in)));
	EXPECT(FOREIGN("fclose", fclose(in)) == 0);
	EXPECT(FOREIGN("fclose", fclose(out)) == 0);
#pragma clang diagnostic ignored "-Wformat"
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
	EXPECT(register_printf_specifier('Y', print_pair, pair_size) == 0);
	EXPECT(FOREIGN("snprintf", snprintf(text, sizeof text, "<%Y>", (void *)text)) == 6);
	EXPECT(!strcmp(text, "<pair>"));
	LEAVE();
}

int main(void)
{
	ENTER();
	CHECK();
	for (int i = 0; i < 2; i++) {
		sorting();
		trees();
	}
	directories();
	streams();
	CHECK();
	LEAVE();
	return 0;
}

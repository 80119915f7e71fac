/* Like sed's and grep's: a matcher of patterns steps over the end of the text after a star, far enough to leave its memory. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int match_here(const char *pattern, const char *text);

static int match_star(int c, const char *pattern, const char *text)
{
	do {
		if (match_here(pattern, text))
			return 1;
	} while (*text++ == c || c == '.'); /* the end of the text is not looked for */
	return 0;
}

static int match_set(const char **pattern, int c)
{
	int found = 0;
	const char *p = *pattern;

	for (; *p && *p != ']'; p++)
		if (p[1] == '-' && p[2]) {
			found |= p[0] <= c && c <= p[2];
			p += 2;
		} else {
			found |= *p == c;
		}
	*pattern = *p ? p + 1 : p;
	return found;
}

static int match_here(const char *pattern, const char *text)
{
	if (!*pattern)
		return 1;
	if (*pattern == '[') {
		pattern++;
		return match_set(&pattern, *text) && match_here(pattern, text + 1);
	}
	if (pattern[1] == '*')
		return match_star(pattern[0], pattern + 2, text);
	if (pattern[0] == '$' && !pattern[1])
		return !*text;
	if (*text && (pattern[0] == '.' || pattern[0] == *text))
		return match_here(pattern + 1, text + 1);
	return 0;
}

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *text = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(text + page, (size_t)page, PROT_NONE);
	text += page - 40;
	strcpy(text, "the quick brown fox 17 jumps over it.");
	for (const char *p = text; *p; p++)
		if (match_here("[a-f]o[w-x]", p) || match_here("q.*fo[a-z]*.*[0-9]", p))
			puts(p);
	return match_here(".*lazy", text);
}

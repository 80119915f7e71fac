/*
 * show_instructions.c - decodes what objdump has disassembled: lines of standard input, "  401000:\tf3 0f 1e fa \tendbr64". Each
 * instruction must have the length that objdump gives it, each direct call, jump and branch its target, and the usual ones the register
 * that they write to. Fails when a share of more than one in a hundred thousand differs, or there are fewer than the number that is the argument.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/instruction.h"

/* "401000 <main+0x10>" behind the mnemonic; 0: none. */
static uint64_t target_of(const char *text)
{
	const char *name = strchr(text, '<'), *at = name;

	while (at && at > text + 1 && at[-2] != ' ')
		at--;
	return at && at > text && strchr("jcl", text[0]) ? strtoull(at - 1, NULL, 16) : 0;
}

static bool is_by_operand(const char *mnemonic)
{
	const char *operand = mnemonic + strcspn(mnemonic, " ");

	return operand[strspn(operand, " ")] == '*' && operand[strspn(operand, " ") + 1] != 'A';
}

static bool is_transfer(const char *mnemonic)
{
	return *mnemonic == 'j' || strncmp(mnemonic, "call", 4) == 0;
}

/* The DWARF number of the general register that objdump names: "%r10d", "%eax", "%bpl", "%ah"; -1: none. */
static int register_of(const char *name)
{
	static const char *const names[] = {"ax", "dx", "cx", "bx", "si", "di", "bp", "sp"};
	size_t len = strcspn(name, ",) \n");

	if (*name == 'r' && name[1] >= '0' && name[1] <= '9')
		return atoi(name + 1);
	if (len > 2 && (*name == 'r' || *name == 'e'))
		name++, len--;
	for (int i = 0; i < 4; i++)
		if (len == 2 && name[0] == names[i][0] && (name[1] == 'l' || name[1] == 'h'))
			return i;
	for (int i = 0; i < 8; i++)
		if ((len == 2 || (len == 3 && name[2] == 'l')) && strncmp(name, names[i], 2) == 0)
			return i;
	return -1;
}

/* An instruction whose last operand, in objdump's order, is the one that it writes to. */
static bool writes_last(const char *mnemonic)
{
	static const char *const starts[] = {"mov ",      "movz",       "movs",    "lea ",       "add ",    "sub ",
					     "adc ",      "sbb ",       "and ",    "or ",        "xor ",    "inc ",
					     "dec ",      "neg ",       "not ",    "shl ",       "shr ",    "sar ",
					     "rol ",      "ror ",       "imul ",   "cmov",       "pop ",    "set",
					     "bsf ",      "bsr ",       "tzcnt ",  "lzcnt ",     "popcnt ", "bswap ",
					     "pmovmskb ", "vpmovmskb ", "movmskp", "cvttsd2si ", "movq ",   "movd "};

	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(mnemonic, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* The register that is written to is among those that the decoder tells. */
static bool tells_written(const char *mnemonic, const struct instruction *i)
{
	const char *last = strrchr(mnemonic, '%'), *end;
	int reg;

	if (!writes_last(mnemonic) || !last || (i->operand_bytes == 1 && !i->written))
		return true;
	end = last + strcspn(last, ",) \n");
	reg = register_of(last + 1);
	if (*end == ')' || *end == ',' || reg < 0 || (strncmp(mnemonic, "imul ", 5) == 0 && !strchr(mnemonic, ',')))
		return true;
	return i->written & 1u << reg;
}

static bool agrees(const char *line)
{
	uint8_t bytes[INSTRUCTION_BYTES_MAX];
	char *end;
	uint64_t address = strtoull(line, &end, 16);
	const char *mnemonic;
	struct instruction i;
	size_t len = 0;

	for (end += 2; len < sizeof bytes && end[0] && end[0] != '\t' && end[0] != ' ' && end[1] && end[2] == ' ';
	     end += 3)
		bytes[len++] = (uint8_t)strtoul(end, NULL, 16);
	mnemonic = strchr(end, '\t');
	if (!mnemonic || strncmp(mnemonic + 1, "(bad)", 5) == 0 || !len)
		return true;
	mnemonic++;
	for (const char *space; (strncmp(mnemonic, "bnd ", 4) == 0 || strncmp(mnemonic, "notrack ", 8) == 0) &&
				(space = strchr(mnemonic, ' ')) != NULL;)
		mnemonic = space + 1;
	if (!instruction_decode(bytes, len, address, &i) || i.len_bytes != len ||
	    instruction_decode(bytes, len - 1, address, &i) || !instruction_decode(bytes, len, address, &i)) {
		printf("%s", line);
		return false;
	}
	if (is_transfer(mnemonic) && strchr(mnemonic, '<') && !is_by_operand(mnemonic) &&
	    (!i.is_direct || i.target != target_of(mnemonic))) {
		printf("goes to %" PRIx64 ": %s", i.target, line);
		return false;
	}
	if (is_transfer(mnemonic) && is_by_operand(mnemonic) &&
	    (i.is_direct || !i.has_operand || i.operand_bytes != 8)) {
		printf("no operand: %s", line);
		return false;
	}
	if (!tells_written(mnemonic, &i)) {
		printf("writes to %x: %s", i.written, line);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	size_t wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, count = 0, different = 0, capacity = 0;
	char *line = NULL;

	while (getline(&line, &capacity, stdin) > 0) {
		char *colon = strchr(line, ':');

		if (*line != ' ' || !colon || colon[1] != '\t')
			continue;
		count++;
		different += !agrees(line);
	}
	free(line);
	printf("%zu of %zu differ\n", different, count);
	return count < wanted || different > count / 100000;
}

/*
 * test_insn.c - decoding and relocation of single instructions.
 *
 * Pairs of bytes before and after; what is said of registers, flags and the stack; and random instructions that are run where they
 * are and where they were relocated to, which must leave the same registers, flags and memory. test_insn [COUNT [SEED]]
 */
#include "agent/scan/insn.h"
#include "check.h"

#include <stdlib.h>
#include <sys/mman.h>

static struct insn decode(const char *bytes, size_t len_bytes, uint64_t address)
{
	struct insn insn;

	memset(&insn, 0, sizeof(insn));
	CHECK(insn_decode((const uint8_t *)bytes, len_bytes, address, &insn));
	CHECK_U64(insn.len_bytes, len_bytes);
	return insn;
}

struct pair {
	const char *before;
	size_t before_bytes;
	uint64_t from, to;
	const char *after;
	size_t after_bytes; /* 0: refused */
};

#define PAIR(before, from, to, after) {before, sizeof(before) - 1, from, to, after, sizeof(after) - 1}

static const struct pair pairs[] = {
	PAIR("\x48\x89\xe5", 0x1000, 0x9000, "\x48\x89\xe5"),                                 /* mov %rsp,%rbp */
	PAIR("\x48\x8b\x05\x00\x01\x00\x00", 0x1000, 0x2000, "\x48\x8b\x05\x00\xf1\xff\xff"), /* mov 0x100(%rip),%rax */
	PAIR("\xc7\x05\x10\x00\x00\x00\x78\x56\x34\x12", 0x1000, 0x0f00, "\xc7\x05\x10\x01\x00\x00\x78\x56\x34\x12"),
	PAIR("\x83\x3d\x00\x00\x00\x00\x05", 0x1000, 0x1010, "\x83\x3d\xf0\xff\xff\xff\x05"), /* cmpl $5,0(%rip) */
	PAIR("\xff\x25\x00\x00\x00\x00", 0x1000, 0x1100, "\xff\x25\x00\xff\xff\xff"),         /* jmp *0(%rip) */
	PAIR("\xeb\x10", 0x1000, 0x1100, "\xe9\x0d\xff\xff\xff"),                             /* jmp 0x1012 */
	PAIR("\xe9\x10\x00\x00\x00", 0x1000, 0x1100, "\xe9\x10\xff\xff\xff"),
	PAIR("\xf2\xe9\x10\x00\x00\x00", 0x1000, 0x1100, "\xe9\x11\xff\xff\xff"),         /* bnd jmp */
	PAIR("\x74\x10", 0x1000, 0x1100, "\x0f\x84\x0c\xff\xff\xff"),                     /* je */
	PAIR("\x0f\x8f\x10\x00\x00\x00", 0x1000, 0x1100, "\x0f\x8f\x10\xff\xff\xff"),     /* jg */
	PAIR("\x3e\x75\x10", 0x1000, 0x1100, "\x0f\x85\x0d\xff\xff\xff"),                 /* jne, with a hint */
	PAIR("\xe3\x10", 0x1000, 0x1100, "\xe3\x02\xeb\x05\xe9\x09\xff\xff\xff"),         /* jrcxz */
	PAIR("\x67\xe3\x10", 0x1000, 0x1100, "\x67\xe3\x02\xeb\x05\xe9\x09\xff\xff\xff"), /* jecxz */
	PAIR("\xe2\xf0", 0x1000, 0x1100, "\xe2\x02\xeb\x05\xe9\xe9\xfe\xff\xff"),         /* loop */
	PAIR("\xc3", 0x1000, 0x9000, "\xc3"),
	PAIR("\x0f\x0b", 0x1000, 0x9000, "\x0f\x0b"),                  /* ud2 */
	PAIR("\x0f\x05", 0x1000, 0x9000, "\x0f\x05"),                  /* syscall */
	PAIR("\xe8\x00\x00\x00\x00", 0x1000, 0x9000, ""),              /* call */
	PAIR("\xff\xd0", 0x1000, 0x9000, ""),                          /* call *%rax */
	PAIR("\xc7\xf8\x00\x00\x00\x00", 0x1000, 0x9000, ""),          /* xbegin */
	PAIR("\x67\x8b\x05\x00\x00\x00\x00", 0x1000, 0x9000, ""),      /* mov 0(%eip),%eax */
	PAIR("\x48\x8b\x05\x00\x00\x00\x00", 0x1000, 0x180000000, ""), /* out of reach */
	PAIR("\x74\x10", 0x1000, 0x180000000, ""),
	PAIR("\xe3\x10", 0x1000, 0x180000000, ""),
	PAIR("\x48\x8b\x05\x00\x00\x00\x00", 0x1000, 0x80001000, "\x48\x8b\x05\x00\x00\x00\x80"), /* just in reach */
	PAIR("\x48\x8b\x05\x00\x00\x00\x00", 0x1000, 0x80001001, ""),
};

static void test_pairs(void)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const struct pair *p = &pairs[i];
		struct insn insn = decode(p->before, p->before_bytes, p->from);
		uint8_t got[INSN_RELOCATED_MAX];
		size_t len_bytes = insn_relocate((const uint8_t *)p->before, &insn, p->to, got);

		if (!CHECK_U64(len_bytes, p->after_bytes) || !CHECK(!memcmp(got, p->after, len_bytes)))
			fprintf(stderr, "    pair %zu\n", i);
	}
}

#define DECODE(bytes) decode(bytes, sizeof(bytes) - 1, 0x1000)

static void test_kinds(void)
{
	struct insn insn = DECODE("\xe8\x10\x00\x00\x00");

	CHECK_U64(insn.kind, INSN_CALL_DIRECT);
	CHECK_U64(insn.target, 0x1015);
	insn = DECODE("\x41\xff\x54\xc5\x08"); /* call *8(%r13,%rax,8) */
	CHECK_U64(insn.kind, INSN_CALL_INDIRECT);
	CHECK(insn.has_memory && insn.base == 13 && insn.index == 0 && insn.scale == 8 && insn.disp == 8);
	insn = DECODE("\x3e\xff\xe2"); /* notrack jmp *%rdx */
	CHECK_U64(insn.kind, INSN_JUMP_INDIRECT);
	CHECK(!insn.has_memory && insn.reg == 2);
	insn = DECODE("\xff\x15\x10\x00\x00\x00"); /* call *0x10(%rip) */
	CHECK(insn.is_rip_relative && insn.rip_target == 0x1016 && insn.base == INSN_NO_REG);
	CHECK_U64(DECODE("\xf3\xc3").kind, INSN_RETURN);
	CHECK_U64(DECODE("\xcc").kind, INSN_STOP);
	CHECK_U64(DECODE("\xf4").kind, INSN_STOP);
	CHECK_U64(DECODE("\xf3\x0f\x1e\xfa").op, INSN_OP_ENDBR);
	CHECK_U64(DECODE("\x66\x0f\x1f\x44\x00\x00").op, INSN_OP_NOP);
	CHECK_U64(DECODE("\x70\x10").is_short, true);
	insn = DECODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00"); /* mov %fs:0x28,%rax */
	CHECK(insn.has_segment && insn.has_memory && insn.base == INSN_NO_REG);
	CHECK(!insn_decode((const uint8_t *)"\x06", 1, 0, &insn));
	CHECK(!insn_decode((const uint8_t *)"\xe8\x00", 2, 0, &insn));
}

static void test_registers(void)
{
	struct insn insn = DECODE("\x49\x89\xc3"); /* mov %rax,%r11 */

	CHECK_U64(insn.regs_read, 1);
	CHECK_U64(insn.regs_killed, 1 << 11);
	insn = DECODE("\x41\x88\xc3"); /* mov %al,%r11b */
	CHECK_U64(insn.regs_written, 1 << 11);
	CHECK_U64(insn.regs_killed, 0);
	insn = DECODE("\x4d\x0f\x44\xd8"); /* cmove %r8,%r11 */
	CHECK_U64(insn.regs_killed, 0);
	CHECK(insn.regs_written == 1 << 11 && insn.flags_read == 0x40);
	insn = DECODE("\x45\x31\xdb"); /* xor %r11d,%r11d */
	CHECK(insn.regs_read == 0 && insn.regs_killed == 1 << 11);
	CHECK_U64(insn.flags_written & INSN_FLAGS_STATUS, INSN_FLAGS_STATUS);
	insn = DECODE("\x48\xd3\xe0"); /* shl %cl,%rax */
	CHECK(insn.flags_written == 0 && insn.flags_touched != 0);
	insn = DECODE("\x48\xff\xc0"); /* inc %rax leaves CF */
	CHECK(!(insn.flags_written & 1) && (insn.flags_written & 0x40));
	insn = DECODE("\xf3\xa4"); /* rep movsb */
	CHECK_U64(insn.regs_read & 0xc2, 0xc2);
	insn = DECODE("\x0f\x05");
	CHECK((insn.regs_read & 0x400) && (insn.regs_written & 0x800));
}

static void test_stack(void)
{
	static const struct {
		const char *bytes;
		size_t len_bytes;
		bool reads, writes, switches;
	} cases[] = {
		{"\x53", 1, true, true, false},                  /* push %rbx */
		{"\x5b", 1, true, true, false},                  /* pop %rbx */
		{"\x5c", 1, true, true, true},                   /* pop %rsp */
		{"\xc9", 1, true, true, false},                  /* leave */
		{"\x48\x83\xec\x18", 4, true, true, false},      /* sub $0x18,%rsp */
		{"\x48\x83\xe4\xf0", 4, true, true, false},      /* and $-16,%rsp */
		{"\x48\x8d\x65\xd8", 4, true, true, false},      /* lea -0x28(%rbp),%rsp */
		{"\x48\x8d\x63\xd8", 4, true, true, true},       /* lea -0x28(%rbx),%rsp */
		{"\x48\x89\xec", 3, true, true, false},          /* mov %rbp,%rsp */
		{"\x48\x89\xfc", 3, true, true, true},           /* mov %rdi,%rsp */
		{"\x48\x87\xe7", 3, true, true, true},           /* xchg %rsp,%rdi */
		{"\x48\x94", 2, true, true, true},               /* xchg %rax,%rsp */
		{"\x48\x8b\x27", 3, true, true, true},           /* mov (%rdi),%rsp */
		{"\x48\x8b\x44\x24\x08", 5, true, false, false}, /* mov 8(%rsp),%rax */
		{"\x48\x89\xe7", 3, true, false, false},         /* mov %rsp,%rdi */
		{"\x48\x8b\x45\x08", 4, false, false, false},    /* mov 8(%rbp),%rax */
		{"\x9c", 1, true, true, false},                  /* pushf */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn insn = decode(cases[i].bytes, cases[i].len_bytes, 0x1000);

		if (!CHECK(insn.reads_stack_pointer == cases[i].reads && insn.writes_stack_pointer == cases[i].writes &&
			   insn.switches_stack == cases[i].switches))
			fprintf(stderr, "    case %zu\n", i);
	}
}

/* Registers of a run: rax rcx rdx rbx rsi rdi r8 .. r11, then flags, then where it came out. */
enum {
	RUN_REGS = 10,
	RUN_FLAGS = 10,
	RUN_TAKEN = 11,
	RUN_WORDS = 12,
	AREA_BYTES = 1 << 16,
	DATA_OFF = 0x8000,
	DATA_BYTES = 0x1000,
};

static uint64_t seed;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/*
 * Calls code with registers and flags as given, and gets them as they were when it returned; the code keeps rbp, rsp and r12 .. r15.
 */
__attribute__((naked, noinline)) static void run(__attribute__((unused)) uint64_t words[RUN_WORDS],
						 __attribute__((unused)) const uint8_t *code)
{
	__asm__ volatile("push %rbx\n push %rbp\n push %r12\n push %r13\n"
			 "mov %rdi, %r12\n mov %rsi, %r13\n"
			 "push 80(%r12)\n popf\n"
			 "mov 0(%r12), %rax\n mov 8(%r12), %rcx\n mov 16(%r12), %rdx\n mov 24(%r12), %rbx\n"
			 "mov 32(%r12), %rsi\n mov 40(%r12), %rdi\n mov 48(%r12), %r8\n mov 56(%r12), %r9\n"
			 "mov 64(%r12), %r10\n mov 72(%r12), %r11\n"
			 "call *%r13\n"
			 "mov %rax, 0(%r12)\n mov %rcx, 8(%r12)\n mov %rdx, 16(%r12)\n mov %rbx, 24(%r12)\n"
			 "mov %rsi, 32(%r12)\n mov %rdi, 40(%r12)\n mov %r8, 48(%r12)\n mov %r9, 56(%r12)\n"
			 "mov %r10, 64(%r12)\n mov %r11, 72(%r12)\n"
			 "pushf\n pop 80(%r12)\n cld\n"
			 "pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n");
}

/* A random instruction, without effect on the stack and rbp, r12 .. r15; data_off is where its memory is, from its start. */
static size_t random_insn(uint8_t bytes[INSN_MAX_BYTES], int32_t data_off)
{
	static const uint8_t regs[] = {0, 1, 2, 3, 6, 7};
	static const uint8_t alu[] = {0x01, 0x03, 0x09, 0x0b, 0x11, 0x13, 0x19, 0x1b, 0x21, 0x23, 0x29,
				      0x2b, 0x31, 0x33, 0x39, 0x3b, 0x85, 0x87, 0x89, 0x8b, 0x8d, 0x63};
	uint8_t reg = regs[random_word() % 6], rm = regs[random_word() % 6];
	bool is_memory = random_word() % 3;
	uint8_t rex = (uint8_t)(0x40 | (random_word() % 2 ? 8 : 0));
	size_t n = 0;
	int32_t distance;

	switch (random_word() % 6) {
	case 0: /* jcc, short or near */
		if (random_word() % 2) {
			bytes[n++] = (uint8_t)(0x70 | random_word() % 16);
			bytes[n++] = 0x40;
			return n;
		}
		bytes[n++] = 0x0f;
		bytes[n++] = (uint8_t)(0x80 | random_word() % 16);
		bytes[n++] = 0x40;
		memset(bytes + n, 0, 3);
		return n + 3;
	case 1: /* jmp, jrcxz, loop */
		bytes[n++] = (uint8_t[]){0xeb, 0xe3, 0xe2, 0xe1, 0xe0}[random_word() % 5];
		bytes[n++] = 0x40;
		return n;
	case 2: /* group 1 with an immediate behind the operand in memory */
		bytes[n++] = rex;
		bytes[n++] = 0x83;
		reg = (uint8_t)(random_word() % 8);
		break;
	case 3: /* movzx, setcc, imul, cmov */
		bytes[n++] = rex;
		bytes[n++] = 0x0f;
		bytes[n++] = (uint8_t[]){0xb6, 0xb7, 0xaf, 0x44, 0x4c, 0xbe}[random_word() % 6];
		break;
	default:
		bytes[n++] = rex;
		bytes[n++] = alu[random_word() % sizeof(alu)];
		is_memory |= bytes[n - 1] == 0x8d;
		break;
	}
	bytes[n++] = (uint8_t)(is_memory ? (reg << 3 | 5) : (0xc0 | reg << 3 | rm));
	if (is_memory) {
		bool has_imm = bytes[1] == 0x83;

		distance = data_off - (int32_t)(n + 4 + has_imm) + (int32_t)(random_word() % 64 * 8);
		memcpy(bytes + n, &distance, 4);
		n += 4;
	}
	if (bytes[1] == 0x83 && bytes[0] != 0x0f)
		bytes[n++] = (uint8_t)random_word();
	return n;
}

/* At code: the instruction, then "not taken"; at out: "taken". Both return, with r9 told. */
static void write_end(uint8_t *code, uint8_t taken)
{
	const uint8_t end[] = {0x41, 0xb9, taken, 0, 0, 0, 0xc3}; /* mov $taken,%r9d; ret */

	memcpy(code, end, sizeof(end));
}

static void test_one(uint8_t *area, size_t number)
{
	uint8_t *from = area + 0x1000, *to = area + 0x5000 + random_word() % 64, *data = area + DATA_OFF;
	uint8_t bytes[INSN_MAX_BYTES], data_before[DATA_BYTES], data_after[DATA_BYTES];
	size_t len_bytes = random_insn(bytes, (int32_t)(data - from)), to_bytes;
	uint64_t words[RUN_WORDS] = {0}, here[RUN_WORDS], there[RUN_WORDS];
	struct insn insn;

	if (!CHECK(insn_decode(bytes, len_bytes, (uint64_t)from, &insn)) || !CHECK_U64(insn.len_bytes, len_bytes))
		return;
	memcpy(from, bytes, len_bytes);
	write_end(from + len_bytes, 1);
	write_end(from + len_bytes + 0x40, 2);
	to_bytes = insn_relocate(bytes, &insn, (uint64_t)to, to);
	if (!CHECK(to_bytes))
		return;
	write_end(to + to_bytes, 1);
	for (size_t i = 0; i < RUN_REGS; i++)
		words[i] = random_word() % 4 ? random_word() : random_word() % 3;
	words[RUN_FLAGS] = (random_word() & INSN_FLAGS_STATUS) | 0x202;
	for (size_t i = 0; i < DATA_BYTES; i++)
		data_before[i] = (uint8_t)random_word();
	memcpy(here, words, sizeof(words));
	memcpy(there, words, sizeof(words));
	memcpy(data, data_before, DATA_BYTES);
	run(here, from);
	memcpy(data_after, data, DATA_BYTES);
	memcpy(data, data_before, DATA_BYTES);
	run(there, to);
	if (!CHECK(!memcmp(here, there, sizeof(here))) || !CHECK(!memcmp(data_after, data, DATA_BYTES))) {
		fprintf(stderr, "    instruction %zu:", number);
		for (size_t i = 0; i < len_bytes; i++)
			fprintf(stderr, " %02x", bytes[i]);
		fprintf(stderr, "\n");
	}
	/* What the decoder says is not written, is not. */
	for (size_t i = 0; i < RUN_REGS; i++) {
		static const uint8_t numbers[] = {0, 1, 2, 3, 6, 7, 8, 9, 10, 11};

		if (numbers[i] != 9 && !(insn.regs_written & (1U << numbers[i])))
			CHECK_U64(here[i], words[i]);
	}
	CHECK_U64((here[RUN_FLAGS] ^ words[RUN_FLAGS]) & INSN_FLAGS_STATUS & (uint64_t)~insn.flags_touched, 0);
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;
	uint8_t *area = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0x5eed;
	printf("%zu instructions, seed %#llx\n", count, (unsigned long long)seed);
	test_pairs();
	test_kinds();
	test_registers();
	test_stack();
	if (area == MAP_FAILED) {
		fprintf(stderr, "no memory that can be written and executed\n");
		return 77;
	}
	for (size_t i = 0; i < count && !check_failures; i++)
		test_one(area, i);
	return check_status();
}

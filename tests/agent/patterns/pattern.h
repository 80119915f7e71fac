/*
 * pattern.h - for NAME.in.S and NAME.out.S: a site of the program, and what it becomes.
 *
 * NAME.in.S has the program's function `f`, what is planned (`plan`), and the calls of the site that were seen (`call_of`, `caller`).
 * NAME.out.S has the same text as it is then, and in section .stubs the stubs that are new, each headed by `stub`.
 */
#define PLAN_SITE 0
#define PLAN_ENTRY 1
#define PLAN_FOREIGN_RETURN 2
#define PLAN_FOREIGN_CALL 3
#define PLAN_DETOUR 4

/* Where the sections are: patterns.sh has the same. */
#define AREA 0x18000000
#define STUBS 0x18001000
#define COUNTERS 0x19000000
#define CELL 0x1a000040
#define CHOOSE_NEXT 0x18000800 /* of the site behind, which is chained */
#define SLOTS 0x7f0012345000   /* of a table of choices */
#define SLOT_BITS 6

/* Offsets in AREA. */
#define AT_GROW 0
#define AT_DISCOVER 16
#define AT_RETURNED 32
#define AT_ENTERED 48
#define AT_FOREIGN 64
#define AT_UNKNOWN 88

/* Numbers of the site, of its function and of its first call. */
#define SITE 0x1234
#define FUNCTION 0x4321
#define CALL 0x5000

#define ID -0x40
#define TOP -0x38
#define BASE -0x30

/* enum code_stub_kind */
#define BEFORE 1
#define AFTER 2
#define CHOOSE 3
#define ENTRY 4
#define TAIL 5
#define FOREIGN 7

#ifdef __ASSEMBLER__
/* site: of the sites of f, from 0. addend: of the site. For others than sites at, len: the bytes of f that are replaced. */
.macro plan what,
	site = 0, addend = 0, next = 0, at = 0, len = 0, to = 0, restart = 0, left = 0 .pushsection.plan, "",
	@progbits.quad \what, \site, \addend, \next, \at, \len, \to, \restart, \left.popsection.endm.macro
										       call_of target,
	pushes = 0, foreign = 0, restart = 0, record = 0, tails = 0, gone = 0 .pushsection.calls, "",
	@progbits.quad \target, \pushes, \foreign, \restart, \record, \tails, \gone.popsection.endm.macro caller
										      address.pushsection.callers,
	"",
	@progbits.quad \address.popsection
		.endm

		/* Its code comes behind it. first, done: offsets in it. */
		.macro stub kind,
	number, first = 0, done = 0 .balign 16, 0 .long \number.byte \kind, \first, \done,
	0 .endm

		/* What the agent has: */
		.macro area.pushsection.area,
	"ax",
	@progbits.org AT_GROW grow :.org AT_DISCOVER discover :.org AT_RETURNED returned :.org AT_ENTERED entered
	:.org AT_FOREIGN foreign :.org AT_UNKNOWN unknown :.org 0x800 next_choose
	:.byte 0 .popsection.pushsection.counters,
	"aw", @progbits counters :.long 0 .popsection.pushsection.cell, "ax",
	@progbits cell :.byte 0 .popsection
				.endm

				/* What the program has besides f: functions that are called. */
				.macro callees.org 0x100 .type a,
	@function a :.cfi_startproc ret.cfi_endproc.org 0x110 .type b,
	@function b :.cfi_startproc ret.cfi_endproc.section.note.GNU - stack, "",
	@progbits.text.endm

#define nop2 .byte 0x66, 0x90
#define nop3 .byte 0x0f, 0x1f, 0x00
#define nop4 .byte 0x0f, 0x1f, 0x40, 0x00
#define nop5 .byte 0x0f, 0x1f, 0x44, 0x00, 0x00

			/* Branches of 5 bytes, and of 6, within a section. */
			.macro jump5 to.byte 0xe9 .long \to -
			.- 4 .endm.macro je6 to.byte 0x0f,
	0x84 .long \to -.- 4 .endm.macro jne6 to.byte 0x0f,
	0x85 .long \to -
			.-
		4 .endm

			/* The halves of what pushes and pops of entries are made of; the labels are local to each use. */
			.macro begin_push push %
			r11 18 : mov % fs : TOP,
	% r11 test % r11,
	% r11 jne 19f call grow jmp 18b 19 :.endm.macro put_entry record pushq % fs : ID popq(% r11) mov % rsp,
	8(% r11) movl $\record, 16(% r11) movq $0,
	20(% r11).endm.macro take_off pushq - 32(% r11) popq % fs : ID lea - 32(% r11),
	%
		r11.endm
			/* Takes all entries of this frame off, where there may be none. */
			.macro pop_if_any push
		% r11 mov % fs : TOP,
	% r11 mov - 24(% r11), % r11 lea 8(% r11), % r11 cmp % rsp, % r11 jne 17f push % rax mov % fs : TOP,
	% r11 16 : take_off cmp % rsp, -24(% r11) je 16b mov % r11, % fs : TOP pop % rax 17 :.endm
#endif

/* pattern.h - addresses and numbers that patterns and test_patterns.c share. */
#ifndef WM_TESTS_AGENT_PATTERN_H
#define WM_TESTS_AGENT_PATTERN_H

#define PLAN_SITE 0
#define PLAN_ENTRY 1
#define PLAN_FOREIGN_RETURN 2
#define PLAN_FOREIGN_CALL 3
#define PLAN_DETOUR 4
#define PLAN_LOADER 5

/* Where the sections are: patterns.sh has the same. */
#define AREA 0x18000000
#define STUBS 0x18001000
#define COUNTERS 0x19000000
#define TRAMPOLINE 0x1a000040
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
#define DISPATCH 3
#define ENTRY 4
#define TAIL 5
#define FOREIGN 7

#endif

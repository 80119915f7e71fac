/* test_program.c LIBRARY - functions, sites and returns of a library, as the agent finds them, against the library's own symbol table. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "agent/program/calls.h"
#include "agent/program/program.h"
#include "agent/os/memory.h"
#include "agent/unit/unit.h"
#include "check.h"

static uint64_t size_of(uintptr_t address)
{
	const Elf64_Sym *symbol = NULL;
	Dl_info info;

	return dladdr1((void *)address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol ? symbol->st_size : 0;
}

/* Each address of a function is its, and those of others are not. */
static void test_functions(void)
{
	uint32_t seen[UNIT_FUNCTIONS];

	for (int i = 0; i < UNIT_FUNCTIONS; i++) {
		uintptr_t start = (uintptr_t)unit_functions[i];
		uint64_t size = size_of(start);
		uint32_t function = agent_function_at(start);

		seen[i] = function;
		if (!CHECK(function != AGENT_NONE && size))
			continue;
		CHECK_U64(agent_program.functions[function].start, start);
		CHECK_U64(agent_program.functions[function].end, start + size);
		CHECK(agent_function_is(function, AGENT_FUNCTION_SEEN));
		for (uintptr_t at = start; at < start + size; at++)
			CHECK(agent_function_at(at) == function);
		CHECK_U64(agent_function_entered(start), function);
		CHECK_U64(agent_function_entered(start + 1), AGENT_NONE);
		for (int j = 0; j < i; j++)
			CHECK(seen[j] != function);
	}
	CHECK_U64(agent_function_at(16), AGENT_NONE);
}

/* Each function calls all of them, by different sites, and `end`. */
static void test_sites(void)
{
	const struct agent_program *p = &agent_program;

	CHECK(unit_reach());
	for (int i = 0; i < UNIT_FUNCTIONS; i++) {
		const struct agent_function *f = &p->functions[agent_function_at((uintptr_t)unit_functions[i])];
		uint32_t indirect = 0, called[UNIT_FUNCTIONS] = {0};

		CHECK_U64(f->site_count, UNIT_FUNCTIONS + 1);
		for (uint32_t s = f->first_site; s < f->first_site + f->site_count; s++) {
			const struct agent_site *site = &p->sites[s];

			CHECK(site->address >= f->start && site->address + site->len_bytes <= f->end);
			CHECK(site->is_written && site->first_call == AGENT_NONE);
			CHECK_U64(agent_site_returning_to(site->address + site->len_bytes), s);
			CHECK_U64(agent_site_returning_to(site->address), AGENT_NONE);
			indirect += !agent_site_is_direct(site);
			for (int j = 0; j < UNIT_FUNCTIONS; j++)
				called[j] += agent_site_is_direct(site) &&
					     agent_resolve(site->target) == (uintptr_t)unit_functions[j];
		}
		CHECK_U64(indirect, 1);
		for (int j = 0; j < UNIT_FUNCTIONS; j++)
			CHECK_U64(called[j], 1);
	}
	CHECK_U64(p->instrumented_count, UNIT_FUNCTIONS);
}

/* The calls of the site are these, the first `present` of them not gone. */
static void check_calls(uint32_t site, size_t count, size_t present, const uint32_t *want)
{
	size_t n = 0, here = 0;

	agent_for_each_call(c, agent_site(site))
		CHECK(n < count && c == want[n++]);
	CHECK_U64(n, count);
	agent_for_each_present_call(c, agent_site(site))
		here += c == want[here];
	CHECK_U64(here, present);
}

/* The newest call comes first, and those that are gone last. */
static void test_calls(void)
{
	struct agent_program *p = &agent_program;
	uint32_t callee = agent_function_at((uintptr_t)unit_functions[1]), callers = 0;
	uint32_t site = agent_function(agent_function_at((uintptr_t)unit_functions[0]))->first_site;

	CHECK(agent_reserve((void **)&p->calls, &p->call_capacity, 3, sizeof *p->calls));
	check_calls(site, 0, 0, NULL);
	for (uint32_t i = 0; i < 3; i++) {
		*agent_call(i) = (struct agent_call){
			.site = site, .callee = i == 1 ? AGENT_NONE : callee, .edge = AGENT_NONE, .target = i};
		agent_call_list(i);
	}
	check_calls(site, 3, 3, (uint32_t[]){2, 1, 0});
	agent_for_each_caller(c, agent_function(callee))
		CHECK_U64(c, callers++ ? 0 : 2);
	CHECK_U64(callers, 2);
	agent_call_list_gone(2);
	agent_call(2)->is_gone = true;
	check_calls(site, 3, 2, (uint32_t[]){1, 0, 2});
	agent_call_list_gone(1);
	agent_call(1)->is_gone = true;
	check_calls(site, 3, 1, (uint32_t[]){0, 1, 2});
	CHECK(!agent_call_find(site, 1) && agent_call_find(site, 0) == agent_call(0));
	agent_call_unlist(1);
	agent_call_unlist(1);
	check_calls(site, 2, 1, (uint32_t[]){0, 2});
}

/* What calls nothing is quiet, until more functions capture. */
static void test_no_callback(void)
{
	uint32_t leaf = agent_function_at((uintptr_t)unit_leaf);
	struct scan_function scan;

	CHECK(agent_function_is(leaf, AGENT_FUNCTION_SEEN));
	if (!CHECK_U64(scan_function(&agent_program.functions[leaf].image->scan, (uintptr_t)unit_leaf, &agent_allocator,
				     &scan),
		       SCAN_OK))
		return;
	CHECK(agent_function_is_found_no_callback(leaf, &scan));
	CHECK(agent_function_is(leaf, AGENT_FUNCTION_NO_CALLBACK));
	agent_program_invalidate_no_callback();
	CHECK(agent_function_is(leaf, AGENT_FUNCTION_SEEN));
	agent_function_keep(leaf, "the test keeps it");
	CHECK(agent_function_is(leaf, AGENT_FUNCTION_FOREIGN));
	scan_function_release(&scan, &agent_allocator);
}

int main(int argc, char **argv)
{
	if (argc != 2 || !unit_start(argv[1]))
		return 1;
	test_functions();
	test_sites();
	test_no_callback();
	test_calls();
	return check_status();
}

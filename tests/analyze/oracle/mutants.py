#!/usr/bin/env python3
"""mutants.py BUILD [BATCHES] [NAME...] - faults that are put into src/analyze one by one; random programs that record their own slices find each.
mutants.py --places: only whether each fault still has its place in src/analyze.

BATCHES (20) of 6 large programs are compiled once; for each mutant one file of src/analyze is compiled again, and the programs are checked until one
of them has an instruction that is not in the slice. Faults of omissions are looked for by programs whose branches are switched instead.
"""
import os
import shlex
import subprocess
import sys
import tempfile

import oracle

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "..", "..", "src")

PROGRAMS = 6  # of a batch: large ones

# name, file, what stands there once, what stands there instead
MUTANTS = [
    ("library-strcpy-writes-nothing", "library.c", '{"strcpy", "r1 w0 =0"}', '{"strcpy", "r1 =0"}'),
    ("library-strtol-no-end-pointer", "library.c", '{"strtol", "r0 p10 sE"}', '{"strtol", "r0 sE"}'),
    ("library-qsort-calls-nobody", "library.c", '"r0 w0 k3:00"}', '"r0 w0"}'),
    ("library-snprintf-writes-nothing", "library.c", '{"snprintf", "w0/1 r2 r* gL sE"}', '{"snprintf", "r2 r* gL sE"}'),
    ("library-snprintf-reads-no-arguments", "library.c", '{"snprintf", "w0/1 r2 r* gL sE"}', '{"snprintf", "w0/1 r2 gL sE"}'),
    ("library-vsnprintf-reads-only-the-list", "library.c", '{"vsnprintf", "w0/1 r2 v3 gL sE"}', '{"vsnprintf", "w0/1 r2 r3 gL sE"}'),
    ("library-strlen-reads-nothing", "library.c", '{"strlen", "r0"}', '{"strlen", ""}'),
    ("library-strdup-copies-nothing", "library.c", '{"strdup", "n r0 sE"}', '{"strdup", "n sE"}'),
    ("library-strchr-no-pointer", "library.c", '{"strchr", "r0 >0"}', '{"strchr", "r0"}'),
    ("library-realloc-copies-nothing", "library.c", '{"realloc", "n c.0 =0 sE"}', '{"realloc", "n sE"}'),
    ("library-exit-returns", "library.c", '{"exit", "!"}', '{"exit", ""}'),
    ("library-scanf-writes-nothing", "library.c", '{"__isoc99_sscanf", "r0 r1 w* gL sE"}', '{"__isoc99_sscanf", "r0 r1 gL sE"}'),
    ("library-srand-sets-nothing", "library.c", '{"srand", "sR"}', '{"srand", ""}'),
    ("library-strtok-goes-on-nowhere", "library.c", '{"strtok", "r0 w0 r1 gK sK hK0 oK"}', '{"strtok", "r0 w0 r1 gK sK"}'),
    ("library-setenv-sets-nothing", "library.c", '{"setenv", "r0 r1 gV sV sE"}', '{"setenv", "r0 r1 gV sE"}'),
    ("library-gmtime-sets-nothing", "library.c", '{"gmtime", "r0 sT oT sE"}', '{"gmtime", "r0 oT sE"}'),
    ("library-strtol-sets-no-errno", "library.c", '{"strtol", "r0 p10 sE"}', '{"strtol", "r0 p10"}'),
    ("library-signal-sets-nothing", "library.c", '{"signal", "aH1 tH gH sH sE"}', '{"signal", "tH sE"}'),
    ("library-sigaction-installs-nothing", "library.c", '{"sigaction", "r1 w2 iH1 tH2 gH sH sE"}', '{"sigaction", "r1 w2 tH2 gH sH sE"}'),
    ("calls-no-old-handlers", "memory_calls.c", "return memory_node(b, call, &node) ?: pointers_copy(b->p, handlers, node);", "return NULL;"),
    ("calls-handlers-run-in-calls-alone", "memory_calls.c", "return err || !is_handler(e) ? err : memory_call_from_outside(b, function);", "return err;"),
    ("slice-handlers-write-nothing", "slice.c", "if (id_set_meets(async_may_run(&w->async, i) ? &w->ever : &w->ever_async,", "if (id_set_meets(&w->ever_async,"),
    ("slice-handlers-read-nothing", "slice.c", "\terr = id_set_add_all(&w->ever_async, reads, NULL, NULL);", "\terr = NULL;"),
    ("slice-handlers-of-the-end-run-anyway", "slice.c", "err = id_set_add(&w->ever_async, REGION_CONTROL, NULL);\n", "err = NULL;\n"),
    ("groups-are-all-one", "call_groups.c", "ret->of[i] = *slot - 1;", "ret->of[i] = 0;"),
    ("groups-change-what-the-first-changes", "slice.c", "for (size_t i = 0; i < g->callees->count && !err; i++) {\n\t\tconst struct id_set *changes;",
     "for (size_t i = 0; i < 1 && !err; i++) {\n\t\tconst struct id_set *changes;"),
    ("groups-are-asked-once", "slice.c", "if (!is_first && id_set_contains(&g->asked, &w->grouped))", "if (!is_first)"),
    ("groups-are-asked-by-who-comes-first", "slice.c", "if (!is_first && id_set_contains(&g->asked, &w->grouped))\n\t\treturn ask_left(w, context, call, left);",
     "if (id_set_contains(&g->asked, &w->grouped))\n\t\treturn NULL;"),
    ("effects-no-stores", "effects.c", "return r->changes[i] || r->overwrites[i]", "return r->overwrites[i]"),
    ("effects-no-calls", "effects.c", "r->memory->callees[i].count ||", "false ||"),
    ("effects-of-each-alone", "effects.c", "is_first ? CODE_NONE : last[i - 1];", "CODE_NONE;"),
    ("memory-constant-pointers", "memory.c", "for (uint32_t k = 0; k < i->operand_count && !err; k++) {\n\t\tLLVMValueRef operand",
     "for (uint32_t k = 0; false; k++) {\n\t\tLLVMValueRef operand"),
    ("memory-stores-lead-nowhere", "memory.c", "err = is_store ? pointers_store(b->p, value, moved, bytes)", "err = is_store ? NULL"),
    ("memory-second-words", "memory.c", "for (uint32_t at = 0; at < len_bytes && !err; at += WORD) {", "for (uint32_t at = 0; at < 1 && !err; at += WORD) {"),
    ("memory-members-are-the-first", "memory.c", "\t\terr = pointers_stepped(b->p, node, &steps[k], &node);", "\t\terr = k ? pointers_stepped(b->p, node, &steps[k], &node) : NULL;"),
    ("memory-loads-lead-nowhere", "memory.c", "err = pointers_loaded(b->p, node, memory_access_bytes(b->m, LLVMTypeOf(value)), &node);",
     "err = pointers_add_node(b->p, &node);"),
    ("memory-initializers", "memory.c", "static struct error *store_constant(struct builder *b, LLVMValueRef value, uint32_t object, uint64_t offset)\n{",
     "static struct error *store_constant(struct builder *b, LLVMValueRef value, uint32_t object, uint64_t offset)\n{\n\tif (b)\n\t\treturn NULL;"),
    ("memory-casts", "memory.c", "\tcase LLVMPtrToInt:\n", ""),
    ("memory-arithmetic", "memory.c", "\tcase LLVMXor:\n", ""),
    ("memory-select-or-phi", "memory.c", "for (uint32_t k = i->opcode == LLVMSelect; k < i->operand_count && !err; k++)",
     "for (uint32_t k = i->opcode == LLVMSelect; k < 1 && !err; k++)"),
    ("calls-returned-pointers", "memory_calls.c", "return err ? err : pointers_copy(b->p, b->returned[function] - 1, result);", "return err;"),
    ("calls-indirect-targets", "memory_calls.c", "|| !can_call(value, target->value))\n", "|| code_function_number(b->code, target->value) % 2 || !can_call(value, target->value))\n"),
    ("calls-variable-arguments", "memory_calls.c", "return err ? err : pointers_store(b->p, node, parameter, WORD);", "return err;"),
    ("calls-second-argument", "memory_calls.c", "if (number < f->argument_count) {\n", "if (number == 1)\n\t\treturn NULL;\n\tif (number < f->argument_count) {\n"),
    ("calls-memcpy-of-pointers", "memory_calls.c", "return err ? err : pointers_transfer(b->p, to, from, transfer_bytes(call));", "return err;"),
    ("calls-copies-of-arguments", "memory_calls.c", "return err ? err : pointers_transfer(b->p, parameter, node, POINTERS_ALL_BYTES);", "return err;"),
    ("calls-va-copy", "memory_calls.c", "return err ? err : pointers_transfer(b->p, to, from, 24);", "return err;"),
    ("steps-members", "steps.c", "add_offset(&w, (int64_t)LLVMOffsetOfElement(layout, type, member));", "add_offset(&w, 0 * (int64_t)LLVMOffsetOfElement(layout, type, member));"),
    ("steps-variable-index", "steps.c", "\tw->steps[w->count++] = step;", "\tw->steps[w->count] = step;"),
    ("regions-heap-is-overwritten", "regions.c", "if (at->stride || !is_single(b, at->object))", "if (at->stride)"),
    ("regions-strides-are-overwritten", "regions.c", "if (at->stride || !is_single(b, at->object))", "if (!is_single(b, at->object))"),
    ("regions-overwrites-too-much", "regions.c", "<= (int64_t)at->first + len_bytes)", "<= (int64_t)at->first + len_bytes + 16)"),
    ("regions-several-are-overwritten", "regions.c", "if (!locations || locations->count != 1 || id_set_size(locations) != 1)", "if (!locations || !locations->count)"),
    ("regions-one-byte-is-stored", "regions.c", "\t\tif (locations_meet(at, x->len_bytes,", "\t\tif (locations_meet(at, 1,"),
    ("regions-memset-reaches-nothing", "regions.c", 'if (is_copy || text_begins(name, "llvm.memset")) {', "if (is_copy) {"),
    ("regions-memcpy-reads-nothing", "regions.c", "return is_copy ? touch_argument(b, call, 1, length_of(call, 2), pass, ret) : NULL;", "return NULL;"),
    ("regions-new-pointers-are-not-stored", "regions.c", "} else if (e->kind == LIBRARY_PUTS_NEW || e->kind == LIBRARY_POINTS) {",
     "} else if (e->kind == LIBRARY_PUTS_NEW) {\n\t\t} else if (e->kind == LIBRARY_POINTS) {"),
    ("regions-calls-pass-nothing", "regions.c", "err = change_object(b, objects->items[o], &passed);", "err = NULL;"),
    ("regions-copies-are-not-read", "regions.c", "if (attribute)\n", "if (attribute && i > 1)\n"),
    ("regions-va-start", "regions.c", 'return pass == PASS_CHANGES ? touch_argument(b, call, 0, 24, pass, ret) : NULL;', "return NULL;"),
    ("regions-changes-of-callees", "regions.c", "return err ? err : call_order_sum(&r->calls, r->memory, r->function_changes);", "return err;"),
    ("regions-exit-comes-back", "regions.c", "if (pass == PASS_CHANGES && !err && f->may_not_return)", "if (false)"),
    ("control-one-way", "control.c", "for (uint32_t s = 0; s < block_at(r, a)->successor_count; s++)\n\t\t\tfor", "for (uint32_t s = 0; s < 1; s++)\n\t\t\tfor"),
    ("control-only-the-next", "control.c", "at && at != DOMINATORS_NONE && at != r->tree.idom[a + 1]; at = r->tree.idom[at])",
     "at && at != DOMINATORS_NONE && at != r->tree.idom[a + 1]; at = 0)"),
    ("slice-no-return", "slice.c", "== LLVMRet)\n\t\t\terr = join(", "== LLVMRet + 1000)\n\t\t\terr = join("),
    ("slice-phi-decided-by-nobody", "slice.c", "\t\t\terr = join_deciders(w, context, from, i);\n", "\t\t\terr = NULL;\n"),
    ("slice-nobody-decides", "slice.c", "\tstruct error *err = join_deciders(w, context, x->block, i);", "\tstruct error *err = NULL;"),
    ("slice-nobody-jumps", "slice.c", "return err ? err : id_set_add_all(regions, &w->at_jumps, NULL, NULL);", "return err;"),
    ("slice-jumps-do-not-land", "slice.c", "\t\treturn come_by_jump(w, regions);", "\t\treturn NULL;"),
    ("slice-no-callers", "slice.c", "if (!err && more.count)\n\t\terr = each_call(w, function, context, bring_to_call, &more);", "if (!err && !more.count)\n\t\terr = each_call(w, function, context, bring_to_call, &more);"),
    ("slice-arguments-of-first-call", "slice.c", "!err && is_new_call && id_set_next(&v->arguments, &i);", "!err && false && id_set_next(&v->arguments, &i);"),
    ("slice-calls-do-not-matter", "slice.c", "\treturn join(w, context, call, SLICE_CALL, *(const uint32_t *)data);", "\t(void)data;\n\treturn NULL && join(w, context, call, SLICE_CALL, 0) ? NULL : NULL;"),
    ("slice-no-variable-arguments", "slice.c", "\t\terr = join_variadic(w, context, call);", "\t\terr = NULL;"),
    ("slice-first-callee", "slice.c", "for (size_t k = 0; k < callees->count && !err; k++) {\n\t\terr = ask(", "for (size_t k = 0; k < 1 && k < callees->count && !err; k++) {\n\t\terr = ask("),
    ("slice-coarse-no-stores", "slice.c", "if (id_set_meets(&w->ever, classes_of(w, r->changes[i])))", "if (false)"),
    ("slice-coarse-calls-pass-nothing", "slice.c", "if (err || !r->passes[i] ||", "if (true || err || !r->passes[i] ||"),
    ("library-longjmp-goes-on", "library.c", '{"longjmp", "r0 !"}', '{"longjmp", "r0"}'),
    ("slice-coarse-no-returns", "slice.c", "uint32_t context = w->is_coarse ? CONTEXT_UP : CONTEXT_DOWN;", "uint32_t context = CONTEXT_DOWN;"),
    ("slice-coarse-reads-nothing", "slice.c", "return id_set_add_all(&w->ever, classes_of(w, w->regions->reads[i]), NULL, NULL);\n}\n\n/* All that", "return NULL;\n}\n\n/* All that"),
    ("slice-callbacks-return-nothing", "slice.c", "\tif (!memory_calls_outside(w->memory, i) &&\n", "\tif (\n"),
    ("slice-calls-back-once", "slice.c", "if (!err && called->count && memory_calls_outside(w->memory, i))", "if (false)"),
]

# The same, of what switched branches find.
OMISSION_MUTANTS = [
    ("omissions-no-stores", "omissions.c", "err = take_reader(s, region_set(s->all, s->all->changes[i]), wanted, i, false, best);", "err = NULL;"),
    ("omissions-no-calls", "omissions.c", "for (size_t k = 0; k < callees->count && !err; k++)\n\t\terr = take_reader(",
     "for (size_t k = 0; false && k < callees->count; k++)\n\t\terr = take_reader("),
    ("omissions-first-way", "omissions.c", "for (uint32_t i = 0; i < b->successor_count && !err; i++)\n\t\terr = come_to(s, s->code->successors[b->first_successor + i]);\n\twhile",
     "for (uint32_t i = 0; i < 1 && !err; i++)\n\t\terr = come_to(s, s->code->successors[b->first_successor + i]);\n\twhile"),
    ("omissions-only-directly-decided", "omissions.c", "\t\t\tif (!ran(s, deciders[i]))\n\t\t\t\terr = function_ids_append(&s->work, deciders[i]);\n",
     "\t\t\tif (!ran(s, deciders[i]))\n\t\t\t\terr = NULL;\n"),
    ("omissions-nothing-goes-on", "omissions.c", "s->goes_on[b] = ran(s, b) || opcode == LLVMRet || opcode == LLVMResume;", "s->goes_on[b] = opcode == LLVMUnreachable;"),
]


def link_command(build, program):
    text = subprocess.run(["ninja", "-C", build, "-t", "commands", "tests/analyze/" + program], check=True, stdout=subprocess.PIPE, text=True).stdout
    commands = text.strip().split("\n")
    compiles = {os.path.basename(c.split()[-1]): c for c in commands if " -c ../src/analyze/" in c}
    return compiles, commands[-1]


def text_with(mutant):
    """The file of src/analyze with the fault, or None and a message if it has no place there, or several."""
    fault, name, old, new = mutant
    with open(os.path.join(SOURCES, "analyze", name), encoding="utf-8") as file:
        text = file.read()
    if text.count(old) != 1:
        print("%s: %d places of it in %s" % (fault, text.count(old), name))
        return None
    return text.replace(old, new)


def make_mutant(build, mutant, where):
    """Compiles and links slice-check-random, or slice-switches, with the fault."""
    name, text = mutant[1], text_with(mutant)
    if text is None:
        sys.exit(1)
    made_of = "slice-switches" if mutant in OMISSION_MUTANTS else "slice-check-random"
    compiles, link = link_command(build, made_of)
    source, made = os.path.join(where, name), os.path.join(where, "mutant.o")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    words = shlex.split(compiles[name])
    own = words[words.index("-o") + 1]
    words[words.index("-o") + 1], words[-1], words[words.index("-MF") + 1] = made, source, made + ".d"
    subprocess.run(words + ["-w"], check=True, cwd=build)
    program = os.path.join(where, made_of)
    link = link.replace("-o tests/analyze/%s " % made_of, "-o %s " % program).replace(own, made)
    subprocess.run(link, shell=True, check=True, cwd=build)
    return program


def batches_of(build, count, where, make):
    """The arguments of each batch: what `make` returns for its bitcode, folder and first seed."""
    corpus = []
    for batch in range(count):
        folder = os.path.join(where, "%s%d" % (make.__name__, batch))
        os.mkdir(folder)
        first = 1 + PROGRAMS * batch
        options = oracle.OPTIONS[batch % len(oracle.OPTIONS)] + (oracle.NO_PIPES if make == switched else "")
        corpus.append(make(build, oracle.compile_batch(first, PROGRAMS, options, folder, 3), folder, first))
    return corpus


def recorded(build, bitcode, _, first):
    return oracle.check_command(build, bitcode, first, PROGRAMS, ["-n", "40"])[1:]


def switched(build, bitcode, folder, first):
    code, program = oracle.build_switched(build, bitcode, folder, oracle.build_runtime(folder))
    return [code, program, os.path.join(folder, "run"), str(first), str(PROGRAMS), "40", "8"]


def is_found(program, corpus):
    """The number of the first batch that finds the fault. corpus: the arguments of each batch."""
    for number, arguments in enumerate(corpus):
        result = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=False, timeout=600)
        if result.returncode == 1:
            return number
        if result.returncode:
            sys.exit("%s: status %d" % (program, result.returncode))
    return None


def try_all(build, mutants, corpus, program, where):
    """How many live."""
    alive = 0
    if not mutants:
        return 0
    if is_found(os.path.join(build, "tests/analyze", program), corpus) is not None:
        sys.exit("without a fault something is missing, too")
    for mutant in mutants:
        found = is_found(make_mutant(build, mutant, where), corpus)
        alive += found is None
        print("%s: %s" % (mutant[0], "ALIVE" if found is None else "found in batch %s" % found), flush=True)
    return alive


def main():
    if sys.argv[1:] == ["--places"]:
        without = sum(text_with(mutant) is None for mutant in MUTANTS + OMISSION_MUTANTS)
        print("%d of %d mutants have no place" % (without, len(MUTANTS + OMISSION_MUTANTS)))
        sys.exit(without > 0)
    build, batches = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    chosen = [m for m in MUTANTS + OMISSION_MUTANTS if len(sys.argv) < 4 or m[0] in sys.argv[3:]]
    of_slices, of_omissions = [m for m in chosen if m in MUTANTS], [m for m in chosen if m in OMISSION_MUTANTS]
    with tempfile.TemporaryDirectory(prefix="waymark-mutants.") as where:
        alive = try_all(build, of_slices, batches_of(build, batches, where, recorded) if of_slices else [], "slice-check-random", where)
        alive += try_all(build, of_omissions, batches_of(build, batches, where, switched) if of_omissions else [], "slice-switches", where)
    print("%d of %d mutants found" % (len(chosen) - alive, len(chosen)))
    sys.exit(alive > 0)


main()

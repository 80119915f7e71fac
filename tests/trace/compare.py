"""compare.py - compares what `waymark core --format=json` says with what was recorded (record.h).

    compare.py RECORD CORE.json [OPTION...]

  source      functions keep their paths where they are inlined; else only machine frames have some
  apart       another run of another build was recorded: process, thread and frame addresses differ
  ring=N      paths kept for each frame
  scheme=S    of each frame of a function of several blocks, when it has paths (waymark/trace.h)
  cut         the stack is destroyed: unwinding must end, and say so; what it still finds must be true
  lost=F      frames of function F may say that what they kept was overwritten
  ahead       a thread stopped where it was may be one step further than the record says
  exact=F     the frames of function F must tell the very call that is in progress
  stack=N     the first thread has at least N frames that are compared

Prints a line of numbers; or what differs, and ends with 1.
"""
import json
import mmap
import os
import struct
import sys

ENTER, BLOCK, CALL, END = 1, 2, 3, 4
RETURN, TAIL, TWICE, JUMP, AGAIN = 0, 1, 2, 3, 4
CALLS, BLOCKS, PATHS = 2, 4, 8  # schemes (waymark/trace.h)
OWN = "wmrec_"
NAMES_OFF, LOGS_OFF, LOG_BYTES, THREADS = 1 << 12, 1 << 26, 1 << 28, 16
UNTOLD = 8  # differences shown


class Function:
    def __init__(self, name, block_count, back):
        self.name = name
        self.block_count = block_count
        self.back = back  # edges on which a path ends
        self.calls = set()  # begun
        self.blocks = set()  # entered
        self.each_time = None  # calls of every activation that has come to its end


class Activation:
    def __init__(self, function, cfa, number):
        self.function = function
        self.cfa = cfa
        self.number = number
        self.blocks = []
        self.ends = []  # number of blocks at each end of a path in a node
        self.calls = set()
        self.call = None  # the last one that began
        self.call_block = None  # number of blocks then
        self.call_list = []  # in their order: pairs of the call and the number of blocks then
        self.agains = []  # number of blocks at each return of a call that returns twice: a path may have been given up
        self.is_over = False  # it returns, maybe by a call that runs without its frame

    def paths(self, splits, rounds):
        """Pairs of a path, a list of blocks, and the round of a loop that it began behind: of those that ended and are kept, and
        of the one in progress (None: its next one has not begun). Paths end on splits, too; those that end on rounds are not kept."""
        ended, path, ends, agains = [], [], set(self.ends), set(self.agains)
        behind = None
        for i, block in enumerate(self.blocks):
            if i in agains:
                path, behind = [], None
            if path and (path[-1], block) in rounds:
                path, behind = [], path
            elif path and (path[-1], block) in self.function.back | splits and i not in ends:
                ended.append((path, behind))
                path, behind = [], None
            path.append(block)
            if i + 1 in ends:
                ended.append((path, behind))
                path, behind = [], None
        return ended, (path, behind) if path else None


class Record:
    def __init__(self, path, keeps_returned):
        self.keeps_returned = keeps_returned  # until something else happens: the stack is such that returning may fault
        self.file = open(path, "rb")
        self.bytes = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)
        self.functions = {}
        self.read_functions()
        self.threads = {}
        for i in range(THREADS):
            tid, count = struct.unpack_from("<QQ", self.bytes, 16 + 16 * i)
            if tid:
                self.threads[tid] = self.replay(LOGS_OFF + LOG_BYTES * i, count)

    def read_functions(self):
        at = struct.unpack_from("<Q", self.bytes, 8)[0]
        while at:
            following, block_count, back_count = struct.unpack_from("<QII", self.bytes, at)
            numbers = struct.unpack_from(f"<{2 * back_count}I", self.bytes, at + 16)
            start = at + 16 + 8 * back_count
            name = self.bytes[start:self.bytes.find(b"\0", start)].decode()
            back = set(zip(numbers[::2], numbers[1::2]))
            self.functions[at // 16] = Function(name, block_count, back)
            at = following

    def replay(self, off, count):
        stack = []
        events = struct.iter_unpack("<IIQ", self.bytes[off:off + 16 * count])
        for number, (kind, what, id_) in enumerate(events):
            if kind == ENTER:
                while stack and (stack[-1].cfa < id_ or stack[-1].is_over and stack[-1].cfa == id_):
                    stack.pop()
                stack.append(Activation(self.functions[what], id_, number + 1))
                continue
            if kind == 0:
                continue
            while stack and stack[-1].number != id_:
                stack.pop()
            if not stack:
                raise SystemExit(f"record: event {number} of an activation that is no more")
            top = stack[-1]
            if kind == BLOCK:
                top.blocks.append(what)
                top.function.blocks.add(what)
            elif kind == CALL:
                top.call, top.call_block = what, len(top.blocks)
                top.calls.add(what)
                top.call_list.append((what, len(top.blocks)))
                top.function.calls.add(what)
            elif what in (RETURN, TAIL) and top.function.each_time is None:
                top.function.each_time = set(top.calls)
            elif what in (RETURN, TAIL):
                top.function.each_time &= top.calls
            if kind == END and what == RETURN and not self.keeps_returned:
                stack.pop()
            elif kind == END and what in (RETURN, TAIL):
                top.is_over = True
            elif kind == END and what == AGAIN:
                top.agains.append(len(top.blocks))
            elif kind == END:
                top.ends.append(len(top.blocks))
        return stack[::-1]


class Comparison:
    def __init__(self, record, core, options):
        self.record = record
        self.core = core
        self.options = options
        self.lost = set(options.get("lost", "").split("|")) - {""}
        self.problems = []
        self.counts = {"threads": 0, "frames": 0, "paths": 0, "blocks": 0, "bits": 0, "calls": 0, "functions": 0}
        self.skipped = {s["name"] for s in core["skipped"]}
        self.told = {f["id"]: f for f in core["functions"]}
        for f in core["functions"]:
            f["own"] = [i for i, c in enumerate(f["calls"]) if not c.get("callee", "").startswith(OWN)]

    def has(self, option):
        return option in self.options

    def differ(self, where, what):
        self.problems.append(f"{where}: {what}")

    # ---- frames ----

    def frames_of(self, thread):
        """What must be in the record: frames of known functions."""
        frames = [f for f in thread["frames"] if "function_id" in f]
        return frames if self.has("source") else [f for f in frames if not f["inlined"]]

    def match(self, thread, truth):
        """Pairs of frame and activation."""
        where = f"thread {thread['tid']}"
        frames = self.frames_of(thread)
        known = {f.name for f in self.record.functions.values()}
        frames = [f for f in frames if self.told[f["function_id"]]["link_name"] in known or f.get("scheme")]
        pairs, f, t = [], 0, 0
        left = [a for a in truth if not a.is_over]
        if [self.told[f["function_id"]]["link_name"] for f in frames] == [a.function.name for a in left]:
            truth = left
        while f < len(frames) and t < len(truth):
            name = self.told[frames[f]["function_id"]]["link_name"]
            if name == truth[t].function.name and not self.is_elsewhere(frames[f], truth[t]):
                pairs.append((frames[f], truth[t]))
                f += 1
                t += 1
            elif truth[t].is_over:
                t += 1
            elif f == 0 and not pairs and self.has("ahead"):
                f += 1
            else:
                break
        while t < len(truth) and truth[t].is_over:
            t += 1
        if f < len(frames):
            name = self.told[frames[f]["function_id"]]["link_name"]
            expected = truth[t].function.name if t < len(truth) else "nothing"
            self.differ(where, f"frame {frames[f]['number']} is {name}, recorded is {expected}")
        elif t < len(truth) and not (self.has("cut") and thread["cut"]):
            self.differ(where, f"{truth[t].function.name} is missing behind {len(pairs)} frames ({thread['cut']})")
        return pairs

    def is_elsewhere(self, frame, truth):
        return not self.has("apart") and "cfa" in frame and int(frame["cfa"], 16) != truth.cfa

    def compare_frame(self, frame, truth, where, is_stopped):
        self.counts["frames"] += 1
        if not self.has("apart") and "cfa" in frame and int(frame["cfa"], 16) != truth.cfa:
            self.differ(where, f"its CFA is {frame['cfa']}, recorded is {truth.cfa:#x}")
        told = self.told[frame["function_id"]]
        if told["block_count"] != truth.function.block_count:
            self.differ(where, f"has {told['block_count']} blocks, recorded are {truth.function.block_count}")
            return
        scheme = frame.get("scheme", 0)
        wanted = self.options.get("scheme")
        if not scheme & PATHS and told["link_name"] in self.skipped:
            self.counts["skipped"] = self.counts.get("skipped", 0) + 1
            if wanted and scheme not in (0, int(wanted) & ~PATHS):
                self.differ(where, f"scheme is {scheme}, must be {wanted} but for the paths")
        elif wanted and int(wanted) & PATHS and str(scheme) != wanted and told["block_count"] > 1:
            self.differ(where, f"scheme is {scheme}, must be {wanted}")
        is_lost = frame["trace"] == "lost"
        if is_lost and truth.function.name not in self.lost:
            self.differ(where, f"lost: {frame['why']}")
        if truth.function.name in self.lost and is_lost:
            return
        if scheme & PATHS and not is_lost:
            self.compare_paths(frame, truth, where, is_stopped)
        elif frame["blocks"] and truth.blocks and truth.blocks[-1] not in frame["blocks"]:
            self.differ(where, f"control is in one of {frame['blocks']}, recorded is {truth.blocks[-1]}")
        self.compare_call(frame, truth, told, where, is_stopped)
        if "returned" in frame and not (is_stopped and self.has("ahead")):
            self.compare_returned(frame, truth, told, where)
        self.compare_own(frame, told, where)
        if "calls_used" in frame:
            self.compare_bits(frame["calls_used"], told["own"], truth.calls, where + " calls")
        if "blocks_used" in frame:
            blocks = set(truth.blocks)
            if is_stopped and self.has("ahead"):
                blocks |= set(frame["blocks"])
            self.compare_bits(frame["blocks_used"], range(told["block_count"]), blocks, where + " blocks")

    def compare_own(self, frame, told, where):
        """All of an activation's own coverage is told."""
        scheme = frame.get("scheme", 0)
        used = "calls_used" if scheme & CALLS else "blocks_used" if scheme & BLOCKS else None
        if not used or (used == "calls_used" and not told["own"]):
            return
        if used not in frame or None in frame[used]:
            self.differ(where, f"{used} is {frame.get(used)}")

    def compare_position(self, frames, at, where):
        """A path in progress ends where the frame's head says that control is; at no line, when that has none."""
        frame = frames[at]
        if frame["trace"] not in ("whole", "last") or not frame["paths"] or frame["paths"][-1]["complete"]:
            return
        while not self.has("source") and at and frames[at - 1]["inlined"]:
            at -= 1
        head, steps = frames[at], frame["paths"][-1]["steps"]
        self.counts["positions"] = self.counts.get("positions", 0) + 1
        place = (steps[-1]["line"], steps[-1].get("function")) if steps else None
        wanted = (head["line"], head["name"] if head is not frame and head["line"] else None)
        if place != wanted:
            self.differ(where, f"its path ends at {place}, its head says {wanted}")
        elif head["line"] and os.path.basename(steps[-1]["file"]) != os.path.basename(head["file"]):
            self.differ(where, f"its path ends in {steps[-1]['file']}, its head says {head['file']}")

    def compare_call(self, frame, truth, told, where, is_stopped):
        if "call" in frame and not (is_stopped and self.has("ahead")):
            self.counts["calls"] += 1
            if frame["call"] not in told["own"]:
                if not is_stopped:
                    self.differ(where, "it is in a call of the recorder, and yet not the innermost one")
            elif truth.call is None or told["own"].index(frame["call"]) != truth.call:
                self.differ(where, f"call {frame['call']} is in progress, recorded is {truth.call}")
        if truth.function.name in self.options.get("exact", "").split("|") and "call" not in frame:
            self.differ(where, "no call is in progress")

    def compare_returned(self, frame, truth, told, where):
        """Calls that have returned: the newest ones of those recorded, without gaps; those of the block that control is in are left
        out only where they are said to be unsure."""
        own = told["own"]
        said = [(own.index(c["call"]), c.get("round", False)) for c in frame["returned"] if c["call"] in own]
        unsure = {own.index(c) for c in frame.get("returned_unsure", []) if c in own}
        made = truth.call_list[::-1]
        if made and made[0][1] == len(truth.blocks) and not frame["interrupted"]:
            if "call" in frame:
                del made[0]  # in progress; else that may be no call of the source (memset)
            else:
                unsure.add(made[0][0])
        self.counts["returned"] = self.counts.get("returned", 0) + len(said)
        for skipped in range(len(made) + 1):
            if skipped and (made[skipped - 1][1] != len(truth.blocks) or made[skipped - 1][0] not in unsure):
                break
            rest = [call for call, _ in made[skipped:]]
            if self.is_newest(said, rest, frame["returned_whole"]):
                return
        self.differ(where, f"returned are {said[:20]}, recorded are {made[:20]}, unsure {unsure}")

    def is_newest(self, said, made, is_whole):
        """said is how made begins, and all of it if is_whole. What is of a round of a loop is there once or more."""
        at, count = 0, len(made)
        while said:
            length = next((i for i, c in enumerate(said) if c[1] != said[0][1]), len(said))
            calls = [c for c, _ in said[:length]]
            if made[at:at + length] != calls:
                return False
            at, is_round, said = at + length, said[0][1], said[length:]
            if is_round:
                while made[at:at + length] == calls and not (said and self.is_newest(said, made[at:], is_whole)):
                    at += length
        return not is_whole or at == count

    def compare_paths(self, frame, truth, where, is_stopped):
        if is_stopped and self.has("ahead"):
            self.step(frame, truth)
        told = self.told[frame["function_id"]]
        splits, rounds = ({tuple(e) for e in told.get(kind, [])} for kind in ("split_edges", "round_edges"))
        if not rounds <= truth.function.back:
            self.differ(where, f"rounds end on {rounds}, which are not all back edges")
        ended, current = truth.paths(splits, rounds)
        paths = self.with_rounds(frame["paths"], where)
        complete = [p for p, path in zip(paths, frame["paths"]) if p and path["complete"]]
        in_progress = [p for p, path in zip(paths, frame["paths"]) if p and not path["complete"]]
        if len(in_progress) > 1 or (in_progress and frame["paths"][-1]["complete"]):
            self.differ(where, "its path in progress is not the last one")
        if frame["ended"] != len(ended):
            self.differ(where, f"{frame['ended']} paths have ended, recorded are {len(ended)}")
            return
        if in_progress != ([current] if current else []):
            self.differ(where, f"in progress is {in_progress}, recorded is {current}")
        last = ended[len(ended) - len(complete):]
        if complete != last:
            self.differ(where, f"ended are {complete}, recorded are {last}")
        if (frame["trace"] == "whole") != (len(complete) == len(ended)):
            self.differ(where, f"{frame['trace']}, but {len(complete)} paths are told of {len(ended)}")
        kept = min(len(ended), int(self.options.get("ring", 8)))
        overwritten = is_stopped and self.has("ahead")  # the oldest one, while the newest one is being written
        if not kept - overwritten <= len(complete) <= kept:
            self.differ(where, f"{len(complete)} ended paths are told of {len(ended)}, {kept} should be")
        control = frame["blocks"] if is_stopped and self.has("ahead") else truth.blocks[-1:]
        if frame["blocks"] != control:
            self.differ(where, f"control is in {frame['blocks']}, recorded is {control}")
        self.counts["paths"] += len(frame["paths"])
        self.counts["blocks"] += sum(len(p["blocks"]) for p in frame["paths"])

    def with_rounds(self, paths, where):
        """Pairs as Activation.paths has them; None for the rounds themselves."""
        pairs, behind = [], None
        for path in paths:
            if path.get("rounds"):
                self.counts["rounds"] = self.counts.get("rounds", 0) + 1
                pairs.append(None)
                behind = path["blocks"]
                continue
            pairs.append((path["blocks"], behind))
            behind = None
        if behind:
            self.differ(where, "rounds are the last that is told")
        return pairs

    def step(self, frame, truth):
        """As if the block that control is told to be in were recorded."""
        if frame["blocks"] != truth.blocks[-1:] and len(frame["blocks"]) == 1:
            truth.blocks.append(frame["blocks"][0])

    # ---- coverage ----

    def compare_bits(self, told, indices, truth, where):
        for number, index in enumerate(indices):
            if told[index] is None:
                continue
            self.counts["bits"] += 1
            if told[index] != (number in truth):
                self.differ(where, f"{number} is told to be {told[index]}, recorded is {number in truth}")
                return

    def compare_functions(self):
        recorded, each_time = {}, {}
        for f in self.record.functions.values():
            calls, blocks = recorded.setdefault(f.name, (set(), set()))
            calls |= f.calls
            blocks |= f.blocks
            if f.each_time is not None:
                each_time[f.name] = each_time.get(f.name, f.each_time) & f.each_time
        for f in self.core["functions"]:
            calls, blocks = recorded.get(f["link_name"], (set(), set()))
            where = f["link_name"]
            ahead = self.has("ahead")
            self.counts["functions"] += 1
            if not ahead:
                self.compare_activity(f, blocks, where)
            said = {f["own"].index(c) for c in f.get("calls_each_time", []) if c in f["own"]}
            self.counts["each time"] = self.counts.get("each time", 0) + len(said)
            if not said <= each_time.get(f["link_name"], said):
                self.differ(where, f"makes {said} each time, recorded are {each_time[f['link_name']]}")
            if f["entered"] is not None:
                self.compare_bits([f["entered"]], [0], {0} if blocks else set(), where + " entered")
            if "calls_used" in f and not ahead:
                self.compare_bits(f["calls_used"], f["own"], calls, where + " calls of the run")
            if "blocks_used" in f and not ahead:
                self.compare_bits(f["blocks_used"], range(f["block_count"]), blocks, where + " blocks of the run")

    def compare_activity(self, told, blocks, where):
        """What ran is never told to be inactive; what must have run did."""
        letters = told.get("blocks_activity", "")
        for block, letter in enumerate(letters):
            self.counts["letters " + letter] = self.counts.get("letters " + letter, 0) + 1
            if letter == ("n" if block in blocks else "y"):
                self.differ(where, f"activity of block {block} is {letter}, recorded is {block in blocks}")
                return
        if told.get("activity") == ("no" if blocks else "yes"):
            self.differ(where, f"its activity is {told['activity']}, but it ran: {bool(blocks)}")

    # ---- all ----

    def threads(self):
        """Pairs of a thread and its activations."""
        if not self.has("apart"):
            for thread in self.core["threads"]:
                yield thread, self.record.threads.get(thread["tid"], [])
            return
        by_age = sorted(self.core["threads"], key=lambda t: t["tid"])
        for thread, tid in zip(by_age, sorted(self.record.threads)):
            yield thread, self.record.threads[tid]

    def run(self):
        for thread, truth in self.threads():
            self.counts["threads"] += 1
            pairs = self.match(thread, truth)
            for i, (frame, activation) in enumerate(pairs):
                is_stopped = i == 0
                where = f"#{frame['number']} {activation.function.name}"
                self.compare_frame(frame, activation, where, is_stopped)
            for at, frame in enumerate(thread["frames"]):
                if "function_id" in frame:
                    self.compare_position(thread["frames"], at, f"#{frame['number']} {frame['name']}")
            if thread["first"] and len(pairs) < int(self.options.get("stack", 1)):
                self.differ("stack", f"{len(pairs)} frames are compared, must be {self.options.get('stack', 1)}")
            if thread["first"] and self.has("cut") and not thread["cut"]:
                self.differ("stack", "the end of its stack is not told")
        self.compare_functions()


def main():
    with open(sys.argv[2]) as file:
        core = json.load(file)
    options = dict(o.split("=", 1) if "=" in o else (o, "") for o in sys.argv[3:])
    comparison = Comparison(Record(sys.argv[1], "cut" in options), core, options)
    comparison.run()
    for problem in comparison.problems[:UNTOLD]:
        print(problem)
    if len(comparison.problems) > UNTOLD:
        print(f"and {len(comparison.problems) - UNTOLD} more")
    if comparison.problems:
        sys.exit(1)
    print(", ".join(f"{n} {what}" for what, n in comparison.counts.items()))


if __name__ == "__main__":
    main()

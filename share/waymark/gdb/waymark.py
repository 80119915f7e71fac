"""The last steps of traced programs inside gdb.

    (gdb) source PREFIX/share/waymark/gdb/waymark.py     not needed where gdb has the same prefix
    (gdb) waymark path        the last paths of the selected frame
    (gdb) waymark backtrace   the stack, with how each frame came to where it is
    (gdb) waymark context     the calling context of the selected thread, which needs no stack (--wm=contexts)

What is shown comes from `waymark core --format=json`: on a core it reads that core; of a running program gdb writes a
temporary one first. It is read once for each core, or each time the program stops.
"""

import json
import linecache
import os
import re
import shutil
import subprocess
import tempfile
import textwrap

import gdb

HERE = os.path.dirname(os.path.realpath(__file__))  # gdb forgets it afterwards
PATHS_DEFAULT = 3
FRAMES_MAX = 1000  # that are read at first: a stack that has overflown has 100,000
CALLS_MAX = 12
DIGEST_MAX = 5
INLINED_MAX = 3
NOTHING = "waymark: nothing runs and no core is open: use run or core-file first"
WIDTH_DEFAULT = 100
WIDTH_MIN = 60
MATCH_DISTANCE = 8  # levels that gdb's and our numbers of a frame may be apart


class Reading:
    """What `waymark core` says, and what it was read from."""

    def __init__(self):
        self.key = None
        self.core = None
        self.frames = None
        self.stops = 0

    def stopped(self, _event):
        self.stops += 1


reading = Reading()
gdb.events.stop.connect(reading.stopped)
gdb.events.memory_changed.connect(reading.stopped)
gdb.events.exited.connect(reading.stopped)


def find_waymark():
    """$WAYMARK, the one that this file was installed with, or the one on the path."""
    beside = os.path.join(HERE, "../../../bin/waymark")
    for program in (os.environ.get("WAYMARK"), beside):
        if program and os.access(program, os.X_OK):
            return os.path.normpath(program)
    program = shutil.which("waymark")
    if program:
        return program
    raise gdb.GdbError("waymark: the program waymark is not there: set WAYMARK to its path before gdb starts")


def core_file():
    """The core that gdb has open; None: it runs a program."""
    found = re.search(r"Local core dump file:\s*`(.*)', file type", gdb.execute("info files", to_string=True))
    return found.group(1) if found else None


def run_waymark(program, core, frames):
    command = [find_waymark(), "core", "--format=json", "--frames=%s" % frames, program, core]
    debug_directory = gdb.parameter("debug-file-directory")
    for directory in debug_directory.split(":") if debug_directory else []:
        if os.path.isdir(directory):
            command[2:2] = ["--debug-dir", directory]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise gdb.GdbError(lines[0] if lines else "waymark core: exit status %d" % done.returncode)
    try:
        return json.loads(done.stdout.decode("utf-8", "replace"))
    except ValueError as e:
        raise gdb.GdbError("waymark core: what it writes is no JSON (%s)" % e)


def read_live(program, frames):
    directory = tempfile.mkdtemp(prefix="waymark-gdb.")
    try:
        path = os.path.join(directory, "core")
        gdb.execute("generate-core-file " + path, to_string=True)
        return run_waymark(program, path, frames)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def selected_frame():
    if gdb.selected_thread() is None:
        raise gdb.GdbError(NOTHING)
    return gdb.selected_frame()


def read(frames=FRAMES_MAX, needs_trace=True):
    """The crash or the stopped program."""
    program = gdb.current_progspace().filename
    if not program:
        raise gdb.GdbError("waymark: no program: use gdb's command file first")
    if gdb.selected_thread() is None:
        raise gdb.GdbError(NOTHING)
    core = core_file()
    key = (program, core, os.stat(core).st_mtime if core else reading.stops, gdb.selected_inferior().pid)
    if key != reading.key or frames == "all" != reading.frames:
        reading.core = run_waymark(program, core, frames) if core else read_live(program, frames)
        reading.key = key
        reading.frames = frames
    if needs_trace and not any(module["traced"] for module in reading.core["modules"]):
        raise gdb.GdbError("waymark: %s is not traced: build it with waymark cc --wm=trace" % program)
    return reading.core


def thread_of(core):
    lwp = gdb.selected_thread().ptid[1] or gdb.selected_inferior().pid
    for thread in core["threads"]:
        if thread["tid"] == lwp:
            return thread
    raise gdb.GdbError("waymark: thread %d is not among those that waymark core reads" % lwp)


def is_same(frame, selected, name):
    return int(frame["pc"], 16) == selected.pc() and (frame["inlined"] == (selected.type() == gdb.INLINE_FRAME)) and (
        name is None or name in (frame["name"], frame["link_name"]) or frame["name"] is None
        or frame["name"].startswith(name))


def find_frame(selected):
    """(all that is read, gdb's frame among ours): the same level, or near to it where the unwinders differ."""
    level, name = selected.level(), selected.name()
    core = read()
    thread = thread_of(core)
    if thread["left_out"] and all(frame["number"] != level + MATCH_DISTANCE for frame in thread["frames"]):
        core = read("all")
        thread = thread_of(core)
    near = [frame for frame in thread["frames"] if abs(frame["number"] - level) <= MATCH_DISTANCE]
    for frame in sorted(near, key=lambda frame: abs(frame["number"] - level)):
        if is_same(frame, selected, name):
            return core, frame
    raise gdb.GdbError("waymark: frame %d (%s) is not among those that waymark core finds" % (level, name or "?"))


def source_text(path, line, selected):
    """The line, from where gdb finds the file."""
    sal = selected.find_sal() if selected else None
    if sal and sal.symtab and os.path.basename(sal.symtab.filename) == os.path.basename(path):
        path = sal.symtab.fullname()
    return linecache.getline(path, line).rstrip().expandtabs(8)


def columns():
    """gdb's width; what has none is no terminal."""
    width = gdb.parameter("width")
    return max(WIDTH_MIN, width) if width else WIDTH_DEFAULT


def is_alike(a, b):
    """They led the same way."""
    return all(a.get(key) == b.get(key) for key in ("complete", "rounds", "current", "follows_gap", "start", "end", "blocks", "edges"))


def path_groups(paths):
    """(index of the first, count) of those next to each other that are alike."""
    groups = []
    for i, path in enumerate(paths):
        if groups and is_alike(paths[groups[-1][0]], path):
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((i, 1))
    return groups


def path_title(frame, index, count):
    path = frame["paths"][index]
    if path.get("rounds"):
        return "round of the loop, once or more"
    if path["complete"]:
        counted = [p["complete"] and not p.get("rounds") for p in frame["paths"]]
        number = frame["ended"] - sum(counted[index:]) + 1
        title = "paths %d to %d of %d, all alike" % (number, number + count - 1, frame["ended"]) if count > 1 \
            else "path %d of %d" % (number, frame["ended"])
        if path.get("current"):
            title += ", at its end"
    else:
        title = "then, in progress" if frame["ended"] else "in progress"
    if path.get("follows_gap"):
        title += " (came here by longjmp)"
    return title if path["start"] == "enters" else title + "; " + path["start"]


def is_plumbing(step, frame):
    """A line of a system header that was inlined and decides nothing."""
    return bool(step.get("function") and not step.get("outcome") and step["file"] and step["file"].startswith("/usr/")
                and not (frame["file"] or "").startswith("/usr/"))


def is_same_place(a, b):
    return (a.get("function"), a["file"]) == (b.get("function"), b["file"])


def inlined_title(steps):
    """The functions of inlined code that decided nothing, in one row."""
    places = []
    for step in steps:
        if places and is_same_place(places[-1][-1], step):
            places[-1].append(step)
        else:
            places.append([step])
    texts = []
    for place in places[:INLINED_MAX]:
        first, last = place[0], place[-1]["line"]
        lines = "%d..%d" % (first["line"], last) if last > first["line"] else str(first["line"])
        texts.append("%s (%s:%s)" % (first["function"].split("(")[0], os.path.basename(first["file"] or "?"), lines))
    more = " and %d more" % (len(places) - INLINED_MAX) if len(places) > INLINED_MAX else ""
    return "in " + ", ".join(texts) + more


def fold_inlined(steps):
    """The steps, with inlined code that decided nothing as {"inlined": title}."""
    folded, at = [], 0
    while at < len(steps):
        end = at
        while end + 1 < len(steps) and steps[end].get("function") and not steps[end].get("outcome"):
            end += 1
        last = steps[end]
        while end > at and last.get("function") and is_same_place(steps[end - 1], last):
            end -= 1
        if end > at:
            folded.append({"inlined": inlined_title(steps[at:end])})
        else:
            folded.append(steps[at])
            end += 1
        at = end
    return folded


def path_lines(frame, path, selected):
    count = len(path["steps"])
    steps = fold_inlined([s for i, s in enumerate(path["steps"]) if i + 1 == count or not is_plumbing(s, frame)])
    rows = []
    for i, step in enumerate(steps):
        is_last = i + 1 == len(steps)
        if "inlined" in step:
            rows.append(("", None, step["inlined"]))
            continue
        text = source_text(step["file"], step["line"], selected) if step["file"] else ""
        where = str(step["line"])
        if step["file"] and frame["file"] and os.path.basename(step["file"]) != os.path.basename(frame["file"]):
            where = os.path.basename(step["file"]) + ":" + where
        way = "; ".join(w for w in (step.get("outcome"), path["end"] if is_last else None) if w)
        if rows and not rows[-1][2] and rows[-1][:2] == (where, text):
            rows.pop()
        rows.append((where, text, way))
    indent = min((len(text) - len(text.lstrip()) for _, text, _ in rows if text), default=0)
    left = max((len(where) for where, _, _ in rows), default=0)
    room = max(24, columns() - left - 8)
    right = min(max(24, room - 24), max((len(text) - indent for _, text, way in rows if text and way), default=0))
    for where, text, way in rows:
        if text is None:
            yield "      %*s  %s" % (left, "", way)
            continue
        most = right if way else room
        text = text[indent:]
        text = text if len(text) <= most else text[:most - 3] + "..."
        line = "      %*s  %-*s" % (left, where, right, text)
        yield (line + "  -> " + way if way else line).rstrip()


def frame_title(number, frame):
    title = "#%-3d %s" % (number, frame.get("brief") or frame["name"] or frame["pc"])
    if frame["file"] and frame["line"]:
        title += "  %s:%d" % (os.path.basename(frame["file"]), frame["line"])
    return title


def show_digest(frame, selected):
    """The branches that decided that control came here, the last one first."""
    digest = frame.get("digest", [])
    if not digest:
        return
    print("    decided by")
    for line in path_lines(frame, {"steps": digest[:DIGEST_MAX], "end": None}, selected):
        print(line)
    if len(digest) > DIGEST_MAX:
        print("        and %d before these" % (len(digest) - DIGEST_MAX))


def show_paths(frame, limit, selected):
    if frame.get("trace") == "lost":
        print("    its path is lost: " + frame["why"])
    paths = frame.get("paths", [])
    for first, count in path_groups(paths)[-limit:]:
        print("    " + path_title(frame, first, count))
        for line in path_lines(frame, paths[first], selected):
            print(line)
    return len(paths) > 0


def call_name(call):
    return call.get("brief") or call.get("callee") or ("asm" if call["kind"] == "asm" else "*pointer")


def show_calls(core, frame):
    """Each call of the source once: it was made if any copy of its code was."""
    if "calls_used" not in frame:
        return
    function = next(f for f in core["functions"] if f["id"] == frame["function_id"])
    calls = {}
    for call, used in zip(function["calls"], frame["calls_used"]):
        name = call_name(call)
        if call.get("file") and function["file"] and call["file"] != function["file"]:
            name += ":" + os.path.basename(call["file"])
        key = (name, call["line"], call["column"])
        if used is not None:
            calls[key] = used or calls.get(key, False)
    places = {}
    for name, line, column in calls:
        places.setdefault((name, line), set()).add(column)
    for wanted, what in ((True, "made calls"), (False, "not made")):
        names = ["%s:%d" % key[:2] + (":%d" % key[2] if len(places[key[:2]]) > 1 else "")
                 for key, used in calls.items() if used is wanted]
        if len(names) > CALLS_MAX:
            names[CALLS_MAX:] = ["and %d more" % (len(names) - CALLS_MAX)]
        if names:
            print(textwrap.fill("%s: %s" % (what, ", ".join(names)), columns(), initial_indent="    ",
                                subsequent_indent="        ", break_long_words=False, break_on_hyphens=False))


def number_argument(argument, default):
    if not argument:
        return default
    if not argument.isdigit() or int(argument) == 0:
        raise gdb.GdbError("waymark: %s: is not a number from 1 on" % argument)
    return int(argument)


class Waymark(gdb.Command):
    """Last steps of programs that were built with `waymark cc --wm=trace`."""

    def __init__(self):
        super().__init__("waymark", gdb.COMMAND_STACK, prefix=True)


class WaymarkPath(gdb.Command):
    """The last paths of the selected frame, newest last, and its calls.

waymark path [N]: at most N paths (3). Each is shown as its source lines, with what each branch decided."""

    def __init__(self):
        super().__init__("waymark path", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        limit = number_argument(argument.strip(), PATHS_DEFAULT)
        selected = selected_frame()
        core, frame = find_frame(selected)
        print(frame_title(selected.level(), frame))
        show_digest(frame, selected)
        if not show_paths(frame, limit, selected) and frame.get("trace") != "lost":
            print("    inlined: its lines are in the paths of the frame that it is in (up)" if frame["inlined"]
                  else "    has no paths: it was built without them, or they were off")
        show_calls(core, frame)


class WaymarkBacktrace(gdb.Command):
    """The stack of the selected thread, with the path in progress of each frame.

waymark backtrace [N]: at most the N innermost frames (all)."""

    def __init__(self):
        super().__init__("waymark backtrace", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        limit = number_argument(argument.strip(), 0)
        thread = thread_of(read())
        if thread["left_out"] and not 0 < limit <= FRAMES_MAX // 2:
            thread = thread_of(read("all"))
        frames = thread["frames"]
        for frame in frames[:limit] if limit else frames:
            print(frame_title(frame["number"], frame))
            show_paths(frame, 1, None)
        if limit and limit < thread["frame_count"]:
            print("(%d more frames)" % (thread["frame_count"] - limit))


class WaymarkContext(gdb.Command):
    """The calling context of the selected thread, innermost function first.

It comes from the number and the stack of pushes that the program keeps (waymark cc --wm=contexts), and from no frame of a caller: so it is
there when the stack is overwritten, and has functions that left by a tail call."""

    def __init__(self):
        super().__init__("waymark context", gdb.COMMAND_STACK)

    def invoke(self, _argument, _from_tty):
        core = read(needs_trace=False)
        thread = thread_of(core)
        context = next((frame["context"] for frame in thread["frames"] if "context" in frame), None)
        if context is None:
            mine = [note for note in core["notes"] if note.startswith("thread %d: " % thread["tid"])]
            raise gdb.GdbError("waymark: " + (mine[0] if mine else
                                              "the thread has no context: build the program with waymark cc --wm=contexts"))
        for number, name in enumerate(reversed(context.split(";"))):
            print("#%-3d %s" % (number, name))


Waymark()
WaymarkPath()
WaymarkContext()
WaymarkBacktrace()

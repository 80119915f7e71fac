"""The last steps of traced programs inside gdb.

    (gdb) source PREFIX/share/waymark/gdb/waymark.py
    (gdb) waymark path        the last paths of the selected frame
    (gdb) waymark backtrace   the stack, with how each frame came to where it is

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

import gdb

HERE = os.path.dirname(os.path.realpath(__file__))  # gdb forgets it afterwards
PATHS_DEFAULT = 3
MATCH_DISTANCE = 8  # levels that gdb's and our numbers of a frame may be apart


class Reading:
    """What `waymark core` says, and what it was read from."""

    def __init__(self):
        self.key = None
        self.core = None
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


def run_waymark(program, core):
    command = [find_waymark(), "core", "--format=json", "--frames=all", program, core]
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


def read_live(program):
    directory = tempfile.mkdtemp(prefix="waymark-gdb.")
    try:
        path = os.path.join(directory, "core")
        gdb.execute("generate-core-file " + path, to_string=True)
        return run_waymark(program, path)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def read():
    """The crash or the stopped program."""
    program = gdb.current_progspace().filename
    if not program:
        raise gdb.GdbError("waymark: no program: use gdb's command file first")
    if gdb.selected_thread() is None:
        raise gdb.GdbError("waymark: nothing runs and no core is open: use run or core-file first")
    core = core_file()
    key = (program, core, os.stat(core).st_mtime if core else reading.stops, gdb.selected_inferior().pid)
    if key != reading.key:
        reading.core = run_waymark(program, core) if core else read_live(program)
        reading.key = key
    if not any(module["traced"] for module in reading.core["modules"]):
        raise gdb.GdbError("waymark: %s is not traced: build it with waymark cc --wm=trace" % program)
    return reading.core


def frames_of_thread(core):
    lwp = gdb.selected_thread().ptid[1] or gdb.selected_inferior().pid
    for thread in core["threads"]:
        if thread["tid"] == lwp:
            return thread["frames"]
    raise gdb.GdbError("waymark: thread %d is not among those that waymark core reads" % lwp)


def is_same(frame, selected, name):
    return int(frame["pc"], 16) == selected.pc() and (frame["inlined"] == (selected.type() == gdb.INLINE_FRAME)) and (
        name is None or name in (frame["name"], frame["link_name"]) or frame["name"] is None
        or frame["name"].startswith(name))


def find_frame(frames, selected):
    """gdb's frame among ours: the same level, or near to it where the unwinders differ."""
    level, name = selected.level(), selected.name()
    near = sorted(range(max(0, level - MATCH_DISTANCE), min(len(frames), level + MATCH_DISTANCE + 1)),
                  key=lambda i: abs(i - level))
    for i in near:
        if is_same(frames[i], selected, name):
            return frames[i]
    raise gdb.GdbError("waymark: frame %d (%s) is not among those that waymark core finds" % (level, name or "?"))


def source_text(path, line, selected):
    """The line, from where gdb finds the file."""
    sal = selected.find_sal() if selected else None
    if sal and sal.symtab and os.path.basename(sal.symtab.filename) == os.path.basename(path):
        path = sal.symtab.fullname()
    return linecache.getline(path, line).rstrip().expandtabs(8)


def path_title(frame, index):
    path = frame["paths"][index]
    complete = sum(p["complete"] for p in frame["paths"])
    if path["complete"]:
        title = "path %d of %d" % (frame["ended"] - complete + index + 1, frame["ended"])
        if path.get("current"):
            title += ", at its end"
    else:
        title = "then, in progress" if frame["ended"] else "in progress"
    if path.get("follows_gap"):
        title += " (came here by longjmp)"
    return title if path["start"] == "enters" else title + "; " + path["start"]


def path_lines(frame, path, selected):
    steps = path["steps"]
    rows = []
    for i, step in enumerate(steps):
        text = source_text(step["file"], step["line"], selected) if step["file"] else ""
        where = str(step["line"])
        if step["file"] and frame["file"] and os.path.basename(step["file"]) != os.path.basename(frame["file"]):
            where = os.path.basename(step["file"]) + ":" + where
        way = "; ".join(w for w in (step.get("outcome"), path["end"] if i + 1 == len(steps) else None) if w)
        rows.append((where, text, way))
    indent = min((len(text) - len(text.lstrip()) for _, text, _ in rows if text), default=0)
    left = max((len(where) for where, _, _ in rows), default=0)
    right = min(60, max((len(text) - indent for _, text, _ in rows), default=0))
    for where, text, way in rows:
        line = "      %*s  %-*s" % (left, where, right, text[indent:])
        yield (line + "  -> " + way if way else line).rstrip()


def frame_title(number, frame):
    title = "#%-3d %s" % (number, frame["name"] or frame["pc"])
    if frame["file"] and frame["line"]:
        title += "  %s:%d" % (os.path.basename(frame["file"]), frame["line"])
    return title


def show_paths(frame, limit, selected):
    if frame.get("trace") == "lost":
        print("    its path is lost: " + frame["why"])
    paths = frame.get("paths", [])
    first = max(0, len(paths) - limit)
    for i in range(first, len(paths)):
        print("    " + path_title(frame, i))
        for line in path_lines(frame, paths[i], selected):
            print(line)
    return len(paths) > 0


def show_calls(core, frame):
    if "calls_used" not in frame:
        return
    function = next(f for f in core["functions"] if f["id"] == frame["function_id"])
    for wanted, what in ((True, "made calls"), (False, "not made")):
        names = ["%s:%d" % (call.get("callee") or ("asm" if call["kind"] == "asm" else "*pointer"), call["line"])
                 for call, used in zip(function["calls"], frame["calls_used"]) if used is wanted]
        if names:
            print("    %s: %s" % (what, ", ".join(names)))


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
        core = read()
        selected = gdb.selected_frame()
        frame = find_frame(frames_of_thread(core), selected)
        print(frame_title(selected.level(), frame))
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
        frames = frames_of_thread(read())
        for number, frame in enumerate(frames[:limit] if limit else frames):
            print(frame_title(number, frame))
            show_paths(frame, 1, None)
        if limit and limit < len(frames):
            print("(%d more frames)" % (len(frames) - limit))


Waymark()
WaymarkPath()
WaymarkBacktrace()

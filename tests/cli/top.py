#!/usr/bin/env python3
"""top.py BUILD - `waymark top` and `waymark run --watch` on a terminal of its own: pictures that fit it, keys, a new size, and the terminal as it was."""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PROGRAM = r"""
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) static void *keep_these(size_t size) { void *volatile p = malloc(size); return p; }
int main(void)
{
	for (int i = 0; i < 50; i++)
		keep_these(1000);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (char c; read(0, &c, 1) == 1;)
		keep_these(5000);
	return 0;
}
"""

failures = []


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAIL:", text)


class Terminal:
    """A command on a pseudo-terminal."""

    def __init__(self, command, rows, columns, environment):
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.text = ""
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, pattern):
        """What is printed up to the pattern, and it; fails after a minute."""
        end = time.monotonic() + 60
        while not re.search(pattern, self.text):
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            data = b""
            if ready:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    pass
            if not data:
                check(False, f"no {pattern!r} in {self.text!r}")
                return ""
            self.text += data.decode()
        found = re.search(pattern, self.text)
        text, self.text = self.text[: found.end()], self.text[found.end():]
        return text

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        status = self.process.wait(60)
        check(termios.tcgetattr(self.slave) == self.before, "the terminal is not as it was")
        os.close(self.slave)
        os.close(self.master)
        return status


def picture(terminal):
    """The lines of the next whole picture, without escape sequences."""
    text = terminal.read_until(r"\x1b\[H(?:(?!\x1b\[H)[\s\S])*\x1b\[J")
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text[text.rfind("\x1b[H"):]).split("\r\n")


def picture_with(terminal, is_wanted):
    """The first picture that is so: what is shown follows the recording, and the keys."""
    for _ in range(100):
        lines = picture(terminal)
        if is_wanted(lines):
            return lines
    check(False, f"the last picture is {lines}")
    return lines


def has(pattern):
    return lambda lines: any(re.search(pattern, line) for line in lines)


def check_top(waymark, environment):
    program = subprocess.Popen([waymark, "run", "-q", "--heap", "-o", "live.wmk", "./prog"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=environment)
    check(program.stdout.readline() == b"ready\n", "the program does not run")
    pid = subprocess.run(["pgrep", "-P", str(program.pid)], capture_output=True, text=True, check=False).stdout.split()
    terminal = Terminal([waymark, "top", "--interval=0.1", pid[0] if pid else "live.wmk"], 20, 60, environment)
    lines = picture_with(terminal, has("keep_these"))
    check(len(lines) <= 20 and max(map(len, lines)) <= 60, f"does not fit: {lines}")
    check(any(re.search(r"^ +50,000 .* keep_these$", line) for line in lines), f"no live bytes of keep_these: {lines}")
    check(any(re.search(r"^ +50,000 +[0-9.]+ %  .*malloc.* < keep_these < main", line) for line in lines), f"no context: {lines}")
    program.stdin.write(b"x")
    program.stdin.flush()
    picture_with(terminal, has(r"^ +55,000 .* keep_these$"))
    terminal.press("m")
    picture_with(terminal, has("live-allocations"))
    terminal.press("t")
    picture_with(terminal, has("Functions by total"))
    terminal.resize(12, 30)
    os.kill(terminal.process.pid, signal.SIGWINCH)
    picture_with(terminal, lambda lines: len(lines) <= 12 and max(map(len, lines)) <= 30)
    terminal.press("q")
    terminal.read_until(r"\x1b\[\?25h\x1b\[\?1049l")
    check(terminal.end() == 0, "q is no success")

    # It ends with the program, and without a terminal has no escape sequences.
    plain = subprocess.Popen([waymark, "top", "--interval=0.1", "live.wmk"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment,
                             text=True)
    program.stdin.close()
    check(program.wait(60) == 0, "the program fails")
    text = plain.communicate(timeout=60)[0]
    check(plain.returncode == 0 and "keep_these" in text and "\x1b" not in text, f"without a terminal: {text}")
    once = subprocess.run([waymark, "top", "--count=1"], capture_output=True, env=environment, text=True, check=False)
    check(once.returncode == 0 and once.stdout.count("Contexts, from") == 1, f"--count=1: {once.stdout}{once.stderr}")
    none = subprocess.run([waymark, "top", str(os.getpid())], capture_output=True, env=environment, text=True, check=False)
    check(none.returncode == 1 and "has no recording: `waymark attach" in none.stderr, none.stderr)


def check_run(waymark, environment):
    """What the program prints comes behind the view, its status is that of the run, and q leaves it running."""
    script = "until [ -e done ]; do :; done; echo printed; exit 7"
    for is_quit in (False, True):
        terminal = Terminal([waymark, "run", "--heap", "--watch", "-o", "run.wmk", "sh", "-c", script], 20, 70, environment)
        picture_with(terminal, has("Functions by self live"))
        if is_quit:
            terminal.press("q")
            terminal.read_until(r"\x1b\[\?1049l")
        pathlib.Path("done").touch()
        if not is_quit:
            terminal.read_until(r"\x1b\[\?1049l")
        terminal.read_until(r"printed\r\n(?:.*\r\n)*waymark run: wrote run.wmk")
        check(terminal.end() == 7, "the exit status is not the program's")
        os.unlink("done")


def main():
    waymark = str(pathlib.Path(sys.argv[1]).resolve() / "waymark")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WAYMARK_")}
    environment.update(TERM="xterm", DEBUGINFOD_URLS="")
    with tempfile.TemporaryDirectory(prefix="waymark-top.") as place:
        os.chdir(place)
        pathlib.Path("prog.c").write_text(PROGRAM, encoding="utf-8")
        subprocess.run([waymark, "cc", "-O1", "-g", "prog.c", "-o", "prog"], check=True, env=environment)
        check_top(waymark, environment)
        check_run(waymark, environment)
        os.chdir("/")
    return 1 if failures else 0


sys.exit(main())

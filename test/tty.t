#!/bin/bash
# coop run --tty: a terminal of its own for the command, and a caller's terminal that stays safe.
. "$(dirname "$0")/tap.sh"
. "$SRC/test/leftovers.sh"
mkdir w
cp "$BIN/earlyraw" w/
cd w || exit 1
before=$(snapshot .)
mark=$(new_mark)
cat >"$T/drive.py" <<'END'
"""Plays the terminal and its user. Prints "0|1<tab>description<tab>details" per check."""
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

COOP, MARK, T = sys.argv[1:4]
os.environ.update(TERM="xterm", PS1="$ ", HISTFILE="/dev/null", LC_ALL="C.UTF-8")


class Session:
    """A program on a fresh pty of which it is the session leader."""

    def __init__(self, *argv, rows=24, cols=80):
        self.fd, slave = pty.openpty()
        self.resize(rows, cols)
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.fd)
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(slave, fd)
            os.closerange(3, 64)
            for s in (signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP):
                signal.signal(s, signal.SIG_DFL)
            os.execvp(argv[0], argv)
        os.close(slave)
        self.seen, self.status = b"", None

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def settings(self):
        return termios.tcgetattr(self.fd)

    def pump(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.seen += data
        return bool(data)

    def expect(self, pattern, seconds=15):
        """Waits for the pattern in what was not matched yet; returns the match or None."""
        end = time.monotonic() + seconds
        while True:
            m = re.search(pattern, self.seen, re.S)
            if m:
                self.matched = self.seen[: m.end()]
                self.seen = self.seen[m.end():]
                return m
            left = end - time.monotonic()
            if left <= 0 or not self.pump(min(left, 0.5)) and self.ended():
                m = re.search(pattern, self.seen, re.S)
                if m or left <= 0 or self.ended():
                    return m

    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def send(self, text):
        os.write(self.fd, text if isinstance(text, bytes) else text.encode())

    def press(self, key, pattern, seconds=15):
        """Presses the key, again and again, until the pattern comes: nobody tells when a program listens."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.send(key)
            m = self.expect(pattern, 0.5)
            if m:
                return m

    def press_until_end(self, key, seconds=15):
        end = time.monotonic() + seconds
        while not self.ended() and time.monotonic() < end:
            self.send(key)
            self.pump(0.3)
        return self.wait(5)

    def wait(self, seconds=15):
        """The rest of the output, and the exit status; None when it does not end."""
        end = time.monotonic() + seconds
        while not self.ended() and time.monotonic() < end:
            self.pump(0.05)
        while self.ended() and self.pump(0.1):
            pass
        return self.status

    def close(self):
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


def check(what, good, details=b""):
    print(f"{0 if good else 1}\t{what}\t{details!r}"[:1500], flush=True)


def tty(*argv, **kw):
    return Session(COOP, "run", "-t", *argv, **kw)


def shell_text(text, **kw):
    return tty("-c", text, **kw)


def own_terminal():
    s = tty("--", "tty")
    s.wait()
    check("the command's terminal is its own", s.seen.strip() == b"/dev/pts/0", s.seen)
    s.close()
    s = shell_text("test -t 0 && test -t 1 && test -t 2 && ls /dev/pts && ps -o tty= -p $$ 2>/dev/null; : </dev/tty && echo controlling")
    s.wait()
    check("all three are the terminal, and it controls the session", b"controlling" in s.seen, s.seen)
    s.close()
    s = shell_text("echo visible >/proc/self/fd/1; stty -a | head -n 1")
    check("without --tty there would be none", os.popen(f"{COOP} run -c 'test -t 1 || echo none'").read() == "none\n")
    s.wait()
    check("the terminal can be opened by its name", b"visible" in s.seen, s.seen)
    s.close()


def statuses():
    for text, want in (("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)):
        s = shell_text(text)
        check(f"exit status of '{text}' passes", s.wait() == want, s.status)
        s.close()
    s = tty("--", "no-such-command")
    check("127 for no such command", s.wait() == 127, s.status)
    check("and the complaint is on the terminal", b"no such command" in s.seen, s.seen)
    s.close()
    s = tty("--timeout", "300ms", "--", "sleep", "100")
    check("124 for a timeout", s.wait() == 124, s.status)
    s.close()


def size():
    s = shell_text("stty size; trap 'stty size' WINCH; echo ready; while :; do sleep 0.1; done", rows=33, cols=101)
    check("it has the size of the caller's terminal", s.expect(rb"33 101\r\n"), s.seen)
    s.expect(rb"ready")
    s.resize(12, 34)
    check("and follows it", s.expect(rb"12 34\r\n"), s.seen)
    sizes = []
    for i in range(30):
        one = tty("--", "stty", "size", rows=33, cols=101)
        one.wait()
        sizes.append(one.seen.strip().removesuffix(b"\x1b\\").strip())
        one.close()
    check("from its first instruction on, 30 times", sizes == [b"33 101"] * 30, set(sizes))
    changed = []
    for i in range(30):
        one = tty("--", "./earlyraw")
        one.expect(rb"set")
        one.send("\n")
        one.wait()
        changed.append(b"kept" in one.seen)
        one.close()
    check("what the command sets with its first instruction stays set", all(changed), changed)
    s.resize(50, 200)
    check("again", s.expect(rb"50 200\r\n"), s.seen)
    s.close()


def keys():
    s = tty("--", "cat")
    s.send("hello\n")
    check("keys reach the command, and it echoes", s.expect(rb"hello\r\nhello\r\n"), s.seen)
    s.send(b"\x04")
    check("Ctrl-D ends the input", s.wait() == 0, s.status)
    s.close()
    s = shell_text("trap 'echo interrupted' INT; echo ready; while :; do sleep 0.1; done")
    s.expect(rb"ready")
    for i in range(5):
        s.send(b"\x03")
        check(f"Ctrl-C {i + 1} interrupts the command and not coop", s.expect(rb"interrupted"), s.seen)
    check("coop lives on", not s.ended())
    s.send(b"\x1c")
    check("Ctrl-\\ quits the command", s.wait() == 131, s.status)
    s.close()
    s = tty("--", "sh", "-c", "echo ready; exec sleep 100")
    s.expect(rb"ready")
    check("Ctrl-C ends what does not handle it", s.press_until_end(b"\x03") == 130, s.status)
    s.close()
    s = shell_text("stty raw -echo; echo ready; head -c 3 | od -An -tx1; stty sane")
    s.expect(rb"ready")
    s.send(b"\x03\x1a\x00")
    check("raw keys pass as they are", s.expect(rb"03 1a 00"), s.seen)
    s.close()


def suspend():
    s = Session("bash", "--norc", "--noprofile", "-i")
    s.expect(rb"\$ ")
    # Not a program that is just being started: its shell waits for that in the kernel (vfork), and a
    # key that stops both meanwhile stops the child alone.
    s.send(f"{COOP} run -t -c 'sleep 100 & echo ready; wait; echo woken; sleep {MARK}'\n")
    s.expect(rb"[\r\n]ready")
    s.send(b"\x1a")
    check("Ctrl-Z gives the shell back", s.expect(rb"Stopped"), s.seen)
    s.expect(rb"\$ ")
    s.send("echo al''ive; stty -a | tr ' ;' '\\n\\n' | grep -x -- '-\\?\\(icanon\\|echo\\|isig\\)' | xargs\n")
    check("which works", s.expect(rb"alive\r\n"), s.seen)
    check("with its own terminal settings", s.expect(rb"isig icanon echo\r\n"), s.seen)
    s.send("fg\n")
    s.expect(rb"coop")
    # Ctrl-C ends the box's shell.
    check("fg continues it, and keys go to it again", s.press(b"\x03", rb"\$ ") and b"Stopped" not in s.matched, s.matched)
    s.send("jobs; echo jobs-''end\n")
    s.expect(rb"jobs-end\r\n")
    check("it was stopped once only", b"Stopped" not in s.matched, s.matched)
    s.send(f"{COOP} run -t -- sh -c 'echo ready; read x; echo got $x'\n")
    s.expect(rb"[\r\n]ready")
    s.send(b"\x1a")
    s.expect(rb"Stopped")
    s.expect(rb"\$ ")
    s.send("fg\n")
    s.expect(rb"coop")
    s.send("word\n")
    check("a command stopped while reading reads on after fg", s.expect(rb"got word"), s.seen)
    s.expect(rb"\$ ")
    s.send(f"{COOP} run -t -- sh -c 'echo ready; exec sleep {MARK}'\n")
    s.expect(rb"[\r\n]ready")
    check("one that was executed over its shell is suspended too", s.press(b"\x1a", rb"Stopped"), s.seen)
    s.expect(rb"\$ ")
    s.send("kill %%; fg; echo en''ded\n")
    check("and can be killed by its job", s.expect(rb"ended\r\n"), s.seen)
    s.send("exit\n")
    s.wait()
    s.close()


def job_control():
    s = tty("--env", "HISTFILE=/dev/null", "--", "bash", "--norc", "--noprofile", "-i")
    s.send("PS1='in$ '\n")
    s.expect(rb"in\$ .*in\$ ")
    check("an interactive shell has job control", b"no job control" not in s.matched, s.matched)
    s.send("(echo rea''dy; exec sleep 100)\n")
    s.expect(rb"ready\r\n")
    check("Ctrl-Z stops a job inside, not coop", s.press(b"\x1a", rb"Stopped.*in\$ "), s.seen)
    s.send("fg\n")
    s.expect(rb"sleep 100")
    check("fg and Ctrl-C work inside", s.press(b"\x03", rb"in\$ "), s.seen)
    s.send("sleep 0.2 & wait; echo job-''done\n")
    check("background jobs work inside", s.expect(rb"job-done"), s.seen)
    s.send("exit 9\n")
    check("its status passes", s.wait() == 9, s.status)
    s.close()


def restored():
    for what, text in (("its end", "stty raw -echo; exit 0"), ("a signal", "stty raw -echo; kill -KILL $$")):
        s = Session("bash", "--norc", "--noprofile", "-c", f'"{COOP}" run -t -c "$0"; echo after; read x', text)
        s.expect(rb"after\r\n")
        now = s.settings()
        check(f"the terminal is as before after {what}",
              now[3] & (termios.ECHO | termios.ICANON | termios.ISIG) == termios.ECHO | termios.ICANON | termios.ISIG
              and now[1] & termios.OPOST, now[:4])
        s.close()
    s = tty("-c", "echo ready; sleep 100")
    s.expect(rb"ready")
    raw = s.settings()[3] & termios.ICANON == 0
    check("while it runs the caller's terminal is raw", raw, s.settings()[:4])
    os.kill(s.pid, signal.SIGTERM)
    check("SIGTERM to coop reaches the command", s.wait() == 143, s.status)
    check("and restores", s.settings()[3] & termios.ICANON != 0, s.settings()[:4])
    s.close()
    s = tty("-c", f"(setsid sleep {MARK} &); echo ready; sleep {MARK}")
    s.expect(rb"ready")
    os.close(s.fd)  # the terminal goes away
    end = time.monotonic() + 10
    s.fd = os.open("/dev/null", os.O_RDWR)
    while time.monotonic() < end and not s.ended():
        time.sleep(0.02)
    check("a terminal that hangs up ends the box", s.ended(), s.status)
    s.close()


def has_process(text):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if text.encode() in f.read().split(b"\0"):
                    return True
        except OSError:
            pass
    return False


def hung_up():
    """A stopped coop whose terminal goes away: the shell may pass that on, or be dead already."""
    for shell in (("bash", "--norc", "--noprofile", "-i"), ("sh", "-i")):
        for is_killed in (False, True):
            for text in ("", "trap '' HUP; "):
                n = f"{MARK}{len(text) + is_killed}{len(shell)}"
                s = Session(*shell)
                s.send(f'"{COOP}" run -t -c "{text}sleep {n} & echo ready; wait; sleep {n}"\n'.encode())
                s.expect(rb"[\r\n]ready")
                s.send(b"\x1a")
                stopped = s.expect(rb"(?i)stopped")
                if is_killed:
                    os.kill(s.pid, signal.SIGKILL)
                os.close(s.fd)
                s.fd = os.open("/dev/null", os.O_RDWR)
                end = time.monotonic() + 20
                while has_process(n) and time.monotonic() < end:
                    time.sleep(0.02)
                check(f"a stopped box ends with its terminal ({shell[0]}{', killed' * is_killed}{', hang-ups ignored' * bool(text)})",
                      stopped and not has_process(n), (stopped, s.seen[-200:]))
                s.close()


def hostile():
    s = tty("--", "python3", "-c", """
import fcntl, os, termios
for name, request in (("TIOCSTI", termios.TIOCSTI), ("TIOCSTI+high", termios.TIOCSTI | 1 << 40), ("TIOCLINUX", 0x541c)):
    for fd in (0, 1, 2):
        try:
            fcntl.ioctl(fd, request & 0xffffffff if fd else request & 0x7fffffff, b"x")
            print(name, "WORKED")
        except OSError as e:
            print(name, e.errno)
print("tried")
""")
    s.wait()
    check("injecting keys fails", b"tried" in s.seen and b"WORKED" not in s.seen and s.seen.count(b"TIOCSTI 1\r\n") == 3, s.seen)
    s.close()
    evil = {
        "clipboard (OSC 52)": b"\x1b]52;c;ZXZpbA==\x07",
        "clipboard, 8-bit OSC": b"\xc2\x9d52;c;ZXZpbA==\xc2\x9c",
        "clipboard, in pieces": b"\x1b]5|2;c;ZX|ZpbA==\x07",
        "title report (CSI 21 t)": b"\x1b[21t",
        "setting report (DECRQSS)": b"\x1bP$q\"p\x1b\\",
        "terminfo query (XTGETTCAP)": b"\x1bP+q544e\x1b\\",
        "colour query (OSC 11 ?)": b"\x1b]11;?\x07",
        "answerback (ENQ)": b"\x05",
        "screen contents (DECRQCRA)": b"\x1b[1;1;1;1;5;5*y",
        "printing (CSI 5 i)": b"\x1b[5i",
    }
    for what, sequence in evil.items():
        parts = sequence.split(b"|")
        program = "; ".join("printf '" + "".join("\\%03o" % b for b in p) + "'; sleep 0.05" for p in parts)
        s = shell_text(f"stty -opost; printf begin-; {program}; printf -- -end")
        s.wait()
        whole = b"".join(parts)
        clean = s.seen.replace(b"\r", b"").replace(b"\n", b"")
        check(f"filtered: {what}", b"begin-" in clean and b"-end" in clean and whole not in clean
              and not re.search(rb"begin-.*(ZXZpbA|\x1b\[21t|\x1b\[5i|\*y|\x1bP|\]11;\?|\x05).*-end", clean, re.S), s.seen)
        s.close()
    good = b"\x1b[1;31mred\x1b[0m \xe2\x82\xac \x1b[2J\x1b[H\x1b[?25l\x1b[?1049h\x1b[10;20H\x1b[K"
    s = shell_text("stty -opost; printf begin-'" + "".join("\\%03o" % b for b in good) + "'-end")
    s.wait()
    check("colours, cursor movement and other screens pass", b"begin-" + good + b"-end" in s.seen, s.seen)
    s.close()
    s = shell_text("printf '\\033]0;a title\\007'; echo end")
    s.wait()
    check("a cut sequence at the end does not swallow what follows", b"end" in s.seen, s.seen)
    s.close()
    # What is left open at its end may go on, as in any terminal, until it is cancelled.
    s = shell_text("head -c 300000 /dev/urandom; printf '\\033P\\030\\n'; echo the-''end")
    s.wait()
    check("garbage does not stop it", s.status == 0 and b"the-end" in s.seen, s.seen[-100:])
    check("and no query is in what came through", not re.search(rb"\x1b\[21t|\x1b\]52|\x05", s.seen), b"")
    s.close()


def much():
    s = shell_text("seq 1 200000")
    end = time.monotonic() + 60
    while not s.ended() and time.monotonic() < end:
        s.pump(0.05)
    while s.pump(0.1):
        pass
    lines = s.seen.removesuffix(b"\x1b\\").split()  # it closes with an end of string
    check("much output arrives whole", lines == [b"%d" % i for i in range(1, 200001)], (len(lines), lines[-1:]))
    s.close()


for scenario in (own_terminal, statuses, size, keys, suspend, job_control, restored, hung_up, hostile, much):
    try:
        scenario()
    except Exception as e:  # a scenario that cannot even go on has failed
        check(f"{scenario.__name__} goes through", False, repr(e).encode())
END
timeout -s KILL 280 python3 "$T/drive.py" "$COOP" "$mark" "$T" >"$T/results" 2>"$T/err" </dev/null
is "the driver ran to its end" "$? $(cat "$T/err")" "0 "
while IFS=$'\t' read -r bad what details; do
    tap_result "$bad" "$what"
    [ "$bad" = 0 ] || note "$details"
done <"$T/results"

status "--tty without a terminal" 3 bash -c '"$@" </dev/null 2>&1 | cat; exit "${PIPESTATUS[0]}"' - "$COOP" run -t -c 'exit 3'
is "--tty without a terminal: output arrives" "$(timeout -s KILL 20 "$COOP" run -t -- echo hi </dev/null | tr -d '\r')" hi
is "--tty with input from a pipe" "$(echo word | timeout -s KILL 20 "$COOP" run -t -c 'stty -echo; read -r x; echo "got $x"' 2>&1 | tr -d '\r' | grep -a got)" "got word"
ok "no process is left" await 5 gone "$mark"
nothing_left "nothing else is left" "$before" .
done_testing

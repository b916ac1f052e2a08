"""What do the comparisons of all layers share?

Programs with bounds, which are ended by their process number; the ways between two ends on this
host; what is left of the vendor's test; figures with their spread; what a machine is; the options
and the frame of a script. A script of a layer brings what it compares, and its table.
"""

import argparse
import os
import platform
import re
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JAR = "com.oracle.coherence.ce:coherence:24.09"
# Longer than any program needs to begin and to end around its load.
SLACK_S = 30.0
# Between two looks for a word of a program.
POLL_S = 0.02
# Between two looks at the peak of a program that somebody waits for.
LOOK_S = 0.1
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def say(text):
    """Progress goes to stderr; stdout carries the table alone."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Failed(Exception):
    """A program did not do what it is here for; the row goes on without this round."""


# --- Programs that are run and ended ------------------------------------------------------------


class Program:
    """One child process: its output, its CPU time and its peak memory."""

    running = []

    def __init__(self, argv, scratch):
        self.argv = [str(word) for word in argv]
        self.out = Path(tempfile.mkstemp(dir=scratch, suffix=".out")[1])
        self.err = Path(tempfile.mkstemp(dir=scratch, suffix=".err")[1])
        environment = {**os.environ, "SOKUDO_RUNS": str(scratch / "runs"), "LC_ALL": "C.UTF-8",
                       "SOKUDO_LANG": "en"}
        environment.pop("SOKUDO_KEY", None)
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.child = subprocess.Popen(
                self.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment
            )
        self.code = None
        # Readable once the program has ended.
        self.ends = os.pidfd_open(self.child.pid)
        self.ended_s = 0.0
        self.cpu_s = 0.0
        self.user_s = 0.0
        self.cpu_before_s = 0.0
        self.peak_bytes = 0
        Program.running.append(self)

    def text(self):
        """What it has printed so far, both streams."""
        return self.out.read_text(errors="replace") + self.err.read_text(errors="replace")

    def wait_for(self, pattern, bound_s=SLACK_S):
        """Waits until it prints a match, and returns that."""
        deadline = time.monotonic() + bound_s
        while True:
            found = re.search(pattern, self.text())
            if found:
                return found
            if self.poll():
                raise Failed(f"`{self.argv[0]}` ended early: {self.last_words()}")
            if time.monotonic() > deadline:
                raise Failed(f"`{self.argv[0]}` did not print /{pattern}/ within {bound_s:.0f} s")
            time.sleep(POLL_S)

    def begin_counting(self):
        """CPU time used up to here was its start, not its load."""
        try:
            fields = Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
            self.cpu_before_s = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
        except (OSError, IndexError):
            pass

    def poll(self):
        """True when it has ended; notes its peak memory while it has not."""
        if self.code is not None:
            return True
        try:
            status = Path(f"/proc/{self.child.pid}/status").read_text()
            peak = re.search(r"VmHWM:\s+(\d+) kB", status)
            if peak:
                self.peak_bytes = max(self.peak_bytes, int(peak[1]) * 1024)
        except OSError:
            pass
        pid, status, usage = os.wait4(self.child.pid, os.WNOHANG)
        if pid == 0:
            return False
        self.ended_s = time.monotonic()
        os.close(self.ends)
        self.child.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.cpu_s = usage.ru_utime + usage.ru_stime - self.cpu_before_s
        self.user_s = usage.ru_utime
        # A child inherits this script's own peak as its first; only a larger one is its own.
        if usage.ru_maxrss * 1024 > own_peak_bytes():
            self.peak_bytes = usage.ru_maxrss * 1024
        Program.running.remove(self)
        return True

    def wait(self, bound_s):
        """Waits for its end; ends it when the bound has passed."""
        deadline = time.monotonic() + bound_s
        while not self.poll():
            # The other end's peak is read while it lives, too.
            for other in list(Program.running):
                other.poll()
            if time.monotonic() > deadline:
                self.end(signal.SIGKILL)
                raise Failed(f"`{self.argv[0]}` did not end within {bound_s:.0f} s")
            # Woken by the end itself: a look every few milliseconds would take the programs' time.
            select.select([self.ends], [], [], LOOK_S)

    def end(self, kind=signal.SIGTERM):
        """Asks it to end, then ends it."""
        for kind in (kind, signal.SIGKILL):
            if self.poll():
                return
            os.kill(self.child.pid, kind)
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline and not self.poll():
                select.select([self.ends], [], [], LOOK_S)

    def last_words(self):
        lines = [line.strip() for line in self.text().splitlines() if line.strip()]
        return lines[-1] if lines else f"it said nothing (exit {self.code})"


def own_peak_bytes():
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(peak[1]) * 1024


def command(*argv, bound_s=300):
    """Output of a short command; fails with its last line."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=bound_s, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"`{' '.join(argv)}`: {error}") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise Failed(f"`{' '.join(argv)}`: {said}")
    return done.stdout


# --- Paths between sender and receiver ----------------------------------------------------------


class Loopback:
    """Both ends on 127.0.0.1."""

    key = "loopback"
    to = sender = "127.0.0.1"
    serve = ["--bind", "127.0.0.1:0"]

    def at(self, _end, argv):
        return argv

    def free_port(self, kind):
        with socket.socket(socket.AF_INET, kind) as probe:
            probe.bind((self.to, 0))
            return probe.getsockname()[1]

    def close(self):
        pass


class Pinned:
    """A path whose ends have a CPU each, for every program alike; without CPUs, as it is."""

    def __init__(self, path, cpus):
        self.path = path
        self.cpus = dict(zip(("sender", "receiver"), cpus))

    def at(self, end, argv):
        argv = self.path.at(end, argv)
        return ["taskset", "-c", self.cpus[end], *argv] if end in self.cpus else argv

    def __getattr__(self, name):
        return getattr(self.path, name)


class Veth:
    """Two network namespaces joined by a veth pair, MTU 1500."""

    names = {"sender": "sk-bench-a", "receiver": "sk-bench-b"}
    sender, to = "10.77.0.1", "10.77.0.2"
    serve = ["--open", "--bind", f"{to}:7411"]

    def __init__(self, software):
        self.key = "veth-software" if software else "veth"
        a, b = self.names["sender"], self.names["receiver"]
        for name in (a, b):
            if Path(f"/run/netns/{name}").exists():
                raise Failed(f"a namespace `{name}` exists already; remove it: ip netns del {name}")
        try:
            for name in (a, b):
                command("ip", "netns", "add", name)
            command("ip", "link", "add", "veth-a", "netns", a, "type", "veth",
                    "peer", "name", "veth-b", "netns", b)
            for name, device, address in ((a, "veth-a", self.sender), (b, "veth-b", self.to)):
                command("ip", "-n", name, "address", "add", f"{address}/30", "dev", device)
                command("ip", "-n", name, "link", "set", device, "up")
                command("ip", "-n", name, "link", "set", "lo", "up")
            if software:
                command("ip", "netns", "exec", a, "ethtool", "-K", "veth-a",
                        "tx-udp-segmentation", "off")
        except Failed:
            self.close()
            raise

    def at(self, end, argv):
        return ["ip", "netns", "exec", self.names[end], *argv]

    def free_port(self, _kind):
        return 5201

    def close(self):
        for name in self.names.values():
            if Path(f"/run/netns/{name}").exists():
                command("ip", "netns", "del", name)


class TestLink:
    """Two hosts of `sokudo link up`: a rate, a delay and losses, and TCP from end to end."""

    sender, to = "10.77.0.1", "10.77.0.2"
    serve = ["--open", "--bind", f"{to}:7411"]

    def __init__(self, binary, scratch, *properties):
        self.binary = binary
        self.link = Program([binary, "link", "up", "--lang", "en", *properties], scratch)
        try:
            self.holder = self.link.wait_for(r"link exec (\d+) b ")[1]
        except Failed:
            self.close()
            raise

    def at(self, end, argv):
        host = "a" if end == "sender" else "b"
        return [self.binary, "link", "exec", self.holder, host, "--", *argv]

    def free_port(self, _kind):
        return 5201

    def close(self):
        self.link.end(signal.SIGINT)


def open_path(key):
    """The path, or why it cannot be had."""
    if key == "loopback":
        return Loopback()
    if os.geteuid() != 0:
        raise Failed("network namespaces need root")
    for program in ("ip", "ethtool") if key == "veth-software" else ("ip",):
        if not shutil.which(program):
            raise Failed(f"`{program}` is not installed")
    return Veth(software=key == "veth-software")


# --- A client against a server of its own -------------------------------------------------------


def with_server(path, serve, ready, client, seconds, scratch):
    """Runs a client against a server of its own; returns both.

    `ready` is what the server prints when it listens; `None` when it says nothing: then the client
    is tried again for a while. `client` gets the match and gives the words of the client.
    """
    server = Program(path.at("receiver", serve), scratch)
    try:
        found = server.wait_for(ready) if ready else None
        server.begin_counting()
        argv = client(found)
        for attempt in range(50):
            running = Program(path.at("sender", argv), scratch)
            running.wait(seconds + SLACK_S)
            # A server that says nothing may need a moment until it listens.
            if running.code == 0 or ready or attempt == 49:
                break
        if running.code != 0:
            raise Failed(f"`{argv[0]}`: {running.last_words()}")
        return running, server
    finally:
        server.end(signal.SIGINT)


# How what no Debian package brings is installed.
INSTALL = {"oha": "cargo install --locked oha"}


def need(program):
    """Expects that a program is installed."""
    if not shutil.which(program):
        how = f"; install it: {INSTALL[program]}" if program in INSTALL else ""
        raise Failed(f"`{program}` is not installed{how}")


# --- The vendor's tests --------------------------------------------------------------------------


def vendor_jar():
    """Path of the vendor's jar, fetched when it is not there; or why not."""
    for program in ("java", "mvn"):
        if not shutil.which(program):
            raise Failed(f"`{program}` is not installed")
    group, artifact, version = JAR.split(":")
    jar = (Path.home() / ".m2/repository" / group.replace(".", "/") / artifact / version
           / f"{artifact}-{version}.jar")
    if not jar.exists():
        say(f"fetching {JAR}")
        command("mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:get",
                f"-Dartifact={JAR}", "-Dtransitive=false")
    if not jar.exists():
        raise Failed(f"`{jar}` is not there although Maven fetched it")
    return str(jar)


# --- The machine --------------------------------------------------------------------------------


def priority():
    """How the scheduler treats this script and all that it starts."""
    if os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR):
        return f"real-time {os.sched_getparam(0).sched_priority}"
    return f"nice {os.nice(0)}"


def favour_group(niceness):
    """Gives this session's scheduling group a niceness; returns what it had, or None.

    Linux may schedule each session as one group (`kernel.sched_autogroup_enabled`). Then niceness
    counts only among the programs of one session, and that of the group among sessions.
    """
    group = Path("/proc/self/autogroup")
    try:
        before = int(group.read_text().rsplit("nice", 1)[1])
        group.write_text(str(niceness))
        return before
    except (OSError, ValueError, IndexError):
        return None


def busy_s():
    """CPU time that this machine has spent on anything, seconds."""
    fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _, _, irq, softirq = fields[:7]
    return (user + nice + system + irq + softirq) / TICKS_PER_S


# --- Figures ------------------------------------------------------------------------------------


def spread(values, digits, scale=1.0):
    """`median (smallest–largest)`."""
    if not values:
        return "–"
    shown = [f"{v * scale:.{digits}f}"
             for v in (statistics.median(values), min(values), max(values))]
    return f"{shown[0]} ({shown[1]}–{shown[2]})" if len(values) > 1 else shown[0]


# How each program says its version, and where in what it says.
VERSIONS = {
    "ab": (["-V"], r"Version (\S+)"),
    "dnsperf": (["-h"], r"Version (\S+)"),
    "h2load": (["--version"], r"nghttp2/(\S+)"),
    "iperf3": (["--version"], r"iperf (\S+)"),
    "java": (["-version"], r'version "(.+?)"'),
    "nginx": (["-v"], r"nginx/(\S+)"),
    "oha": (["--version"], r"oha (\S+)"),
    "pgbench": (["--version"], r"PostgreSQL\) (\S+)"),
    "unbound": (["-V"], r"Version (\S+)"),
    "wrk": (["-v"], r"wrk (\S+)"),
}


def version(program):
    """`program 1.2`, or None when it is not there. Some say it on stderr, some with a failure."""
    if not shutil.which(program):
        return None
    words, where = VERSIONS[program]
    said = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    found = re.search(where, said.stdout + said.stderr)
    return f"{program} {found[1] if found else '?'}"


def describe_machine(binary, programs=("iperf3", "java"), more=(f"vendor {JAR}",)):
    """Facts that a reader needs in order to judge the numbers."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    flags = re.search(r"^flags\s*:.*\bhypervisor\b", Path("/proc/cpuinfo").read_text(), re.M)
    facts = [
        f"{cpu[1] if cpu else platform.machine()}, {os.cpu_count()} cores"
        + (", virtual machine" if flags else ""),
        f"{platform.system()} {platform.release()}",
        "net.core.rmem_max " + Path("/proc/sys/net/core/rmem_max").read_text().strip()
        + ", wmem_max " + Path("/proc/sys/net/core/wmem_max").read_text().strip(),
        "load average at the beginning " + " ".join(f"{load:.2f}" for load in os.getloadavg()),
    ]
    versions = [command(str(binary), "--version").strip(), *filter(None, map(version, programs)), *more]
    return [*facts, "; ".join(versions)]


# --- From the command line to the page ----------------------------------------------------------


def options(layer, doc, seconds=None, quick_s=None, quick_rounds=2):
    """The options that every script has; `doc` explains the layer, lengths are in seconds: none where a run
    takes as long as its work."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser = argparse.ArgumentParser(prog=f"./dev bench {layer}", description=doc,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="rounds; default %(default)s")
    if seconds is not None:
        parser.add_argument("--seconds", type=float, default=seconds, metavar="S",
                            help=f"length of each run; default {seconds:g}, at least 2")
    else:
        parser.set_defaults(seconds=None)
    parser.add_argument("--binary", type=Path, default=target / "release/sokudo", metavar="PATH",
                        help="sokudo to measure; default: the release build")
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the page here")
    parser.add_argument("--output-ja", type=Path, metavar="FILE", help="and in Japanese here")
    parser.add_argument("--write", action="store_true",
                        help=f"write both pages where they belong: docs/reference/*/bench-{layer}.md")
    quick = "one round" if quick_rounds == 1 else f"{quick_rounds} rounds"
    quick += "" if quick_s is None else f" of {quick_s:g} s"
    parser.add_argument("--quick", action="store_true", help=f"{quick}, to see that it works")
    parser.set_defaults(layer=layer, quick_s=quick_s, quick_rounds=quick_rounds)
    return parser


def pinning(parser):
    """The option that gives each end a CPU of its own."""
    parser.add_argument("--pin", type=lambda text: text.split(","), default=[], metavar="A,B",
                        help="CPU of the sending end and of the receiving end; default: none")


def parse(parser):
    """Reads the command line, and refuses what cannot be measured."""
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.seconds = arguments.quick_rounds, arguments.quick_s
    if arguments.write:
        pages = ROOT / "docs/reference"
        arguments.output = pages / f"en/bench-{arguments.layer}.md"
        arguments.output_ja = pages / f"ja/bench-{arguments.layer}.md"
    if not 1 <= arguments.rounds <= 100:
        parser.error("--rounds must lie between 1 and 100")
    if arguments.seconds is not None and not 2 <= arguments.seconds <= 600:
        parser.error("--seconds must lie between 2 and 600")
    pin = getattr(arguments, "pin", [])
    if pin and (len(pin) != 2 or not shutil.which("taskset")):
        parser.error("--pin takes two CPUs, and the program taskset")
    if not os.access(arguments.binary, os.X_OK):
        parser.error(f"no sokudo at {arguments.binary}; build it: ./dev build")
    return arguments


def run_rounds(everybody, arguments, scratch, path, show):
    """Lets the programs take turns: name → round → outcome, and what was left out, with the reason.

    Whoever goes first in one round goes last in the next. A program that fails is tried again in
    the next round: one failure may be the host's. `show` says an outcome in a few words.
    """
    outcomes, failures = {}, {}
    for number in range(arguments.rounds):
        for program in everybody if number % 2 == 0 else reversed(everybody):
            label = f"{program.name}, round {number + 1} of {arguments.rounds}"
            say(f"{label} …")
            try:
                outcome = program.run(path, arguments.seconds, scratch)
                outcomes.setdefault(program.name, {})[number] = outcome
                say(f"{label}: {show(outcome)}")
            except Failed as why:
                say(f"{label}: {why}")
                failures.setdefault(program.name, []).append(str(why))
            finally:
                shutil.rmtree(scratch / "runs", ignore_errors=True)
    left_out = {name: f"{len(why)} of {arguments.rounds} rounds: {why[-1]}"
                for name, why in failures.items()}
    return outcomes, left_out


JAPANESE = {
    "Conditions": "条件",
    "Left out": "除いたもの",
    "each end on a CPU of its own": "両端にそれぞれ専用の CPU を割り当て",
    "no end bound to a CPU": "どちらの端も CPU を固定せず",
    "{ends}, all programs at the priority of this script":
        "{ends}、全プログラムともこのスクリプトと同じ優先度",
}


class Tongue:
    """What a page says in one language: texts are written in English and looked up."""

    def __init__(self, words):
        self.words = words

    def __call__(self, text, **values):
        return self.words.get(text, text).format(**values)


def priority_of_ends(arguments, tongue):
    """Where the ends ran."""
    ends = "each end on a CPU of its own" if arguments.pin else "no end bound to a CPU"
    return tongue("{ends}, all programs at the priority of this script", ends=tongue(ends))


def conditions(facts, left_out, tongue):
    """The end of a page: what a reader needs in order to judge, and what is missing."""
    lines = [f"## {tongue('Conditions')}", "", *(f"- {fact}" for fact in facts), ""]
    if left_out:
        lines += [f"## {tongue('Left out')}", "", *(f"- {name}: {why}" for name, why in left_out.items()), ""]
    return lines


def write_page(arguments, measure, page, japanese, describe=describe_machine):
    """Measures, prints the page and writes it; the exit code: 1 when sokudo itself gave nothing.

    `measure(scratch)` returns programs, outcomes and what was left out; `page` makes lines of them,
    of the machine's description by `describe`, and in a [`Tongue`]; `japanese` holds the script's own texts.
    """
    if sys.platform != "linux":
        sys.exit("bench: this benchmark reads /proc and runs on Linux only")
    # A request to end passes through every `finally` that ends programs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    machine = describe(arguments.binary)
    with tempfile.TemporaryDirectory(prefix="sokudo-bench-") as scratch:
        try:
            found = measure(Path(scratch))
        finally:
            for program in list(Program.running):
                program.end(signal.SIGKILL)
    texts = [(arguments.output, Tongue({})),
             (arguments.output_ja, Tongue({**JAPANESE, **japanese}))]
    print("\n".join(page(*found, machine, texts[0][1])))
    for file, tongue in texts:
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(page(*found, machine, tongue)))
    return 0 if any(name.startswith("sokudo") for name in found[1]) else 1

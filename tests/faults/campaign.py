"""Exposes a host of the library to faults, and checks that it behaves as the same host without the library.

usage: campaign.py --build BUILD [--whole] [--trace] [--seed S] [--jobs N] [CLASS | CLASS:NUMBER]...

The result of the host must be right. The host must end by itself or by the signal that would have ended it without the
library. It may take as long as it would have taken without the library, and a few times that because machines get busy,
plus what docs/promises.md allows and the fault itself takes. Nothing may be left in shared memory, in the directory of
temporary files or beside the snapshots. Every snapshot must be readable. Every planned injection into a call must
happen: its calls are counted first. If the system forbids unshare, cases that need a mount are skipped. Prints a table
with the injections that happened and that were planned, and for each failure a command that repeats it.
"""
import argparse
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import cases

# Seconds that the library may take beyond the host's own time (docs/promises.md), and how many times as long as when it
# was measured the host itself may take, because the machine gets busier.
ALLOWED = 2
BUSY = 10

SCRIPT = """
[ "$PRIVATE" = no ] || mount -t tmpfs tmpfs /dev/shm
{mounts}
cd "$WORK"
{command} >"$OUT/stdout" 2>"$OUT/stderr"
echo $? >"$OUT/code"
ls -A /dev/shm >"$OUT/shm"
ls -A "$TMPDIR" >"$OUT/tmp"
cp -a "$WORK" "$OUT/files"
"""


@dataclasses.dataclass
class Outcome:
    code: int          # of the shell: 128 + the signal; -1: it did not end
    result: str        # the checksum, "" if there is none
    caught: int        # calls of its handler
    fired: bool        # an injection happened
    out: pathlib.Path
    seconds: float = 0


def words(path):
    return path.read_text(errors="replace").split() if path.exists() else []


class Campaign:
    def __init__(self, arguments):
        self.arguments = arguments
        build = pathlib.Path(arguments.build).resolve()
        self.here = build / "tests" / "faults"
        self.command = build / "tools" / "effort"
        self.launch = json.loads((self.here / "launch.json").read_text())
        self.sandbox = self.find_sandbox()
        self.right = functools.lru_cache(maxsize=None)(self.right_result)
        self.counted = {}
        self.kept = pathlib.Path(tempfile.mkdtemp(prefix="faults-", dir=self.here))

    @staticmethod
    def find_sandbox():
        """The command that gives a run its own mounts and processes; empty if the system does not allow this."""
        for more in ([], ["-r"]):
            sandbox = ["unshare", *more, "-mpf", "--kill-child", "--mount-proc"]
            probe = [*sandbox, "sh", "-c", "mount -t tmpfs tmpfs /dev/shm"]
            if shutil.which("unshare") and subprocess.run(probe, capture_output=True).returncode == 0:
                return sandbox
        return []

    def run(self, case, host):
        """Runs a host once, in its own directories; again if Open MPI's launcher, which PMIx 4.2 may crash after a rank
        was killed, did not survive it."""
        outcome = self.run_once(case, host)
        said = outcome.out / "stderr"
        crashed = said.exists() and "(PMIx_server_finalize+" in said.read_text(errors="replace")
        return self.run_once(case, host) if crashed else outcome

    def run_once(self, case, host):
        out = pathlib.Path(tempfile.mkdtemp(prefix=case.name.replace(":", "-") + "-", dir=self.kept))
        work, tmp = out / "work", out / "t"
        work.mkdir()
        tmp.mkdir()
        for path in (out, work, tmp):
            path.chmod(0o777)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("EFFORT_", "FAULT_"))}
        environment.update(self.launch["environment"], WORK=str(work), OUT=str(out), TMPDIR=str(tmp),
                           PRIVATE="yes" if self.sandbox else "no", EFFORT_WINDOW="5", EFFORT_SNAPSHOT_EVERY="20",
                           EFFORT_REPORT="report.txt", FAULT_FIRED=str(out / "fired"),
                           CAUGHT=str(out / "caught"), EFFORT_RANKS_PER_NODE=str(case.per_node),
                           EFFORT_STEP="MPI_Sendrecv:2")
        environment.update({k: v.replace("$TMPDIR", str(tmp)) for k, v in case.environment.items()})
        if "rank" in case.host:
            environment["FAULT_RANK"] = str(case.host["rank"])
        level = case.level if case.ranks else "none"
        preloads = [str(self.here / "libfaults.so")] if any(k.startswith("FAULT_") for k in case.environment) else []
        if case.adapter and host == "fault_host" and self.launch["adapter"]:
            host = "fault_host_alone"
            preloads.append(self.launch["adapter"])
        program = [str(self.here / host), "level=" + level, *(f"{k}={v}" for k, v in case.host.items())]
        if preloads:
            program = ["env", "LD_PRELOAD=" + ":".join(preloads), *program]
        if case.stack:
            program = ["sh", "-c", f'ulimit -s {case.stack}; exec "$@"', "sh", *program]
        if case.ranks:
            program = [*self.launch["command"], str(case.ranks), *program]
        start = time.monotonic()
        script = SCRIPT.format(mounts="\n".join(case.mounts), command=shlex.join(program))
        process = subprocess.Popen([*self.sandbox, "sh", "-c", script], env=environment, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(case.patience)
        except subprocess.TimeoutExpired:
            self.end(process)
            return Outcome(-1, "", 0, (out / "fired").exists(), out)
        seconds = time.monotonic() - start
        code = words(out / "code")
        said = words(out / "stdout")
        after = dict(zip(said, said[1:]))
        return Outcome(int(code[0]) if code else -2, after.get("result", ""), len(words(out / "caught")),
                       (out / "fired").exists(), out, seconds)

    def end(self, process):
        """Ends a run and everything in it. Unshare ends its processes with it, mpiexec ends its ranks if asked to."""
        for sent in [signal.SIGKILL] if self.sandbox else [signal.SIGTERM, signal.SIGKILL]:
            os.killpg(process.pid, sent)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                continue

    def right_result(self, ranks):
        """The result of the host alone, and the time that it took."""
        case = cases.Case(f"alone:{ranks}", ranks=ranks)
        outcome = self.run(case, "fault_host_alone")
        if outcome.code != 0 or not outcome.result:
            sys.exit(f"campaign: the host alone fails on {ranks} ranks; see {outcome.out}")
        return outcome.result, outcome.seconds

    def lateness(self, case, got):
        """An error if the host took longer than it may."""
        if got.code == -1:
            return []  # reported as not having ended
        allowed = ALLOWED + int(case.host.get("continue", 0)) / 1000
        name, _, value = case.environment.get("FAULT_WHAT", "").partition(":")
        if name == "slow":
            calls = [n.get(case.environment["FAULT_CALL"], 0) for n in self.counts(case).values()]
            allowed += sum(calls) * int(value) / 1e6
        base = self.right(case.ranks)[1]
        if got.seconds > allowed + BUSY * base:  # the machine may be busier now, and signals take their time, too
            base = max(base, self.run(case, "fault_host_alone").seconds)
        if got.seconds <= allowed + BUSY * base:
            return []
        return [f"it took {got.seconds:.1f} s; alone {base:.1f} s, and {allowed:.1f} s more are allowed"]

    def way_of_ending(self, case, got):
        """Errors in how the host ended; empty if it ended well."""
        right, _ = self.right(case.ranks)  # always, because it ends the campaign if the host alone does not run
        arrives = case.arrives or (case.signal and got.fired)
        if got.code == 0 and got.result == right:
            if case.host.get("handle"):
                once = got.caught == 1 or (got.caught == 0 and not arrives)
                return [] if once else [f"its handler was called {got.caught} times"]
            return [f"it survived signal {int(case.signal)}"] if arrives else []
        if case.signal and got.code == 128 + case.signal and not case.host.get("handle"):
            return []
        alone = self.run(case, "fault_host_alone")
        if (got.code, got.result) == (alone.code, alone.result):
            return []
        ends = "did not end" if got.code < 0 else f"ended with {got.code}"
        return [f"it {ends}, result '{got.result}'; alone {alone.code}, '{alone.result}'"]

    def left_behind(self, case, got):
        """Anything that the library left behind except snapshots, traces, the report, and why there is no snapshot.

        Where the system has no files without a name, a killed process leaves those that it has just made: hidden ones,
        which the next process removes, and, where it has no links either, an empty snapshot.  If no file can be
        removed, hidden ones are left, too."""
        killed = got.code > 128 and "FAULT_ALSO" in case.environment
        hidden = killed or case.environment.get("FAULT_CALL") == "unlink"
        shm = [name for name in words(got.out / "shm") if self.sandbox and "effort" in name and not killed]
        wrong = [f"/dev/shm/{name} is left" for name in shm]
        wrong += [f"{name} is left among the temporary files" for name in words(got.out / "tmp") if "effort" in name]
        for path in sorted((got.out / "files").rglob("*")):
            if path.is_dir() or path.name == "report.txt":
                continue
            if hidden and path.name.startswith(".") and path.suffix == ".part":
                continue
            if killed and path.suffix == ".effort" and path.stat().st_size == 0:
                continue
            if case.adapter and path.name.endswith("-not-measured.txt"):  # written by the adapter instead of a snapshot
                if " measured nothing: " not in path.read_text():
                    wrong.append(f"{path.name} gives no reason")
                continue
            if path.suffix == ".trc" and path.parent.suffix == ".trace":
                wrong += self.unreadable(["trace", "info", "--json", path.parent])
                continue
            if path.suffix != ".effort" or path.name.startswith("."):
                wrong.append(f"{path.name} is left")
                continue
            wrong += self.unreadable(["info", "--json", path])
        return wrong

    def unreadable(self, arguments):
        read = subprocess.run([self.command, *arguments], capture_output=True, text=True)
        if read.returncode == 0:
            return []
        return [f"{arguments[-1].name} cannot be read ({read.returncode}): {read.stderr.strip()}"]

    def counts(self, case):
        """How often each rank calls each function if nothing is injected: {rank: {function: calls}}.  One run counts
        for many cases, so the numbers are approximate."""
        kept = {k: v for k, v in case.environment.items() if not k.startswith("FAULT_") or k == "FAULT_ALSO"}
        decisive = sorted((k, v) for k, v in kept.items() if k in ("FAULT_ALSO", "EFFORT_TRACE", "EFFORT_STEP"))
        key = str((case.ranks, case.per_node == 1, case.adapter, decisive))
        if key not in self.counted:
            out = pathlib.Path(tempfile.mkdtemp(prefix="counts-", dir=self.kept))
            out.chmod(0o777)
            plain = dataclasses.replace(case, environment={**kept, "FAULT_COUNT": str(out / "of")}, stack=0,
                                        host={"snapshot": -1})  # which makes the fewest calls
            shutil.rmtree(self.run(plain, "fault_host").out, ignore_errors=True)
            found = {}
            for path in out.glob("of.*"):
                said = words(path)
                found[int(path.suffix[1:])] = {name: int(n) for name, n in zip(said[::2], said[1::2])}
            self.counted[key] = found
        return self.counted[key]

    def plan(self, case):
        """Chooses the call that an injection hits; on another rank if the chosen one never calls the function."""
        call = case.environment.get("FAULT_CALL")
        if not call:
            return case
        made = {rank: sum(n.values()) if call == "any" else n.get(call, 0) for rank, n in self.counts(case).items()}
        most = max(made, key=made.get, default=0)
        host = dict(case.host)
        if host.get("rank", most) not in made or made[host.get("rank", most)] == 0:
            host["rank"] = most
        calls = made.get(host.get("rank", most), 0)
        at = 1 + int(calls ** case.share if case.early else calls * case.share)
        at = self.arguments.at or min(int(case.environment.get("FAULT_AT", at)), calls)
        return dataclasses.replace(case, host=host, environment={**case.environment, "FAULT_AT": str(at)})

    def judge(self, case):
        """Tries a case.  Returns it as it was planned, and its errors; None instead of these if it cannot be tried."""
        if case.mounts and not self.sandbox:
            return case, None
        case = self.plan(case)
        at = int(case.environment.get("FAULT_AT", 0))
        while True:
            got = self.run(case, "fault_host")
            wrong = self.way_of_ending(case, got) + self.lateness(case, got)
            wrong += self.left_behind(case, got) if got.code != -1 else []
            if wrong or got.fired or at <= 1:
                break
            at //= 2  # it makes fewer calls than the run that was counted
            case = dataclasses.replace(case, environment={**case.environment, "FAULT_AT": str(at)})
            shutil.rmtree(got.out, ignore_errors=True)
        if planned(case) and not got.fired:
            wrong.append(f"{case.environment['FAULT_CALL']} was not called as often as planned")
        if not wrong:
            shutil.rmtree(got.out, ignore_errors=True)
        return dataclasses.replace(case, fired=got.fired), [*wrong, f"see {got.out}"] if wrong else []


def planned(case):
    return "FAULT_CALL" in case.environment


def wanted(arguments):
    """All requested cases, class by class."""
    for kind, counts in cases.CLASSES.items():
        numbers = range(counts[1 if arguments.whole else 0])
        chosen = [c.partition(":") for c in arguments.cases if c.partition(":")[0] == kind.__name__]
        if arguments.cases:
            numbers = [n for n in range(counts[1]) if any(c[2] == str(n) or not c[2] and n in numbers for c in chosen)]
        if numbers:
            yield kind, [cases.make(kind, n, arguments.seed, arguments.whole, arguments.trace) for n in numbers]


def finds_what_is_wrong(campaign):
    """Tries the campaign on hosts that misbehave in every known way; returns the number of errors it missed."""
    missed = 0
    for number, (name, said) in enumerate(cases.WRONG.items()):
        _, verdict = campaign.judge(cases.make(cases.wrong, number, 1, False))
        if not any(said in line for line in verdict or []):
            missed += 1
            print(f"missed: {name}: {verdict}")
    print(f"{len(cases.WRONG) - missed} of {len(cases.WRONG)} wrong hosts were found")
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--trace", action="store_true", help="with a trace in every case, not only in every other one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at", type=int, help="the call that injections hit (to repeat a case exactly)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verify", action="store_true", help="only verify the campaign itself")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would hosts
    campaign = Campaign(arguments)
    code = try_all(campaign, arguments)
    if code != 1:
        shutil.rmtree(campaign.kept, ignore_errors=True)
    return code


def try_all(campaign, arguments):
    if not campaign.sandbox:
        print("skipped: cases with their own file systems, and the check of /dev/shm; this system forbids unshare")
    if arguments.verify:
        return 77 if not campaign.sandbox else 1 if finds_what_is_wrong(campaign) else 0
    table, failed = [], 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for kind, list_of_cases in wanted(arguments):
            start = time.monotonic()
            verdicts = list(pool.map(campaign.judge, list_of_cases))
            bad = [(c, v) for c, v in verdicts if v]
            fired = f"{sum(c.fired for c, _ in verdicts)}/{sum(planned(c) for c, v in verdicts if v is not None)}"
            skipped = sum(v is None for _, v in verdicts)
            seconds = time.monotonic() - start
            table.append(f"{kind.__name__:<16}{len(verdicts):>8}{fired:>12}{len(bad):>10}{skipped:>9}{seconds:>9.1f}")
            print(table[-1], flush=True)
            for case, wrong in bad:
                options = f"--build {arguments.build} --seed {arguments.seed}" + (" --whole" if arguments.whole else "")
                options += " --trace" if arguments.trace else ""
                options += f" --at {case.environment['FAULT_AT']}" if planned(case) else ""
                print(f"{case.name}: " + "\n  ".join(wrong))
                print(f"  {case}\n  python3 {sys.argv[0]} {options} {case.name}", flush=True)
            failed += len(bad)
    print(f"{'class':<16}{'cases':>8}{'injections':>12}{'failures':>10}{'skipped':>9}{'seconds':>9}", *table, sep="\n")
    return 1 if failed else 0 if table else 2


if __name__ == "__main__":
    sys.exit(main())

"""Compares the waits that `effort comm waits` finds with what the program's own clock says (planted.c).

planted.py DIRECTORY EFFORT TRACE [PHASE ...]

TRACE is below DIRECTORY, and may be a pattern.  PHASE: not in the trace.  Where a rank was preempted between its own
look at the clock and the record's, the two differ: each wait may be off by 2 ms, and a sum by 1 % besides.  The planted
waits are 20 ms each, and other causes than the right one get no such time.
"""
import glob
import json
import subprocess
import sys

SLACK_NS = 2_000_000


def own_waits(directory, without):
    """By cause: how long calls waited, and how many did."""
    calls = {}
    for path in glob.glob(f"{directory}/planted-*.txt"):
        rank = int(path.rsplit("-", 1)[1].split(".")[0])
        for line in open(path):
            iteration, phase, begin, end = line.split()
            calls.setdefault((int(iteration), phase), {})[rank] = (int(begin), int(end))
    waits = {}

    def add(cause, call, until):
        total, count = waits.get(cause, (0, 0))
        waits[cause] = (total + max(0, min(until, call[1]) - call[0]), count + 1)

    for (_, phase), ranks in calls.items():
        if phase in without:
            continue
        if phase in ("late_sender", "probe"):
            add("late_sender", ranks[0], ranks[1][0])
        elif phase == "waitall":
            add("late_sender", ranks[0], max(ranks[1][0], ranks[2][0]))
        elif phase == "late_receiver":
            add("late_receiver", ranks[0], ranks[1][0])
        elif phase == "early_reduce":
            add(phase, ranks[0], max(call[0] for rank, call in ranks.items() if rank != 0))
        elif phase == "late_broadcast":
            for rank, call in ranks.items():
                if rank != 1:
                    add(phase, call, ranks[1][0])
        elif phase == "nxn":
            last = max(call[0] for call in ranks.values())
            for call in ranks.values():
                add(phase, call, last)
    return waits


def main():
    directory, effort, trace = sys.argv[1:4]
    without = sys.argv[4:]
    traces = glob.glob(f"{directory}/{trace}")
    if len(traces) != 1:
        sys.exit(f"{len(traces)} traces {trace} in {directory}")
    found = json.loads(subprocess.run([effort, "comm", "waits", "--json", traces[0]], check=True,
                                      capture_output=True).stdout)
    waits = own_waits(directory, without)
    wrong = len(waits) != 5
    for cause, (total, count) in sorted(waits.items()):
        ns = sum(found["totals_ns"][cause])
        good = abs(ns - total) <= 0.01 * total + count * SLACK_NS
        print(f"{cause}: {ns / 1e6:.3f} ms found, {total / 1e6:.3f} ms by the program's clock, {count} waits"
              f"{'' if good else ', too far apart'}")
        wrong = wrong or not good or total == 0
    if sum(found["totals_ns"]["early_scan"]) != 0 or (found["unmatched"] != 0 and not without):
        print(f"there should be no prefix reductions, and no unmatched messages: {found['unmatched']}")
        wrong = True
    # Rank 0 computes nothing: the others make it wait.
    if found["waited_for"][0]["rank"] == 0:
        print(f"the others are said to wait for rank 0: {found['waited_for']}")
        wrong = True
    sys.exit(1 if wrong else 0)


main()

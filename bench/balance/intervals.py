#!/usr/bin/env python3
"""Compares hints with a program's own rebalancing at fixed intervals: interleaved runs, medians over the rounds.

The program is one of the examples. It takes `--balance none|own|hints`, and the interval by the option that --option
names. It prints its critical path, its ideal path (or the ranks' compute time) and its rebalances. The speed of shared
cores drifts, so path / ideal of each run compares modes better than seconds do. Set EFFORT_SNAPSHOT_DIR to say where
snapshots go.
"""
import argparse
import re
import statistics
import subprocess
import sys


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found.group(1)) if found else None


def run(arguments, mode, interval):
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca",
               "mpi_yield_when_idle", "1", "-np", str(arguments.ranks), *arguments.program, "--balance", mode]
    if mode == "own":
        command += ["--" + arguments.option, str(interval)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"intervals.py: {' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    path = number(r"critical path[^\d\n]*\s([\d.]+) s", done.stdout)
    ideal = number(r"ideal ([\d.]+) s", done.stdout)
    if ideal is None:
        total = number(r"compute CPU\s+([\d.]+) s", done.stdout)
        ideal = total / arguments.ranks if total else None
    if not path or not ideal:
        sys.exit("intervals.py: the program prints no critical path or no ideal one:\n" + done.stdout[-2000:])
    counts = re.findall(r"rebalances\s+(\d+)", done.stdout)
    return path, path / ideal, int(counts[-1]) if counts else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--intervals", default="5,10,20,50,100")
    parser.add_argument("--option", default="interval")
    parser.add_argument("--modes", default="none,hints,own")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    modes = []
    for mode in arguments.modes.split(","):
        modes += [(mode, int(n)) for n in arguments.intervals.split(",")] if mode == "own" else [(mode, 0)]
    seen = {mode: [] for mode in modes}
    for _ in range(arguments.rounds):
        for mode in modes:
            seen[mode].append(run(arguments, *mode))
    print("| mode | rebalances | critical path, s: median (smallest to largest) | path / ideal |\n|---|---|---|---|")
    for (mode, interval), runs in seen.items():
        paths, ratios, counts = zip(*runs)
        name = f"own every {interval}" if interval else mode
        columns = (f"{statistics.median(v):.3f} ({min(v):.3f} to {max(v):.3f})" for v in (paths, ratios))
        print(f"| {name} | {statistics.median(counts):g} | " + " | ".join(columns) + " |")


main()

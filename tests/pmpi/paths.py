#!/usr/bin/env python3
"""Checks that calls from one place, and the computation between them, are distinguished by their callers.

paths.py FOLDER EFFORT ROUNDS: the folder of the snapshot of `odd paths`, the effort command, the program's rounds.
"""
import json
import pathlib
import subprocess
import sys


def main():
    folder, effort, rounds = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    snapshot, = folder.glob("*.effort")
    shown = subprocess.run([effort, "info", "--json", str(snapshot)], check=True, capture_output=True, text=True)
    info = json.loads(shown.stdout)
    regions = {r["name"]: r for r in info["regions"]}

    def call(name, times):
        found = [n for n, r in regions.items()
                 if n.startswith(name) and r["kind"] == "comm" and r["metrics"]["calls"]["mean_over_ranks"] == times]
        if len(found) != 1:
            sys.exit(f"{len(found)} call paths of {name} with {times} calls a rank instead of one, among: "
                     f"{', '.join(regions)}")
        return found[0]

    near, far = call("MPI_Allreduce", rounds), call("MPI_Allreduce", rounds * 3 // 2)
    scan = call("MPI_Scan", rounds)
    wrong = 0
    for first, then, least, most in ((near, far, 0.49e-3, 1), (scan, near, 0.98e-3, 1),
                                     (far, far, 0, 0.1e-3), (far, scan, 0, 0.1e-3)):
        region = regions.get(f"{first} > {then}")
        took = region["metrics"]["time"]["mean_over_ranks"] / rounds if region else float("nan")
        print(f"{first} > {then}: {took:.6f} s a round, {least} to {most} expected")
        wrong += not least <= took <= most
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that the measured steps of an unmodified LAMMPS show its imbalance.

lammps_imbalance.py FOLDER EFFORT STEPS: the folder of the snapshot, the effort command, the number of LAMMPS's time
steps. The exported loads are summed per step and rank. The droplet occupies a part of the box, so in most steps the
busiest rank has at least twice the mean load. The largest loads of the steps must add up to the critical path that the
snapshot recorded during the run.
"""
import collections
import csv
import json
import pathlib
import statistics
import subprocess
import sys


def loads_of(rows):
    """Per step, the computation of each rank."""
    loads = collections.defaultdict(lambda: collections.defaultdict(float))
    for row in rows:
        computed = row["metric"] == "cpu_time" and row["kind"] == "compute"
        loads[int(row["step"])][int(row["rank"])] += float(row["value"]) if computed else 0.0
    return loads


def main():
    folder, effort, made = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    snapshot, = folder.glob("*.effort")
    shown = subprocess.run([effort, "info", "--json", str(snapshot)], check=True, capture_output=True, text=True)
    info = json.loads(shown.stdout)
    table = folder / "loads.csv"
    subprocess.run([effort, "export", str(snapshot), "--format", "csv", "-o", str(table)], check=True,
                   capture_output=True)
    with table.open(newline="") as file:
        loads = loads_of(csv.DictReader(file))
    complete = len(loads) == info["steps"] and all(len(ranks) == info["ranks"] for ranks in loads.values())
    imbalance = [max(r.values()) / statistics.fmean(r.values()) - 1 for r in loads.values() if any(r.values())]
    path = sum(max(r.values()) for r in loads.values())
    print(f"{info['ranks']} ranks, {info['steps']} steps of {made}; imbalance (largest over mean load, minus 1), "
          f"median over the steps: {statistics.median(imbalance):.2f}; sum of the largest loads {path:.6f} s, "
          f"critical path {info['critical_path']:.6f} s")
    found = complete and 12 < info["steps"] <= made + 2
    return 0 if found and statistics.median(imbalance) > 1 and abs(path / info["critical_path"] - 1) < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())

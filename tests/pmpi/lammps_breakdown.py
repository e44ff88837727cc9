#!/usr/bin/env python3
"""Compares the measured times of an unmodified LAMMPS with LAMMPS's own timing breakdown of the same run.

lammps_breakdown.py FOLDER EFFORT LOG: the folder of the snapshot, the effort command, LAMMPS's log. Regions are matched
to LAMMPS's sections by the functions that their call paths resolve to. Pair plus Neigh, and Comm, must agree within 5 %
of the run's time. A step must have been found.
"""
import json
import pathlib
import re
import subprocess
import sys

EXCHANGES = {"LAMMPS_NS::CommBrick::" + f for f in ("forward_comm", "reverse_comm", "exchange", "borders")}
DECISION = "LAMMPS_NS::Neighbor::check_distance"
FORCES_FROM = {"LAMMPS_NS::CommBrick::forward_comm", "LAMMPS_NS::CommBrick::borders"}
FORCES_TO = "LAMMPS_NS::CommBrick::reverse_comm"


def functions(call_path):
    """Function names, innermost first; empty outside the time loop, which is all that LAMMPS times."""
    names = [location["function"] or "" for frame in call_path["frames"] for location in frame["locations"]]
    return names if "LAMMPS_NS::Verlet::run" in names else []


def section(region):
    """Pair and Neigh are one section, because LAMMPS makes no MPI call between them."""
    paths = [functions(p) for p in (region.get("resolved") or {}).get("call_paths", [])]
    if not paths or not all(paths):
        return None
    inner = [p[0] for p in paths]
    if len(inner) == 1:
        return "Comm" if inner[0] in EXCHANGES else None
    before, after = inner
    if before in FORCES_FROM and after == FORCES_TO:
        return "Pair+Neigh"
    if after in EXCHANGES and (before in EXCHANGES or before == DECISION):  # packing
        return "Comm"
    return None


def breakdown(log):
    rows = re.findall(r"^(Pair|Neigh|Comm)\s*\|[^|]*\|\s*([0-9.e+-]+)\s*\|", log, re.M)
    own = {name: float(average) for name, average in rows}
    total = float(re.search(r"^Loop time of ([0-9.e+-]+)", log, re.M).group(1))
    return {"Pair+Neigh": own["Pair"] + own["Neigh"], "Comm": own["Comm"]}, total


def main():
    folder, effort, log = sys.argv[1:4]
    snapshot, = pathlib.Path(folder).glob("*.effort")
    shown = subprocess.run([effort, "info", "--json", str(snapshot)], check=True, capture_output=True, text=True)
    info = json.loads(shown.stdout)
    measured = {"Pair+Neigh": 0.0, "Comm": 0.0}
    for region in info["regions"]:
        if (name := section(region)) is not None:
            measured[name] += region["metrics"]["time"]["mean_over_ranks"]
    own, total = breakdown(pathlib.Path(log).read_text())
    bad = 0
    for name, seconds in own.items():
        off = abs(measured[name] - seconds) / total
        bad += off > 0.05
        print(f"{name:10}  LAMMPS {seconds:8.3f} s   effort {measured[name]:8.3f} s   "
              f"difference {100 * off:.2f} % of the run's {total:.3f} s")
    found = [n for n in info["notes"] if re.search(r"they end with (every \d+\. )?MPI_", n)]
    print(f"{info['ranks']} ranks, {info['steps']} steps; {found[0] if found else 'no step was found'}")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())

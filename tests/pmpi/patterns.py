"""Checks what `effort comm patterns`, `phases` and `diff` find in the trace of patterns.c, and in an archive of it.

patterns.py DIRECTORY EFFORT STEPS LATE_STEP LATE_RANK
"""
import collections
import glob
import json
import pathlib
import subprocess
import sys

RANKS = 6


def check(holds, what):
    if not holds:
        sys.exit(f"wrong: {what}")


def find(effort, *arguments):
    done = subprocess.run([effort, "comm", *arguments, "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)


def names(found):
    counts = collections.Counter()
    for pattern in found["patterns"]:
        counts[pattern["name"]] += pattern["instances"]
    return counts


def main():
    directory, effort = pathlib.Path(sys.argv[1]), sys.argv[2]
    steps, late_step, late_rank = map(int, sys.argv[3:])
    trace, = glob.glob(f"{directory}/*.trace")
    found = find(effort, "patterns", trace)
    counts = names(found)
    barriers = counts.pop("barrier")  # whether the one before the first step is kept does not matter here
    check(barriers in (steps + 1, steps + 2), f"{barriers} barriers")
    check(counts == {"2D halo": steps, "ring": steps, "allreduce": steps, "gather to a root": RANKS - 1},
          f"patterns {counts}")
    halo = next(p for p in found["patterns"] if p["name"] == "2D halo")
    check(halo["grid"] == [2, 3] and halo["ranks"] == RANKS and halo["events"] == 28, f"the halo {halo}")
    instances = found["instances"]
    check([i["start_ns"] for i in instances] == sorted(i["start_ns"] for i in instances), "the order of instances")
    halos = [i for i, instance in enumerate(instances) if instance["pattern"] == halo["id"]]
    check(all(instances[i]["bytes"] == 14 * 8000 for i in halos), "bytes of the halo")
    # Others may be slow as well, because other programs run on this machine.
    slow = next((s for s in found["slow"] if s["instance"] == halos[late_step]), None)
    check(slow is not None, f"the late step is not slow: {found['slow']}")
    check(slow["cause"] == "late_sender" and slow["last_rank"] == late_rank and slow["z"] > 3.5, f"the cause {slow}")
    check(slow["affinity"] in ("High", "Medium", "Low"), f"the affinity {slow}")

    phases = find(effort, "phases", trace)
    check(phases["leaves"][0][0] == 0 and phases["leaves"][-1][1] == len(instances), f"phases {phases}")
    check(len(phases["tree"]) == len(phases["leaves"]) - 1, "the tree")
    ends = {leaf[1] for leaf in phases["leaves"]}
    check(len(instances) - RANKS in ends or len(instances) - RANKS + 1 in ends, f"the gather is no phase: {phases}")
    absolute = find(effort, "patterns", trace, "--symbols", "absolute")
    check(names(absolute) == names(found), f"absolute patterns {names(absolute)}")

    same = find(effort, "diff", trace, trace)
    check(all(p["similarity"] > 0.999 for p in same["phases"]), f"phases of a run and itself: {same['phases']}")
    check(all(w["a_ns"] == w["b_ns"] for w in same["waits"]), "waits of a run and itself")

    archive = directory / "archive"
    done = subprocess.run([effort, "trace", "export", trace, "--format", "otf2", "-o", archive], capture_output=True)
    if done.returncode == 2:
        print("archives are not tried: effort was built without OTF2")
        return
    check(done.returncode == 0, f"the export: {done.stderr}")
    other = find(effort, "patterns", str(archive / "traces.otf2"))
    check(names(other) == names(found), f"patterns of the archive {names(other)}")
    check([i["bytes"] for i in other["instances"]] == [i["bytes"] for i in instances], "bytes in the archive")
    print(f"{len(instances)} instances, {len(found['slow'])} slow; z of the planted one {slow['z']:.1f}")


main()

"""Runs a host that switches EZTrace on while its rank is in the sample, and counts what EZTrace has recorded.

usage: sampled_tracer.py HOST DIRECTORY LAUNCHER...    LAUNCHER: the command that starts ranks, up to their number
"""
import pathlib
import re
import shutil
import subprocess
import sys
from collections import Counter


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def sampled_and_all(said):
    """By rank: scans while it was in the sample, and all of them."""
    found = re.findall(r"rank (\d+) scans (\d+) of (\d+)", said)
    return {int(rank): (int(sampled), int(whole)) for rank, sampled, whole in found}


def recorded(archive, ranks):
    """By rank: scans in the archive. EZTrace divides the numbers up to 2^31 evenly among the ranks' threads."""
    text = subprocess.run(["otf2-print", archive], capture_output=True, text=True, check=True).stdout
    each = (2**31 - 1) // ranks
    return Counter(int(place) // each for place in re.findall(r'^ENTER +(\d+) .*"MPI_Scan"', text, re.MULTILINE))


def main():
    host, directory, launcher = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    for program in ("eztrace", "otf2-print"):
        if not shutil.which(program):
            skip(f"{program} is not installed")
    modules = subprocess.run(["eztrace_avail"], capture_output=True, text=True).stdout
    version = subprocess.run([launcher[0], "--version"], capture_output=True, text=True).stdout
    if "OpenRTE" in version or "Open MPI" in version:
        module = "openmpi"
    else:
        module = "mpich"
    if module not in modules:
        skip(f"EZTrace has no module for this MPI ({module})")
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    run = subprocess.run([*launcher, "eztrace", "-t", module, "-o", directory / "trace", host], capture_output=True,
                         text=True)
    if run.returncode != 0:
        sys.exit(f"the host failed with {run.returncode}:\n{run.stdout}{run.stderr}")
    archives = list(directory.rglob("*.otf2"))
    if len(archives) != 1:
        sys.exit(f"EZTrace left {len(archives)} archives\n{run.stderr}")
    told = sampled_and_all(run.stdout)
    seen = recorded(archives[0], len(told))
    print("rank: scans in the sample, of all, recorded by EZTrace")
    for rank, (sampled, whole) in sorted(told.items()):
        print(f"{rank}: {sampled} {whole} {seen[rank]}")
    wrong = [rank for rank, (sampled, _) in told.items() if seen[rank] != sampled]
    some = [1 for sampled, whole in told.values() if 0 < sampled < whole]
    if not told or wrong or not some:
        sys.exit(f"wrong on ranks {wrong}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks the calls of each path of `one_wrapper`.

one_wrapper.py FOLDER EFFORT: the folder of the snapshot, the effort command.
"""
import collections
import json
import pathlib
import subprocess
import sys


def main():
    snapshot, = pathlib.Path(sys.argv[1]).glob("*.effort")
    shown = subprocess.run([sys.argv[2], "info", "--json", str(snapshot)], check=True, capture_output=True, text=True)
    calls = collections.Counter(
        region["metrics"]["calls"]["mean_over_ranks"] for region in json.loads(shown.stdout)["regions"]
        if region["name"].startswith("MPI_Allreduce") and region["kind"] == "comm")
    print(f"number of paths by calls: {dict(calls)}")
    return 0 if calls == {60: 50, 30: 50, 20: 50, 15: 50} else 1


if __name__ == "__main__":
    sys.exit(main())

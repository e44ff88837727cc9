"""Compares the largest error of a wait (waits.txt, ns) with the bound that the snapshot states for waits between nodes.
waits.py DIR EFFORT"""
import glob
import json
import re
import subprocess
import sys

folder, effort = sys.argv[1:]
snapshot = glob.glob(folder + "/*.effort")[0]
info = json.loads(subprocess.run([effort, "info", "--json", snapshot], capture_output=True, check=True).stdout)
note = next(n for n in info["notes"] if n.startswith("COMM_WAITS"))
bound = int(re.search(r"exact to (\d+) ns", note).group(1))
with open(folder + "/waits.txt") as file:
    error = int(file.read())
print(f"largest error {error} ns, bound {bound} ns")
sys.exit(error > bound)

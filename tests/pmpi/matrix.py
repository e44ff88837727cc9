"""Compares the communication matrix of a snapshot with what the program counted itself (matrix.c).
matrix.py DIR EFFORT

Messages, bytes and sizes must be equal.  The time of MPI_Waitany belongs to the rank whose message completed it; it may
differ from that of the program's clock by 1 % and 4 ms, as a rank may be preempted between both clocks.
"""
import collections
import glob
import json
import subprocess
import sys

folder, effort = sys.argv[1:]
expected = collections.defaultdict(lambda: [0, 0, collections.Counter()])
waited = collections.Counter()
for path in glob.glob(folder + "/matrix-*.txt"):
    with open(path) as file:
        for line in file:
            kind, *numbers = line.split()
            numbers = [int(n) for n in numbers]
            if kind == "w":
                waited[numbers[0]] += numbers[1]
                continue
            source, destination, size = numbers
            pair = expected[source, destination]
            pair[0] += 1
            pair[1] += size
            pair[2][1 << (size.bit_length() - 1) if size else 0] += 1

snapshot = glob.glob(folder + "/*.effort")[0]
rows = json.loads(subprocess.run([effort, "comm", "matrix", "--json", snapshot], capture_output=True,
                                 check=True).stdout)["matrix"]
found = collections.defaultdict(lambda: [0, 0, collections.Counter()])
in_waitany = collections.Counter()
for row in rows:
    pair = found[row["a"], row["b"]]
    pair[0] += row["messages"]
    pair[1] += row["bytes"]
    for s in row["sizes"]:
        pair[2][s["least"]] += s["messages"]
        assert s["most"] == max(2 * s["least"] - 1, 0), s
    if "MPI_Waitany" in row["path"]:
        assert row["b"] == 0 and row["messages"] == 0, row
        in_waitany[row["a"]] += row["seconds"]

wrong = 0
for pair in sorted(expected.keys() | found.keys()):
    if expected[pair] != found[pair]:
        print(f"{pair}: {found[pair]} instead of {expected[pair]}")
        wrong = 1
for source, ns in sorted(waited.items()):
    seconds = in_waitany[source]
    good = abs(seconds - 1e-9 * ns) <= 0.01 * 1e-9 * ns + 0.004
    print(f"MPI_Waitany, from {source}: {1e3 * seconds:.3f} ms, {1e-6 * ns:.3f} ms by the program's clock"
          f"{'' if good else ', too far apart'}")
    wrong |= not good
# On a busy machine, rank 0 may be late itself and wait for less; what is compared must exceed the tolerance.
if len(expected) != 12 or len(waited) != 3 or sum(waited.values()) < 40e6:
    print(f"the program itself has seen {len(expected)} pairs and {dict(waited)} ns")
    wrong = 1
sys.exit(wrong)

#!/usr/bin/env python3
"""How often the estimates of a trace are inside their intervals, in a run with all ranks kept.

    EFFORT_TRACE=on EFFORT_TRACE_PIN=0-15 EFFORT_TRACE_BUDGET=10000000000 mpirun -np 16 ./simulation
    live.py effort NAME-JOB.trace

All ranks are pinned, so the trace holds the truth beside the sample. The estimates are computed here independently of
the command: per window and call, by stratum, with Student's t.
"""
import collections
import csv
import json
import math
import subprocess
import sys
import tempfile


def t_quantile(confidence, degrees):
    """By bisection over the integral of the density (Simpson's rule)."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)

    def inside(t):
        n = 400
        density = [scale * (1 + (i * t / n) ** 2 / degrees) ** (-(degrees + 1) / 2) for i in range(n + 1)]
        return 2 * t / n / 3 * (density[0] + density[-1] + 4 * sum(density[1:-1:2]) + 2 * sum(density[2:-1:2]))

    low, high = 0.0, 1.0
    while inside(high) < confidence and high < 1e4:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < confidence else (low, middle)
    return high


def sums(path):
    """[window][call] -> rank -> [calls, seconds without inner calls]."""
    out = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0.0]))
    stacks = collections.defaultdict(list)
    for row in csv.DictReader(open(path, newline="")):
        key = (row["rank"], row["thread"], row["window"])
        stack, time = stacks[key], int(row["time_ns"])
        if row["kind"] == "enter":
            stack.append([row["name"], time, 0])
        elif row["kind"] == "leave" and stack and stack[-1][0] == row["name"]:
            name, begin, inner = stack.pop()
            cell = out[(int(row["window"]), name)][int(row["rank"])]
            cell[0] += 1
            cell[1] += 1e-9 * (time - begin - inner)
            if stack:
                stack[-1][2] += time - begin
    return out


def main():
    effort, trace = sys.argv[1:3]
    info = json.loads(subprocess.check_output([effort, "trace", "info", trace, "--json"]))
    with tempfile.TemporaryDirectory() as work:
        subprocess.check_call([effort, "trace", "export", trace, "--format", "csv", "-o", f"{work}/t.csv"])
        cells = sums(f"{work}/t.csv")
    strata = {w["window"]: w["strata"] for w in info["windows"]}
    sampled = collections.defaultdict(list)
    kept = collections.Counter()
    for k in info["kept"]:
        kept[k["window"]] += k["reasons"] != ["pin"]
        if "sample" in k["reasons"]:
            sampled[k["window"]].append((k["stratum"], k["rank"]))
    quantiles = {}
    tally = collections.defaultdict(lambda: [0, 0])
    for (window, call), by_rank in cells.items():
        for which, what in enumerate(("calls", "seconds")):
            truth = sum(v[which] for v in by_rank.values())
            total = variance = scatter = 0.0
            for h, stratum in enumerate(strata[window]):
                values = [by_rank[r][which] if r in by_rank else 0 for s, r in sampled[window] if s == h]
                size, n = stratum["population"], len(values)
                if n == 0:
                    continue
                mean = sum(values) / n
                total += size * mean
                if 1 < n < size:
                    part = size * size * (1 - n / size) / n * sum((v - mean) ** 2 for v in values) / (n - 1)
                    variance += part
                    scatter += part * part / (n - 1)
            half = 0.0
            if scatter > 0:
                degrees = round(variance * variance / scatter, 1)
                if degrees not in quantiles:
                    quantiles[degrees] = t_quantile(info["confidence"], degrees)
                half = quantiles[degrees] * math.sqrt(variance)
            varies = len(set(v[which] for v in by_rank.values())) > 1 or len(by_rank) < info["ranks"]
            for name in (what, f"{what} that differ between ranks") if varies else (what,):
                tally[name][0] += abs(total - truth) <= half * (1 + 1e-9) + 1e-9 * abs(truth)
                tally[name][1] += 1
    windows = len(strata)
    print(f"{info['ranks']} ranks, {windows} windows, {info['events']} events in {info['bytes']} bytes")
    mean_sample = sum(info["sample_sizes"]) / windows
    print(f"kept without pins: {sum(kept.values()) / windows:.1f} ranks, sample {mean_sample:.1f}")
    for name, (good, all_) in tally.items():
        share, promised = 100 * good / all_, 100 * info["confidence"]
        print(f"{name}: {share:.1f} % of {all_} intervals of {promised:.0f} % hold the truth")


if __name__ == "__main__":
    main()

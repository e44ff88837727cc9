// Attributes the time between the largest rank and the mean to regions, ranks and steps.

import { Run } from "./run";

export interface Part<T> {
  what: T;
  /** Share of the whole loss. */
  share: number;
}

export interface Loss {
  /** Sum over steps of the largest minus the mean load, in the load's unit. */
  total: number;
  /** By the most unbalanced region of each window, as an index; the largest first. */
  regions: Part<number>[];
  /** By the rank with the largest load; the largest first. */
  ranks: Part<number>[];
  /** The first and the last step of the twentieth of the run with the largest loss, and its share of the steps. */
  stretch: Part<[number, number]> & { ofSteps: number };
}

function sorted<T>(sums: Map<T, number>, total: number): Part<T>[] {
  return [...sums].map(([what, sum]) => ({ what, share: sum / total })).sort((a, b) => b.share - a.share);
}

function add<T>(sums: Map<T, number>, key: T, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}

/** The loss of every bin of steps. */
function lossOfBins({ load, info }: Run): number[] {
  return Array.from(load.mean, (mean, k) => {
    const steps = Math.min(load.stepsPerBin, info.steps - k * load.stepsPerBin);
    return Math.max(0, load.max[k] - mean) * steps;
  });
}

function byRegion(run: Run, bins: number[], total: number): Part<number>[] {
  const { info, load } = run,
    sums = new Map<number, number>(),
    index = new Map<string, number>();
  info.regions.forEach((r, i) => r.kind === "compute" && !index.has(r.name) && index.set(r.name, i));
  // Steps outside all windows count for the window before; a run without windows names no region.
  const windows = info.windows.filter((w) => w.worst_region !== null && index.has(w.worst_region));
  if (windows.length === 0) return [];
  let at = 0;
  bins.forEach((loss, k) => {
    const middle = (k + 0.5) * load.stepsPerBin;
    while (at + 1 < windows.length && windows[at + 1].first <= middle) ++at;
    add(sums, index.get(windows[at].worst_region!)!, loss);
  });
  return sorted(sums, total);
}

function worstStretch({ load, info }: Run, bins: number[], total: number): Loss["stretch"] {
  const width = Math.max(1, Math.round(bins.length / 20));
  let sum = bins.slice(0, width).reduce((a, b) => a + b, 0),
    best = sum,
    from = 0;
  for (let k = width; k < bins.length; ++k) {
    sum += bins[k] - bins[k - width];
    if (sum > best) {
      best = sum;
      from = k - width + 1;
    }
  }
  const first = from * load.stepsPerBin,
    last = Math.min(info.steps, (from + width) * load.stepsPerBin) - 1;
  return { what: [first, last], share: best / total, ofSteps: (last - first + 1) / info.steps };
}

/** Undefined if nothing is lost: one rank, no load, or perfect balance. */
export function lossOf(run: Run): Loss | undefined {
  const bins = lossOfBins(run),
    total = bins.reduce((a, b) => a + b, 0);
  if (run.info.ranks < 2 || !(total > 1e-9 * run.load.meanPath)) return undefined;
  const ranks = new Map<number, number>();
  bins.forEach((loss, k) => add(ranks, run.load.worstRank[k], loss));
  return {
    total,
    regions: byRegion(run, bins, total),
    ranks: sorted(ranks, total),
    stretch: worstStretch(run, bins, total),
  };
}

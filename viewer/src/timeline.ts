// Data of a run for charts over its steps: rebalances, the range of steps, the imbalance.

import { Mark } from "./charts";
import { Run } from "./run";

export function marksOf(run: Run): Mark[] {
  return run.info.windows.flatMap((w): Mark[] =>
    w.rebalanced
      ? [{ step: w.rebalanced_at ?? w.last + 1, kind: "done" }]
      : w.rebalance
        ? [{ step: w.last + 1, kind: "wanted" }]
        : []
  );
}

/** The range of steps of all charts. */
export function domainOf({ info }: Run): [number, number] {
  return [0, Math.max(0, info.steps - 1)];
}

/** Imbalance per bin of steps, largest / mean - 1. */
export function imbalanceOf(run: Run): { steps: number[]; values: number[] } {
  const { mean, max, stepsPerBin } = run.load;
  return {
    steps: Array.from(mean, (_, i) => i * stepsPerBin),
    values: Array.from(mean, (m, i) => (m > 0 ? max[i] / m - 1 : 0)),
  };
}

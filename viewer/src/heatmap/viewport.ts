// The ranks and steps that a viewport shows, and zooming within a run.

import { Info } from "../model";
import { State, Viewport } from "../state";

/** Whole ranks, or positions in an order, [r0, r1) and steps [c0, c1). */
export interface Bounds {
  r0: number;
  r1: number;
  c0: number;
  c1: number;
}

export function boundsOf(v: Viewport, { ranks, steps }: Info): Bounds {
  const range = (from: number, to: number, n: number): [number, number] => {
    const low = Math.min(n - 1, Math.max(0, Math.floor(from * n + 1e-6)));
    return [low, Math.max(low + 1, Math.min(n, Math.ceil(to * n - 1e-6)))];
  };
  const [r0, r1] = range(v.r0, v.r1, ranks),
    [c0, c1] = range(v.c0, v.c1, steps);
  return { r0, r1, c0, c1 };
}

/** Shows `wanted`, moved into the run and enlarged to at least two ranks and four steps. */
export function zoomTo(state: State, { ranks, steps }: Info, wanted: Viewport): void {
  const fit = (from: number, to: number, least: number): [number, number] => {
    const size = Math.min(1, Math.max(least, to - from)),
      low = Math.min(1 - size, Math.max(0, (from + to) / 2 - size / 2));
    return [low, low + size];
  };
  const [r0, r1] = fit(wanted.r0, wanted.r1, Math.min(1, 2 / ranks)),
    [c0, c1] = fit(wanted.c0, wanted.c1, Math.min(1, 4 / Math.max(1, steps)));
  state.setViewport({ r0, r1, c0, c1 });
}

/** Scales the viewport by `factor` and keeps the point at `row` and `step` in its place. */
export function zoomAround(state: State, info: Info, row: number, step: number, factor: number): void {
  const { viewport: v } = state;
  zoomTo(state, info, {
    r0: row - (row - v.r0) * factor,
    r1: row + (v.r1 - row) * factor,
    c0: step - (step - v.c0) * factor,
    c1: step + (v.c1 - step) * factor,
  });
}

/** Scales the viewport by `factor` around its middle. */
export function zoomMiddle(state: State, info: Info, factor: number): void {
  const { viewport: v } = state;
  zoomAround(state, info, (v.r0 + v.r1) / 2, (v.c0 + v.c1) / 2, factor);
}

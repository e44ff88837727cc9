// The picture of a heat map: its cells before anything is decoded, its scale, its ticks and its profile.

import { Cells } from "../packed";
import { Run, Series } from "../run";
import { State, Viewport } from "../state";
import { Bounds } from "./viewport";

export interface View {
  rows: number;
  cols: number;
  values: Float32Array;
  /** Ends of the scale, and the largest value, which lies above the scale if peaks are rare. */
  low: number;
  high: number;
  most: number;
}

export function viewOf(values: Float32Array, rows: number, cols: number, scale: State["scale"]): View {
  let low = Infinity,
    high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (!(low <= high)) low = high = 0;
  low = scale === "zero" ? 0 : Math.max(0, low);
  return { rows, cols, values, low, high: scale === "fit" ? withoutPeaks(values, cols, low, high) : high, most: high };
}

/** The cell of a picture of `viewport` at a place in the run. */
export function cellAt({ rows, cols, values }: View, v: Viewport, at: { row: number; step: number }): number {
  const place = (share: number, n: number) => Math.min(n - 1, Math.max(0, Math.floor(share * n)));
  return values[place((at.row - v.r0) / (v.r1 - v.r0), rows) * cols + place((at.step - v.c0) / (v.c1 - v.c0), cols)];
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** The upper end of a scale that suits most cells.  A hundredth of them, or one column of many, may lie above it if
 *  they lie far above. */
function withoutPeaks(values: Float32Array, cols: number, low: number, high: number): number {
  let every = Math.max(1, Math.floor(values.length / 20000));
  while (divisor(every, cols) > 1) ++every; // otherwise it would visit only some of the columns
  const sample: number[] = [],
    rare = cols < FEW_COLUMNS ? 0.01 : Math.max(0.01, 1 / cols);
  for (let i = 0; i < values.length; i += every) if (values[i] === values[i]) sample.push(values[i]);
  sample.sort((a, b) => a - b);
  const usual = sample[Math.floor((1 - rare) * (sample.length - 1))] ?? high;
  return high - low > 2 * (usual - low) && usual > low ? usual : high;
}
const FEW_COLUMNS = 8;

export function ticks(from: number, to: number, most: number): number[] {
  const span = to - from,
    raw = span / most,
    power = 10 ** Math.floor(Math.log10(Math.max(raw, 1e-9)));
  const step = Math.max(1, [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw) ?? 1);
  const out: number[] = [];
  for (let at = Math.ceil(from / step) * step; at < to; at += step) out.push(at);
  return out;
}

export function sumOfCoarse(series: Series[]): Cells {
  const sum = series[0]?.coarse ?? { rows: 0, cols: 0, cells: new Float32Array() };
  for (const s of series.slice(1)) s.coarse.cells.forEach((v, i) => (sum.cells[i] += v));
  return sum;
}

/** The first picture, from the coarse one in the page.  If ranks are reordered, all ranks of a bin look alike. */
export function coarse(
  { rows, cols, cells }: Cells,
  run: Run,
  b: Bounds & { rows: number; cols: number },
  position?: Int32Array
): Float32Array {
  const { ranks, steps } = run.info,
    out = new Float32Array(b.rows * b.cols);
  if (rows === 0) return out;
  let rankAt: Int32Array | undefined;
  if (position) {
    rankAt = new Int32Array(ranks);
    position.forEach((at, rank) => (rankAt![at] = rank));
  }
  for (let r = 0; r < b.rows; ++r) {
    const at = Math.floor(b.r0 + ((r + 0.5) * (b.r1 - b.r0)) / b.rows),
      rank = rankAt ? rankAt[at] : at;
    const from = Math.min(rows - 1, Math.floor((rank * rows) / ranks)) * cols;
    for (let k = 0; k < b.cols; ++k) {
      const step = b.c0 + ((k + 0.5) * (b.c1 - b.c0)) / b.cols;
      out[r * b.cols + k] = cells[from + Math.min(cols - 1, Math.floor((step * cols) / steps))];
    }
  }
  return out;
}

/** A picture with fewer cells, each the mean of the cells that it covers. */
export function binned({ rows, cols, cells }: Cells, toRows: number, toCols: number): Float32Array {
  const sums = new Float32Array(toRows * toCols),
    counts = new Uint32Array(toRows * toCols);
  for (let i = 0; i < rows; ++i)
    for (let j = 0; j < cols; ++j) {
      const k = Math.floor((i * toRows) / rows) * toCols + Math.floor((j * toCols) / cols);
      sums[k] += cells[i * cols + j];
      ++counts[k];
    }
  return sums.map((sum, k) => sum / counts[k]);
}

/** Mean and largest cell of every column; cells that are not known yet do not count. */
export function profileOf({ rows, cols, values }: View): { mean: Float64Array; max: Float64Array } {
  const mean = new Float64Array(cols),
    max = new Float64Array(cols);
  for (let i = 0; i < rows; ++i)
    for (let j = 0; j < cols; ++j) {
      const v = values[i * cols + j];
      if (Number.isNaN(v)) continue;
      mean[j] += v / rows;
      if (v > max[j]) max[j] = v;
    }
  return { mean, max };
}

// The visible part of a sparse matrix as cells of a picture, each the sum of the pairs in it.

import { Quantity, Sparse } from "./data";
import { RankOrder } from "./order";

/** Positions in the order: rows [r0, r1), columns [c0, c1). */
export interface Part {
  r0: number;
  r1: number;
  c0: number;
  c1: number;
}

export interface Raster {
  rows: number;
  columns: number;
  sums: Float64Array;
  /** Pairs in each cell. */
  pairs: Int32Array;
  low: number;
  high: number;
}

/** Cells of whole ranks, at most `most` in each direction. */
export function raster(matrix: Sparse, quantity: Quantity, order: RankOrder, part: Part, most: number): Raster {
  const { r0, r1, c0, c1 } = part,
    rows = Math.max(1, Math.min(most, r1 - r0)),
    columns = Math.max(1, Math.min(most, c1 - c0));
  const sums = new Float64Array(rows * columns),
    pairs = new Int32Array(rows * columns),
    values = matrix.values(quantity),
    { positions } = order,
    perRow = rows / (r1 - r0),
    perColumn = columns / (c1 - c0);
  for (let i = 0; i < matrix.size; ++i) {
    const row = positions[matrix.row[i]],
      column = positions[matrix.column[i]];
    if (!(row >= r0 && row < r1 && column >= c0 && column < c1) || values[i] <= 0) continue;
    const cell = Math.floor((row - r0) * perRow) * columns + Math.floor((column - c0) * perColumn);
    sums[cell] += values[i];
    ++pairs[cell];
  }
  let low = Infinity,
    high = 0;
  for (const v of sums)
    if (v > 0) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  return { rows, columns, sums, pairs, low: high > 0 ? low : 0, high };
}

/** First and last position of a row or column of the picture. */
export function rangeOf(index: number, first: number, end: number, cells: number): [number, number] {
  const per = (end - first) / cells,
    from = first + Math.ceil(index * per - 1e-9);
  return [from, Math.max(from, first + Math.ceil((index + 1) * per - 1e-9) - 1)];
}

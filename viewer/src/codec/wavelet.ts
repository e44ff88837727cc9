// The inverse 9/7 transform of a row-major matrix, by lifting; see analytics/wavelet.

const ALPHA = -1.586134342059924;
const BETA = -0.052980118572961;
const GAMMA = 0.882911075530934;
const DELTA = 0.443506852043971;
const SCALE = 1.149604398860241;

const LOW_NORMS = [
  0.991440193500169, 1.0151859280409, 1.02571585843454, 1.02882129379396, 1.02963778221713, 1.02984499182158,
  1.02989701820291, 1.02991004044155,
];
const HIGH_NORMS = [
  1.02001762915889, 0.98347130412279, 1.01962139418307, 1.03688020983584, 1.04203670327847, 1.04339736473241,
  1.04374305349697, 1.04382987759782,
];

/** Length of the low band after `level` halvings of `n` samples. */
export function lowLength(n: number, level: number): number {
  for (; level > 0 && n > 1; --level) n = (n + 1) >> 1;
  return n;
}

/** The number of halvings after which `n` samples have become one. */
export function deepestLevel(n: number): number {
  let level = 0;
  for (; n > 1; n = (n + 1) >> 1) ++level;
  return level;
}

/** The norm of a basis function of the reconstruction, per dimension. */
export function synthesisNorm(level: number, high: boolean): number {
  const i = Math.min(8, Math.max(1, level)) - 1;
  return high ? HIGH_NORMS[i] : LOW_NORMS[i];
}

/** A rectangle of a row-major matrix. */
export interface Rect {
  row: number;
  col: number;
  rows: number;
  cols: number;
}

/** A matrix that is transformed in place; in single precision if it has many million values. */
export type Matrix = Float64Array | Float32Array;

/** One lifting step over the samples of one parity, `step` apart and each `width` long: x[i] += c (x[i-1] + x[i+1]). */
function lift(x: Matrix, samples: number, width: number, first: number, c: number): void {
  for (let i = first; i < samples; i += 2) {
    const before = (i > 0 ? i - 1 : 1) * width,
      after = (i + 1 < samples ? i + 1 : samples - 2) * width,
      at = i * width;
    for (let j = 0; j < width; ++j) x[at + j] += c * (x[before + j] + x[after + j]);
  }
}

function unlift(x: Matrix, samples: number, width: number): void {
  lift(x, samples, width, 0, -DELTA);
  lift(x, samples, width, 1, -GAMMA);
  lift(x, samples, width, 0, -BETA);
  lift(x, samples, width, 1, -ALPHA);
}

/** Columns that are lifted together, so that their samples stay in the cache. */
const BLOCK = 64;

/** The number of spare values that join() needs for a rectangle of this size. */
export function spareSize(rows: number, cols: number): number {
  return Math.max(rows * Math.min(cols, BLOCK), cols);
}

/** Undoes one halving of `rect` in the chosen directions, in place; `spare` has at least spareSize() values. */
export function join(
  matrix: Matrix,
  stride: number,
  rect: Rect,
  halveRows: boolean,
  halveCols: boolean,
  spare: Matrix
): void {
  const { rows, cols } = rect,
    origin = rect.row * stride + rect.col;
  if (halveRows && rows > 1)
    for (let col = 0; col < cols; col += BLOCK)
      joinRows(matrix, stride, origin + col, rows, Math.min(BLOCK, cols - col), spare);
  if (halveCols && cols > 1) {
    const lows = (cols + 1) >> 1,
      highs = cols - lows;
    for (let i = 0; i < rows; ++i) {
      const at = origin + i * stride;
      for (let j = 0; j < lows; ++j) spare[2 * j] = matrix[at + j] * (1 / SCALE);
      for (let j = 0; j < highs; ++j) spare[2 * j + 1] = matrix[at + lows + j] * SCALE;
      unlift(spare, cols, 1);
      for (let j = 0; j < cols; ++j) matrix[at + j] = spare[j];
    }
  }
}

function joinRows(matrix: Matrix, stride: number, origin: number, rows: number, cols: number, spare: Matrix): void {
  const lows = (rows + 1) >> 1;
  for (let i = 0; i < rows; ++i) {
    const from = origin + i * stride,
      low = i < lows,
      to = (low ? 2 * i : 2 * (i - lows) + 1) * cols,
      scale = low ? 1 / SCALE : SCALE;
    for (let j = 0; j < cols; ++j) spare[to + j] = matrix[from + j] * scale;
  }
  unlift(spare, rows, cols);
  for (let i = 0; i < rows; ++i) {
    const to = origin + i * stride,
      from = i * cols;
    for (let j = 0; j < cols; ++j) matrix[to + j] = spare[from + j];
  }
}

/** Undoes the whole transform of a rows x cols matrix with these numbers of levels, in place. */
export function inverse(matrix: Matrix, rows: number, cols: number, rowLevels: number, colLevels: number): void {
  const spare = new Float64Array(spareSize(rows, cols));
  for (let level = Math.max(rowLevels, colLevels) - 1; level >= 0; --level) {
    const low = {
      row: 0,
      col: 0,
      rows: lowLength(rows, Math.min(level, rowLevels)),
      cols: lowLength(cols, Math.min(level, colLevels)),
    };
    join(matrix, cols, low, level < rowLevels, level < colLevels, spare);
  }
}

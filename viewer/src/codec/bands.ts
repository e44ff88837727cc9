// The bands of a transformed matrix: their positions, their weights, and the coarser bands that predict them; see
// analytics/codec/bands and FORMAT.md.

import { join, lowLength, Matrix, spareSize, synthesisNorm } from "./wavelet";

export interface BandParent {
  band: number;
  rowShift: number;
  colShift: number;
}

export interface Band {
  row0: number;
  col0: number;
  rows: number;
  cols: number;
  rowLevel: number;
  colLevel: number;
  rowHigh: boolean;
  colHigh: boolean;
  gain: number;
  parents: BandParent[];
}

/** A band that may be halved further along its smooth direction, `extra` times. */
export interface PacketSplit {
  row0: number;
  col0: number;
  rows: number;
  cols: number;
  level: number;
  alongRows: boolean;
  deepest: number;
  extra: number;
}

/** The bands that may be split further, in coding order, none split yet. */
export function possibleSplits(rows: number, cols: number, rowLevels: number, colLevels: number): PacketSplit[] {
  const splits: PacketSplit[] = [];
  for (let level = Math.min(rowLevels, colLevels); level >= 1; --level) {
    const lowRows = lowLength(rows, level),
      lowCols = lowLength(cols, level);
    const highRows = lowLength(rows, level - 1) - lowRows,
      highCols = lowLength(cols, level - 1) - lowCols;
    splits.push({
      row0: 0,
      col0: lowCols,
      rows: lowRows,
      cols: highCols,
      level,
      alongRows: true,
      deepest: rowLevels - level,
      extra: 0,
    });
    splits.push({
      row0: lowRows,
      col0: 0,
      rows: highRows,
      cols: lowCols,
      level,
      alongRows: false,
      deepest: colLevels - level,
      extra: 0,
    });
  }
  return splits;
}

function addBand(bands: Band[], band: Omit<Band, "gain" | "parents">): void {
  if (band.rows === 0 || band.cols === 0) return;
  const norm = (level: number, high: boolean) => (level === 0 ? 1 : synthesisNorm(level, high));
  bands.push({ ...band, gain: norm(band.rowLevel, band.rowHigh) * norm(band.colLevel, band.colHigh), parents: [] });
}

/** The bands that a split makes of its rectangle, coarse first. */
function addSplitBands(bands: Band[], split: PacketSplit): void {
  const { row0, col0, rows, cols, level, alongRows, extra } = split;
  const base = {
    row0,
    col0,
    rows,
    cols,
    rowLevel: level,
    colLevel: level,
    rowHigh: !alongRows,
    colHigh: alongRows,
  };
  const whole = alongRows ? rows : cols,
    start = alongRows ? row0 : col0;
  const part = (origin: number, extent: number, depth: number, high: boolean) =>
    addBand(
      bands,
      alongRows
        ? { ...base, row0: origin, rows: extent, rowLevel: depth, rowHigh: high }
        : { ...base, col0: origin, cols: extent, colLevel: depth, colHigh: high }
    );
  if (extra === 0) return addBand(bands, base);
  part(start, lowLength(whole, extra), level + extra, false);
  for (let k = extra; k >= 1; --k) {
    const low = lowLength(whole, k);
    part(start + low, lowLength(whole, k - 1) - low, level + k, true);
  }
}

function findParents(bands: Band[], b: number): void {
  const band = bands[b];
  for (const [rowShift, colShift] of [
    [1, 1],
    [1, 0],
    [0, 1],
  ]) {
    const at = bands.findIndex(
      (other, i) =>
        i < b &&
        other.rowLevel === band.rowLevel + rowShift &&
        other.colLevel === band.colLevel + colShift &&
        other.rowHigh === band.rowHigh &&
        other.colHigh === band.colHigh
    );
    if (at >= 0 && band.parents.length < 2) band.parents.push({ band: at, rowShift, colShift });
  }
}

/** All bands for a choice of splits, coarse ones first; the parents of a band come before it. */
export function makeBands(
  rows: number,
  cols: number,
  rowLevels: number,
  colLevels: number,
  splits: PacketSplit[]
): Band[] {
  const bands: Band[] = [];
  const joint = Math.min(rowLevels, colLevels),
    deepest = Math.max(rowLevels, colLevels);
  addBand(bands, {
    row0: 0,
    col0: 0,
    rows: lowLength(rows, rowLevels),
    cols: lowLength(cols, colLevels),
    rowLevel: rowLevels,
    colLevel: colLevels,
    rowHigh: false,
    colHigh: false,
  });
  for (let level = deepest; level > joint; --level) {
    const r = lowLength(rows, Math.min(level, rowLevels)),
      c = lowLength(cols, Math.min(level, colLevels));
    if (rowLevels >= level)
      addBand(bands, {
        row0: r,
        col0: 0,
        rows: lowLength(rows, level - 1) - r,
        cols: c,
        rowLevel: level,
        colLevel: colLevels,
        rowHigh: true,
        colHigh: false,
      });
    else
      addBand(bands, {
        row0: 0,
        col0: c,
        rows: r,
        cols: lowLength(cols, level - 1) - c,
        rowLevel: rowLevels,
        colLevel: level,
        rowHigh: false,
        colHigh: true,
      });
  }
  let next = 0;
  for (let level = joint; level >= 1; --level) {
    addSplitBands(bands, splits[next++]);
    addSplitBands(bands, splits[next++]);
    const r = lowLength(rows, level),
      c = lowLength(cols, level);
    addBand(bands, {
      row0: r,
      col0: c,
      rows: lowLength(rows, level - 1) - r,
      cols: lowLength(cols, level - 1) - c,
      rowLevel: level,
      colLevel: level,
      rowHigh: true,
      colHigh: true,
    });
  }
  bands.forEach((_, b) => findParents(bands, b));
  return bands;
}

/** Undoes the extra halvings of one split in a row-major matrix. */
export function undoSplit(matrix: Matrix, stride: number, split: PacketSplit): void {
  if (split.extra === 0 || split.rows === 0 || split.cols === 0) return;
  const spare = new Float64Array(spareSize(split.rows, split.cols));
  for (let k = split.extra - 1; k >= 0; --k) {
    const rect = {
      row: split.row0,
      col: split.col0,
      rows: split.alongRows ? lowLength(split.rows, k) : split.rows,
      cols: split.alongRows ? split.cols : lowLength(split.cols, k),
    };
    join(matrix, stride, rect, split.alongRows, !split.alongRows, spare);
  }
}

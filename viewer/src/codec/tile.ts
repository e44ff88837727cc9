// Decodes a tile, a separately coded matrix; see analytics/codec/FORMAT.md.  Histories never hold EZW tiles, so these
// are refused.

import { BandData, giveBack, LEAF_BITS } from "./band_data";
import { Band, makeBands, PacketSplit, possibleSplits, undoSplit } from "./bands";
import { ByteReader, CodecError } from "./bytes";
import { PlaneDecoder } from "./planes";
import { RangeDecoder } from "./range";
import { deepestLevel, inverse, lowLength, Matrix } from "./wavelet";

/** Planes more than this many below the highest are omitted: 2^-31 of the largest coefficient. */
const MOST_PLANES = 31;
const PARTIAL_POINTS = 0xa8;

/** A tile's approximation, row-major, values in the unit of the measurement; absent ones are NaN. */
export interface Values {
  rows: number;
  cols: number;
  values: Matrix;
}

interface ContextHeader {
  exponent: number;
  mantissa: number;
  planes: number;
  points: number;
}

function readContextHeader(input: ByteReader): ContextHeader {
  const exponent = input.signed(),
    mantissa = input.byte(),
    planes = input.byte(),
    points = input.byte();
  if (exponent < -1400 || exponent > 1100) throw new CodecError("the quantisation step is out of range");
  if ((planes & 127) < 1 || (planes & 127) > 63) throw new CodecError("the number of bit planes is not 1 to 63");
  input.take(4); // errors, which the history states for all its tiles
  if (planes & 128) {
    for (let k = 1; k < (planes & 127); ++k) {
      input.varint();
      input.u16();
    }
  }
  return { exponent, mantissa, planes: planes & 127, points };
}

/** (1 + mantissa / 256) 2^exponent without intermediate overflow. */
function step(exponent: number, mantissa: number): number {
  const half = Math.trunc(exponent / 2);
  return (1 + mantissa / 256) * 2 ** half * 2 ** (exponent - half);
}

const bitWidth = (n: number): number => 32 - Math.clz32(n);

function readSplit(io: RangeDecoder, split: PacketSplit): number {
  if (split.deepest === 0 || split.rows === 0 || split.cols === 0) return 0;
  if (!io.code(8192)) return 0;
  if (io.code(32768)) return split.deepest;
  let extra = 0;
  for (let bit = bitWidth(split.deepest); bit-- > 0;) extra |= io.bits(1) << bit;
  if (extra > split.deepest) throw new CodecError("a band is split deeper than it can be");
  return extra;
}

/** The first coefficient, the mean of everything, in units of the step. */
function readFirst(io: RangeDecoder): number {
  let width = 0,
    magnitude = 0;
  for (let bit = 6; bit-- > 0;) width |= io.bits(1) << bit;
  for (let bit = width; bit-- > 0;) magnitude += io.bits(1) * 2 ** bit;
  return io.bits(1) ? -magnitude : magnitude;
}

const pointValue = (nibble: number): number => 0.1 + 0.04 * nibble;

/** The nonzero coefficients of a tile's transform, in the unit of the measurement. */
export interface Coefficients {
  splits: PacketSplit[];
  /** Row-major places in the transformed matrix. */
  at: Uint32Array;
  values: Float64Array | Float32Array;
}

/** The contents of a tile before the inverse transform.  Transforms of equal shape can be added before they are
 *  inverted. */
export interface TileContent {
  rows: number;
  cols: number;
  transform?: Coefficients;
  /** Every value of a tile that was stored raw, NaN if absent. */
  raw?: Float64Array;
  /** The value of all cells of a constant tile. */
  constant?: number;
  /** 1 for values that were not measured. */
  absent?: Uint8Array;
}

/** Calls `take` with place and value of every coefficient that is not zero, except the first. */
function eachCoefficient(
  bands: Band[],
  data: (BandData | undefined)[],
  points: number,
  unit: number,
  stride: number,
  take: (at: number, value: number) => void
): void {
  const low = pointValue(points & 15),
    high = pointValue(points >> 4);
  for (let b = 1; b < bands.length; ++b) {
    const band = bands[b],
      known = data[b];
    if (!known) continue;
    const scale = unit / band.gain,
      leaves = known.tree[0];
    for (let i = 0; i < band.rows; ++i) {
      const to = (band.row0 + i) * stride + band.col0,
        from = known.at(i, 0),
        leafFrom = leaves.at(i >> LEAF_BITS, 0);
      for (let leaf = 0; leaf < leaves.cols; ++leaf) {
        if (leaves.planes[leafFrom + leaf] === 0) continue;
        const end = Math.min(band.cols, (leaf + 1) << LEAF_BITS);
        for (let j = leaf << LEAF_BITS; j < end; ++j) {
          const magnitude = known.magnitude[from + j];
          if (magnitude === 0) continue;
          const size = (magnitude + (magnitude === 1 ? low : high)) * scale;
          take(to + j, known.negative[from + j] ? -size : size);
        }
      }
    }
  }
}

function readContext(input: ByteReader, rows: number, cols: number, plain: boolean): Coefficients {
  const header = readContextHeader(input);
  const rowLevels = deepestLevel(rows),
    colLevels = deepestLevel(cols);
  const io = new RangeDecoder(input.rest());
  const splits = possibleSplits(rows, cols, rowLevels, colLevels);
  for (const split of splits) split.extra = readSplit(io, split);
  const bands = makeBands(rows, cols, rowLevels, colLevels, splits);
  const first = readFirst(io);
  const planes = Math.min(header.planes, MOST_PLANES),
    missing = header.planes - planes;
  const decoder = new PlaneDecoder(io, bands, plain);
  for (let p = planes; p-- > 0;) {
    decoder.decodePlane(p);
    if (io.overran) throw new CodecError("the coded planes end too early");
  }
  const finest = step(header.exponent, header.mantissa),
    points = missing > 0 ? PARTIAL_POINTS : header.points;
  const size = Math.abs(first),
    point = pointValue(size === 1 ? header.points & 15 : header.points >> 4);
  let n = 1;
  eachCoefficient(bands, decoder.data, points, 1, cols, () => ++n);
  const at = new Uint32Array(n),
    values = new Float64Array(n);
  values[0] = first === 0 ? 0 : (Math.sign(first) * (size + point) * finest) / bands[0].gain;
  n = 1;
  eachCoefficient(bands, decoder.data, points, finest * 2 ** missing, cols, (where, value) => {
    at[n] = where;
    values[n++] = value;
  });
  giveBack(decoder.data);
  return { splits, at, values };
}

/** Larger matrices use single precision: transforms of all ranks of a large run at once. */
const NARROW = 1 << 22;

/** A matrix of zeros. */
function matrixOf(values: number): Matrix {
  return values > NARROW ? new Float32Array(values) : new Float64Array(values);
}

/** Inverts the sum of transforms of one shape to the approximation that is 2^level times coarser in both directions. */
function undo(transforms: Coefficients[], rows: number, cols: number, level: number): Matrix {
  const outRows = lowLength(rows, level),
    outCols = lowLength(cols, level);
  const rowLevels = deepestLevel(rows),
    colLevels = deepestLevel(cols);
  const kinds = new Map<string, Coefficients[]>();
  for (const t of transforms) {
    const kind = t.splits.map((split) => split.extra).join();
    kinds.set(kind, [...(kinds.get(kind) ?? []), t]);
  }
  let sum: Matrix | undefined;
  for (const alike of kinds.values()) {
    const corner = matrixOf(outRows * outCols);
    for (const { at, values } of alike) {
      for (let k = 0; k < at.length; ++k) {
        const row = Math.floor(at[k] / cols),
          col = at[k] - row * cols;
        if (row < outRows && col < outCols) corner[row * outCols + col] += values[k];
      }
    }
    for (const split of alike[0].splits) if (split.level > level) undoSplit(corner, outCols, split);
    if (!sum) sum = corner;
    else for (let i = 0; i < corner.length; ++i) sum[i] += corner[i];
  }
  const out = sum ?? matrixOf(outRows * outCols);
  inverse(out, outRows, outCols, Math.max(rowLevels - level, 0), Math.max(colLevels - level, 0));
  const halvings = Math.min(level, rowLevels) + Math.min(level, colLevels);
  if (halvings > 0) {
    const scale = 2 ** (-0.5 * halvings);
    for (let i = 0; i < out.length; ++i) out[i] *= scale;
  }
  return out;
}

/** Means over the cells of a 2^level times coarser grid; NaN if all values of a cell are. */
function blockMeans(values: Float64Array, rows: number, cols: number, level: number): Values {
  const outRows = lowLength(rows, level),
    outCols = lowLength(cols, level),
    shift = Math.min(level, 30);
  const sums = new Float64Array(outRows * outCols),
    counts = new Uint32Array(outRows * outCols);
  for (let i = 0; i < rows; ++i) {
    for (let j = 0; j < cols; ++j) {
      const value = values[i * cols + j],
        at = (i >> shift) * outCols + (j >> shift);
      if (Number.isNaN(value)) continue;
      sums[at] += value;
      ++counts[at];
    }
  }
  return { rows: outRows, cols: outCols, values: sums.map((sum, i) => (counts[i] ? sum / counts[i] : NaN)) };
}

/** Run lengths over the values, alternately present and absent: 1 where absent. */
function readAbsent(input: ByteReader, n: number): Uint8Array {
  const runs = new ByteReader(input.take(input.varint()));
  const absent = new Uint8Array(n);
  let at = 0;
  for (let gone = 0; runs.left > 0; gone = 1 - gone) {
    const run = runs.varint();
    if (run > n - at) throw new CodecError("the absence mask is longer than the matrix");
    absent.fill(gone, at, at + run);
    at += run;
  }
  if (at !== n) throw new CodecError("the absence mask is shorter than the matrix");
  return absent;
}

function readRaw(input: ByteReader, n: number, absent: Uint8Array | undefined): Float64Array {
  const values = new Float64Array(n);
  for (let i = 0; i < n; ++i) values[i] = absent?.[i] ? NaN : input.real();
  return values;
}

interface TileStart {
  kind: number;
  plain: boolean;
  absent?: Uint8Array;
}

function readStart(input: ByteReader, n: number): TileStart {
  const byte = input.byte();
  if (byte & ~(7 | 16 | 32) || (byte & 7) > 3) throw new CodecError("unknown kind of tile");
  if ((byte & 7) === 1) throw new CodecError("a tile is coded with EZW, which histories do not hold");
  return { kind: byte & 7, plain: (byte & 32) !== 0, absent: byte & 16 ? readAbsent(input, n) : undefined };
}

export function readTile(bytes: Uint8Array, rows: number, cols: number): TileContent {
  const input = new ByteReader(bytes);
  const { kind, plain, absent } = readStart(input, rows * cols);
  if (kind === 3) return { rows, cols, raw: readRaw(input, rows * cols, absent) };
  if (kind === 2) return { rows, cols, absent, constant: input.left > 0 ? input.real() : 0 };
  return { rows, cols, absent, transform: readContext(input, rows, cols, plain) };
}

/** The approximation of one tile that is 2^level times coarser in both directions. */
export function valuesOf({ rows, cols, transform, raw, constant, absent }: TileContent, level: number): Values {
  if (raw) return blockMeans(raw, rows, cols, level);
  const outRows = lowLength(rows, level),
    outCols = lowLength(cols, level);
  const values = transform ? undo([transform], rows, cols, level) : matrixOf(outRows * outCols).fill(constant ?? 0);
  if (absent) {
    const mask = blockMeans(
      Float64Array.from(absent, (gone) => (gone ? NaN : 0)),
      rows,
      cols,
      level
    );
    mask.values.forEach((value, i) => {
      if (Number.isNaN(value)) values[i] = NaN;
    });
  }
  return { rows: outRows, cols: outCols, values };
}

/** The sum of tiles of one shape; absent values count as 0. */
export function sumOf(tiles: TileContent[], rows: number, cols: number, level: number): Values {
  const whole = tiles.filter((t) => t.transform && !t.absent).map((t) => t.transform!);
  const outRows = lowLength(rows, level),
    outCols = lowLength(cols, level);
  const values = whole.length > 0 ? undo(whole, rows, cols, level) : matrixOf(outRows * outCols);
  for (const tile of tiles) {
    if (tile.transform && !tile.absent) continue;
    const own = valuesOf(tile, level).values;
    for (let i = 0; i < own.length; ++i) if (own[i] === own[i]) values[i] += own[i];
  }
  return { rows: outRows, cols: outCols, values };
}

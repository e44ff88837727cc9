// One separately coded matrix; see analytics/codec/FORMAT.md.  Histories never hold EZW tiles, so those are refused.

import { BandData, PlaneDecoder } from "./planes";
import { Band, makeBands, PacketSplit, possibleSplits, undoSplit } from "./bands";
import { ByteReader, CodecError } from "./bytes";
import { RangeDecoder } from "./range";
import { deepestLevel, inverse, lowLength } from "./wavelet";

/** Finer planes than so many below the highest are left out: 2^-31 of the largest coefficient. */
const MOST_PLANES = 31;
const PARTIAL_POINTS = 0xa8;

/** A tile's approximation, row-major, values in the unit of what was measured; absent ones are NaN. */
export interface Values {
  rows: number;
  cols: number;
  values: Float64Array;
}

interface ContextHeader {
  exponent: number;
  mantissa: number;
  planes: number;
  points: number;
}

function readContextHeader(input: ByteReader): ContextHeader {
  const exponent = input.signed(), mantissa = input.byte(), planes = input.byte(), points = input.byte();
  if (exponent < -1400 || exponent > 1100) throw new CodecError("the quantisation step is out of range");
  if ((planes & 127) < 1 || (planes & 127) > 63) throw new CodecError("the number of bit planes is not 1 to 63");
  input.take(4); // the errors, which the history states for all its tiles
  if (planes & 128) {
    for (let k = 1; k < (planes & 127); ++k) {
      input.varint();
      input.u16();
    }
  }
  return { exponent, mantissa, planes: planes & 127, points };
}

/** (1 + mantissa / 256) 2^exponent without leaving the range of doubles on the way. */
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
  for (let bit = bitWidth(split.deepest); bit-- > 0; ) extra |= io.bits(1) << bit;
  if (extra > split.deepest) throw new CodecError("a band is split deeper than it can be");
  return extra;
}

/** The first coefficient, the mean of everything, in units of the step. */
function readFirst(io: RangeDecoder): number {
  let width = 0, magnitude = 0;
  for (let bit = 6; bit-- > 0; ) width |= io.bits(1) << bit;
  for (let bit = width; bit-- > 0; ) magnitude += io.bits(1) * 2 ** bit;
  return io.bits(1) ? -magnitude : magnitude;
}

const pointValue = (nibble: number): number => 0.1 + 0.04 * nibble;

/** Fills the corner of the transform that a level needs; `stride` is the corner's width. */
function dequantise(bands: Band[], data: (BandData | undefined)[], points: number, unit: number, level: number, corner: Float64Array, stride: number): void {
  const low = pointValue(points & 15), high = pointValue(points >> 4);
  for (let b = 1; b < bands.length; ++b) {
    const band = bands[b], known = data[b];
    if (band.level <= level || !known) continue;
    const scale = unit / band.gain;
    for (let i = 0; i < band.rows; ++i) {
      const to = (band.row0 + i) * stride + band.col0, from = known.at(i, 0);
      for (let j = 0; j < band.cols; ++j) {
        const magnitude = known.magnitude[from + j];
        if (magnitude === 0) continue;
        const size = (magnitude + (magnitude === 1 ? low : high)) * scale;
        corner[to + j] = known.negative[from + j] ? -size : size;
      }
    }
  }
}

function decodeContext(input: ByteReader, rows: number, cols: number, level: number, plain: boolean): Values {
  const header = readContextHeader(input);
  const rowLevels = deepestLevel(rows), colLevels = deepestLevel(cols);
  const io = new RangeDecoder(input.rest());
  const splits = possibleSplits(rows, cols, rowLevels, colLevels);
  for (const split of splits) split.extra = readSplit(io, split);
  const bands = makeBands(rows, cols, rowLevels, colLevels, splits);
  const first = readFirst(io);
  const planes = Math.min(header.planes, MOST_PLANES), missing = header.planes - planes;
  const decoder = new PlaneDecoder(io, bands, plain);
  for (let p = planes; p-- > 0; ) {
    decoder.decodePlane(p);
    if (io.overran) throw new CodecError("the coded planes end too early");
  }
  const outRows = lowLength(rows, level), outCols = lowLength(cols, level);
  const corner = new Float64Array(outRows * outCols);
  const finest = step(header.exponent, header.mantissa);
  dequantise(bands, decoder.data, missing > 0 ? PARTIAL_POINTS : header.points, finest * 2 ** missing, level, corner, outCols);
  const size = Math.abs(first), point = pointValue(size === 1 ? header.points & 15 : header.points >> 4);
  corner[0] = first === 0 ? 0 : (Math.sign(first) * (size + point) * finest) / bands[0].gain;
  for (const split of splits) if (split.level > level) undoSplit(corner, outCols, split);
  inverse(corner, outRows, outCols, Math.max(rowLevels - level, 0), Math.max(colLevels - level, 0));
  const halvings = Math.min(level, rowLevels) + Math.min(level, colLevels);
  if (halvings > 0) {
    const scale = 2 ** (-0.5 * halvings);
    for (let i = 0; i < corner.length; ++i) corner[i] *= scale;
  }
  return { rows: outRows, cols: outCols, values: corner };
}

/** The mean over the cells of a 2^level times coarser grid, NaN where all are. */
function blockMeans(values: Float64Array, rows: number, cols: number, level: number): Values {
  const outRows = lowLength(rows, level), outCols = lowLength(cols, level), shift = Math.min(level, 30);
  const sums = new Float64Array(outRows * outCols), counts = new Uint32Array(outRows * outCols);
  for (let i = 0; i < rows; ++i) {
    for (let j = 0; j < cols; ++j) {
      const value = values[i * cols + j], at = (i >> shift) * outCols + (j >> shift);
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

/** The approximation of a rows x cols tile that is 2^level times coarser in both directions. */
export function decodeTile(bytes: Uint8Array, rows: number, cols: number, level: number): Values {
  const input = new ByteReader(bytes);
  const { kind, plain, absent } = readStart(input, rows * cols);
  if (kind === 3) return blockMeans(readRaw(input, rows * cols, absent), rows, cols, level);
  let out: Values;
  if (kind === 2) {
    const outRows = lowLength(rows, level), outCols = lowLength(cols, level);
    out = { rows: outRows, cols: outCols, values: new Float64Array(outRows * outCols).fill(input.left > 0 ? input.real() : 0) };
  } else {
    out = decodeContext(input, rows, cols, level, plain);
  }
  if (absent) {
    const mask = blockMeans(Float64Array.from(absent, (gone) => (gone ? NaN : 0)), rows, cols, level);
    mask.values.forEach((value, i) => {
      if (Number.isNaN(value)) out.values[i] = NaN;
    });
  }
  return out;
}

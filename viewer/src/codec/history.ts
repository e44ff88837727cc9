// The compressed history of one series on one node: tiles of its ranks and steps.

import { ByteReader, checksumFits, CodecError, errorOfCode } from "./bytes";
import { readTile, TileContent, Values, valuesOf } from "./tile";

export interface Tile {
  firstRow: number;
  rows: number;
  firstStep: number;
  steps: number;
  bytes: Uint8Array;
}

/** Larger tiles are refused, as by the command: 2 GiB of values. */
const MOST_VALUES = 2 ** 28;

interface Place {
  firstRow: number;
  rows: number;
  firstStep: number;
  steps: number;
  /** Of the tile's bytes; -1: to the end. */
  size: number;
}

export class History {
  readonly rows: number;
  readonly steps: number;
  /** Root mean square error over the range of all values. */
  readonly nrmse: number;
  /** Largest absolute error of any value. */
  readonly maxError: number;
  /** In the order of their steps, then of their rows. */
  readonly tiles: Tile[];

  constructor(bytes: Uint8Array) {
    if (!checksumFits(bytes)) throw new CodecError("the checksum does not match: bytes were changed or cut off");
    const input = new ByteReader(bytes),
      version = input.byte(),
      form = input.byte();
    if (version !== 0xe1 || (form !== 2 && form !== 3))
      throw new CodecError("this is not a history of a known version");
    input.u16();
    this.rows = input.varint();
    this.steps = input.varint();
    this.nrmse = errorOfCode(input.u16());
    const relative = errorOfCode(input.u16());
    this.maxError = relative * 2 ** input.signed();
    const places = form === 2 ? this.readStrips(input) : this.readSlabs(input);
    this.tiles = places.map(({ size, ...place }) => ({ ...place, bytes: input.take(size < 0 ? input.left : size) }));
    if (this.tiles.some((tile) => tile.rows * tile.steps > MOST_VALUES)) throw new CodecError("a tile is too large");
    const covered = this.tiles.reduce((sum, tile) => sum + tile.rows * tile.steps, 0);
    if (covered !== this.rows * this.steps || input.left > 0) throw new CodecError("the tiles do not fill the history");
  }

  /** Form 2: every tile holds all rows. */
  private readStrips(input: ByteReader): Place[] {
    const count = input.varint(),
      out: Place[] = [];
    let firstStep = 0;
    for (let i = 0; i < count; ++i) {
      const steps = count > 1 ? input.varint() : this.steps,
        size = count > 1 ? input.varint() : -1;
      this.check(steps, this.steps - firstStep);
      out.push({ firstRow: 0, rows: this.rows, firstStep, steps, size });
      firstStep += steps;
    }
    return out;
  }

  /** Form 3: slabs of steps, cut into blocks of rows. */
  private readSlabs(input: ByteReader): Place[] {
    const slabs = input.varint(),
      out: Place[] = [];
    let firstStep = 0;
    for (let s = 0; s < slabs; ++s) {
      const steps = slabs > 1 ? input.varint() : this.steps,
        blocks = input.varint();
      this.check(steps, this.steps - firstStep);
      let firstRow = 0;
      for (let b = 0; b < blocks; ++b) {
        const rows = blocks > 1 ? input.varint() : this.rows,
          last = s + 1 === slabs && b + 1 === blocks;
        this.check(rows, this.rows - firstRow);
        out.push({ firstRow, rows, firstStep, steps, size: last ? -1 : input.varint() });
        firstRow += rows;
      }
      firstStep += steps;
    }
    return out;
  }

  private check(extent: number, room: number): void {
    if (extent === 0 || extent > room) throw new CodecError("the tiles do not fit the history");
  }

  /** The coefficients of one tile; this is most of the work of decoding it. */
  content(tile: number): TileContent {
    const { bytes, rows, steps } = this.tiles[tile];
    return readTile(bytes, rows, steps);
  }

  /** One tile's approximation that is 2^level times coarser in both directions. */
  decode(tile: number, level: number): Values {
    return valuesOf(this.content(tile), level);
  }
}

// The bit planes of all bands: zero-block trees, significance, signs and refinement; the decoding half of
// analytics/codec/plane_coder, decision for decision.

import { Band } from "./bands";
import { BandData, LEAF_BITS, MOST_LEVEL, takeBand } from "./band_data";
import { ACTIVITY_CLASS, BANDS, classOf, LEVEL4, LEVEL5 } from "./contexts";
import * as model from "./contexts";
import { Decisions } from "./models";
import { RangeDecoder } from "./range";

const MIXED_DECISIONS = 65536;

const NOTHING = new Uint8Array(1);

/** Weight of the neighbours in a coefficient's row, by the class of its band; those in its column get the rest of 4. */
const neighbourWeight = (bandClass: number) => (bandClass === 1 ? 3 : bandClass === 2 ? 1 : 2);

export class PlaneDecoder {
  readonly data: (BandData | undefined)[];
  private readonly decisions: Decisions;
  private readonly classes: number[];
  private mixedLeft: number;
  private plane = 0;
  // The current row of leaves: its stretches of columns, sums over neighbours, columns still zero and others.
  private readonly segmentBegin: Int32Array;
  private readonly segmentEnd: Int32Array;
  private segments = 0;
  private readonly cross: Uint8Array;
  private readonly corners: Uint8Array;
  private readonly open: Int32Array;
  private readonly known: Int32Array;
  private openCount = 0;
  private knownCount = 0;
  // The levels of the parents at the columns of the row.
  private readonly parentLevel: Uint8Array[] = [NOTHING, NOTHING];
  private readonly parentAt = [0, 0];
  private readonly parentShift = [31, 31];
  private parentNegative: Uint8Array = NOTHING;

  constructor(
    private readonly io: RangeDecoder,
    private readonly bands: Band[],
    plain: boolean
  ) {
    this.decisions = new Decisions(io, model.MODELS, model.MIXERS);
    this.data = bands.map(() => undefined);
    this.classes = bands.map(classOf);
    this.mixedLeft = plain ? 0 : MIXED_DECISIONS;
    const widest = bands.reduce((most, band) => Math.max(most, band.cols), 0);
    this.segmentBegin = new Int32Array(widest);
    this.segmentEnd = new Int32Array(widest);
    this.cross = new Uint8Array(widest + 2);
    this.corners = new Uint8Array(widest + 2);
    this.open = new Int32Array(widest);
    this.known = new Int32Array(widest);
  }

  /** Plane `p` (0 = finest) of every band. */
  decodePlane(p: number): void {
    this.plane = p;
    for (let b = 1; b < this.bands.length; ++b) this.decodeBand(b);
  }

  private mixed3(a: number, b: number, c: number, mixer: number): number {
    --this.mixedLeft;
    return this.decisions.mixed3(a, b, c, mixer);
  }

  private decodeBand(b: number): void {
    if (!this.decodeRoot(b)) return;
    const data = this.data[b]!;
    const level = data.level;
    for (let i = 0; i < level.length; ++i) {
      if (level[i] !== 0) level[i] = Math.min(2 * level[i], MOST_LEVEL);
    }
    for (let k = data.tree.length - 2; k >= 0; --k) this.decodeTreeLevel(b, data, k);
    for (let i = 0; i < data.tree[0].rows; ++i) this.decodeLeafRow(b, data, i);
  }

  /** Whether the band has any coefficient of this plane or above. */
  private decodeRoot(b: number): boolean {
    const p = this.plane,
      band = this.bands[b];
    const planes = (i: number) => this.data[i]?.planes ?? 0;
    if (planes(b) > p + 1) return true;
    const parent = (k: number) => (band.parents[k] ? Math.min(3, Math.max(0, planes(band.parents[k].band) - p)) : 4);
    let recent = 0;
    for (let i = b - 1; i >= 1 && i + 3 >= b; --i) recent += planes(i) > p ? 1 : 0;
    const inBand = model.ROOT + (this.classes[b] * 5 + parent(0)) * 5 + parent(1),
      run = model.ROOT_RUN + recent * 3 + (b < 4 ? 0 : b < 12 ? 1 : 2);
    if (!this.mixed3(inBand, model.ROOT_BAND + Math.min(b, BANDS - 1), run, model.NODE_MIXER + 5)) return false;
    const data = (this.data[b] ??= takeBand(band.rows, band.cols));
    const top = data.tree[data.tree.length - 1];
    top.planes[top.at(0, 0)] = p + 1;
    return true;
  }

  /** The nodes of level `k` whose parents are significant. */
  private decodeTreeLevel(b: number, data: BandData, k: number): void {
    const p = this.plane,
      level = data.tree[k],
      above = data.tree[k + 1],
      planes = level.planes,
      stride = level.stride;
    for (let i = 0; i < level.rows; ++i) {
      for (let j = 0; j < level.cols; ++j) {
        const abovePlanes = above.planes[above.at(i >> 1, j >> 1)];
        if (abovePlanes <= p) {
          j |= 1;
          continue;
        }
        const at = level.at(i, j);
        if (planes[at] > p + 1) continue;
        const fresh = abovePlanes === p + 1;
        const now = (where: number) => (planes[where] > p ? 1 : 0);
        const before = (where: number) => (planes[where] > p + 1 ? 1 : 0);
        let siblings = 0;
        if (i & 1) siblings += now(at - stride) + (j & 1 ? now(at - stride - 1) : now(at - stride + 1));
        if (j & 1) siblings += now(at - 1);
        const last = (i & 1 || i + 1 === level.rows) && (j & 1 || j + 1 === level.cols);
        if (fresh && last && siblings === 0) {
          planes[at] = p + 1;
          continue;
        }
        const around = now(at - stride) + now(at - 1) + before(at + 1) + before(at + stride);
        const corners = now(at - stride - 1) + now(at - stride + 1) + before(at + stride - 1) + before(at + stride + 1);
        const parent = this.parentOfNode(b, k, i, j);
        const newness = !fresh ? 0 : siblings > 0 ? 1 : 2,
          treeClass = Math.min(k, 4);
        const main =
          model.NODE + ((treeClass * 6 + Math.min(around + ((corners + 1) >> 1), 5)) * 3 + parent) * 3 + newness;
        let bit: number;
        if (this.mixedLeft > 0) {
          const pattern = model.NODE_PATTERN + (this.classes[b] & 7) * 9 + Math.min(around, 2) * 3 + parent;
          bit = this.mixed3(
            main,
            model.NODE_BAND + Math.min(b, BANDS - 1) * 4 + newness,
            pattern,
            model.NODE_MIXER + treeClass
          );
        } else {
          bit = this.decisions.plain(main);
        }
        if (bit) planes[at] = p + 1;
      }
    }
  }

  /** The significance of a node in the parents' trees: 0 none, 1 in this plane, 2 in an earlier one. */
  private parentOfNode(b: number, k: number, i: number, j: number): number {
    const p = this.plane;
    let parent = 0;
    for (const link of this.bands[b].parents) {
      const other = this.data[link.band];
      if (!other) continue;
      const kp = Math.min(k - (link.rowShift && link.colShift && k > 0 ? 1 : 0), other.tree.length - 1);
      const nodes = other.tree[kp];
      const pi = ((i << (LEAF_BITS + k)) >> link.rowShift) >> (LEAF_BITS + kp);
      const pj = ((j << (LEAF_BITS + k)) >> link.colShift) >> (LEAF_BITS + kp);
      const planes = nodes.planes[nodes.at(Math.min(pi, nodes.rows - 1), Math.min(pj, nodes.cols - 1))];
      parent = Math.max(parent, planes > p + 1 ? 2 : planes > p ? 1 : 0);
    }
    return parent;
  }

  private decodeLeafRow(b: number, data: BandData, leafRow: number): void {
    const p = this.plane,
      leaves = data.tree[0],
      from = leaves.at(leafRow, 0);
    this.segments = 0;
    for (let j = 0; j < leaves.cols; ++j) {
      if (leaves.planes[from + j] <= p) continue;
      const begin = j << LEAF_BITS,
        end = Math.min(data.cols, (j + 1) << LEAF_BITS);
      if (this.segments > 0 && this.segmentEnd[this.segments - 1] === begin) {
        this.segmentEnd[this.segments - 1] = end;
      } else {
        this.segmentBegin[this.segments] = begin;
        this.segmentEnd[this.segments++] = end;
      }
    }
    if (this.segments === 0) return;
    const endRow = Math.min(data.rows, (leafRow + 1) << LEAF_BITS);
    for (let row = leafRow << LEAF_BITS; row < endRow; ++row) {
      this.prepareRow(b, data, row);
      if (this.mixedLeft > 0) this.decodeRowMixed(b, data, row);
      else this.decodeRowFast(b, data, row);
    }
  }

  /** Sums over neighbours, columns without and with a level, and the parents' rows. */
  private prepareRow(b: number, data: BandData, row: number): void {
    const { level, stride } = data,
      { cross, corners } = this,
      first = data.at(row, 0);
    this.openCount = this.knownCount = 0;
    for (let s = 0; s < this.segments; ++s) {
      const end = this.segmentEnd[s];
      for (let j = this.segmentBegin[s]; j < end; ++j) {
        const at = first + j,
          north = at - stride,
          south = at + stride;
        cross[j] = level[north] + level[south];
        corners[j] = level[north - 1] + level[north + 1] + level[south - 1] + level[south + 1];
        if (level[at] === 0) this.open[this.openCount++] = j;
        else this.known[this.knownCount++] = j;
      }
    }
    this.parentNegative = NOTHING;
    for (let k = 0; k < 2; ++k) {
      const link = this.bands[b].parents[k],
        other = link && this.data[link.band];
      this.parentLevel[k] = other ? other.level : NOTHING;
      this.parentAt[k] = other ? other.at(row >> link.rowShift, 0) : 0;
      this.parentShift[k] = other ? link.colShift : 31;
      if (k === 0 && other) this.parentNegative = other.negative;
    }
  }

  private decodeRowMixed(b: number, data: BandData, row: number): void {
    const p = this.plane,
      { level, magnitude, negative } = data,
      first = data.at(row, 0),
      { cross, corners } = this;
    const h = neighbourWeight(this.classes[b]),
      v = 4 - h;
    const [level1, level2] = this.parentLevel,
      [at1, at2] = this.parentAt,
      [shift1, shift2] = this.parentShift;
    const leaves = data.tree[0],
      leafFrom = leaves.at(row >> LEAF_BITS, 0);
    for (let k = 0; k < this.openCount; ++k) {
      const j = this.open[k],
        at = first + j,
        beside = level[at - 1] + level[at + 1];
      const activity = ACTIVITY_CLASS[h * beside + v * cross[j] + corners[j]];
      const parent1 = level1[at1 + (j >> shift1)],
        parent2 = level2[at2 + (j >> shift2)];
      const fresh = leaves.planes[leafFrom + (j >> LEAF_BITS)] === p + 1;
      if (!this.significance(b, activity, beside, cross[j], corners[j], parent1, parent2, fresh)) continue;
      const parentSign = parent1 === 0 ? 0 : this.parentNegative[at1 + (j >> shift1)] ? 2 : 1;
      negative[at] = this.sign(b, data, at, parentSign);
      level[at] = 1;
      magnitude[at] = 2 ** p;
    }
    for (let k = 0; k < this.knownCount; ++k) {
      const j = this.known[k],
        at = first + j;
      const parent = Math.max(level1[at1 + (j >> shift1)], level2[at2 + (j >> shift2)]);
      const activity = ACTIVITY_CLASS[h * (level[at - 1] + level[at + 1]) + v * cross[j] + corners[j]];
      const bit = this.refinement(b, activity, parent, level[at] >> 1);
      level[at] = Math.min(level[at] + bit, MOST_LEVEL);
      if (bit) magnitude[at] |= 1 << p;
    }
  }

  private significance(
    b: number,
    activity: number,
    h: number,
    v: number,
    d: number,
    parent1: number,
    parent2: number,
    fresh: boolean
  ): number {
    const bandClass = this.classes[b],
      l1 = LEVEL4[parent1],
      l2 = LEVEL4[parent2];
    --this.mixedLeft;
    return this.decisions.mixed5(
      model.ACTIVITY + (bandClass * 4 + Math.max(l1, l2)) * 12 + activity,
      model.PATTERN + ((bandClass * 5 + LEVEL5[h]) * 5 + LEVEL5[v]) * 4 + LEVEL4[d],
      model.BAND_ACTIVITY + Math.min(b, BANDS - 1) * 6 + (activity >> 1),
      model.PARENTS + (l1 * 4 + l2) * 12 + activity,
      model.LEAF + ((LEVEL4[h + v] * 4 + LEVEL4[d]) * 6 + bandClass) * 2 + (fresh ? 1 : 0),
      model.ACTIVITY_MIXER + activity
    );
  }

  private sign(b: number, data: BandData, at: number, parentSign: number): number {
    const { level, negative, stride } = data,
      bandClass = this.classes[b];
    const known = (where: number) => (level[where] === 0 ? 0 : negative[where] ? -1 : 1);
    const side = (a: number, z: number) => Math.min(1, Math.max(-1, a + z)) + 1;
    const h = side(known(at - 1), known(at + 1)),
      v = side(known(at - stride), known(at + stride));
    return this.mixed3(
      model.SIGN + (bandClass * 3 + h) * 3 + v,
      model.SIGN_PARENTS + (h * 3 + v) * 9 + parentSign,
      model.SIGN_BAND + Math.min(b, BANDS - 1) * 3 + (bandClass === 1 ? h : v),
      model.SIGN_MIXER
    );
  }

  private refinement(b: number, activity: number, parent: number, known: number): number {
    const depth = known === 1 ? 0 : known < 4 ? 1 : 2;
    return this.mixed3(
      model.REFINE + depth * 6 + (activity >> 1),
      model.REFINE_BAND + Math.min(b, BANDS - 1) * 3 + depth,
      model.REFINE_PARENT + depth * 4 + LEVEL4[parent],
      model.REFINE_MIXER + depth
    );
  }

  /** One context per decision, raw signs and raw later refinement: the bulk of large streams. */
  private decodeRowFast(b: number, data: BandData, row: number): void {
    const p = this.plane,
      { level, magnitude } = data,
      first = data.at(row, 0),
      { cross, corners, open, known, decisions } = this;
    const h = neighbourWeight(this.classes[b]),
      v = 4 - h;
    const [level1, level2] = this.parentLevel,
      [at1, at2] = this.parentAt,
      [shift1, shift2] = this.parentShift;
    // The east neighbours' levels count as they were before this row.
    for (let s = 0; s < this.segments; ++s) {
      const end = this.segmentEnd[s];
      for (let j = this.segmentBegin[s]; j < end; ++j) cross[j] = v * cross[j] + corners[j] + h * level[first + j + 1];
    }
    const models = model.ACTIVITY + this.classes[b] * 48;
    let fresh = 0;
    for (let k = 0; k < this.openCount; ++k) {
      const j = open[k],
        at = first + j;
      const parent = LEVEL4[Math.max(level1[at1 + (j >> shift1)], level2[at2 + (j >> shift2)])];
      if (!decisions.plain(models + parent * 12 + ACTIVITY_CLASS[cross[j] + h * level[at - 1]])) continue;
      level[at] = 1;
      magnitude[at] = 2 ** p;
      open[fresh++] = j;
    }
    this.rawSigns(data, first, fresh);
    let deep = 0;
    for (let k = 0; k < this.knownCount; ++k) {
      const j = known[k],
        at = first + j,
        sofar = level[at] >> 1;
      if (sofar >= 4) {
        known[deep++] = j;
        continue;
      }
      const activity = ACTIVITY_CLASS[cross[j] + h * level[at - 1]];
      if (!decisions.plain(model.REFINE + (sofar === 1 ? 0 : 6) + (activity >> 1))) continue;
      ++level[at];
      magnitude[at] |= 1 << p;
    }
    this.rawRefinements(data, first, deep);
  }

  private rawSigns(data: BandData, first: number, count: number): void {
    for (let k = 0; k < count; k += 16) {
      const n = Math.min(16, count - k),
        bits = this.io.bits(n);
      for (let i = 0; i < n; ++i) data.negative[first + this.open[k + i]] = (bits >> (n - 1 - i)) & 1;
    }
  }

  private rawRefinements(data: BandData, first: number, count: number): void {
    const p = this.plane,
      { level, magnitude } = data;
    for (let k = 0; k < count; k += 16) {
      const n = Math.min(16, count - k),
        bits = this.io.bits(n);
      for (let i = 0; i < n; ++i) {
        if (!((bits >> (n - 1 - i)) & 1)) continue;
        const at = first + this.known[k + i];
        magnitude[at] |= 1 << p;
        level[at] = Math.min(level[at] + 1, MOST_LEVEL);
      }
    }
  }
}

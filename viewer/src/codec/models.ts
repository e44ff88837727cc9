// Adaptive probabilities of single decisions and their logistic mixing, bit for bit those of analytics/codec/bit_model.

import { RangeDecoder } from "./range";

const RATE = Int32Array.from({ length: 256 }, (_, n) => Math.floor(32767 / (n / 2 + 0.8)));
const LIMIT = 250;

const SQUASH = Int32Array.of(
  22,
  36,
  60,
  98,
  162,
  267,
  439,
  720,
  1179,
  1922,
  3108,
  4971,
  7812,
  11955,
  17625,
  24743,
  32768,
  40793,
  47911,
  53581,
  57724,
  60565,
  62428,
  63614,
  64357,
  64816,
  65097,
  65269,
  65374,
  65438,
  65476,
  65500,
  65514
);

function squash(x: number): number {
  const shifted = Math.min(2047, Math.max(-2048, x)) + 2048;
  const i = shifted >> 7,
    part = shifted & 127;
  return (SQUASH[i] * (128 - part) + SQUASH[i + 1] * part + 64) >> 7;
}

const STRETCH = (() => {
  const table = new Int16Array(4096);
  let x = -2047;
  for (let p = 0; p < 4096; ++p) {
    while (x < 2047 && squash(x) < p * 16 + 8) ++x;
    table[p] = x;
  }
  return table;
})();

/** squash() of -2048 .. 2047. */
const SQUASHED = Int32Array.from({ length: 4096 }, (_, i) => squash(i - 2048));

/** The models and mixers of one stream, by index, over one decoder. */
export class Decisions {
  private readonly one: Uint16Array;
  private readonly seen: Uint8Array;
  private readonly weights: Int32Array;

  constructor(
    readonly io: RangeDecoder,
    models: number,
    mixers: number
  ) {
    this.one = new Uint16Array(models).fill(32768);
    this.seen = new Uint8Array(models);
    this.weights = new Int32Array(mixers * 5).fill(Math.trunc((65536 * 3) / 10));
  }

  plain(model: number): number {
    const bit = this.io.code(this.one[model]);
    this.update(model, bit ? 65535 : 0);
    return bit;
  }

  /** Three models, mixed.  Most of the time is spent in this function and the next, so they avoid loops and calls. */
  mixed3(a: number, b: number, c: number, mixer: number): number {
    const { one, weights } = this,
      at = mixer * 5;
    const xa = STRETCH[one[a] >> 4],
      xb = STRETCH[one[b] >> 4],
      xc = STRETCH[one[c] >> 4];
    const probability = SQUASHED[place(weights[at] * xa + weights[at + 1] * xb + weights[at + 2] * xc)];
    const bit = this.io.code(probability),
      target = bit ? 65535 : 0,
      error = ((target - probability) >> 4) * 6;
    weights[at] += (xa * error + 8192) >> 14;
    weights[at + 1] += (xb * error + 8192) >> 14;
    weights[at + 2] += (xc * error + 8192) >> 14;
    this.update(a, target);
    this.update(b, target);
    this.update(c, target);
    return bit;
  }

  /** Five models, mixed. */
  mixed5(a: number, b: number, c: number, d: number, e: number, mixer: number): number {
    const { one, weights } = this,
      at = mixer * 5;
    const xa = STRETCH[one[a] >> 4],
      xb = STRETCH[one[b] >> 4],
      xc = STRETCH[one[c] >> 4],
      xd = STRETCH[one[d] >> 4],
      xe = STRETCH[one[e] >> 4];
    const probability =
      SQUASHED[
        place(
          weights[at] * xa + weights[at + 1] * xb + weights[at + 2] * xc + weights[at + 3] * xd + weights[at + 4] * xe
        )
      ];
    const bit = this.io.code(probability),
      target = bit ? 65535 : 0,
      error = ((target - probability) >> 4) * 6;
    weights[at] += (xa * error + 8192) >> 14;
    weights[at + 1] += (xb * error + 8192) >> 14;
    weights[at + 2] += (xc * error + 8192) >> 14;
    weights[at + 3] += (xd * error + 8192) >> 14;
    weights[at + 4] += (xe * error + 8192) >> 14;
    this.update(a, target);
    this.update(b, target);
    this.update(c, target);
    this.update(d, target);
    this.update(e, target);
    return bit;
  }

  /** Moves a model towards `target`, 0 or 65535. */
  private update(model: number, target: number): void {
    const one = this.one[model],
      seen = this.seen[model];
    const moved = one + (((target - one) * RATE[seen]) >> 16);
    this.one[model] = moved < 24 ? 24 : moved > 65512 ? 65512 : moved;
    if (seen < LIMIT) this.seen[model] = seen + 1;
  }
}

/** The index of a weighted sum in SQUASHED. */
function place(sum: number): number {
  const x = Math.floor(sum * (1 / 65536)) + 2048;
  return x < 1 ? 1 : x > 4095 ? 4095 : x;
}

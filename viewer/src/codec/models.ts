// Adaptive probabilities of single decisions and their logistic mixing, bit for bit those of analytics/codec/bit_model.

import { RangeDecoder } from "./range";

const RATE = Int32Array.from({ length: 256 }, (_, n) => Math.floor(32767 / (n / 2 + 0.8)));
const LIMIT = 250;

const SQUASH = Int32Array.of(22, 36, 60, 98, 162, 267, 439, 720, 1179, 1922, 3108, 4971, 7812, 11955, 17625, 24743, 32768,
  40793, 47911, 53581, 57724, 60565, 62428, 63614, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514);

function squash(x: number): number {
  const shifted = Math.min(2047, Math.max(-2048, x)) + 2048;
  const i = shifted >> 7, part = shifted & 127;
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
  private readonly stretched = new Int32Array(5);
  /** Models that take part in the next mixed decision. */
  readonly inputs = new Int32Array(5);

  constructor(readonly io: RangeDecoder, models: number, mixers: number) {
    this.one = new Uint16Array(models).fill(32768);
    this.seen = new Uint8Array(models);
    this.weights = new Int32Array(mixers * 5).fill(Math.trunc((65536 * 3) / 10));
  }

  plain(model: number): number {
    const bit = this.io.code(this.one[model]);
    this.update(model, bit);
    return bit;
  }

  /** The first `n` of `inputs`, mixed.  Most of the time goes here, so everything is at hand and nothing is called twice. */
  mixed(n: number, mixer: number): number {
    const { one, seen, weights, stretched, inputs } = this, at = mixer * 5;
    let sum = 0;
    for (let i = 0; i < n; ++i) {
      const x = STRETCH[one[inputs[i]] >> 4];
      stretched[i] = x;
      sum += weights[at + i] * x;
    }
    let x = Math.floor(sum * (1 / 65536)) + 2048;
    if (x < 1) x = 1;
    else if (x > 4095) x = 4095;
    const probability = SQUASHED[x], bit = this.io.code(probability), target = bit ? 65535 : 0;
    const error = ((target - probability) >> 4) * 6;
    for (let i = 0; i < n; ++i) {
      const model = inputs[i], p = one[model], k = seen[model];
      weights[at + i] += (stretched[i] * error + 8192) >> 14;
      const moved = p + (((target - p) * RATE[k]) >> 16);
      one[model] = moved < 24 ? 24 : moved > 65512 ? 65512 : moved;
      if (k < LIMIT) seen[model] = k + 1;
    }
    return bit;
  }

  private update(model: number, bit: number): void {
    const one = this.one[model], seen = this.seen[model];
    const moved = one + ((((bit ? 65535 : 0) - one) * RATE[seen]) >> 16);
    this.one[model] = moved < 24 ? 24 : moved > 65512 ? 65512 : moved;
    if (seen < LIMIT) this.seen[model] = seen + 1;
  }
}

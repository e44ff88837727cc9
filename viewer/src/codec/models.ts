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

  /** The first `n` of `inputs`, mixed. */
  mixed(n: number, mixer: number): number {
    const weights = this.weights, stretched = this.stretched, at = mixer * 5;
    let sum = 0;
    for (let i = 0; i < n; ++i) {
      stretched[i] = STRETCH[this.one[this.inputs[i]] >> 4];
      sum += weights[at + i] * stretched[i];
    }
    const probability = squash(Math.min(2047, Math.max(-2047, Math.floor(sum / 65536))));
    const bit = this.io.code(probability);
    const error = ((bit ? 65535 : 0) - probability) >> 4;
    for (let i = 0; i < n; ++i) {
      weights[at + i] += (stretched[i] * error * 6 + 8192) >> 14;
      this.update(this.inputs[i], bit);
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

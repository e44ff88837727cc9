// The binary arithmetic decoder.  Its 64-bit interval is held as two halves of 32 bits, because JavaScript numbers are
// exact to 53 bits only.

const WORD = 4294967296;

/** Reads decisions; after the end of the bytes it reads zeros. */
export class RangeDecoder {
  private at = 0;
  private beyond = 0;
  private valueHigh: number;
  private valueLow: number;
  private rangeHigh = WORD - 1;
  private rangeLow = WORD - 1;

  constructor(private readonly bytes: Uint8Array) {
    this.valueHigh = this.nextWord();
    this.valueLow = this.nextWord();
  }

  /** Whether so much was read beyond the end that the bytes cannot be a complete stream. */
  get overran(): boolean {
    return this.beyond > 4096;
  }

  /** One decision; `one` is the probability of a 1 in 1/65536. */
  code(one: number): number {
    const high = this.rangeHigh,
      low = this.rangeLow;
    // bound = (range >> 16) * one
    const part = (((high << 16) | (low >>> 16)) >>> 0) * one;
    const boundLow = part >>> 0;
    const boundHigh = (high >>> 16) * one + (part - boundLow) / WORD;
    const vh = this.valueHigh,
      vl = this.valueLow;
    let bit = 0;
    if (vh < boundHigh || (vh === boundHigh && vl < boundLow)) {
      bit = 1;
      this.rangeHigh = boundHigh;
      this.rangeLow = boundLow;
    } else {
      const v = vl - boundLow,
        r = low - boundLow;
      this.valueLow = v < 0 ? v + WORD : v;
      this.valueHigh = vh - boundHigh - (v < 0 ? 1 : 0);
      this.rangeLow = r < 0 ? r + WORD : r;
      this.rangeHigh = high - boundHigh - (r < 0 ? 1 : 0);
    }
    if (this.rangeHigh === 0) this.renormalise();
    return bit;
  }

  /** `n` <= 16 equiprobable bits. */
  bits(n: number): number {
    const rh = this.rangeHigh >>> n;
    const rl = ((this.rangeHigh << (32 - n)) | (this.rangeLow >>> n)) >>> 0;
    const vh = this.valueHigh,
      vl = this.valueLow,
      most = (1 << n) - 1;
    // The quotient of rounded numbers is off by at most one.
    let q = Math.min(most, Math.floor((vh * WORD + vl) / (rh * WORD + rl)));
    let restHigh = 0,
      restLow = 0;
    for (let attempt = 0; ; ++attempt) {
      const part = q * rl,
        productLow = part >>> 0,
        productHigh = q * rh + (part - productLow) / WORD;
      restLow = vl - productLow;
      restHigh = vh - productHigh;
      if (restLow < 0) {
        restLow += WORD;
        --restHigh;
      }
      if (restHigh < 0) --q;
      else if (q < most && attempt < 2 && (restHigh > rh || (restHigh === rh && restLow >= rl))) ++q;
      else break;
    }
    this.valueHigh = restHigh;
    this.valueLow = restLow;
    this.rangeHigh = rh;
    this.rangeLow = rl;
    if (rh === 0) this.renormalise();
    return q;
  }

  private renormalise(): void {
    this.valueHigh = this.valueLow;
    this.valueLow = this.nextWord();
    this.rangeHigh = this.rangeLow;
    this.rangeLow = 0;
  }

  private nextWord(): number {
    const bytes = this.bytes,
      at = this.at;
    if (bytes.length - at >= 4) {
      this.at = at + 4;
      return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
    }
    let word = 0;
    for (let i = 0; i < 4; ++i) {
      word = word * 256;
      if (this.at < bytes.length) word += bytes[this.at++];
      else ++this.beyond;
    }
    return word;
  }
}

// The small numbers of stream headers; see analytics/codec/FORMAT.md.

/** Thrown for bytes that are not a valid stream. */
export class CodecError extends Error {}

/** Takes numbers off the front of a byte string; CodecError if it ends too early. */
export class ByteReader {
  offset = 0;
  constructor(readonly bytes: Uint8Array) {}

  get left(): number {
    return this.bytes.length - this.offset;
  }
  byte(): number {
    if (this.offset >= this.bytes.length) throw new CodecError("the stream ends too early");
    return this.bytes[this.offset++];
  }
  /** Up to 2^53; larger numbers do not occur in a valid history. */
  varint(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 53; scale *= 128) {
      const next = this.byte();
      value += (next & 127) * scale;
      if (next < 128) return value;
    }
    throw new CodecError("a number in the stream is too long");
  }
  signed(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
  u16(): number {
    const low = this.byte();
    return low | (this.byte() << 8);
  }
  real(): number {
    return new DataView(this.take(8).slice().buffer).getFloat64(0, true);
  }
  take(n: number): Uint8Array {
    if (n > this.left) throw new CodecError("the stream ends too early");
    const taken = this.bytes.subarray(this.offset, this.offset + n);
    this.offset += n;
    return taken;
  }
  rest(): Uint8Array {
    return this.bytes.subarray(this.offset);
  }
}

/** An error code of headers: 0 is exactly 0, c is 2^(30 - c / 700). */
export function errorOfCode(code: number): number {
  return code === 0 ? 0 : 2 ** (30 - code / 700);
}

/** The 16-bit checksum at offset 2 of streams and histories (FNV-1a of all other bytes, folded). */
export function checksumFits(stream: Uint8Array): boolean {
  if (stream.length < 4) return false;
  let hash = 2166136261;
  for (let i = 0; i < stream.length; ++i) {
    if (i === 2 || i === 3) continue;
    hash = Math.imul(hash ^ stream[i], 16777619);
  }
  return ((hash ^ (hash >>> 16)) & 0xffff) === (stream[2] | (stream[3] << 8));
}

// Unpacks the arrays of the embedded JSON.

import { PackedPicture, PackedValues } from "./model";

/** Row-major cells of a picture. */
export interface Cells {
  rows: number;
  cols: number;
  cells: Float32Array;
}

export function bytesOf(base64: string): Uint8Array {
  const text = atob(base64.trim());
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) out[i] = text.charCodeAt(i);
  return out;
}

export const floats = (base64: string) => new Float32Array(bytesOf(base64).buffer);
export const integers = (base64: string) => new Int32Array(bytesOf(base64).buffer);

export function unpack({ from, range, values }: PackedValues): Float32Array {
  return Float32Array.from(bytesOf(values), (level) => from + (range * level) / 255);
}

export function unpackPicture({ rows, cols, cells }: PackedPicture): Cells {
  return { rows, cols, cells: unpack(cells) };
}

/** Reads varints (unsigned LEB128), up to 2^53, of a part of the page: a plural such as "the events". */
export function varints(bytes: Uint8Array, part: string, place = 0): () => number {
  return () => {
    for (let value = 0, factor = 1; factor < 2 ** 53; factor *= 128) {
      if (place >= bytes.length) throw new Error(`${part} are cut short`);
      const byte = bytes[place++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new Error(`${part} are damaged: a number is too long`);
  };
}

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

// The contexts of the plane decoder: the first index of the models of each kind of decision, and the classes that
// choose among them.

import { Band } from "./bands";

export const ACTIVITY_CLASS = (() => {
  const starts = [1, 2, 3, 4, 6, 8, 11, 15, 21, 30, 44];
  return Uint8Array.from({ length: 512 }, (_, n) => starts.filter((start) => Math.min(n, 63) >= start).length);
})();
export const LEVEL4 = Uint8Array.from({ length: 64 }, (_, n) => (n === 0 ? 0 : n === 1 ? 1 : n < 4 ? 2 : 3));
export const LEVEL5 = Uint8Array.from({ length: 64 }, (_, n) => (n < 3 ? n : n < 5 ? 3 : 4));

/** The class of a band by its directions and levels. */
export function classOf(band: Band): number {
  if (!band.rowHigh && !band.colHigh) return 3;
  if (!band.colHigh) return 1;
  if (!band.rowHigh) return 2;
  return band.rowLevel === band.colLevel ? 0 : band.rowLevel > band.colLevel ? 4 : 5;
}

/** Bands with models of their own; further bands share those of the last. */
export const BANDS = 128;

let models = 0;
const take = (n: number): number => (models += n) - n;
export const ACTIVITY = take(6 * 4 * 12),
  PATTERN = take(6 * 5 * 5 * 4),
  BAND_ACTIVITY = take(BANDS * 6),
  PARENTS = take(4 * 4 * 12),
  LEAF = take(4 * 4 * 6 * 2);
export const SIGN = take(6 * 9),
  SIGN_PARENTS = take(9 * 9),
  SIGN_BAND = take(BANDS * 3);
export const REFINE = take(3 * 6),
  REFINE_BAND = take(BANDS * 3),
  REFINE_PARENT = take(3 * 4);
export const NODE = take(5 * 6 * 3 * 3),
  NODE_BAND = take(BANDS * 4),
  NODE_PATTERN = take(8 * 9);
export const ROOT = take(6 * 5 * 5),
  ROOT_BAND = take(BANDS),
  ROOT_RUN = take(8 * 3);
export const ACTIVITY_MIXER = 0,
  SIGN_MIXER = 12,
  REFINE_MIXER = 13,
  NODE_MIXER = 16,
  MIXERS = 22;
/** All models. */
export const MODELS = models;

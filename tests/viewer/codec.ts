// Compares the page's decoder with the golden streams and with `effort decode`, at every level and for many shapes.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ByteReader } from "../../viewer/src/codec/bytes";
import { History } from "../../viewer/src/codec/history";
import { readTile, valuesOf } from "../../viewer/src/codec/tile";

const [effort, golden, work] = process.argv.slice(2);
mkdirSync(work, { recursive: true });
let failures = 0;

function decoded(file: string, level: number): Float64Array {
  const out = join(work, "out.f64");
  const result = spawnSync(effort, ["decode", "--level", String(level), file, out], { encoding: "utf8" });
  if (result.status !== 0) throw new Error(result.stderr);
  return new Float64Array(new Uint8Array(readFileSync(out)).buffer);
}

/** The tile of a stream of form 0, which follows its rows and columns. */
function tileOf(file: string): { bytes: Uint8Array; rows: number; cols: number } | undefined {
  const input = new ByteReader(new Uint8Array(readFileSync(file)));
  input.byte();
  if (input.byte() !== 0) return undefined;
  input.u16();
  const rows = input.varint(),
    cols = input.varint();
  return { rows, cols, bytes: input.rest() };
}

function compare(name: string, file: string, tolerance: number): void {
  const tile = tileOf(file);
  if (!tile) return;
  for (let level = 0; level <= 6; ++level) {
    const mine = valuesOf(readTile(tile.bytes, tile.rows, tile.cols), level).values,
      theirs = decoded(file, level);
    const range = theirs.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
    let worst = mine.length === theirs.length ? 0 : Infinity;
    for (let i = 0; i < theirs.length; ++i)
      worst = Math.max(
        worst,
        Number.isNaN(theirs[i]) === Number.isNaN(mine[i]) ? Math.abs((theirs[i] || 0) - (mine[i] || 0)) : Infinity
      );
    if (worst > tolerance * Math.max(range, 1e-300)) {
      ++failures;
      console.log(`FAILED: ${name} at level ${level}: ${worst} of ${range}`);
    }
  }
}

for (const name of ["context_coarse", "context_fine", "context_large", "constant", "raw"])
  compare(name, join(golden, `${name}.ewz`), 1e-12);
// The page deliberately omits planes below 2^-31 of the largest coefficient.
compare("context_deep", join(golden, "context_deep.ewz"), 1e-8);

let state = 1;
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
for (const [rows, cols, more] of [
  [1, 1, []],
  [1, 300, []],
  [300, 1, []],
  [7, 5, []],
  [64, 64, []],
  [33, 257, []],
  [130, 500, []],
  [96, 700, ["--nrmse", "1e-5"]],
  [50, 50, ["--passes", "2"]],
  [40, 60, ["--passes", "30"]],
] as [number, number, string[]][]) {
  const values = Float64Array.from({ length: rows * cols }, (_, k) => {
    const i = Math.floor(k / cols),
      j = k % cols;
    return (
      1 +
      Math.sin(i / 5) +
      (j > cols / 2 ? 2 : 0) +
      3 * Math.exp(-(((i / rows - j / cols) * 9) ** 2)) +
      0.3 * random() -
      (i % 7 === 3 ? 5 : 0)
    );
  });
  const raw = join(work, "in.f64"),
    coded = join(work, "in.ewz");
  writeFileSync(raw, new Uint8Array(values.buffer));
  const result = spawnSync(effort, ["encode", "--rows", String(rows), "--cols", String(cols), ...more, raw, coded], {
    encoding: "utf8",
  });
  if (result.status !== 0) throw new Error(result.stderr);
  compare(`${rows} x ${cols} ${more}`, coded, 1e-11);
}

// A history has several tiles, and its stated error bounds the difference to the measured values.
const bytes = new Uint8Array(readFileSync(join(golden, "history.ewz"))),
  history = new History(bytes);
const columns = history.tiles.reduce((sum, t, k) => sum + history.decode(k, 0).cols, 0);
if (history.tiles.length < 2 || columns !== history.steps) {
  ++failures;
  console.log(`FAILED: the golden history has ${history.tiles.length} tiles and ${columns} columns`);
}
let state7 = 7,
  worst = 0;
const cols = history.steps,
  want = Array.from({ length: history.rows * cols }, (_, k) => {
    state7 = (Math.imul(state7, 1664525) + 1013904223) >>> 0;
    return (Math.floor(Math.floor(k / cols) / 5) % 3) + ((k % cols) % 10 === 9 ? 4 : 0) + (state7 >>> 16) / 65536 / 8;
  });
history.tiles.forEach((tile, k) => {
  const part = history.decode(k, 0);
  for (let i = 0; i < tile.rows; ++i)
    for (let j = 0; j < tile.steps; ++j)
      worst = Math.max(
        worst,
        Math.abs(part.values[i * part.cols + j] - want[(tile.firstRow + i) * cols + tile.firstStep + j])
      );
});
if (!(worst <= history.maxError)) {
  ++failures;
  console.log(`FAILED: the golden history is off by ${worst}, more than the ${history.maxError} stated`);
}
// Blocks of a matrix that several nodes hold.  All extents are multiples of 8, so that approximations of blocks are
// cells of the approximation of the whole.
const blocks = new History(new Uint8Array(readFileSync(join(golden, "blocks.ewz"))));
if (blocks.tiles.length !== 4) {
  ++failures;
  console.log(`FAILED: the golden blocks are ${blocks.tiles.length}`);
}
for (let level = 0; level <= 3; ++level) {
  const theirs = decoded(join(golden, "blocks.ewz"), level),
    across = Math.ceil(blocks.steps / 2 ** level);
  let seen = 0,
    off = 0;
  blocks.tiles.forEach((tile, k) => {
    const part = blocks.decode(k, level);
    seen += part.values.length;
    for (let i = 0; i < part.rows; ++i)
      for (let j = 0; j < part.cols; ++j)
        off = Math.max(
          off,
          Math.abs(
            part.values[i * part.cols + j] -
              theirs[((tile.firstRow >> level) + i) * across + (tile.firstStep >> level) + j]
          )
        );
  });
  if (seen !== theirs.length || !(off <= 1e-10)) {
    ++failures;
    console.log(`FAILED: blocks at level ${level}: ${seen} of ${theirs.length} values, off by ${off}`);
  }
}
// Any changed byte is noticed.
for (let i = 0; i < bytes.length; ++i) {
  const changed = bytes.slice();
  changed[i] ^= 1 << (i % 8);
  let noticed = false;
  try {
    new History(changed);
  } catch {
    noticed = true;
  }
  if (!noticed) {
    ++failures;
    console.log(`FAILED: a change of byte ${i} goes unnoticed`);
  }
}
console.log(failures === 0 ? "all good" : `${failures} checks failed`);
process.exit(failures === 0 ? 0 : 1);

// Gives the page's readers damaged bytes: they must throw an error that says so, or read what they promise.  Argument:
// the folder of golden streams.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ByteReader, CodecError } from "../../viewer/src/codec/bytes";
import { History } from "../../viewer/src/codec/history";
import { readTile, valuesOf } from "../../viewer/src/codec/tile";
import { messagesOf, PairDetailsJson, Sparse } from "../../viewer/src/communication/data";
import { Piece } from "../../viewer/src/trace/data";

const [golden] = process.argv.slice(2);
let failures = 0,
  inputs = 0,
  refused = 0;

let state = 1;
const random = (below: number) =>
  Math.floor(((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) * below);

/** The bytes with a few changes, insertions or a part missing. */
function damaged(bytes: Uint8Array): Uint8Array {
  const out = [...bytes];
  for (let change = random(4); change >= 0 && out.length > 0; --change) {
    const at = random(out.length),
      kind = random(10);
    if (kind === 0) out.length = at;
    else if (kind === 1) out.splice(at, 1 + random(4));
    else if (kind === 2) out.splice(at, 0, random(256), 255);
    else out[at] = kind < 6 ? out[at] ^ (1 << random(8)) : [0, 1, 127, 128, 255, random(256)][random(6)];
  }
  return Uint8Array.from(out);
}

/** Reads something; the only errors that it may throw are those of readers, which have a sentence for the user. */
function read(what: string, body: () => boolean): void {
  ++inputs;
  let good = false,
    problem = "the result is not what was promised";
  try {
    good = body();
  } catch (error) {
    ++refused;
    good = error instanceof CodecError || (error instanceof Error && error.constructor === Error);
    problem = String(error);
  }
  if (good) return;
  ++failures;
  console.log(`FAILED: ${what}, input ${inputs}: ${problem}`);
}

// ---- compressed histories

const coarse = (n: number, level: number) => Math.ceil(n / 2 ** level);

function readTiles(name: string, stream: Uint8Array): void {
  const input = new ByteReader(stream);
  input.take(4);
  const rows = input.varint(),
    cols = input.varint(),
    tile = input.rest();
  for (let i = 0; i < 60; ++i) {
    const level = i % 3,
      bytes = damaged(tile);
    read(name, () => {
      const { values } = valuesOf(readTile(bytes, rows, cols), level);
      return values.length === coarse(rows, level) * coarse(cols, level);
    });
  }
}

/** Makes the checksum fit, so that the rest is read (see checksumFits). */
function fit(bytes: Uint8Array): Uint8Array {
  let hash = 2166136261;
  bytes.forEach((byte, i) => (hash = i === 2 || i === 3 ? hash : Math.imul(hash ^ byte, 16777619)));
  const sum = (hash ^ (hash >>> 16)) & 0xffff;
  if (bytes.length >= 4) [bytes[2], bytes[3]] = [sum & 255, sum >> 8];
  return bytes;
}

function readHistories(name: string, stream: Uint8Array): void {
  for (let i = 0; i < 200; ++i) {
    // Most damage is to the header: a history has far more bytes of tiles.
    const start = i % 4 === 0 ? stream.length : 40,
      bytes = Uint8Array.from([...damaged(stream.slice(0, start)), ...stream.slice(start)]);
    let history: History | undefined;
    read(name, () => (history = new History(fit(bytes))).tiles.length >= 0);
    history?.tiles.forEach((tile, k) => {
      if (tile.rows * tile.steps <= 2 ** 20)
        read(`a tile of ${name}`, () => history!.decode(k, 0).values.length === tile.rows * tile.steps);
    });
  }
}

for (const name of readdirSync(golden).filter((file) => file.endsWith(".ewz"))) {
  const stream = new Uint8Array(readFileSync(join(golden, name)));
  if (stream[1] === 0 && stream.length < 20000) readTiles(name, stream);
  if (stream[1] === 2 || stream[1] === 3) readHistories(name, stream);
}

// ---- packed numbers

const varint = (n: number): number[] => (n < 128 ? [n] : [128 + (n % 128), ...varint(Math.floor(n / 128))]);
const base64 = (bytes: ArrayLike<number>) => Buffer.from(Uint8Array.from(bytes)).toString("base64");
const exact = (values: ArrayLike<number>) => Array.from(values).every((value) => value >= -1 && value < 2 ** 63);

// The slices of a trace: time since the last one, duration, region, depth.
const slices = Array.from({ length: 40 }, (_, i) => [i * 1000, 70000, (i % 5) * 4, i % 3].flatMap(varint)).flat();
for (let i = 0; i < 500; ++i) {
  const bytes = damaged(Uint8Array.from(slices));
  read("slices", () => {
    const levels = new Piece([0, 0, 0, 5, 1e9, 40, 0], () => bytes).levels();
    return (
      levels.reduce((sum, level) => sum + level.region.length, 0) === 40 &&
      levels.every((level) => exact(level.begin) && exact(level.end))
    );
  });
}

// Messages between ranks: rows with their columns.
const cells = 30,
  rows = Array.from({ length: 6 }, (_, i) => [1 + (i % 2), 5, 1, 2, 1, 300, 2].flatMap(varint)).flat(),
  column = base64(Array.from({ length: cells }, (_, i) => i % 3)),
  totals = { messages: 1, bytes: 1, seconds: 1, waiting: 1 };
for (let i = 0; i < 500; ++i) {
  const json = {
    cells,
    rows: base64(i % 2 ? rows : damaged(Uint8Array.from(rows))),
    messages: { distinct: [1, 2, 3], values: i % 2 ? base64(damaged(Buffer.from(column, "base64"))) : column },
    bytes: {
      low: 1,
      high: 1000,
      values: base64(i % 3 ? damaged(new Uint8Array(2 * cells)) : new Uint8Array(2 * cells)),
    },
    seconds: { distinct: [0.5], values: base64(new Uint8Array(cells)) },
    totals,
    left_out: { ...totals, cells: 0 },
  };
  read("a sparse matrix", () => {
    const matrix = new Sparse(json);
    return (
      exact(matrix.row) && exact(matrix.column) && exact(matrix.values("messages")) && exact(matrix.values("bytes"))
    );
  });
}

// The messages of a pair of ranks.
const messages = Array.from({ length: 25 }, (_, i) =>
  [i * 100, i % 4 ? 500 : 0, 8 << (i % 20), i % 4].flatMap(varint)
).flat();
for (let i = 0; i < 300; ++i) {
  const bytes = base64(damaged(Uint8Array.from(messages)));
  read("messages", () => {
    const found = messagesOf({ messages: bytes, messages_count: 25 } as PairDetailsJson);
    return found.length === 25 && exact(found.map((m) => m.start)) && exact(found.map((m) => m.bytes));
  });
}

// A tile that no page can hold.
read("a huge history", () => {
  const header = [0xe1, 2, 0, 0, ...varint(2 ** 20), ...varint(2 ** 20), 0, 0, 0, 0, 0, ...varint(1), 2];
  try {
    new History(fit(Uint8Array.from(header)));
    return false;
  } catch (error) {
    return String(error).includes("too large");
  }
});

if (inputs < 1500 || refused < inputs / 4) {
  ++failures;
  console.log(`FAILED: only ${refused} of ${inputs} inputs were refused`);
}
console.log(failures === 0 ? `all good: ${inputs} inputs, ${refused} refused` : `${failures} checks failed`);
process.exit(failures === 0 ? 0 : 1);

// Colours of the timeline: a hue per kind of region, several for computing regions.

import { category, isDark, themed } from "../palette";

const COMPUTE = [0, 4, 2, 3],
  OTHERS = [0, 1, 5, 6];

/** The colour of a kind: compute, communication, waiting, I/O. */
export const KIND_COLOURS = (kind: number) => category(OTHERS[kind] ?? 7);

/** Black or white, whichever can be read on a colour. */
function ink(colour: string): string {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  return 0.3 * r + 0.59 * g + 0.11 * b > 130 ? "#000000" : "#ffffff";
}

/** All colours of a picture, looked up once. */
export class Colours {
  readonly page = themed("--page");
  readonly text = themed("--text");
  readonly quiet = themed("--quiet");
  readonly grid = themed("--grid");
  readonly panel = themed("--panel");
  readonly bar = themed("--bar");
  readonly kinds = [0, 1, 2, 3].map(KIND_COLOURS);
  /** By region, and that of its name on it. */
  readonly regions: string[];
  readonly names: string[];
  /** Nothing is known of this time. */
  readonly unknown: CanvasPattern | string;
  /** This time was kept, but is not in the page. */
  readonly leftOut: CanvasPattern | string;

  constructor(ctx: CanvasRenderingContext2D, kinds: number[]) {
    this.regions = kinds.map((kind, region) =>
      kind === 0 ? category(COMPUTE[region % COMPUTE.length]) : (this.kinds[kind] ?? this.kinds[0])
    );
    this.names = this.regions.map(ink);
    [this.unknown, this.leftOut] = patterns(ctx);
  }
}

function patterns(ctx: CanvasRenderingContext2D): (CanvasPattern | string)[] {
  const make = (draw: (tile: CanvasRenderingContext2D) => void) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 8;
    const tile = canvas.getContext("2d")!;
    draw(tile);
    return ctx.createPattern(canvas, "repeat") ?? themed("--panel");
  };
  const line = isDark() ? "#4a515b" : "#b9bec6";
  return [
    make((tile) => {
      tile.fillStyle = themed("--panel");
      tile.fillRect(0, 0, 8, 8);
      tile.strokeStyle = line;
      tile.beginPath();
      for (const at of [-8, 0, 8]) {
        tile.moveTo(at, 8);
        tile.lineTo(at + 8, 0);
      }
      tile.stroke();
    }),
    make((tile) => {
      tile.fillStyle = themed("--accent");
      tile.fillRect(1, 1, 2, 2);
      tile.fillRect(5, 5, 2, 2);
    }),
  ];
}

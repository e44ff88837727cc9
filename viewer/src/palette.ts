// Colours that colour-blind users can distinguish and that keep their order in black and white.

/** Control points with rising lightness; colours between them are interpolated linearly. */
const MAPS: Record<string, string[]> = {
  viridis: [
    "440154",
    "482475",
    "414487",
    "355f8d",
    "2a788e",
    "21918c",
    "22a884",
    "44bf70",
    "7ad151",
    "bddf26",
    "fde725",
  ],
  cividis: ["00224e", "123570", "3b496c", "575d6d", "707173", "8a8678", "a59c74", "c3b369", "e1cc55", "fee838"],
  grey: ["111111", "f4f4f4"],
};

export const PALETTES = Object.keys(MAPS);

const tables = new Map<string, Uint8Array>();

/** 256 x RGB. */
export function colours(name: string): Uint8Array {
  let table = tables.get(name);
  if (!table) {
    const points = (MAPS[name] ?? MAPS.viridis).map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
    table = new Uint8Array(768);
    for (let i = 0; i < 256; ++i) {
      const at = (i / 255) * (points.length - 1),
        k = Math.min(points.length - 2, Math.floor(at));
      for (let c = 0; c < 3; ++c)
        table[3 * i + c] = Math.round(points[k][c] + (points[k + 1][c] - points[k][c]) * (at - k));
    }
    tables.set(name, table);
  }
  return table;
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
}

// Okabe and Ito's colours, which differ in lightness too; lighter variants for a dark page.
const ON_LIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c3c", "#7f7f7f"];
const ON_DARK = ["#5cb3ea", "#f0b429", "#2fc89b", "#e39ac3", "#9fd4f5", "#f0803c", "#b9b95a", "#9a9a9a"];

/** The colour of the i-th category. */
export function category(i: number): string {
  return (isDark() ? ON_DARK : ON_LIGHT)[i % 8];
}
export const DASHES: number[][] = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

/** A colour of the style sheet. */
export function themed(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

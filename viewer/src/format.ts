// Formats numbers by the same rules as the command's tables.

function significant(value: number, digits = 3): string {
  const text = value.toPrecision(digits);
  return text.includes("e") ? Number(text).toString() : text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export function seconds(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size < 1e-6) return `${significant(value * 1e9, digits)} ns`;
  if (size < 1e-3) return `${significant(value * 1e6, digits)} us`;
  if (size < 1) return `${significant(value * 1e3, digits)} ms`;
  return `${significant(value, size < 1000 ? digits : digits + 1)} s`;
}

/** An amount in the metric's unit. */
export function amount(value: number | null | undefined, unit: string, digits?: number): string {
  if (unit === "s") return seconds(value, digits);
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  const size = Math.abs(value),
    suffix = unit && unit !== "1" ? ` ${unit}` : "";
  if (size >= 1e12) return `${significant(value / 1e12, digits)} T${suffix.trim()}`;
  if (size >= 1e9) return `${significant(value / 1e9, digits)} G${suffix.trim()}`;
  if (size >= 1e6) return `${significant(value / 1e6, digits)} M${suffix.trim()}`;
  return `${significant(value, digits ?? 4)}${suffix}`;
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "-";
  const value = 100 * share;
  return Math.abs(value) >= 0.1 || value === 0 ? `${value.toFixed(1)} %` : `${significant(value, 2)} %`;
}

/** A relative change, with its sign. */
export function change(share: number): string {
  return Number.isFinite(share) ? `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} %` : "-";
}

export function bytes(value: number): string {
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (value < 1024 || unit === "GiB") return `${unit === "B" ? value : value.toFixed(1)} ${unit}`;
    value /= 1024;
  }
  return "";
}

export function count(n: number, noun: string): string {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** Shortens a name in the middle, because similar names mostly differ at their ends. */
export function middle(text: string, most: number): string {
  const head = Math.ceil((most - 1) / 2);
  return text.length <= most ? text : `${text.slice(0, head)}\u2026${text.slice(text.length - (most - 1 - head))}`;
}

/** A time in ns, with as many digits as steps of `step` ns need. */
export function duration(ns: number, step: number): string {
  const [unit, size] = (
    [
      ["s", 1e9],
      ["ms", 1e6],
      ["us", 1e3],
      ["ns", 1],
    ] as [string, number][]
  ).find(([, s]) => step >= s / 1000 && Math.abs(ns) >= s / 10) ?? ["ns", 1];
  return `${(ns / size).toFixed(Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)))} ${unit}`;
}

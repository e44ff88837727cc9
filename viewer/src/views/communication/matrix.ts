// The matrix with its controls: what is summed, in which order of ranks, in which windows.

import { h, heading, select } from "../../dom";
import { count, percent } from "../../format";
import { MatrixMap, quantityText, Shown } from "../../communication/matrix";
import { orderOf, RankOrder } from "../../communication/order";
import { Quantity, Side, Sparse } from "../../communication/data";
import { PALETTES } from "../../palette";
import { State } from "../../state";
import { nodesOf } from "./tables";

const TITLES: Record<Quantity, string> = {
  bytes: "bytes",
  messages: "messages",
  seconds: "seconds in calls",
  waiting: "waiting",
};

/** Blocks of ranks by id. */
function blocks(ranks: number, block: number): RankOrder {
  const ids = Int32Array.from({ length: Math.ceil(ranks / block) }, (_, i) => i);
  return { ranks: ids, positions: ids, byNode: true };
}

function leftOut({ leftOut, totals, size }: Sparse): string {
  if (leftOut.cells === 0) return "";
  return (
    ` The page holds the largest ${count(size, "cell")}; ${count(leftOut.cells, "cell")} with ` +
    `${percent(leftOut.bytes / (totals.bytes || 1))} of the bytes are left out (effort report --communication-bytes).`
  );
}

export function matrixOf(state: State, side: Side, show: (a: number, b: number) => void): HTMLElement {
  const { run } = state,
    view = state.communication,
    { windows } = side.json,
    quantities = (["bytes", "messages", "seconds", "waiting"] as Quantity[]).filter((q) => side.matrix.has(q));
  const orders = [...run.orders(), ...(side.tree ? [{ key: "dendrogram", title: "by dendrogram" }] : [])];
  const quantity = () => quantities.find((q) => q === view.quantity) ?? "bytes";
  const known = new Map<string, RankOrder>();
  const ordered = (key: string) => {
    let order = known.get(key);
    if (!order) known.set(key, (order = orderOf(run, key, side.tree)));
    return order;
  };
  const high = new Map<Quantity, number>();
  const nodeOf = nodesOf(run);
  const whole = blocks(run.info.ranks, windows?.block ?? 1);
  const shown = (): Shown => {
    const base = { quantity: quantity(), palette: state.palette, nodeOf };
    if (!windows || view.window === 0)
      return { ...base, matrix: side.matrix, order: ordered(view.order), block: 1, high: undefined };
    // The same colours for all windows.
    if (!high.has(base.quantity))
      high.set(
        base.quantity,
        windows.frames.reduce(
          (most, _, i) =>
            side
              .frame(i)
              .values(base.quantity)
              .reduce((a, b) => Math.max(a, b), most),
          0
        )
      );
    return {
      ...base,
      matrix: side.frame(view.window - 1),
      order: windows.block > 1 ? whole : ordered(view.order),
      block: windows.block,
      high: high.get(base.quantity),
    };
  };
  const map = new MatrixMap(shown());
  map.onPair = show;
  const total = h("span", { class: "quiet total" });
  const update = () => {
    const now = shown();
    map.show(now);
    const filled = now.matrix.values(now.quantity).reduce((n, v) => n + (v > 0 ? 1 : 0), 0),
      cells = count(filled, now.block > 1 ? "cell" : "pair");
    total.textContent =
      `${quantityText(now.quantity, now.matrix.totals[now.quantity])} in ${cells}` +
      (now.block > 1 ? ` of ${now.block} x ${now.block} ranks` : "");
  };
  update();
  const button = (title: string, click: () => void) => h("button", { onclick: click }, title);
  return h(
    "section",
    { id: "comm-matrix" },
    heading(
      "Matrix",
      (side.of === "trace"
        ? "Point-to-point messages with both ends in the trace, and waits. "
        : "Messages and, by rule, collectives of all ranks. ") +
        "Rows send, columns receive." +
        leftOut(side.matrix)
    ),
    h(
      "div",
      { class: "toolbar" },
      select(
        "show",
        quantities.map((q) => ({ value: q, title: TITLES[q] })),
        quantity(),
        (v) => {
          view.quantity = v;
          update();
        }
      ),
      select(
        "order",
        orders.map(({ key, title }) => ({ value: key, title })),
        orders.some(({ key }) => key === view.order) ? view.order : "id",
        (v) => {
          view.order = v;
          update();
        }
      ),
      select(
        "colours",
        PALETTES.map((p) => ({ value: p, title: p })),
        state.palette,
        (v) => {
          state.palette = v;
          update();
        }
      ),
      button("all ranks", () => map.showAll()),
      button("zoom in", () => map.zoom(0.5)),
      button("zoom out", () => map.zoom(2)),
      total
    ),
    windows ? slider(state, windows, update) : null,
    map.sheet.element
  );
}

function slider(state: State, windows: { block: number; ranges: number[][] }, update: () => void): HTMLElement {
  const view = state.communication,
    n = windows.ranges.length,
    text = h("output");
  view.window = Math.min(view.window, n);
  const name = (at: number) => {
    if (at === 0) return "the whole run";
    const [first, last, step, end] = windows.ranges[at - 1];
    const of = first === last ? `window ${first}` : `windows ${first} to ${last}`;
    return (step === undefined ? of : `${of}, steps ${step}..${end}`) + blocked;
  };
  const blocked = windows.block > 1 ? `; by rank, ${windows.block} ranks together` : "";
  const box = h("input", {
    type: "range",
    min: 0,
    max: n,
    step: 1,
    value: view.window,
    "aria-label": "windows",
    oninput: () => {
      view.window = Number(box.value);
      text.textContent = name(view.window);
      box.setAttribute("aria-valuetext", name(view.window));
      update();
    },
  });
  text.textContent = name(view.window);
  box.setAttribute("aria-valuetext", name(view.window));
  return h("label", { class: "field windows" }, h("span", {}, "windows"), box, text);
}

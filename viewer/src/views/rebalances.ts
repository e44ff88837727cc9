// The table of rebalances.

import { h, heading } from "../dom";
import { percent, seconds } from "../format";
import { Window } from "../model";
import { Run } from "../run";

export function rebalances(run: Run): HTMLElement | null {
  const rows = run.info.windows.map((w, i) => ({ w, i })).filter(({ w }) => w.rebalance || w.rebalanced);
  if (rows.length === 0) return null;
  return h(
    "section",
    {},
    heading("Rebalances", "Windows whose hint recommended a rebalance, or after which the host rebalanced."),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["window", "recommended", "done at step", "price", "gain per step", "imbalance before", "after", "why"].map(
              (t, i) => h("th", { class: i > 1 && i < 7 ? "number" : "" }, t)
            )
          )
        ),
        rebalanceRows(run, rows)
      )
    )
  );
}

const FIRST_REBALANCES = 10;

/** The step of a window's rebalance, or of the last of several and their number. */
function rebalancedAt(w: Window): string {
  const at = (w.rebalanced_at ?? "yes").toLocaleString("en");
  return (w.rebalances ?? 1) > 1 ? `${at}, the last of ${w.rebalances}` : at;
}

/** One line per rebalance: the first few, and the others on request. */
function rebalanceRows(run: Run, rows: { w: Window; i: number }[]): HTMLElement {
  const after = (i: number, at: number) => run.info.windows.slice(i + 1).find((w) => w.first > at)?.imbalance;
  const row = ({ w, i }: { w: Window; i: number }) => {
    const later = w.rebalanced ? after(i, w.rebalanced_at ?? w.last) : undefined;
    return h(
      "tr",
      {},
      h("td", {}, `${w.first}..${w.last}`),
      h("td", {}, w.rebalance ? "yes" : ""),
      h("td", { class: "number" }, w.rebalanced ? rebalancedAt(w) : "not done"),
      h("td", { class: "number" }, seconds(w.rebalance_cost)),
      h("td", { class: "number" }, seconds(w.gain_per_step)),
      h("td", { class: "number" }, percent(w.imbalance)),
      h("td", { class: "number" }, later === undefined ? "" : percent(later)),
      h("td", {}, w.advice.map((a) => a.replaceAll("_", " ")).join(", "))
    );
  };
  const body = h("tbody", {}, rows.slice(0, FIRST_REBALANCES).map(row));
  if (rows.length > FIRST_REBALANCES) {
    const more = h(
      "tr",
      {},
      h(
        "td",
        { colspan: 8 },
        h(
          "button",
          { class: "link", onclick: () => more.replaceWith(...rows.slice(FIRST_REBALANCES).map(row)) },
          `${rows.length - FIRST_REBALANCES} more`
        )
      )
    );
    body.append(more);
  }
  return body;
}

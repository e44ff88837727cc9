// Tables of the page on communication, and what their cells link to.

import { h } from "../../dom";
import { Run } from "../../run";
import { State } from "../../state";

type Cell = Node | string | number | null;

export interface Heading {
  title: string;
  number?: boolean;
}

/** Rows beyond the first `most` appear on demand. */
export function table(name: string, headings: Heading[], rows: Cell[][], most = 10, total = rows.length): HTMLElement {
  const body = h("tbody"),
    host = h("div", { class: "scroll" }),
    row = (cells: Cell[]) =>
      h(
        "tr",
        {},
        cells.map((cell, i) => h("td", { class: headings[i].number ? "number" : "" }, cell))
      );
  body.append(...rows.slice(0, most).map(row));
  host.append(
    h(
      "table",
      { class: name },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          headings.map(({ title, number }) => h("th", { class: number ? "number" : "" }, title))
        )
      ),
      body
    )
  );
  if (rows.length > most) {
    const more = h(
      "button",
      {
        class: "link more",
        onclick: () => {
          body.append(...rows.slice(most).map(row));
          more.remove();
        },
      },
      `show ${(rows.length - most).toLocaleString("en")} more`
    );
    host.append(more);
  }
  if (total > rows.length)
    host.append(
      h(
        "p",
        { class: "quiet" },
        `The page holds the first ${rows.length.toLocaleString("en")} of ${total.toLocaleString("en")}; ` +
          "effort comm lists all of them (--all)."
      )
    );
  return host;
}

/** A rank, which links to its load. */
export function rankLink(state: State, rank: number): HTMLElement {
  return h(
    "button",
    { class: "link", title: "shows its load", onclick: () => state.showRank(rank) },
    `${rank.toLocaleString("en")}`
  );
}

/** A time, which links to the timeline if the page holds it. */
export function timeLink(state: State, text: string, ranks: number[], t0: number, t1: number): Node | string {
  if (!state.report.head.traces[state.run.index]) return text;
  return h(
    "button",
    { class: "link", title: "shows it on the timeline", onclick: () => state.showTime(ranks, t0, t1) },
    text
  );
}

/** The node of every rank. */
export function nodesOf(run: Run): (rank: number) => number {
  const nodes = run.nodeOfRank();
  return (rank) => nodes[rank] ?? -1;
}

export function sentences(lines: string[]): HTMLElement[] {
  return lines.map((line, i) =>
    h(
      "p",
      { class: i === 0 ? "lead comm" : "" },
      line.split("`").map((part, k) => (k % 2 === 1 ? h("code", {}, part) : part))
    )
  );
}

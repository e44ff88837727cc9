// Keys, the source of the page, and the licences of its parts.

import { h, heading } from "../dom";
import { bytes } from "../format";
import { State } from "../state";

declare const LICENCES: { name: string; version: string; licence: string; text: string }[];

const KEYS: [string, string][] = [
  ["1 .. 8", "the parts of the page, from left to right"],
  ["/", "search regions"],
  ["t", "light or dark"],
  ["?", "this list"],
  ["arrows", "with the heat map in focus: move the cursor; with shift: move the view"],
  ["left, right, Home, End, Enter", "with a chart in focus: move its cursor; show the load around a step"],
  ["+  -  0", "zoom in, zoom out, show the whole run"],
  ["Tab, Enter, Space", "everything else"],
];

export function about(state: State): HTMLElement {
  const { head, runs } = state.report;
  return h(
    "div",
    {},
    h(
      "section",
      {},
      heading("Keys"),
      h(
        "table",
        {},
        h(
          "tbody",
          {},
          KEYS.map(([key, what]) => h("tr", {}, h("td", {}, h("kbd", {}, key)), h("td", {}, what)))
        )
      )
    ),
    h(
      "section",
      {},
      heading(
        "Made from",
        `by effort ${head.effort}. The page fetches nothing: it holds the compressed histories and decodes the parts that you look at.`
      ),
      h(
        "ul",
        {},
        runs.map((r) => h("li", {}, `${r.file}: ${bytes(r.info.bytes)}, written by effort ${r.info.version}`))
      )
    ),
    h(
      "section",
      {},
      heading("Reading"),
      h(
        "ul",
        {},
        h(
          "li",
          {},
          "Imbalance is the largest load over the mean load, minus one: how much more the slowest rank has to do than an even share."
        ),
        h(
          "li",
          {},
          "Load is the computing of a rank (regions of kind compute, exclusive of nested regions), in the metric that the run chose."
        ),
        h(
          "li",
          {},
          "Efficiencies are those of POP: load balance = mean / largest computing time; communication = largest computing time / elapsed; parallel = their product."
        ),
        h(
          "li",
          {},
          "Histories are compressed lossily: a value under the cursor is shown with the largest error of any value in its history."
        )
      )
    ),
    h(
      "section",
      {},
      heading("Licences"),
      LICENCES.map((l) =>
        h("details", {}, h("summary", {}, `${l.name} ${l.version}: ${l.licence}`), h("pre", {}, l.text))
      )
    )
  );
}

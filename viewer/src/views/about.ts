// The last part of the page: its keys, its data, the meaning of its numbers, and the licences of its libraries.

import { h, heading } from "../dom";
import { bytes } from "../format";
import { State } from "../state";

declare const LICENCES: { name: string; version: string; licence: string; text: string }[];

const KEYS: [string, string][] = [
  ["1 .. 9", "the parts of the page, from left to right"],
  ["/", "search regions, or, on the page of calls, functions"],
  ["t", "light or dark"],
  ["?", "this list"],
  ["arrows", "with the heat map in focus: move the cursor; with shift: move the view"],
  ["left, right, Home, End, Enter", "with a chart in focus: move its cursor; show the load around a step"],
  ["W  A  S  D, arrows", "on the timeline: zoom in, move, zoom out, move; with up and down, scroll"],
  ["F, Escape", "on the timeline: show the held call, release it"],
  ["arrows, Enter, Backspace", "on the flame graph: move, show a box alone, show its caller"],
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
        "Data",
        `The page was written by effort ${head.effort}. ` +
          "It holds the compressed histories, decodes what you look at, and needs no network."
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
      heading("How to read the numbers"),
      h(
        "ul",
        {},
        h(
          "li",
          {},
          "Imbalance is the largest load over the mean load, minus one: the slowest rank's excess over an even share."
        ),
        h(
          "li",
          {},
          "Load is the sum over a rank's compute regions, exclusive of nested regions, in the run's load metric."
        ),
        h(
          "li",
          {},
          "Efficiencies follow POP: load balance = mean / largest computing time; " +
            "communication = largest computing time / elapsed time; parallel = their product."
        ),
        h(
          "li",
          {},
          "Histories are compressed lossily. " +
            "The error stated for a value is the largest error of any value in its history."
        )
      )
    ),
    h(
      "section",
      {},
      heading("Licences"),
      LICENCES.map((l) =>
        h("details", {}, h("summary", {}, `${`${l.name} ${l.version}`.trim()}: ${l.licence}`), h("pre", {}, l.text))
      )
    )
  );
}

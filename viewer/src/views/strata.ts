// Groups of ranks that behave alike.

import { chart } from "../charts";
import { empty, h, heading, select } from "../dom";
import { amount, count, middle, percent } from "../format";
import { category } from "../palette";
import { State } from "../state";
import { domainOf, marksOf } from "../timeline";
import { dendrogram } from "./dendrogram";
import { movement } from "./movement";

export function strata(state: State): HTMLElement {
  const { run } = state;
  const out = h("div");
  if (run.info.strata.length === 0) out.append(empty("No strata were formed: the run ended before its first window."));
  else out.append(profiles(state));
  if (run.info.windows.length > 1) {
    out.append(
      chart({
        title: "Number of strata, per window",
        steps: run.info.windows.map((w) => (w.first + w.last) / 2),
        domain: domainOf(run),
        format: (v) => (Number.isInteger(v) ? String(v) : ""),
        height: 130,
        marks: marksOf(run),
        lines: [{ title: "strata", values: run.info.windows.map((w) => w.strata), colour: category(0), stepped: true }],
      })
    );
  }
  if (run.movement.windows.length > 1) out.append(movement(state));
  if (run.shapes.series.length > 1) out.append(dendrogram(state));
  return out;
}

/** Bars of the regions' shares; hatching tells them apart without colours. */
function profiles(state: State): HTMLElement {
  const { run } = state,
    kept = run.info.strata;
  let at = kept.length - 1;
  const host = h("div");
  const draw = () => {
    const s = kept[at],
      totals = s.stratum_region_load.map((row) => row.reduce((a, b) => a + b, 0)),
      most = Math.max(...totals, 1e-300);
    const weight = s.regions.map((_, r) => s.stratum_region_load.reduce((sum, row, k) => sum + row[r] * s.sizes[k], 0));
    const shown = weight
      .map((_, r) => r)
      .sort((a, b) => weight[b] - weight[a])
      .slice(0, 7);
    const parts = (k: number) => [
      ...shown.map((r) => s.stratum_region_load[k][r]),
      totals[k] - shown.reduce((sum, r) => sum + s.stratum_region_load[k][r], 0),
    ];
    const names = [
      ...shown.map((r) => middle(run.short(s.regions[r]), 44)),
      count(s.regions.length - shown.length, "other region"),
    ];
    host.replaceChildren(
      h(
        "ul",
        { class: "legend" },
        names.map((name, i) =>
          i < shown.length || s.regions.length > shown.length
            ? h(
                "li",
                { title: i < shown.length ? s.regions[shown[i]] : undefined },
                h("span", { class: `swatch hatch${i}`, style: `--c:${category(i)}` }),
                name
              )
            : null
        )
      ),
      h(
        "div",
        { class: "scroll" },
        h(
          "table",
          { class: "strata" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", {}, "stratum"),
              h("th", { class: "number" }, "ranks"),
              h("th", { class: "number" }, "medoid rank"),
              h("th", { class: "number" }, "load per step"),
              h("th", {}, "profile by region")
            )
          ),
          h(
            "tbody",
            {},
            s.medoid_rank.map((medoid, k) =>
              h(
                "tr",
                {},
                h("td", {}, String(k)),
                h(
                  "td",
                  { class: "number" },
                  s.sizes[k].toLocaleString("en"),
                  h("span", { class: "quiet" }, ` ${percent(s.sizes[k] / run.info.ranks)}`)
                ),
                h(
                  "td",
                  { class: "number" },
                  h(
                    "button",
                    { class: "link", title: "shows this rank in the heat map", onclick: () => state.showRank(medoid) },
                    medoid.toLocaleString("en")
                  )
                ),
                h("td", { class: "number" }, amount(totals[k], run.unit(run.loadMetric))),
                h(
                  "td",
                  {},
                  h(
                    "div",
                    {
                      class: "stack",
                      style: `width:${Math.max(1, (100 * totals[k]) / most)}%`,
                      role: "img",
                      "aria-label": names
                        .map((n, i) => `${n} ${amount(parts(k)[i], run.unit(run.loadMetric))}`)
                        .join(", "),
                    },
                    parts(k).map((v, i) =>
                      v > 0
                        ? h("span", {
                            class: `hatch${i}`,
                            style: `flex:${(100 * v) / totals[k]} 0 0;--c:${category(i)}`,
                            title: `${names[i]}: ${amount(v, run.unit(run.loadMetric))}`,
                          })
                        : null
                    )
                  )
                )
              )
            )
          )
        )
      )
    );
  };
  draw();
  return h(
    "section",
    {},
    heading(
      "Strata",
      "Groups of ranks with similar loads per region. " +
        "The medoid represents its group: examine or trace these few ranks instead of all."
    ),
    kept.length > 1
      ? h(
          "div",
          { class: "toolbar" },
          select(
            "window",
            kept.map((s, i) => ({ value: String(i), title: `steps ${s.first}..${s.last}` })),
            String(at),
            (v) => {
              at = Number(v);
              draw();
            }
          )
        )
      : h("p", { class: "quiet" }, `Window of steps ${kept[at].first}..${kept[at].last}.`),
    host
  );
}

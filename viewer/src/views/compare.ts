// Two runs side by side, as `effort diff` compares them.  They may differ in the number of ranks and in the program's
// build.

import { chart } from "../charts";
import { empty, h, heading, select, unbroken } from "../dom";
import { amount, change, count, percent, seconds } from "../format";
import { Comparison, RegionChange, RegionSide } from "../model";
import { category } from "../palette";
import { readComparisons } from "../report";
import { Run } from "../run";
import { State } from "../state";
import { imbalanceOf } from "../timeline";

const FIRST_ROWS = 40;

export function compare(state: State): HTMLElement {
  const { runs } = state.report,
    pairs = readComparisons();
  let before = 0,
    after = 1;
  const toolbar = h("div", { class: "toolbar" }),
    host = h("div");
  const label = (i: number) =>
    `${i + 1}: ${runs.filter((r) => r.label === runs[i].label).length > 1 ? runs[i].file : runs[i].label}`;
  const options = (list: number[]) =>
    [...new Set(list)].sort((a, b) => a - b).map((i) => ({ value: String(i), title: label(i) }));
  const draw = () => {
    const partners = pairs.filter((p) => p.before === before).map((p) => p.after);
    if (!partners.includes(after)) after = partners[0];
    toolbar.replaceChildren(
      select("before", options(pairs.map((p) => p.before)), String(before), (v) => {
        before = Number(v);
        draw();
      }),
      select("after", options(partners), String(after), (v) => {
        after = Number(v);
        draw();
      })
    );
    const { comparison } = pairs.find((p) => p.before === before && p.after === after)!;
    host.replaceChildren(
      ...(comparison.problem
        ? [empty(`These runs cannot be compared region by region: ${comparison.problem}.`)]
        : [headline(comparison, runs[before], runs[after])]),
      curves(runs),
      ...(comparison.problem ? [] : byRegion(comparison))
    );
  };
  draw();
  return h("div", {}, toolbar, host);
}

function headline(c: Comparison, x: Run, y: Run): HTMLElement {
  const { a, b } = c,
    unit = x.unit(x.loadMetric),
    of = (v: number) => amount(v, c.unit);
  const rows: [string, number | null, number | null, (v: number) => string, boolean?][] = [
    ["ranks", a.ranks, b.ranks, String],
    ["nodes", a.nodes, b.nodes, String],
    ["steps", a.steps, b.steps, String],
    ["elapsed", a.wall_seconds, b.wall_seconds, (v) => seconds(v)],
    ["elapsed per step", a.seconds_per_step, b.seconds_per_step, (v) => seconds(v)],
    [`computing, ${c.metric} per rank and step`, a.compute_per_step, b.compute_per_step, of],
    ["the rest per rank and step", a.other_per_step, b.other_per_step, of],
    ["computing per step, all ranks", a.compute_per_step * a.ranks, b.compute_per_step * b.ranks, of],
    ["critical path", x.load.criticalPath, y.load.criticalPath, (v) => amount(v, unit)],
    ["imbalance, mean of windows", a.imbalance, b.imbalance, percent, true],
    ["parallel efficiency", a.parallel_efficiency, b.parallel_efficiency, percent, true],
    ["ideal balance would save", a.ideal_saving, b.ideal_saving, percent, true],
    ["rebalances", a.rebalances, b.rebalances, String, true],
    ["effort's own share of computing", a.own_cpu_share, b.own_cpu_share, percent, true],
  ];
  const known = (v: number | null, text: (v: number) => string) => (v === null || !Number.isFinite(v) ? "-" : text(v));
  return h(
    "section",
    {},
    heading("Runs"),
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
            h("th"),
            h("th", { class: "number" }, "before"),
            h("th", { class: "number" }, "after"),
            h("th", { class: "number" }, "change")
          )
        ),
        h(
          "tbody",
          {},
          rows
            .filter(([, p, q]) => p !== null || q !== null)
            .map(([name, p, q, text, plain]) =>
              h(
                "tr",
                {},
                h("td", {}, name),
                h("td", { class: "number" }, known(p, text)),
                h("td", { class: "number" }, known(q, text)),
                h("td", { class: "number" }, !plain && p && q !== null && p !== q ? change(q / p - 1) : "")
              )
            )
        )
      )
    )
  );
}

function curves(runs: Run[]): HTMLElement {
  const steps = [...new Set(runs.flatMap((r) => imbalanceOf(r).steps))].sort((x, y) => x - y);
  return chart({
    title: "Imbalance over steps",
    steps,
    format: percent,
    height: 220,
    clip: true,
    lines: runs.map((run, i) => {
      const { steps: own, values } = imbalanceOf(run),
        at = new Map(own.map((s, k) => [s, values[k]]));
      return {
        title: `${i + 1}: ${run.label}`,
        values: steps.map((s) => at.get(s) ?? null),
        colour: category(i % 7),
        dash: i % 4,
      };
    }),
  });
}

const GROUPS: { verdict: RegionChange["verdict"]; title: string; mark: string }[] = [
  { verdict: "worse", title: "Worse", mark: "\u25b4" },
  { verdict: "better", title: "Better", mark: "\u25be" },
  { verdict: "only_a", title: "Only before", mark: "" },
  { verdict: "only_b", title: "Only after", mark: "" },
  { verdict: "same", title: "The same", mark: "" },
];

function byRegion(c: Comparison): HTMLElement[] {
  const groups = GROUPS.map((g) => ({ ...g, rows: c.regions.filter((r) => r.verdict === g.verdict) })).filter(
    (g) => g.rows.length > 0
  );
  const tally = GROUPS.slice(0, 4)
    .map((g) => ({ title: g.title, n: c.regions.filter((r) => r.verdict === g.verdict).length }))
    .filter((g) => g.n > 0)
    .map((g) => `${g.n} ${g.title.toLowerCase()}`);
  return [
    h(
      "section",
      {},
      heading(
        "Regions",
        `${c.metric} per step of the slowest rank, for which the others wait, and as a mean over ranks. ` +
          `A change of at most ${percent(c.threshold)} counts as the same. ` +
          `${[...tally, `${count(c.regions.length, "region")} in all`].join(", ")}.`
      ),
      groups.map((g) => {
        const table = h("div", { class: "scroll" }, tableOf(c, g.rows));
        return g.verdict === "same"
          ? h("details", { open: groups.length === 1 }, h("summary", {}, `${g.title}: ${g.rows.length}`), table)
          : h("div", { "data-verdict": g.verdict }, h("h3", {}, `${g.mark} ${g.title}`.trim()), table);
      })
    ),
    ...(c.notes.length > 0
      ? [
          h(
            "section",
            {},
            heading("Notes"),
            h(
              "ul",
              {},
              c.notes.map((n) => h("li", {}, n))
            )
          ),
        ]
      : []),
  ];
}

function tableOf(c: Comparison, rows: RegionChange[]): HTMLElement {
  const most = Math.max(...rows.map((r) => Math.abs(r.change_per_step)), 1e-300);
  const side = (s: RegionSide | null, pick: (s: RegionSide) => number, text: (v: number) => string) =>
    h("td", { class: "number" }, s ? text(pick(s)) : "-");
  const of = (v: number) => amount(v, c.unit),
    ratio = (r: RegionChange, pick: (s: RegionSide) => number) =>
      r.a && r.b && pick(r.a) > 0 ? change(pick(r.b) / pick(r.a) - 1) : "";
  const line = (r: RegionChange) =>
    h(
      "tr",
      {},
      h(
        "td",
        { class: "name", title: [r.a?.name, r.b?.name].filter((n) => n && n !== r.name).join("\n") || undefined },
        r.phase ? `${r.phase}: ` : "",
        unbroken(r.name)
      ),
      h("td", {}, h("span", { class: `kind ${r.kind}` }, r.kind)),
      side(r.a, (s) => s.max_per_step, of),
      side(r.b, (s) => s.max_per_step, of),
      h(
        "td",
        { class: "number" },
        ratio(r, (s) => s.max_per_step)
      ),
      h(
        "td",
        {},
        h(
          "span",
          { class: `bar ${r.change_per_step > 0 ? "more" : "less"}` },
          h("span", { style: `width:${(100 * Math.abs(r.change_per_step)) / most}%` })
        )
      ),
      side(r.a, (s) => s.mean_per_step, of),
      side(r.b, (s) => s.mean_per_step, of),
      h(
        "td",
        { class: "number" },
        ratio(r, (s) => s.mean_per_step)
      ),
      side(r.a, (s) => s.imbalance, percent),
      side(r.b, (s) => s.imbalance, percent)
    );
  const body = h("tbody", {}, rows.slice(0, FIRST_ROWS).map(line));
  if (rows.length > FIRST_ROWS) {
    const more = h(
      "tr",
      {},
      h(
        "td",
        { colspan: 11 },
        h(
          "button",
          { class: "link", onclick: () => more.replaceWith(...rows.slice(FIRST_ROWS).map(line)) },
          `${rows.length - FIRST_ROWS} more`
        )
      )
    );
    body.append(more);
  }
  return h(
    "table",
    { class: "compare" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        [
          "region",
          "kind",
          "largest before",
          "after",
          "change",
          "",
          "mean before",
          "after",
          "change",
          "imbalance before",
          "after",
        ].map((t, i) => h("th", { class: i > 1 && i !== 5 ? "number" : "" }, t))
      )
    ),
    body
  );
}

// The table of phases and regions, with sorting, searching and sums of a selection.

import { pathTree, callPaths } from "../callpath";
import { spark } from "../charts";
import { empty, h, select, unbroken } from "../dom";
import { amount, percent } from "../format";
import { MetricNumbers } from "../model";
import { Run } from "../run";
import { State } from "../state";

const FIRST_ROWS = 200;

interface Row {
  region: number;
  name: string;
  n?: MetricNumbers;
}

type Key = "name" | "kind" | "total" | "mean_over_ranks" | "max_over_ranks" | "imbalance" | "max_rank";
const COLUMNS: { key: Key; title: string; number: boolean }[] = [
  { key: "name", title: "region", number: false },
  { key: "kind", title: "kind", number: false },
  { key: "total", title: "share", number: true },
  { key: "mean_over_ranks", title: "mean per rank", number: true },
  { key: "max_over_ranks", title: "largest", number: true },
  { key: "max_rank", title: "of rank", number: true },
  { key: "imbalance", title: "imbalance", number: true },
];

export function regions(state: State): HTMLElement {
  const { run } = state,
    { info } = run;
  if (info.regions.length === 0) return empty("This run recorded no regions.");
  const sort: { key: Key; down: boolean } = { key: "total", down: true };
  let metric = run.loadMetric,
    query = "",
    shown = FIRST_ROWS;
  const open = new Set<number>(),
    closed = new Set<string>();
  const phases = [...new Set(info.regions.map((r) => r.phase))];
  const body = h("tbody"),
    sum = h("div", { class: "sum", "aria-live": "polite" });
  const table = h("table", { class: "regions" });

  const rowsOf = (phase: string): Row[] =>
    info.regions
      .map((r, region) => ({
        region,
        name: run.short(r.name),
        n: run.numbers(region, metric),
        phase: r.phase,
        raw: r.name,
      }))
      .filter(
        (row) =>
          row.phase === phase && (query === "" || `${row.name} ${row.raw} ${row.phase}`.toLowerCase().includes(query))
      )
      .sort((a, b) => compare(run, sort.key, a, b) * (sort.down ? -1 : 1));

  const head = () =>
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h(
          "th",
          {},
          h("input", {
            type: "checkbox",
            "aria-label": "select all shown",
            onchange: (e: Event) => {
              for (const phase of phases)
                for (const row of rowsOf(phase))
                  (e.target as HTMLInputElement).checked
                    ? state.selection.add(row.region)
                    : state.selection.delete(row.region);
              draw();
            },
          })
        ),
        COLUMNS.map(({ key, title, number }) =>
          h(
            "th",
            {
              class: number ? "number" : "",
              "aria-sort": sort.key === key ? (sort.down ? "descending" : "ascending") : "none",
            },
            h(
              "button",
              {
                class: "sort",
                "data-key": key,
                onclick: () => {
                  sort.down = sort.key === key ? !sort.down : number;
                  sort.key = key;
                  draw();
                  table.querySelector<HTMLElement>(`button[data-key=${key}]`)?.focus();
                },
              },
              title,
              h("span", { "aria-hidden": "true" }, sort.key === key ? (sort.down ? " \u25be" : " \u25b4") : "")
            )
          )
        ),
        h(
          "th",
          { title: "from the first to the last step: the mean of the ranks as a line, the largest as a band" },
          "over steps"
        ),
        h("th", {}, "")
      )
    );

  const line = (row: Row, all: number): HTMLElement[] => {
    const { n, region } = row,
      r = info.regions[region],
      unit = run.unit(metric),
      paths = callPaths(r.name).length > 0;
    const box = h("input", {
      type: "checkbox",
      "aria-label": `select ${row.name}`,
      checked: state.selection.has(region),
      onchange: () => {
        box.checked ? state.selection.add(region) : state.selection.delete(region);
        drawSum();
      },
    });
    const s = run.seriesOf[region][metric];
    const out = [
      h(
        "tr",
        { "data-region": region },
        h("td", {}, box),
        h(
          "td",
          { class: "name", title: r.name },
          paths
            ? h(
                "button",
                {
                  class: "expand",
                  "aria-expanded": String(open.has(region)),
                  "aria-label": `call path of ${row.name}`,
                  onclick: () => {
                    open.has(region) ? open.delete(region) : open.add(region);
                    draw();
                  },
                },
                open.has(region) ? "\u25be" : "\u25b8"
              )
            : null,
          h("button", { class: "link", onclick: () => state.showLoad([region], metric) }, unbroken(row.name))
        ),
        h("td", {}, h("span", { class: `kind ${r.kind}` }, r.kind)),
        h(
          "td",
          { class: "number share" },
          n && all > 0
            ? [
                h("span", { class: "bar" }, h("span", { style: `width:${(100 * n.total) / all}%` })),
                h("span", { class: "of" }, percent(n.total / all)),
              ]
            : "-"
        ),
        h("td", { class: "number" }, n ? amount(n.mean_over_ranks, unit) : "-"),
        h("td", { class: "number" }, n ? amount(n.max_over_ranks, unit) : "-"),
        h("td", { class: "number" }, n && n.total > 0 ? n.max_rank.toLocaleString("en") : "-"),
        h("td", { class: "number" }, n ? percent(n.imbalance) : "-"),
        h("td", {}, s >= 0 ? spark(run.series[s].mean, run.series[s].max) : ""),
        h(
          "td",
          {},
          state.report.head.source
            ? h("button", { class: "link", onclick: () => state.showSource(r.name) }, "source")
            : ""
        )
      ),
    ];
    if (open.has(region))
      out.push(
        h("tr", { class: "detail" }, h("td"), h("td", { colspan: COLUMNS.length + 2 }, pathTree(run.frames, r.name)))
      );
    return out;
  };

  function draw(): void {
    const all = info.regions.reduce((s, _, i) => s + (run.numbers(i, metric)?.total ?? 0), 0);
    table.replaceChildren(head(), body);
    body.replaceChildren();
    let left = shown,
      hidden = 0,
      found = 0;
    for (const phase of phases) {
      const rows = rowsOf(phase);
      found += rows.length;
      if (rows.length === 0) continue;
      if (phases.length > 1) {
        const total = rows.reduce((s, row) => s + (row.n?.total ?? 0), 0);
        body.append(
          h(
            "tr",
            { class: "phase" },
            h("td"),
            h(
              "td",
              { colspan: 2 },
              h(
                "button",
                {
                  class: "expand",
                  "aria-expanded": String(!closed.has(phase)),
                  onclick: () => {
                    closed.has(phase) ? closed.delete(phase) : closed.add(phase);
                    draw();
                  },
                },
                closed.has(phase) ? "\u25b8" : "\u25be"
              ),
              phase === "" ? "no phase" : `phase ${phase}`
            ),
            h("td", { class: "number" }, all > 0 ? percent(total / all) : "-"),
            h("td", { class: "number" }, amount(total / info.ranks, run.unit(metric))),
            h("td", { colspan: 5 })
          )
        );
        if (closed.has(phase)) continue;
      }
      for (const row of rows.slice(0, left)) body.append(...line(row, all));
      hidden += Math.max(0, rows.length - left);
      left = Math.max(0, left - rows.length);
    }
    if (hidden > 0)
      body.append(
        h(
          "tr",
          {},
          h(
            "td",
            { colspan: COLUMNS.length + 3 },
            h(
              "button",
              {
                class: "link",
                onclick: () => {
                  shown += 2000;
                  draw();
                },
              },
              `${hidden.toLocaleString("en")} more`
            )
          )
        )
      );
    if (found === 0)
      body.append(h("tr", {}, h("td", { colspan: COLUMNS.length + 3 }, `No region's name contains "${query}".`)));
    drawSum();
  }

  function drawSum(): void {
    const picked = [...state.selection],
      unit = run.unit(metric);
    if (picked.length === 0) {
      sum.replaceChildren(h("span", { class: "quiet" }, "Select regions to see their sum."));
      return;
    }
    const all = info.regions.reduce((s, _, i) => s + (run.numbers(i, metric)?.total ?? 0), 0);
    const total = picked.reduce((s, i) => s + (run.numbers(i, metric)?.total ?? 0), 0);
    const worst = h("span", { id: "sum-worst" }, "worst rank ...");
    sum.replaceChildren(
      h("b", {}, `${picked.length} selected: ${all > 0 ? percent(total / all) : "-"}`),
      h(
        "span",
        { id: "sum-mean", "data-mean": total / info.ranks },
        `mean per rank ${amount(total / info.ranks, unit)}`
      ),
      worst,
      h("button", { onclick: () => state.showLoad(picked, metric) }, "show their load"),
      h(
        "button",
        {
          onclick: () => {
            state.selection.clear();
            draw();
          },
        },
        "clear"
      )
    );
    const series = picked.flatMap((r) => (run.seriesOf[r][metric] >= 0 ? [run.series[run.seriesOf[r][metric]]] : []));
    if (series.length === 0 || info.steps === 0) {
      worst.textContent = "";
      return;
    }
    const show = (largest: number, rank: number) => {
      const mean = total / info.ranks;
      const imbalance = mean > 0 ? percent(largest / mean - 1) : "-";
      const where = `rank ${rank.toLocaleString("en")}`;
      worst.textContent = `largest ${amount(largest, unit)} of ${where}, imbalance ${imbalance}`;
    };
    const totals = run.rankTotals(series);
    if (totals) {
      const rank = worstOf(totals);
      return show(totals[rank], rank);
    }
    state.engine.picture(
      run,
      series,
      { r0: 0, r1: info.ranks, c0: 0, c1: info.steps, rows: info.ranks, cols: 1, level: 0, mode: "mean" },
      ({ values, done }) => {
        const rank = worstOf(values);
        if (done) show(values[rank] * info.steps, rank);
      },
      (error) => (worst.textContent = error.message)
    );
  }

  const search = h("input", {
    type: "search",
    id: "region-search",
    placeholder: "search ( / )",
    "aria-label": "search regions",
    oninput: () => {
      query = search.value.trim().toLowerCase();
      shown = FIRST_ROWS;
      draw();
    },
  });
  draw();
  return h(
    "div",
    {},
    h(
      "div",
      { class: "toolbar" },
      search,
      info.metrics.length > 1
        ? select(
            "metric",
            info.metrics.map((title, i) => ({ value: String(i), title })),
            String(metric),
            (v) => {
              metric = Number(v);
              draw();
            }
          )
        : null,
      h("span", { class: "quiet" }, `${info.regions.length.toLocaleString("en")} regions`)
    ),
    h("div", { class: "scroll" }, table),
    sum
  );
}

/** The index of the largest value. */
function worstOf(values: ArrayLike<number>): number {
  let worst = 0;
  for (let i = 1; i < values.length; ++i) if (values[i] > values[worst]) worst = i;
  return worst;
}

function compare(run: Run, key: Key, a: Row, b: Row): number {
  if (key === "name") return a.name.localeCompare(b.name);
  if (key === "kind") return run.info.regions[a.region].kind.localeCompare(run.info.regions[b.region].kind);
  return (a.n?.[key] ?? -1) - (b.n?.[key] ?? -1);
}

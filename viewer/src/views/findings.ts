// The findings at the top of the overview: the saving by ideal balance, the imbalance, and the region, rank and steps
// that cost most.

import { h, unbroken } from "../dom";
import { amount, count, middle, percent } from "../format";
import { lossOf } from "../loss";
import { Run } from "../run";
import { State, Viewport, WHOLE } from "../state";

/** The share that ideal balance would save of the elapsed time, or else of the critical path. */
function idealSaving(run: Run): { share: number; of: "time" | "path" } | undefined {
  const { criticalPath, meanPath } = run.load,
    saved = criticalPath - meanPath;
  if (!(criticalPath > 0)) return undefined;
  if (run.info.load_metric === "time" && run.info.wall_seconds > 0)
    return { share: Math.min(1, saved / run.info.wall_seconds), of: "time" };
  return { share: saved / criticalPath, of: "path" };
}

export function verdict(run: Run): HTMLElement {
  const saving = idealSaving(run),
    done = run.info.windows.reduce((sum, w) => sum + (w.rebalances ?? w.rebalanced), 0),
    wanted = run.info.windows.filter((w) => w.rebalance).length;
  const { nrmse } = run.info,
    unit = run.unit(run.loadMetric);
  const nearly = `(from the compressed history${nrmse ? `, nrmse ${percent(nrmse)}` : ""}, which lowers peaks)`;
  const paths = `critical path ${amount(run.load.criticalPath, unit, 4)}, ideal ${amount(run.load.meanPath, unit, 4)}`;
  const facts = [
    run.load.exact ? paths : `${paths} ${nearly}`,
    done > 0
      ? count(done, "rebalance")
      : wanted > 0
        ? `${wanted} of ${run.info.windows.length} hints recommended a rebalance; none was done`
        : "no rebalance was recommended",
  ];
  return h(
    "div",
    { class: "verdict" },
    h(
      "p",
      { class: "lead", id: "ideal" },
      run.info.ranks === 1 && saving
        ? "One rank: there is nothing to balance."
        : saving
          ? saving.of === "time"
            ? `Ideal balance would run this in ${percent(saving.share)} less time.`
            : `Ideal balance would shorten the critical path by ${percent(saving.share)}.`
          : "No load was measured."
    ),
    saving ? h("p", { class: "quiet" }, facts.join("; "), ".") : null
  );
}

/** Links to the region, the rank and the steps that cost most.  Null if nothing is lost to imbalance. */
export function findings(state: State): HTMLElement | null {
  const { run } = state,
    loss = lossOf(run),
    unit = run.unit(run.loadMetric),
    { ranks, steps } = run.info;
  if (!loss) return null;
  const link = (text: string, title: string, act: () => void) =>
    h("button", { class: "link", title, onclick: act }, unbroken(text));
  const show = (viewport: Viewport, region?: number) => {
    state.viewport = viewport;
    state.showLoad(region === undefined ? [] : [region], run.loadMetric);
  };
  const [region, second] = loss.regions,
    [rank, ...others] = loss.ranks,
    [first, last] = loss.stretch.what,
    name = (i: number) => middle(run.short(run.info.regions[i].name), 40);
  const near = Math.max(8, ranks / 40) / ranks,
    at = (rank.what + 0.5) / ranks,
    clamp = (v: number) => Math.min(1, Math.max(0, v));
  const entry = (what: string, value: string | HTMLElement, more: string) =>
    h("div", {}, h("dt", {}, what), h("dd", {}, value), h("dd", { class: "quiet" }, unbroken(more)));
  const lost = `${amount(run.load.criticalPath - run.load.meanPath, unit)} of ${run.info.load_metric}`;
  const secondRegion = second ? `; then ${name(second.what)}, ${percent(second.share)}` : "";
  const nextRanks = others.slice(0, 3).map((o) => `${o.what.toLocaleString("en")} (${percent(o.share)})`);
  const otherRanks = nextRanks.length > 0 ? `; then ${nextRanks.join(", ")}` : "";
  return h(
    "dl",
    { class: "findings", id: "findings" },
    entry(
      "how unbalanced",
      percent(run.load.criticalPath / run.load.meanPath - 1),
      `largest load over mean load, minus one; the slowest ranks cost ${lost}`
    ),
    region
      ? entry(
          "which region",
          link(name(region.what), `shows its load: ${run.info.regions[region.what].name}`, () =>
            show(WHOLE, region.what)
          ),
          `the most unbalanced region in windows with ${percent(region.share)} of the loss${secondRegion}`
        )
      : "",
    entry(
      "which rank",
      link(`rank ${rank.what.toLocaleString("en")}`, "shows the load of this rank and its neighbours", () =>
        show({ r0: clamp(at - near), r1: clamp(at + near), c0: 0, c1: 1 })
      ),
      `the slowest rank in steps with ${percent(rank.share)} of the loss${otherRanks}`
    ),
    steps > 1
      ? entry(
          "when",
          link(`steps ${first.toLocaleString("en")} to ${last.toLocaleString("en")}`, "shows these steps", () =>
            show({ r0: 0, r1: 1, c0: first / steps, c1: (last + 1) / steps })
          ),
          `${percent(loss.stretch.share)} of the loss, in ${percent(loss.stretch.ofSteps)} of the steps`
        )
      : ""
  );
}

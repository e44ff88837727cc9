// Rank by step: heat maps and surfaces, side by side.

import { empty, h, select } from "../dom";
import { amount } from "../format";
import { HeatMap } from "../heatmap/heatmap";
import { zoomMiddle } from "../heatmap/viewport";
import { PALETTES } from "../palette";
import { Panel, State, WHOLE } from "../state";
import { surface, SurfaceView } from "../surface";

const MOST_PANELS = 4;

export function load(state: State): { element: HTMLElement; destroy: () => void } {
  const { run } = state,
    { info } = run;
  if (info.steps === 0 || run.series.length === 0)
    return { element: empty("This run has no history of loads."), destroy: () => {} };
  const maps: HeatMap[] = [],
    surfaces: SurfaceView[] = [];
  const panels = h("div", { class: "panels" });

  const clear = () => {
    for (const map of maps.splice(0)) map.destroy();
    for (const s of surfaces.splice(0)) s.destroy();
  };
  const redrawPanels = () => {
    clear();
    panels.replaceChildren(...state.panels.map((panel, i) => panelOf(panel, i)));
    panels.dataset.count = String(state.panels.length);
  };

  function panelOf(panel: Panel, index: number): HTMLElement {
    // A single map may fill the window.
    const height =
        state.panels.length > 2 || state.shape === "both"
          ? 360
          : state.panels.length > 1
            ? 480
            : Math.max(480, Math.min(900, innerHeight - 320)),
      its = state.report.runs[panel.run];
    const map = new HeatMap(state, panel, height);
    maps.push(map);
    let view: SurfaceView | undefined;
    if (state.shape !== "map") {
      view = surface(state, height);
      surfaces.push(view);
      map.onView = (picture) => {
        const { viewport: v } = state,
          rank = (share: number) => Math.min(its.info.ranks - 1, Math.floor(share * its.info.ranks)),
          step = (share: number) => Math.min(its.info.steps - 1, Math.floor(share * its.info.steps));
        const what = state.order === "id" ? "rank" : "place",
          unit = its.unit(panel.metric);
        view!.show(picture, {
          ranks: [`${what} ${rank(v.r0)}`, `${what} ${rank(v.r1 - 1e-9)}`],
          steps: [`step ${step(v.c0)}`, `step ${step(v.c1 - 1e-9)}`],
          values: [
            amount(picture.low, unit),
            `${picture.most > picture.high ? "> " : ""}${amount(picture.high, unit)}`,
          ],
        });
      };
    }
    const pick = (change: Partial<Panel>) => {
      state.panels[index] = { ...panel, ...change };
      redrawPanels();
    };
    const regions = [
      { value: "", title: "all computing regions" },
      ...(panel.regions.length > 1 ? [{ value: "several", title: `${panel.regions.length} selected regions` }] : []),
      ...its.info.regions.map((r, i) => ({
        value: String(i),
        title: `${r.phase ? `${r.phase}: ` : ""}${its.short(r.name)}`,
      })),
    ];
    return h(
      "div",
      { class: "panel", "data-shape": state.shape },
      h(
        "div",
        { class: "toolbar" },
        state.report.runs.length > 1
          ? select(
              "run",
              state.report.runs.map((r, i) => ({ value: String(i), title: r.label })),
              String(panel.run),
              (v) => pick({ run: Number(v), regions: [], metric: state.report.runs[Number(v)].loadMetric })
            )
          : null,
        select(
          "region",
          regions,
          panel.regions.length === 0 ? "" : panel.regions.length > 1 ? "several" : String(panel.regions[0]),
          (v) => v !== "several" && pick({ regions: v === "" ? [] : [Number(v)] })
        ),
        its.info.metrics.length > 1
          ? select(
              "metric",
              its.info.metrics.map((title, i) => ({ value: String(i), title })),
              String(panel.metric),
              (v) => pick({ metric: Number(v) })
            )
          : null,
        state.panels.length > 1
          ? h(
              "button",
              {
                "aria-label": "close this panel",
                onclick: () => {
                  state.panels.splice(index, 1);
                  redrawPanels();
                },
              },
              "close"
            )
          : null
      ),
      h(
        "div",
        { class: "views" },
        h("div", { class: "view", hidden: state.shape === "surface" }, map.element),
        view ? h("div", { class: "view" }, view.element) : null
      )
    );
  }

  const all = (change: () => void) => {
    change();
    redrawPanels();
  };
  const zoom = (factor: number) => zoomMiddle(state, state.report.runs[state.panels[0].run].info, factor);
  const toolbar = h(
    "div",
    { class: "toolbar" },
    select(
      "show",
      [
        { value: "map", title: "heat map" },
        { value: "surface", title: "surface" },
        { value: "both", title: "both" },
      ],
      state.shape,
      (v) => all(() => (state.shape = v as State["shape"]))
    ),
    select(
      "ranks",
      run.orders().map(({ key, title }) => ({ value: key, title })),
      state.order,
      (v) => all(() => (state.order = v))
    ),
    select(
      "cell",
      [
        { value: "mean", title: "mean" },
        { value: "max", title: "largest rank" },
      ],
      state.mode,
      (v) => all(() => (state.mode = v as State["mode"]))
    ),
    select(
      "colours",
      PALETTES.map((p) => ({ value: p, title: p })),
      state.palette,
      (v) => all(() => (state.palette = v))
    ),
    select(
      "scale",
      [
        { value: "fit", title: "fitted" },
        { value: "whole", title: "whole range" },
        { value: "zero", title: "from zero" },
      ],
      state.scale,
      (v) => all(() => (state.scale = v as State["scale"]))
    ),
    h(
      "span",
      { class: "group" },
      h("button", { "aria-label": "zoom in", onclick: () => zoom(0.5) }, "+"),
      h("button", { "aria-label": "zoom out", onclick: () => zoom(2) }, "\u2212"),
      h("button", { onclick: () => state.setViewport(WHOLE) }, "whole run")
    ),
    h(
      "button",
      {
        onclick: () => {
          if (state.panels.length >= MOST_PANELS) return;
          const last = state.panels[state.panels.length - 1],
            other = state.report.runs[(last.run + 1) % state.report.runs.length];
          all(() =>
            state.panels.push(
              state.report.runs.length > 1
                ? { ...last, run: other.index, regions: [], metric: other.loadMetric }
                : { ...last, metric: (last.metric + 1) % info.metrics.length }
            )
          );
        },
      },
      "add a panel"
    )
  );

  redrawPanels();
  return {
    element: h(
      "div",
      {},
      toolbar,
      panels,
      h(
        "p",
        { class: "quiet hint" },
        "Drag a rectangle to zoom in; double-click for the whole run. With the map in focus, arrow keys move ",
        "the cursor, shift and arrow keys the view; +, \u2212 and the wheel zoom; 0 shows the whole run."
      )
    ),
    destroy: clear,
  };
}

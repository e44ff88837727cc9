// The report page: reads the embedded data and shows one part at a time.

import { redraw } from "./charts";
import { h, select } from "./dom";
import { Engine } from "./engine";
import { readReport, Report } from "./report";
import { State } from "./state";
import { about } from "./views/about";
import { calls } from "./views/calls";
import { communication } from "./views/communication";
import { compare } from "./views/compare";
import { costs } from "./views/costs";
import { load } from "./views/load";
import { overview } from "./views/overview";
import { regions } from "./views/regions";
import { source } from "./views/source";
import { strata } from "./views/strata";
import { timeline } from "./views/timeline";
import { trust } from "./views/trust";

interface Tab {
  key: string;
  title: string;
  make: (state: State) => HTMLElement | { element: HTMLElement; destroy: () => void };
  when?: (report: Report) => boolean;
}

const traced = ({ head }: Report) => head.traces.includes(true);

const TABS: Tab[] = [
  { key: "overview", title: "Overview", make: overview },
  { key: "regions", title: "Regions", make: regions },
  { key: "load", title: "Load", make: load },
  { key: "strata", title: "Strata", make: strata },
  { key: "costs", title: "Costs", make: costs },
  { key: "communication", title: "Communication", make: communication },
  { key: "timeline", title: "Timeline", make: timeline, when: traced },
  { key: "trust", title: "Trust", make: trust, when: traced },
  { key: "calls", title: "Calls", make: calls, when: ({ head }) => head.calls > 0 },
  {
    key: "source",
    title: "Source",
    make: source,
    when: ({ head, runs }) => head.source !== undefined || runs.some((r) => Object.keys(r.frames).length > 0),
  },
  { key: "compare", title: "Compare", make: compare, when: ({ runs }) => runs.length > 1 },
  { key: "about", title: "About", make: about },
];

/** The width that fits between the margins of A4 and of US Letter. */
const PAPER = "690px";

class Page {
  private readonly main = h("main", { id: "main", tabindex: -1 });
  private readonly problem = h("p", { class: "problem", role: "alert", hidden: true });
  private readonly tabs: Tab[];
  private destroy = () => {};

  constructor(
    private readonly state: State,
    host: HTMLElement
  ) {
    const { report } = state;
    this.tabs = TABS.filter((tab) => tab.when?.(report) ?? true);
    host.replaceChildren(
      h("a", { class: "skip", href: "#main" }, "to the content"),
      h(
        "header",
        {},
        h("h1", {}, report.head.title || "effort"),
        report.runs.length > 1
          ? select(
              "run",
              report.runs.map((r, i) => ({ value: String(i), title: `${i + 1}: ${r.label}` })),
              "0",
              (v) => state.setRun(report.runs[Number(v)])
            )
          : h("span", { class: "quiet" }, report.runs[0]?.info.job ? `job ${report.runs[0].info.job}` : ""),
        h(
          "nav",
          { role: "tablist", "aria-label": "parts of the report" },
          this.tabs.map((tab) =>
            h(
              "button",
              { role: "tab", id: `tab-${tab.key}`, "aria-controls": "main", onclick: () => state.go(tab.key) },
              tab.title
            )
          )
        ),
        h(
          "button",
          {
            class: "theme",
            "aria-label": "light or dark",
            title: "light or dark (t)",
            onclick: () => this.switchTheme(),
          },
          "\u25d0"
        )
      ),
      this.problem,
      this.main
    );
    state.engine.onProblem = (sentence) => this.complain(sentence);
    state.on("tab", () => {
      if (location.hash.slice(1) !== state.tab) history.replaceState(null, "", `#${state.tab}`);
      this.show();
    });
    state.on("run", () => this.show());
    addEventListener("hashchange", () => this.follow());
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("beforeprint", () => this.print());
    addEventListener("afterprint", () => this.show());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
    this.follow();
  }

  private follow(): void {
    const key = location.hash.slice(1);
    this.state.tab = this.tabs.some((tab) => tab.key === key) ? key : "overview";
    this.show();
  }

  private show(): void {
    this.destroy();
    this.main.style.width = "";
    const tab = this.tabs.find(({ key }) => key === this.state.tab) ?? this.tabs[0];
    for (const t of this.tabs)
      document.getElementById(`tab-${t.key}`)?.setAttribute("aria-selected", String(t === tab));
    const made = tab.make(this.state);
    this.destroy = "destroy" in made ? made.destroy : () => {};
    this.main.replaceChildren(made instanceof HTMLElement ? made : made.element);
    this.main.dataset.tab = tab.key;
    scrollTo(0, 0);
  }

  /** Shows everything except the controls, for paper. */
  private print(): void {
    this.destroy();
    const { shape } = this.state,
      parts: (() => void)[] = [];
    this.destroy = () => parts.forEach((destroy) => destroy());
    this.state.shape = "map";
    // Charts are drawn before the browser lays out the paper; without this they would be as wide as the screen.
    this.main.style.width = PAPER;
    this.main.replaceChildren(
      ...this.tabs
        .filter(({ key }) => !["about", "source"].includes(key))
        .map((tab) => {
          const made = tab.make(this.state);
          if ("destroy" in made) parts.push(made.destroy);
          return h(
            "section",
            { class: "printed" },
            h("h1", {}, tab.title),
            made instanceof HTMLElement ? made : made.element
          );
        })
    );
    this.state.shape = shape;
    redraw(this.main);
  }

  private switchTheme(): void {
    const root = document.documentElement,
      dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    this.show();
  }

  private key(event: KeyboardEvent): void {
    if (
      event.ctrlKey ||
      event.altKey ||
      event.metaKey ||
      (event.target as HTMLElement).matches("input, select, textarea")
    )
      return;
    const number = Number(event.key);
    if (number >= 1 && number <= this.tabs.length) this.state.go(this.tabs[number - 1].key);
    else if (event.key === "t") this.switchTheme();
    else if (event.key === "?") this.state.go("about");
    else if (event.key === "/") {
      if (this.state.tab !== "calls") this.state.go("regions");
      document.getElementById(this.state.tab === "calls" ? "calls-search" : "region-search")?.focus();
      event.preventDefault();
    }
  }

  /** The browser has read the whole page. */
  complete(): void {
    if (["communication", "timeline", "trust", "calls"].includes(this.state.tab)) this.show();
  }
  complain(sentence: string): void {
    this.problem.textContent = sentence;
    this.problem.hidden = false;
  }
}

let started = false;

/** Called by the page as soon as it has read the description of the runs, before their histories. */
export function start(): void {
  started = true;
  const host = document.getElementById("effort-app")!;
  try {
    const report = readReport();
    if (report.runs.length === 0) throw new Error("The report holds no run. Write it again with effort report.");
    const page = new Page(new State(report, new Engine()), host);
    host.dataset.ready = String(Math.round(performance.now()));
    const complete = () => {
      if (document.getElementById("effort-end")?.textContent !== "complete")
        page.complain("This report is cut short: some parts cannot be shown. Write it again with effort report.");
      page.complete();
    };
    document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", complete) : complete();
  } catch (error) {
    host.replaceChildren(
      h("p", { class: "sentence", role: "alert" }, error instanceof Error ? error.message : String(error))
    );
  }
}

// A page that was cut before the end of its description does not call start().
document.addEventListener("DOMContentLoaded", () => started || start());

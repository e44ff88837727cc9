// The line under a heat map with rank, step and value at the cursor.

import { h } from "../dom";
import { Engine } from "../engine";
import { amount } from "../format";
import { Run, Series } from "../run";

/** How long the cursor rests before its value is decoded. */
const REST_MS = 60;

export class Readout {
  readonly element = h("output", { class: "readout", "aria-live": "polite" });
  private at?: { rank: number; step: number };
  private timer = 0;

  constructor(
    private readonly engine: Engine,
    private readonly run: Run,
    private readonly series: Series[],
    private readonly unit: string
  ) {}

  destroy(): void {
    clearTimeout(this.timer);
  }

  /** Shows the picture's value first, and then the decoded one. */
  show(at: { rank: number; step: number } | undefined, inPicture: number | undefined): void {
    clearTimeout(this.timer);
    this.at = at;
    if (!at) return this.element.replaceChildren();
    const about =
      inPicture === undefined
        ? " "
        : h("span", { class: "quiet" }, `about ${amount(inPicture, this.unit)}, decoding \u2026`);
    this.element.replaceChildren(h("span", {}, whereOf(at)), about);
    this.timer = window.setTimeout(() => void this.decode(at.rank, at.step), REST_MS);
  }

  private async decode(rank: number, step: number): Promise<void> {
    const { element, run } = this;
    try {
      const { value, error } = await this.engine.value(run, this.series, rank, step);
      if (this.at?.rank !== rank || this.at.step !== step) return;
      const exact = run.exactValue(this.series, rank, step),
        stratum = run.lastStrata?.stratum[rank];
      Object.assign(element.dataset, { value, error, rank, step, exact: exact ?? "" });
      element.replaceChildren(
        h("span", {}, whereOf({ rank, step })),
        ...this.valueOf(value, error, exact),
        h(
          "span",
          { class: "quiet" },
          `node ${run.nodeOfRank()[rank]}${stratum === undefined ? "" : `, stratum ${stratum}`}`
        )
      );
    } catch (problem) {
      element.textContent = problem instanceof Error ? problem.message : String(problem);
    }
  }

  private valueOf(value: number, error: number, exact: number | undefined): HTMLElement[] {
    const { unit } = this,
      off = exact === undefined ? error : Math.abs(value - exact);
    return exact === undefined
      ? [
          h("b", {}, amount(value, unit)),
          h("span", { class: "quiet" }, `decoded; the measured value is within \u00b1${amount(error, unit)}`),
        ]
      : [
          h("b", {}, amount(exact, unit, 9)),
          h(
            "span",
            { class: "quiet" },
            `exact; decoded ${amount(value, unit)}, off by ${amount(off, unit)} (at most ${amount(error, unit)})`
          ),
        ];
  }
}

function whereOf({ rank, step }: { rank: number; step: number }): string {
  return `rank ${rank.toLocaleString("en")}, step ${step.toLocaleString("en")}`;
}

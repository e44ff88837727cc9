// A run of the report: its series, its loads, its placement on nodes and the orders of its ranks.

import { Frames, Info, MetricNumbers, Movement, PackedPicture, RunJson, SeriesJson, Strata } from "./model";
import { bytesOf, Cells, floats, integers, unpack, unpackPicture } from "./packed";

/** Drops the module from CALL@MODULE+0xHEX in a name that is too long for a line. */
function squeezed(name: string): string {
  return name.length > 40 ? name.replace(/@[^@\s]*?(?=\+0x)/g, "") : name;
}

/** A region by one metric. */
export class Series {
  constructor(
    readonly index: number,
    readonly region: number,
    readonly metric: number,
    private readonly json: SeriesJson
  ) {}
  get mean(): Float32Array {
    return unpack(this.json.mean);
  }
  get max(): Float32Array {
    return unpack(this.json.max);
  }
  /** Means over bins of ranks and steps. */
  get coarse(): Cells {
    return unpackPicture(this.json.coarse);
  }
  /** Rows and columns of the picture at screen resolution; undefined if the histories are decoded quickly. */
  get screen(): { rows: number; cols: number } | undefined {
    const [rows, cols] = this.json.screen;
    return rows > 0 ? { rows, cols } : undefined;
  }
  /** Whether the page also holds the sums over all steps. */
  get hasRankTotals(): boolean {
    return this.json.rank_totals;
  }
  /** Whether the page also holds the exact values. */
  get exact(): boolean {
    return this.json.exact;
  }
  /** Node (-1: all as one), first step and bytes of each history. */
  get histories(): [number, number, number][] {
    return this.json.histories;
  }
}

export interface RankOrder {
  name: string;
  /** The rank at each position. */
  ranks: Int32Array;
}

export class Run {
  readonly info: Info;
  readonly file: string;
  readonly series: Series[];
  /** Per region and metric the series, or -1. */
  readonly seriesOf: number[][];
  readonly loadMetric: number;
  readonly load: {
    stepsPerBin: number;
    level: number;
    mean: Float32Array;
    max: Float32Array;
    worstRank: Int32Array;
    rankTotal: Float32Array;
    criticalPath: number;
    meanPath: number;
    exact: boolean;
  };
  readonly shapes: RunJson["shapes"];
  readonly givenOrders: RankOrder[];
  private readonly packedPicture: PackedPicture;
  readonly frames: Frames;
  readonly frameNotes: string[];
  private readonly shortNames: Record<string, string>;
  readonly movement: Movement;
  /** Number of series whose exact values did not fit into the page. */
  readonly exactLeftOut: number;
  private readonly exactValues = new Map<number, Float64Array>();
  private readonly placement: [number, number][];
  private ranksByNode?: Int32Array[];

  constructor(
    readonly index: number,
    json: RunJson
  ) {
    this.info = json.info;
    this.file = json.file;
    this.series = json.series.map((s, i) => new Series(i, s.region, s.metric, s));
    this.seriesOf = json.info.regions.map(() => json.info.metrics.map(() => -1));
    for (const s of this.series) this.seriesOf[s.region][s.metric] = s.index;
    this.loadMetric = Math.max(0, json.info.metrics.indexOf(json.info.load_metric));
    const { load } = json;
    this.load = {
      stepsPerBin: load.steps_per_bin,
      level: load.level,
      mean: floats(load.mean),
      max: floats(load.max),
      worstRank: integers(load.worst_rank),
      rankTotal: floats(load.rank_total),
      criticalPath: load.critical_path,
      meanPath: load.mean_path,
      exact: load.exact,
    };
    this.shapes = json.shapes;
    this.placement = json.placement;
    this.packedPicture = load.picture;
    this.frames = json.frames;
    this.frameNotes = json.frame_notes;
    this.shortNames = json.short_names;
    this.movement = json.movement;
    this.exactLeftOut = json.exact_left_out;
    this.givenOrders = json.orders.map(({ name, ranks }) => ({ name, ranks: integers(ranks) }));
  }

  get label(): string {
    return `${this.info.name || this.file}${this.info.job ? ` (${this.info.job})` : ""}`;
  }
  unit(metric: number): string {
    return this.info.metric_units[this.info.metrics[metric]] ?? "";
  }
  numbers(region: number, metric: number): MetricNumbers | undefined {
    return this.info.regions[region].metrics[this.info.metrics[metric]];
  }
  /** A region's name on one line. */
  short(name: string): string {
    return this.shortNames[name] ?? squeezed(name);
  }
  /** The regions of kind compute, which make up the load. */
  get computeRegions(): number[] {
    return this.info.regions.flatMap((r, i) => (r.kind === "compute" ? [i] : []));
  }
  /** Node of every rank. */
  nodeOfRank(): Int32Array {
    const out = new Int32Array(this.info.ranks);
    let at = 0;
    for (const [node, n] of this.placement) {
      out.fill(node, at, at + n);
      at += n;
    }
    return out;
  }
  /** The ranks in the rows of a node's histories, or, for -1, of the histories that all nodes share. */
  ranksOfNode(node: number): Int32Array {
    if (node < 0) {
      const of = this.nodeOfRank();
      return Int32Array.from(of.keys()).sort((a, b) => of[a] - of[b] || a - b);
    }
    if (!this.ranksByNode) {
      const lists: number[][] = Array.from({ length: this.info.nodes }, () => []);
      this.nodeOfRank().forEach((n, rank) => lists[n].push(rank));
      this.ranksByNode = lists.map((list) => Int32Array.from(list));
    }
    return this.ranksByNode[node];
  }
  /** The load of all computing regions at screen resolution; undefined if it is decoded quickly. */
  get loadPicture(): Cells | undefined {
    return this.packedPicture.rows > 0 ? unpackPicture(this.packedPicture) : undefined;
  }
  /** The sum of some series over all steps by rank; undefined if it has to be decoded, or is not read yet. */
  rankTotals(series: Series[]): Float64Array | undefined {
    const sum = new Float64Array(this.info.ranks);
    for (const s of series) {
      const text = s.hasRankTotals
        ? document.getElementById(`effort-ranks-${this.index}-${s.index}`)?.textContent
        : undefined;
      if (!text) return undefined;
      floats(text).forEach((v, rank) => (sum[rank] += v));
    }
    return sum;
  }
  /** The exact sum of some series; undefined if the run did not store it or the page does not hold it. */
  exactValue(series: Series[], rank: number, step: number): number | undefined {
    let sum = 0;
    for (const s of series) {
      if (!s.exact) return undefined;
      let values = this.exactValues.get(s.index);
      if (!values) {
        values = new Float64Array(
          bytesOf(document.getElementById(`effort-exact-${this.index}-${s.index}`)?.textContent ?? "").buffer
        );
        this.exactValues.set(s.index, values);
      }
      sum += values[rank * this.info.steps + step];
    }
    return Number.isNaN(sum) ? undefined : sum;
  }
  /** The strata of the last window that was kept, if any. */
  get lastStrata(): Strata | undefined {
    return this.info.strata[this.info.strata.length - 1];
  }
  /** Position of every rank in an order; undefined: by id. */
  positions(order: string): Int32Array | undefined {
    const ranks = this.order(order);
    if (!ranks) return undefined;
    const out = new Int32Array(ranks.length);
    ranks.forEach((rank, at) => (out[rank] = at));
    return out;
  }
  orders(): { key: string; title: string }[] {
    return [
      { key: "id", title: "by rank" },
      ...(this.info.nodes > 1 ? [{ key: "node", title: "by node" }] : []),
      ...(this.lastStrata ? [{ key: "stratum", title: "by stratum" }] : []),
      { key: "load", title: "by load" },
      ...this.givenOrders.map(({ name }) => ({ key: `given:${name}`, title: name })),
    ];
  }
  /** The rank at each position; undefined: by id. */
  order(key: string): Int32Array | undefined {
    const sorted = (value: (rank: number) => number) =>
      Int32Array.from({ length: this.info.ranks }, (_, i) => i).sort((a, b) => value(a) - value(b) || a - b);
    if (key === "node") {
      const node = this.nodeOfRank();
      return sorted((rank) => node[rank]);
    }
    if (key === "stratum" && this.lastStrata) {
      const { stratum } = this.lastStrata;
      return sorted((rank) => stratum[rank]);
    }
    if (key === "load") return sorted((rank) => this.load.rankTotal[rank]);
    return this.givenOrders.find(({ name }) => key === `given:${name}`)?.ranks;
  }
}

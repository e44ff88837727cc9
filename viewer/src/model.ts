// The data of the runs in the page: the JSON that `effort report` embedded, with its packed arrays unpacked.

export interface MetricNumbers {
  total: number;
  mean_over_ranks: number;
  max_over_ranks: number;
  max_rank: number;
  imbalance: number;
  nrmse: number | null;
  bytes: number;
}

export interface Region {
  name: string;
  kind: "compute" | "comm" | "wait" | "io";
  phase: string;
  metrics: Record<string, MetricNumbers>;
}

export interface Window {
  first: number;
  last: number;
  imbalance: number;
  rebalance: number;
  rebalanced: number;
  rebalanced_at: number | null;
  strata: number;
  gain_per_step: number | null;
  rebalance_cost: number | null;
  advice: string[];
  prediction_error: number | null;
  load_balance: number | null;
  communication_efficiency: number | null;
  parallel_efficiency: number | null;
  ideal_saving: number | null;
  expected_saving: number | null;
  strata_agreement: number | null;
  worst_rank: number | null;
  worst_region_share: number | null;
  worst_region: string | null;
  wait_seconds: number;
  unit_costs?: { name: string; seconds_per_unit: number | null; error: number | null }[];
}

export interface Strata {
  first: number;
  last: number;
  sizes: number[];
  medoid_rank: number[];
  stratum: number[];
  regions: string[];
  stratum_region_load: number[][];
}

/** `effort info --json`. */
export interface Info {
  version: string;
  name: string;
  job: string;
  ranks: number;
  nodes: number;
  steps: number;
  window: number;
  hint_lag: number;
  load_metric: string;
  metrics: string[];
  metric_units: Record<string, string>;
  nrmse: number | null;
  wall_seconds: number;
  critical_path: number | null;
  mean_path: number | null;
  ideal_saving: number | null;
  ideal_saving_of: "time" | "critical_path" | null;
  own_cpu_seconds: number;
  own_cpu_seconds_per_node: number[];
  own_bytes_per_node: number[];
  merged_steps: number;
  lost_snapshots: number;
  bytes: number;
  regions: Region[];
  windows: Window[];
  strata: Strata[];
  strata_moves: { first: number; last: number; moved: number }[];
  unit_costs: { name: string; seconds_per_unit: number | null; error: number | null }[];
  /** Time per unit of work of all ranks, relative to the typical rank's (1), run-length coded; empty: not known. */
  speeds: { ranks: number; time: number }[];
  notes: string[];
}

/** How ranks moved between strata; see tools/view/strata_moves.hpp. */
export interface Movement {
  windows: { first: number; last: number; sizes: number[] }[];
  /** Index of the earlier window, stratum in it, stratum in the one after, ranks. */
  flows: [number, number, number, number][];
  first: number[];
  last: number[];
  moved: number[];
  /** Rank, number of moves. */
  movers: [number, number][];
}

/** Places in the program by call path frame, "MODULE+0xHEX"; the innermost function first. */
export type Frames = Record<string, Frame[]>;

interface Packed {
  from: number;
  range: number;
  values: string;
}

/** Means over bins of ranks and of steps. */
interface Picture {
  rows: number;
  cols: number;
  cells: Packed;
}

interface SeriesJson {
  region: number;
  metric: number;
  histories: [number, number, number][];
  mean: Packed;
  max: Packed;
  coarse: Picture;
  /** Rows and columns of the picture at screen resolution; 0: none. */
  screen: [number, number];
  rank_totals: boolean;
  exact: boolean;
}

interface RunJson {
  file: string;
  info: Info;
  placement: [number, number][];
  series: SeriesJson[];
  load: { steps_per_bin: number; level: number; mean: string; max: string; worst_rank: string; rank_total: string; critical_path: number; mean_path: number; exact: boolean; picture: Picture };
  exact_left_out: number;
  frames: Frames;
  frame_notes: string[];
  /** Names that are call paths, short enough for a line and long enough to differ. */
  short_names: Record<string, string>;
  movement: Movement;
  shapes: { series: number[]; merges: [number, number, number, number][] };
  orders: { name: string; ranks: string }[];
}

export interface Place {
  region: number;
  file: number;
  first: number;
  last: number;
  what: string;
}

export interface Frame {
  function?: string;
  file?: string;
  line?: number;
}

export interface Head {
  title: string;
  effort: string;
  runs: number;
  regions: string[];
  source?: { files: { path: string; text: string }[]; places: Place[]; notes: string[] };
}

export function bytesOf(base64: string): Uint8Array {
  const text = atob(base64.trim());
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) out[i] = text.charCodeAt(i);
  return out;
}

/** As `effort diff --json` prints it. */
export interface Comparison {
  problem?: string;
  metric: string;
  unit: string;
  threshold: number;
  a: RunSide;
  b: RunSide;
  regions: RegionChange[];
  notes: string[];
}
export interface RunSide {
  ranks: number;
  nodes: number;
  steps: number;
  wall_seconds: number | null;
  seconds_per_step: number | null;
  compute_per_step: number;
  other_per_step: number;
  imbalance: number | null;
  load_balance: number | null;
  parallel_efficiency: number | null;
  ideal_saving: number | null;
  rebalances: number;
  own_cpu_share: number | null;
}
export interface RegionChange {
  name: string;
  kind: string;
  phase: string;
  verdict: "same" | "better" | "worse" | "only_a" | "only_b";
  change_per_step: number;
  change: number | null;
  a: RegionSide | null;
  b: RegionSide | null;
}
export interface RegionSide {
  name: string;
  total_per_step: number;
  mean_per_step: number;
  max_per_step: number;
  max_rank: number;
  imbalance: number;
}

/** CALL@MODULE+0xHEX without the module if that makes a name too long for a line. */
function squeezed(name: string): string {
  return name.length > 40 ? name.replace(/@[^@\s]*?(?=\+0x)/g, "") : name;
}

const floats = (base64: string) => new Float32Array(bytesOf(base64).buffer);
const integers = (base64: string) => new Int32Array(bytesOf(base64).buffer);
function unpack({ from, range, values }: Packed): Float32Array {
  return Float32Array.from(bytesOf(values), (level) => from + (range * level) / 255);
}

/** A region by one metric. */
export class Series {
  constructor(readonly index: number, readonly region: number, readonly metric: number, private readonly json: SeriesJson) {}
  get mean(): Float32Array {
    return unpack(this.json.mean);
  }
  get max(): Float32Array {
    return unpack(this.json.max);
  }
  /** Means over bins of ranks and steps. */
  get coarse(): { rows: number; cols: number; cells: Float32Array } {
    return { rows: this.json.coarse.rows, cols: this.json.coarse.cols, cells: unpack(this.json.coarse.cells) };
  }
  /** Rows and columns of the picture at screen resolution; undefined if the histories are decoded quickly. */
  get screen(): { rows: number; cols: number } | undefined {
    const [rows, cols] = this.json.screen;
    return rows > 0 ? { rows, cols } : undefined;
  }
  /** Whether sums over all steps are in the page too. */
  get hasRankTotals(): boolean {
    return this.json.rank_totals;
  }
  /** Whether exact values are in the page too. */
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
  readonly load: { stepsPerBin: number; level: number; mean: Float32Array; max: Float32Array; worstRank: Int32Array; rankTotal: Float32Array; criticalPath: number; meanPath: number; exact: boolean };
  readonly shapes: RunJson["shapes"];
  readonly givenOrders: RankOrder[];
  private readonly packedPicture: Picture;
  readonly frames: Frames;
  readonly frameNotes: string[];
  private readonly shortNames: Record<string, string>;
  readonly movement: Movement;
  /** Series whose exact values did not fit into the page. */
  readonly exactLeftOut: number;
  private readonly exactValues = new Map<number, Float64Array>();
  private readonly placement: [number, number][];
  private ranksByNode?: Int32Array[];

  constructor(readonly index: number, json: RunJson) {
    this.info = json.info;
    this.file = json.file;
    this.series = json.series.map((s, i) => new Series(i, s.region, s.metric, s));
    this.seriesOf = json.info.regions.map(() => json.info.metrics.map(() => -1));
    for (const s of this.series) this.seriesOf[s.region][s.metric] = s.index;
    this.loadMetric = Math.max(0, json.info.metrics.indexOf(json.info.load_metric));
    const { load } = json;
    this.load = {
      stepsPerBin: load.steps_per_bin, level: load.level, mean: floats(load.mean), max: floats(load.max), worstRank: integers(load.worst_rank),
      rankTotal: floats(load.rank_total), criticalPath: load.critical_path, meanPath: load.mean_path, exact: load.exact,
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
  /** Regions that compute: the load is theirs. */
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
  /** The rows of a node's histories, or of those that all nodes (-1) share. */
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
  get loadPicture(): { rows: number; cols: number; cells: Float32Array } | undefined {
    const { rows, cols, cells } = this.packedPicture;
    return rows > 0 ? { rows, cols, cells: unpack(cells) } : undefined;
  }
  /** The sum of some series over all steps by rank; undefined if it has to be decoded, or is not read yet. */
  rankTotals(series: Series[]): Float64Array | undefined {
    const sum = new Float64Array(this.info.ranks);
    for (const s of series) {
      const text = s.hasRankTotals ? document.getElementById(`effort-ranks-${this.index}-${s.index}`)?.textContent : undefined;
      if (!text) return undefined;
      floats(text).forEach((v, rank) => (sum[rank] += v));
    }
    return sum;
  }
  /** The exact sum of some series; undefined if it was not stored or is not in the page. */
  exactValue(series: Series[], rank: number, step: number): number | undefined {
    let sum = 0;
    for (const s of series) {
      if (!s.exact) return undefined;
      let values = this.exactValues.get(s.index);
      if (!values) {
        values = new Float64Array(bytesOf(document.getElementById(`effort-exact-${this.index}-${s.index}`)?.textContent ?? "").buffer);
        this.exactValues.set(s.index, values);
      }
      sum += values[rank * this.info.steps + step];
    }
    return Number.isNaN(sum) ? undefined : sum;
  }
  /** Stratum of every rank in the last kept window; undefined: there is none. */
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
    const sorted = (value: (rank: number) => number) => Int32Array.from({ length: this.info.ranks }, (_, i) => i).sort((a, b) => value(a) - value(b) || a - b);
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

export interface Report {
  head: Head;
  runs: Run[];
}

/** The comparisons of the runs by `effort report`; empty with one run. */
export function readComparisons(): { before: number; after: number; comparison: Comparison }[] {
  return document.getElementById("effort-compare") ? element("effort-compare") : [];
}

/** Reads one element's JSON; throws an error with a message for the user. */
function element<T>(id: string): T {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new Error(`The report has no part "${id}": it is cut short or was changed. Write it again with effort report.`);
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Error(`The part "${id}" of the report cannot be read: the file is cut short or was changed. Write it again with effort report.`);
  }
}

export function readReport(): Report {
  const head = element<Head>("effort-head");
  return { head, runs: Array.from({ length: head.runs }, (_, r) => new Run(r, element<RunJson>(`effort-run-${r}`))) };
}

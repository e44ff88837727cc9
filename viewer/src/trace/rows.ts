// The rows of the timeline: node > stratum > rank > thread.  A closed stratum shows its medoid, a closed node the
// medoid of its largest stratum.

import { Trace } from "./data";

/** A thread as drawn. */
export interface Lane {
  rank: number;
  thread: number;
  y: number;
  height: number;
  /** Levels of nesting that are drawn. */
  depth: number;
}

export interface Row {
  kind: "node" | "stratum" | "rank";
  key: string;
  title: string;
  note: string;
  indent: number;
  y: number;
  height: number;
  open: boolean;
  /** Whether it can be opened. */
  closable: boolean;
  lanes: Lane[];
}

interface Group {
  key: string;
  title: string;
  ranks: number[];
  medoid: number;
}

export const LEVEL = 14,
  HEAD = 22,
  GAP = 4;
const MOST_LEVELS = 8,
  MANY_NODES = 4;

export class Rows {
  /** Groups and ranks that differ from their initial state. */
  private readonly toggled = new Set<string>();
  private readonly nodes: (Group & { strata: Group[] })[] = [];
  private readonly threads = new Map<number, number[]>();
  private readonly depths = new Map<string, number>();
  list: Row[] = [];
  height = 0;

  constructor(private readonly trace: Trace) {
    for (const key of new Set([...trace.pieces.keys(), ...trace.leftOut.keys()])) {
      const rank = Math.floor(key / 65536);
      this.threads.set(
        rank,
        [...(this.threads.get(rank) ?? []), key % 65536].sort((a, b) => a - b)
      );
    }
    const ranks = [...new Set([...this.threads.keys(), ...trace.keptOf.keys()])].sort((a, b) => a - b);
    const byNode = group(ranks, (rank) => trace.nodeOf.get(rank) ?? -1);
    for (const [node, members] of byNode) {
      const strata = [...group(members, (rank) => trace.stratumOf(rank))].map(([stratum, of]) => ({
        key: `${node}/${stratum}`,
        title: stratum < 0 ? "no stratum" : `stratum ${stratum}`,
        ranks: of,
        medoid: this.representative(of, stratum),
      }));
      const largest = strata.reduce((a, b) => (b.ranks.length > a.ranks.length ? b : a));
      this.nodes.push({
        key: `${node}`,
        title: node < 0 ? "unknown node" : `node ${node}`,
        ranks: members,
        medoid: largest.medoid,
        strata,
      });
    }
    this.layout();
  }

  /** The medoid, or the rank that was kept as medoid most often, or in most windows. */
  private representative(ranks: number[], stratum: number): number {
    const medoid = this.trace.run.lastStrata?.medoid_rank[stratum];
    const score = (rank: number) => {
      const kept = [...(this.trace.keptOf.get(rank)?.values() ?? [])];
      return (rank === medoid ? 1e6 : 0) + kept.reduce((sum, k) => sum + ((k[1] & 2) !== 0 ? 100 : 1), 0);
    };
    const shown = ranks.filter((rank) => this.threads.has(rank));
    return (shown.length > 0 ? shown : ranks).reduce((a, b) => (score(b) > score(a) ? b : a));
  }

  isOpen(row: { kind: Row["kind"]; key: string }): boolean {
    const first = row.kind === "node" && this.nodes.length <= MANY_NODES;
    return this.toggled.has(`${row.kind} ${row.key}`) !== first;
  }
  toggle(row: { kind: Row["kind"]; key: string }): void {
    this.flip(row);
    this.layout();
  }
  private flip(row: { kind: Row["kind"]; key: string }): void {
    const key = `${row.kind} ${row.key}`;
    if (!this.toggled.delete(key)) this.toggled.add(key);
  }
  /** Opens or closes all groups. */
  openAll(open: boolean): void {
    const set = (kind: Row["kind"], key: string) => {
      if (this.isOpen({ kind, key }) !== open) this.flip({ kind, key });
    };
    for (const node of this.nodes) {
      set("node", node.key);
      for (const { key } of node.strata) set("stratum", key);
    }
    this.layout(); // once: there may be thousands of rows
  }

  /** Opens the groups of some ranks. */
  reveal(ranks: number[]): void {
    const wanted = new Set(ranks),
      open = (kind: Row["kind"], key: string) => {
        if (!this.isOpen({ kind, key })) this.flip({ kind, key });
      };
    for (const node of this.nodes)
      for (const stratum of node.strata)
        if (stratum.ranks.some((rank) => wanted.has(rank))) {
          open("node", node.key);
          open("stratum", stratum.key);
        }
    this.layout();
  }

  /** Levels of nesting that a lane needs; known once its pieces are decoded. */
  setDepth(rank: number, thread: number, depth: number): boolean {
    const key = `${rank}/${thread}`,
      needed = Math.min(MOST_LEVELS, Math.max(1, depth));
    if ((this.depths.get(key) ?? 1) >= needed) return false;
    this.depths.set(key, needed);
    return true;
  }

  layout(): void {
    const rows: Row[] = [];
    let y = 0;
    const add = (row: Omit<Row, "y" | "height" | "lanes">, rank: number | undefined, allThreads: boolean) => {
      const lanes: Lane[] = [],
        top = y;
      let height = 0;
      if (rank !== undefined) {
        const threads = this.threads.get(rank) ?? [0];
        for (const thread of allThreads ? threads : threads.slice(0, 1)) {
          const depth = this.depths.get(`${rank}/${thread}`) ?? 1,
            tall = depth * LEVEL;
          lanes.push({ rank, thread, y: top + height + GAP / 2, height: tall, depth });
          height += tall + GAP;
        }
      }
      height = Math.max(height, HEAD);
      rows.push({ ...row, y: top, height, lanes });
      y += height;
    };
    for (const node of this.nodes) {
      const open = this.isOpen({ kind: "node", key: node.key });
      const many = (n: number) => `${n} rank${n === 1 ? "" : "s"}`;
      add(
        {
          kind: "node",
          key: node.key,
          title: node.title,
          note: open ? many(node.ranks.length) : `rank ${node.medoid} of ${node.ranks.length}`,
          indent: 0,
          open,
          closable: true,
        },
        open ? undefined : node.medoid,
        false
      );
      if (!open) continue;
      for (const stratum of node.strata) {
        const opened = this.isOpen({ kind: "stratum", key: stratum.key });
        add(
          {
            kind: "stratum",
            key: stratum.key,
            title: stratum.title,
            note: opened ? many(stratum.ranks.length) : `rank ${stratum.medoid} of ${stratum.ranks.length}`,
            indent: 1,
            open: opened,
            closable: true,
          },
          opened ? undefined : stratum.medoid,
          false
        );
        if (!opened) continue;
        for (const rank of stratum.ranks) {
          const key = `${rank}`,
            threads = this.threads.get(rank)?.length ?? 0,
            all = this.isOpen({ kind: "rank", key });
          add(
            {
              kind: "rank",
              key,
              title: `rank ${rank}`,
              note: rank === stratum.medoid ? "medoid" : threads > 1 ? `${threads} threads` : "",
              indent: 2,
              open: all,
              closable: threads > 1,
            },
            rank,
            all
          );
        }
      }
    }
    this.list = rows;
    this.height = y;
  }

  at(y: number): Row | undefined {
    return this.list.find((row) => y >= row.y && y < row.y + row.height);
  }
}

function group(ranks: number[], key: (rank: number) => number): Map<number, number[]> {
  const out = new Map<number, number[]>();
  for (const rank of ranks) out.set(key(rank), [...(out.get(key(rank)) ?? []), rank]);
  return new Map([...out].sort(([a], [b]) => a - b));
}
